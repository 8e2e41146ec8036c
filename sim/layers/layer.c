/* layer.c - for all kinds of layers: reading numbers in words, and the ends of their functions; see layer.h. */
#include "layer.h"

#include <string.h>

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
    ULP_TRY(ulp_args_read(n, &args, least, most));
    return *args ? ULP_BAD_ARGUMENT : ULP_OK;
}

int ulp_args_option(const char **args, const char *name, char *value, size_t size) {
    const char *word = *args;
    const size_t length = strlen(name);
    if (*word != ':' || strncmp(++word, name, length) != 0) return 0;
    word += length;
    const size_t rest = strcspn(word, ":");
    if (value == NULL && rest > 0) return 0;
    if (value != NULL) {
        if (*word != '=' || rest < 2 || rest > size) return 0;
        memcpy(value, word + 1, rest - 1);
        value[rest - 1] = 0;
    }
    *args = word + rest;
    return 1;
}

ulp_status ulp_layer_shape_plain(ulp_layer *layer, const char *args) {
    layer->out = layer->in;
    return *args ? ULP_BAD_ARGUMENT : ULP_OK;
}

ulp_status ulp_layer_round_output(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t n = pass->now.B * ulp_dims_size(layer->out);
    return ulp_pass_round64(pass, ulp_site_output(layer), t->y, pass->scratch.wide, n);
}

ulp_status ulp_layer_round_gradient(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t n = pass->now.B * ulp_dims_size(layer->in);
    return ulp_pass_round64(pass, ulp_site_input_gradient(layer), t->dx, pass->scratch.wide, n);
}
