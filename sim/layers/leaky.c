/* leaky.c - y = x if x > 0, else A x, rounded; A is a binary32 number in [0, 1], 0.01 if the word has no number.
 *
 * After Maas, Hannun and Ng 2013, section 2. A x and the gradient A dy are exact in binary64 and rounded once.
 */
#include "sim/layers/layer.h"

#include <stdlib.h>

static ulp_status leaky_shape(ulp_layer *layer, const char *args) {
    char *end = NULL;
    layer->out = layer->in;
    layer->number = *args ? (double)strtof(args, &end) : (double)0.01f;
    if (*args && (args[0] < '0' || args[0] > '9' || args[1] == 'x' || args[1] == 'X' || *end)) return ULP_BAD_ARGUMENT;
    return layer->number >= 0.0 && layer->number <= 1.0 ? ULP_OK : ULP_BAD_ARGUMENT;
}

static ulp_status leaky_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    return ulp_pass_curve(pass, ulp_site_output(layer), (ulp_activation){.kind = ULP_LEAKY, .a = layer->number}, t->y,
                          t->x);
}

static ulp_status leaky_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    if (!t->dx) return ULP_OK;
    return ulp_pass_slope(pass, ulp_site_input_gradient(layer), (ulp_activation){.kind = ULP_LEAKY, .a = layer->number},
                          t->dx, t->dy, t->x);
}

static void leaky_forward64(const ulp_layer *layer, double *y, const double *x, const double *skip, const double *w,
                            size_t B) {
    (void)skip;
    (void)w;
    for (size_t i = 0; i < B * ulp_dims_size(layer->out); i++) y[i] = x[i] > 0.0 ? x[i] : layer->number * x[i];
}

extern const ulp_layer_kind ulp_layer_leaky;
const ulp_layer_kind ulp_layer_leaky = {
    .name = "leaky",
    .usage = "leaky[A]: x or A x, whichever is larger; A (0 to 1) or 0.01",
    .example = "leaky leaky0.25",
    .gain = 2.0,
    .shape = leaky_shape,
    .forward = leaky_forward,
    .backward = leaky_backward,
    .forward64 = leaky_forward64,
};
