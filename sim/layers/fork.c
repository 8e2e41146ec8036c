/* fork.c - the beginning of a residual block: y = x, the input of the first branch and of the second one.
 *
 * The second branch begins at the shortcut; without a shortcut it is the identity. The gradient dx is the exact sum of
 * dy and the gradient that comes back through the second branch, rounded once. If layers have loss scales of their own,
 * the second gradient is first multiplied by a power of two, so that both carry the same scale.
 */
#include "sim/layers/layer.h"

#include "sim/tensor.h"

static ulp_status fork_shape(ulp_layer *layer, const char *args) {
    layer->out = layer->in;
    layer->work = ulp_dims_size(layer->in);
    return *args ? ULP_BAD_ARGUMENT : ULP_OK;
}

static ulp_status fork_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t n = pass->now.B * ulp_dims_size(layer->out);
    ulp_status status = ulp_tensor_copy(pass->run.backend, t->y, t->x, n);
    return status == ULP_OK ? ulp_pass_copied(pass, ulp_site_output(layer), layer->index, t->y, n) : status;
}

static ulp_status fork_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t row = ulp_dims_size(layer->in);
    const int log2 = ulp_pass_scale_between(pass, layer->partner, layer->index);
    const float *past = log2 ? t->own.work : t->past;
    if (!t->dx) return ULP_OK;
    ulp_status status = log2 ? ulp_pass_rescale(pass, t->own.work, t->past, pass->now.B * row, log2) : ULP_OK;
    if (status != ULP_OK) return status;
    return ulp_pass_add(pass, ulp_site_input_gradient(layer), t->dx, t->dy, past);
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
    .usage = "fork: a residual block begins, which join ends",
    .example = "fc9 fork tanh fork fc9 join join fc4",
    .gain = 1.0,
    .reads = ULP_READS_NEITHER,
    .operation = "copy",
    .nesting = 1,
    .shape = fork_shape,
    .forward = fork_forward,
    .backward = fork_backward,
    .forward64 = fork_forward64,
};
