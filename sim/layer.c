/* layer.c - the table of layer kinds. */
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
