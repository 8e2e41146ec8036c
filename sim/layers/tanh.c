/* tanh.c - y = tanh(x), computed in binary64 (elementary.h) and rounded once. */
#include "sim/layers/layer.h"

#include "kernels/functions/elementary.h"

static ulp_status tanh_shape(ulp_layer *layer, const char *args) {
    layer->out = layer->in;
    layer->params = 0;
    return *args ? ULP_BAD_ARGUMENT : ULP_OK;
}

static ulp_status tanh_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    return ulp_pass_curve(pass, ulp_site_output(layer), (ulp_activation){.kind = ULP_TANH}, t->y, t->x);
}

static ulp_status tanh_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    if (!t->dx) return ULP_OK;
    return ulp_pass_slope(pass, ulp_site_input_gradient(layer), (ulp_activation){.kind = ULP_TANH}, t->dx, t->dy, t->y);
}

static void tanh_forward64(const ulp_layer *layer, double *y, const double *x, const double *skip, const double *w,
                           size_t B) {
    (void)skip;
    (void)w;
    for (size_t i = 0; i < B * ulp_dims_size(layer->out); i++) y[i] = ulp_tanh(x[i]);
}

extern const ulp_layer_kind ulp_layer_tanh;
const ulp_layer_kind ulp_layer_tanh = {
    .name = "tanh",
    .usage = "tanh: hyperbolic tangent",
    .example = "tanh",
    .gain = 1.0,
    .reads = ULP_READS_OUTPUT,
    .shape = tanh_shape,
    .forward = tanh_forward,
    .backward = tanh_backward,
    .forward64 = tanh_forward64,
};
