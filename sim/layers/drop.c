/* drop.c - dropout: in training an element becomes +0 with probability P/100, else x 100 / (100 - P); else y = x.
 *
 * After Srivastava et al. 2014 (JMLR 15, section 4), scaled in training, not in evaluation. Element i of sample b is
 * kept where the random word of its place under ULP_USE_DROP is at least P/100 2^32, rounded up. The quotient is formed
 * in binary64 with one rounding, which never crosses a number of at most 24 bits, and rounded at ULP_AT_ACT; its
 * gradient, through the same elements, likewise at ULP_AT_AGRAD. It has no forward64: the elements depend on the step.
 */
#include "sim/layer.h"

#include "formats/rng.h"
#include "sim/tensor.h"

static ulp_status drop_shape(ulp_layer *layer, const char *args) {
    layer->out = layer->in;
    return ulp_args_number(&layer->arg[0], args, 0, 99);
}

/* pass->host_wide (n) = x (n) through the elements that are kept. */
static ulp_status keep(const ulp_layer *layer, ulp_pass *pass, const float *x, size_t n, size_t row) {
    const uint64_t P = layer->arg[0], least = (P * 0x100000000u + 99) / 100;
    const ulp_stream stream = {pass->seed, ulp_stream_id(ULP_USE_DROP, 0, layer->index, pass->step),
                               (uint64_t)pass->first * row};
    ulp_status status = pass->backend->download(pass->host_a, x, n * sizeof(float));
    if (status != ULP_OK) return status;
    for (size_t i = 0; i < n; i++)
        pass->host_wide[i] =
            ulp_random_word(stream, i) >= least ? (double)pass->host_a[i] * 100.0 / (double)(100 - P) : 0.0;
    return ULP_OK;
}

static ulp_status drop_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t row = ulp_dims_size(layer->out), n = pass->B * row;
    if (pass->evaluation) return ulp_tensor_copy(pass->backend, t->y, t->x, n);
    ulp_status status = keep(layer, pass, t->x, n, row);
    return status == ULP_OK ? ulp_pass_round_wide(pass, ULP_AT_ACT, layer->index + 1, t->y, n, row) : status;
}

static ulp_status drop_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t row = ulp_dims_size(layer->out), n = pass->B * row;
    if (!t->dx) return ULP_OK;
    ulp_status status = keep(layer, pass, t->dy, n, row);
    return status == ULP_OK ? ulp_pass_round_wide(pass, ULP_AT_AGRAD, layer->index, t->dx, n, row) : status;
}

extern const ulp_layer_kind ulp_layer_drop;
const ulp_layer_kind ulp_layer_drop = {
    .name = "drop",
    .usage = "dropP: dropout, P percent (0 to 99)",
    .example = "drop50",
    .gain = 1.0,
    .shape = drop_shape,
    .forward = drop_forward,
    .backward = drop_backward,
};
