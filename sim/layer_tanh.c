/* layer_tanh.c - y = tanh(x), computed in binary64 (elementary.h) and rounded once. */
#include "layer.h"

#include "elementary.h"
#include "op.h"

static ulp_status tanh_shape(ulp_layer *layer, const char *args) {
    layer->out = layer->in;
    layer->params = 0;
    return *args ? ULP_BAD_ARGUMENT : ULP_OK;
}

static ulp_status tanh_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    size_t row = ulp_dims_size(layer->out), n = pass->B * row;
    ulp_status status = pass->backend->download(pass->host_a, t->x, n * sizeof(float));
    if (status != ULP_OK) return status;
    ulp_tanh_forward(pass->host_wide, pass->host_a, n);
    return ulp_pass_round_wide(pass, ULP_AT_ACT, layer->index + 1, t->y, n, row);
}

static ulp_status tanh_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    size_t row = ulp_dims_size(layer->out), n = pass->B * row;
    if (!t->dx) return ULP_OK;
    ulp_status status = pass->backend->download(pass->host_a, t->y, n * sizeof(float));
    if (status == ULP_OK) status = pass->backend->download(pass->host_b, t->dy, n * sizeof(float));
    if (status != ULP_OK) return status;
    ulp_tanh_backward(pass->host_wide, pass->host_b, pass->host_a, n);
    return ulp_pass_round_wide(pass, ULP_AT_AGRAD, layer->index, t->dx, n, row);
}

static void tanh_forward64(const ulp_layer *layer, double *y, const double *x, const double *skip, const double *w, size_t B) {
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
    .shape = tanh_shape,
    .forward = tanh_forward,
    .backward = tanh_backward,
    .forward64 = tanh_forward64,
};
