/* layer_fork.c - the beginning of a residual block: y = x, and x goes past the block to the join that ends it.
 *
 * Gradient: dx = dy + the gradient that came past the block, one exact sum rounded once.
 */
#include "layer.h"

static ulp_status fork_shape(ulp_layer *layer, const char *args) {
    layer->out = layer->in;
    return *args ? ULP_BAD_ARGUMENT : ULP_OK;
}

static ulp_status fork_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    size_t n = pass->B * ulp_dims_size(layer->out);
    ulp_status status = pass->backend->download(pass->host_a, t->x, n * sizeof(float));
    if (status == ULP_OK) status = pass->backend->upload(t->y, pass->host_a, n * sizeof(float));
    return status;
}

static ulp_status fork_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    if (!t->dx) return ULP_OK;
    return ulp_pass_add(pass, ULP_AT_AGRAD, layer->index, t->dx, t->dy, t->skip, pass->B, ulp_dims_size(layer->in));
}

static void fork_forward64(const ulp_layer *layer, double *y, const double *x, const double *skip, const double *w, size_t B) {
    (void)skip;
    (void)w;
    for (size_t i = 0; i < B * ulp_dims_size(layer->in); i++) y[i] = x[i];
}

extern const ulp_layer_kind ulp_layer_fork;
const ulp_layer_kind ulp_layer_fork = {
    .name = "fork",
    .usage = "fork: a residual block begins",
    .example = "fc9 fork tanh fork fc9 join join fc4",
    .gain = 1.0,
    .nesting = 1,
    .shape = fork_shape,
    .forward = fork_forward,
    .backward = fork_backward,
    .forward64 = fork_forward64,
};
