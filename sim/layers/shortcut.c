/* shortcut.c - the beginning of the second branch of a residual block: y is the input of the fork.
 *
 * "fork A shortcut B join" computes A(x) + B(x), for example with a convolution as B (He et al. 2016,
 * doi:10.1109/CVPR.2016.90, section 3.3, option B: a projection where the shape changes). The layer passes no number
 * from its input, the output of A, to its output. The gradient dx is the gradient of the join's output. If layers have
 * loss scales of their own, the gradient is multiplied by a power of two, so that it carries the scale of A's last
 * layer, and rounded.
 */
#include "sim/layers/layer.h"

#include "sim/tensor.h"

static ulp_status shortcut_shape(ulp_layer *layer, const char *args) {
    (void)layer;
    return *args ? ULP_BAD_ARGUMENT : ULP_OK;
}

static ulp_status shortcut_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t n = pass->now.B * ulp_dims_size(layer->out);
    ulp_status status = ulp_tensor_copy(pass->run.backend, t->y, t->skip, n);
    return status == ULP_OK ? ulp_pass_copied(pass, ulp_site_output(layer), layer->fork, t->y, n) : status;
}

static ulp_status shortcut_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t n = pass->now.B * ulp_dims_size(layer->in);
    const int log2 = ulp_pass_scale_between(pass, layer->partner, layer->index);
    const ulp_site site = ulp_site_input_gradient(layer);
    ulp_status status =
        log2 ? ulp_pass_rescale(pass, t->dx, t->past, n, log2) : ulp_tensor_copy(pass->run.backend, t->dx, t->past, n);
    if (status != ULP_OK) return status;
    return log2 ? ulp_pass_round(pass, site, t->dx, n) : ulp_pass_copied(pass, site, layer->partner + 1, t->dx, n);
}

static void shortcut_forward64(const ulp_layer *layer, double *y, const double *x, const double *skip, const double *w,
                               size_t B) {
    (void)x;
    (void)w;
    for (size_t i = 0; i < B * ulp_dims_size(layer->out); i++) y[i] = skip[i];
}

extern const ulp_layer_kind ulp_layer_shortcut;
const ulp_layer_kind ulp_layer_shortcut = {
    .name = "shortcut",
    .usage = "shortcut: the second branch of a residual block begins, from the input of the fork",
    .example = "fork conv3@3p1 fork tanh shortcut join conv4@2s2 shortcut tanh conv4@2s2 tanh join fc3",
    .gain = 1.0,
    .reads = ULP_READS_NEITHER,
    .operation = "copy",
    .turns = 1,
    .shape = shortcut_shape,
    .forward = shortcut_forward,
    .backward = shortcut_backward,
    .forward64 = shortcut_forward64,
};
