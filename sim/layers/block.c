/* block.c - residual blocks: fork begins a block, shortcut begins its second branch, join ends it.
 *
 * "fork A shortcut B join" computes A(x) + B(x), for example with a convolution as B (He et al. 2016,
 * doi:10.1109/CVPR.2016.90, section 3.3, option B: a projection where the shape changes). Without a shortcut the second
 * branch is the identity (section 3.2, equation 1). The two sums, y of a join and dx of a fork, are exact and rounded
 * once; all other numbers are copies. A shortcut passes no number from its input, the output of A, to its output: y is
 * the input of the fork, and dx is the gradient of the join's output. If layers have loss scales of their own, a
 * gradient that jumps over a branch is multiplied by a power of two: to the scale of the fork, before the sum, and to
 * the scale of A's last layer, with a rounding.
 */
#include "sim/layers/layer.h"

#include "sim/tensor.h"

/* ---- fork ---- */

static ulp_status fork_shape(ulp_layer *layer, const char *args) {
    layer->out = layer->in;
    layer->work = ulp_dims_size(layer->in);
    return *args ? ULP_BAD_ARGUMENT : ULP_OK;
}

static ulp_status fork_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t n = pass->now.B * ulp_dims_size(layer->out);
    ULP_TRY(ulp_tensor_copy(pass->run.backend, t->y, t->x, n));
    return ulp_pass_copied(pass, ulp_site_output(layer), layer->index, t->y, n);
}

static ulp_status fork_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t row = ulp_dims_size(layer->in);
    const int log2 = ulp_pass_scale_between(pass, layer->partner, layer->index);
    const float *past = log2 ? t->own.work : t->past;
    if (log2) ULP_TRY(ulp_pass_rescale(pass, t->own.work, t->past, pass->now.B * row, log2));
    return ulp_pass_add(pass, ulp_site_input_gradient(layer), t->dx, t->dy, past);
}

static void fork_forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B) {
    for (size_t i = 0; i < B * ulp_dims_size(layer->in); i++) t->y[i] = t->x[i];
}

const ulp_layer_kind ulp_layer_fork = {
    .name = "fork",
    .usage = "fork: a residual block begins, which join ends",
    .example = "fc9 fork tanh fork fc9 join join fc4",
    .operation = ULP_OPERATION_COPY,
    .nesting = 1,
    .shape = fork_shape,
    .forward = fork_forward,
    .backward = fork_backward,
    .forward64 = fork_forward64,
};

/* ---- shortcut ---- */

static ulp_status shortcut_shape(ulp_layer *layer, const char *args) {
    (void)layer;
    return *args ? ULP_BAD_ARGUMENT : ULP_OK;
}

static ulp_status shortcut_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t n = pass->now.B * ulp_dims_size(layer->out);
    ULP_TRY(ulp_tensor_copy(pass->run.backend, t->y, t->skip, n));
    return ulp_pass_copied(pass, ulp_site_output(layer), layer->fork, t->y, n);
}

static ulp_status shortcut_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t n = pass->now.B * ulp_dims_size(layer->in);
    const int log2 = ulp_pass_scale_between(pass, layer->partner, layer->index);
    const ulp_site site = ulp_site_input_gradient(layer);
    ULP_TRY(log2 ? ulp_pass_rescale(pass, t->dx, t->past, n, log2)
                 : ulp_tensor_copy(pass->run.backend, t->dx, t->past, n));
    return log2 ? ulp_pass_round(pass, site, t->dx, n) : ulp_pass_copied(pass, site, layer->partner + 1, t->dx, n);
}

static void shortcut_forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B) {
    for (size_t i = 0; i < B * ulp_dims_size(layer->out); i++) t->y[i] = t->skip[i];
}

const ulp_layer_kind ulp_layer_shortcut = {
    .name = "shortcut",
    .usage = "shortcut: the second branch of a residual block begins, from the input of the fork",
    .example = "fork conv3@3p1 fork tanh shortcut join conv4@2s2 shortcut tanh conv4@2s2 tanh join fc3",
    .operation = ULP_OPERATION_COPY,
    .turns = 1,
    .shape = shortcut_shape,
    .forward = shortcut_forward,
    .backward = shortcut_backward,
    .forward64 = shortcut_forward64,
};

/* ---- join ---- */

static ulp_status join_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    return ulp_pass_add(pass, ulp_site_output(layer), t->y, t->x, t->skip);
}

static ulp_status join_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t n = pass->now.B * ulp_dims_size(layer->out);
    ULP_TRY(ulp_tensor_copy(pass->run.backend, t->dx, t->dy, n));
    return ulp_pass_copied(pass, ulp_site_input_gradient(layer), layer->index + 1, t->dx, n);
}

static void join_forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B) {
    for (size_t i = 0; i < B * ulp_dims_size(layer->out); i++) t->y[i] = t->x[i] + t->skip[i];
}

const ulp_layer_kind ulp_layer_join = {
    .name = "join",
    .usage = "join: the residual block ends; the outputs of its branches, or its input and its output, are added",
    .example = "fc8 fork fc5 tanh fc8 join tanh",
    .operation = ULP_OPERATION_SUM,
    .nesting = -1,
    .shape = ulp_layer_shape_plain,
    .forward = join_forward,
    .backward = join_backward,
    .forward64 = join_forward64,
};
