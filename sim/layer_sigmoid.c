/* layer_sigmoid.c - y = 1 / (1 + e^-x), computed in binary64 (elementary.h) and rounded once.
 *
 * Gradient: dy y (1 - y), relative error below 2^-51 before its one rounding.
 */
#include "layer.h"

#include "elementary.h"

static ulp_status sigmoid_shape(ulp_layer *layer, const char *args) {
    layer->out = layer->in;
    return *args ? ULP_BAD_ARGUMENT : ULP_OK;
}

static ulp_status sigmoid_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t row = ulp_dims_size(layer->out), n = pass->B * row;
    ulp_status status = pass->backend->download(pass->host_a, t->x, n * sizeof(float));
    if (status != ULP_OK) return status;
    for (size_t i = 0; i < n; i++) pass->host_wide[i] = ulp_sigmoid((double)pass->host_a[i]);
    return ulp_pass_round_wide(pass, ULP_AT_ACT, layer->index + 1, t->y, n, row);
}

static ulp_status sigmoid_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t row = ulp_dims_size(layer->out), n = pass->B * row;
    if (!t->dx) return ULP_OK;
    ulp_status status = pass->backend->download(pass->host_a, t->y, n * sizeof(float));
    if (status == ULP_OK) status = pass->backend->download(pass->host_b, t->dy, n * sizeof(float));
    if (status != ULP_OK) return status;
    for (size_t i = 0; i < n; i++) {
        const double y = (double)pass->host_a[i];
        pass->host_wide[i] = (double)pass->host_b[i] * (y * (1.0 - y));
    }
    return ulp_pass_round_wide(pass, ULP_AT_AGRAD, layer->index, t->dx, n, row);
}

static void sigmoid_forward64(const ulp_layer *layer, double *y, const double *x, const double *skip, const double *w, size_t B) {
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
    .shape = sigmoid_shape,
    .forward = sigmoid_forward,
    .backward = sigmoid_backward,
    .forward64 = sigmoid_forward64,
};
