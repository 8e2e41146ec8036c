/* sigmoid.c - y = 1 / (1 + e^-x), computed in binary64 (elementary.h) and rounded once.
 *
 * The gradient is dy y (1 - y), with a relative error below 2^-51 before its one rounding.
 */
#include "sim/layers/layer.h"

#include "kernels/functions/elementary.h"

static ulp_status sigmoid_shape(ulp_layer *layer, const char *args) {
    layer->out = layer->in;
    return *args ? ULP_BAD_ARGUMENT : ULP_OK;
}

static ulp_status sigmoid_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    return ulp_pass_curve(pass, ulp_site_output(layer), (ulp_activation){.kind = ULP_SIGMOID}, t->y, t->x);
}

static ulp_status sigmoid_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    if (!t->dx) return ULP_OK;
    return ulp_pass_slope(pass, ulp_site_input_gradient(layer), (ulp_activation){.kind = ULP_SIGMOID}, t->dx, t->dy,
                          t->y);
}

static void sigmoid_forward64(const ulp_layer *layer, double *y, const double *x, const double *skip, const double *w,
                              size_t B) {
    (void)skip;
    (void)w;
    for (size_t i = 0; i < B * ulp_dims_size(layer->out); i++) y[i] = ulp_sigmoid(x[i]);
}

extern const ulp_layer_kind ulp_layer_sigmoid;
const ulp_layer_kind ulp_layer_sigmoid = {
    .name = "sigmoid",
    .usage = "sigmoid: 1 / (1 + e^-x)",
    .example = "sigmoid",
    .gain = 1.0,
    .reads = ULP_READS_OUTPUT,
    .shape = sigmoid_shape,
    .forward = sigmoid_forward,
    .backward = sigmoid_backward,
    .forward64 = sigmoid_forward64,
};
