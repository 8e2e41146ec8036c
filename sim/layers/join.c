/* join.c - the end of a residual block: y is the exact sum of the outputs of its two branches, rounded once.
 *
 * After He et al. 2016, doi:10.1109/CVPR.2016.90, section 3.2. Without a `shortcut` in the block the second branch is
 * the identity (equation 1), and y is the sum of x and the input of the fork.
 */
#include "sim/layers/layer.h"

#include "sim/tensor.h"

static ulp_status join_shape(ulp_layer *layer, const char *args) {
    layer->out = layer->in;
    return *args ? ULP_BAD_ARGUMENT : ULP_OK;
}

static ulp_status join_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    return ulp_pass_add(pass, ulp_site_output(layer), t->y, t->x, t->skip);
}

static ulp_status join_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t n = pass->now.B * ulp_dims_size(layer->out);
    ulp_status status = ulp_tensor_copy(pass->run.backend, t->dx, t->dy, n);
    return status == ULP_OK ? ulp_pass_copied(pass, ulp_site_input_gradient(layer), layer->index + 1, t->dx, n)
                            : status;
}

static void join_forward64(const ulp_layer *layer, double *y, const double *x, const double *skip, const double *w,
                           size_t B) {
    (void)w;
    for (size_t i = 0; i < B * ulp_dims_size(layer->out); i++) y[i] = x[i] + skip[i];
}

extern const ulp_layer_kind ulp_layer_join;
const ulp_layer_kind ulp_layer_join = {
    .name = "join",
    .usage = "join: the residual block ends; the outputs of its branches, or its input and its output, are added",
    .example = "fc8 fork fc5 tanh fc8 join tanh",
    .gain = 1.0,
    .reads = ULP_READS_NEITHER,
    .operation = "sum",
    .nesting = -1,
    .shape = join_shape,
    .forward = join_forward,
    .backward = join_backward,
    .forward64 = join_forward64,
};
