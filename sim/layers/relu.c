/* relu.c - y = max(x, 0), exact in every format with a zero. */
#include "sim/layers/layer.h"

static ulp_status relu_shape(ulp_layer *layer, const char *args) {
    layer->out = layer->in;
    layer->params = 0;
    return *args ? ULP_BAD_ARGUMENT : ULP_OK;
}

static ulp_status relu_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_backend *backend = pass->run.backend;
    const size_t n = pass->now.B * ulp_dims_size(layer->out);
    ulp_status status = ulp_backend_relu(backend, t->y, t->x, n);
    return status == ULP_OK ? ulp_pass_show(pass, ulp_site_output(layer), t->y, n) : status;
}

static ulp_status relu_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_backend *backend = pass->run.backend;
    const size_t n = pass->now.B * ulp_dims_size(layer->out);
    if (!t->dx) return ULP_OK;
    ulp_status status = ulp_backend_relu_slope(backend, t->dx, t->dy, t->y, n);
    return status == ULP_OK ? ulp_pass_show(pass, ulp_site_input_gradient(layer), t->dx, n) : status;
}

static void relu_forward64(const ulp_layer *layer, double *y, const double *x, const double *skip, const double *w,
                           size_t B) {
    (void)skip;
    (void)w;
    for (size_t i = 0; i < B * ulp_dims_size(layer->out); i++) y[i] = x[i] < 0.0 ? 0.0 : x[i];
}

extern const ulp_layer_kind ulp_layer_relu;
const ulp_layer_kind ulp_layer_relu = {
    .name = "relu",
    .usage = "relu: max(x, 0)",
    .example = "relu",
    .gain = 2.0,
    .reads = ULP_READS_OUTPUT,
    .operation = "relu",
    .shape = relu_shape,
    .forward = relu_forward,
    .backward = relu_backward,
    .forward64 = relu_forward64,
};
