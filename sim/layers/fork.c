/* fork.c - the beginning of a residual block: y = x, and x goes past the block to the join that ends it.
 *
 * Gradient: dx = dy + the gradient that came past the block, one exact sum rounded once; where layers have scales of
 * their own, the second one is brought to the scale of the first before.
 */
#include "sim/layer.h"

#include "sim/tensor.h"

static ulp_status fork_shape(ulp_layer *layer, const char *args) {
    layer->out = layer->in;
    layer->work = ulp_dims_size(layer->in);
    return *args ? ULP_BAD_ARGUMENT : ULP_OK;
}

static ulp_status fork_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    return ulp_tensor_copy(pass->backend, t->y, t->x, pass->B * ulp_dims_size(layer->out));
}

static ulp_status fork_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    size_t row = ulp_dims_size(layer->in);
    if (!t->dx) return ULP_OK;
    const float *past;
    ulp_status status = ulp_pass_bring(pass, &past, pass->work, t->skip, pass->B * row, layer->partner, layer->index);
    return status == ULP_OK ? ulp_pass_add(pass, ULP_AT_AGRAD, layer->index, t->dx, t->dy, past, pass->B, row) : status;
}

static void fork_forward64(const ulp_layer *layer, double *y, const double *x, const double *skip, const double *w,
                           size_t B) {
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
