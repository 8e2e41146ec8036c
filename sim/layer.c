/* layer.c - the table of layer kinds, and the numbers in their words. */
#include "layer.h"

/* One word per file sim/layers/NAME.c. */
#define LAYERS(X)                                                                                                      \
    X(dense)                                                                                                           \
    X(relu)                                                                                                            \
    X(leaky)                                                                                                           \
    X(tanh)                                                                                                            \
    X(sigmoid)                                                                                                         \
    X(drop)                                                                                                            \
    X(bn)                                                                                                              \
    X(conv)                                                                                                            \
    X(pool)                                                                                                            \
    X(avg)                                                                                                             \
    X(fork)                                                                                                            \
    X(join)                                                                                                            \
    X(rows)                                                                                                            \
    X(columns)                                                                                                         \
    X(last)                                                                                                            \
    X(rnn)                                                                                                             \
    X(gru)                                                                                                             \
    X(lstm)

#define DECLARE(name) extern const ulp_layer_kind ulp_layer_##name;
LAYERS(DECLARE)

#define ENTRY(name) &ulp_layer_##name,
static const ulp_layer_kind *const kinds[] = {LAYERS(ENTRY)};

const ulp_layer_kind *ulp_layer_kind_get(size_t i) { return i < sizeof kinds / sizeof *kinds ? kinds[i] : NULL; }

ulp_status ulp_args_read(size_t *n, const char **text, size_t least, size_t most) {
    const char *at = *text;
    size_t value = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        value = value * 10 + (size_t)(*at - '0');
        if (value > most) return ULP_BAD_ARGUMENT;
    }
    if (at == *text || value < least) return ULP_BAD_ARGUMENT;
    *text = at;
    *n = value;
    return ULP_OK;
}

ulp_status ulp_args_number(size_t *n, const char *args, size_t least, size_t most) {
    ulp_status status = ulp_args_read(n, &args, least, most);
    return status == ULP_OK && *args ? ULP_BAD_ARGUMENT : status;
}
