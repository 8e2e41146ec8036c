/* drop.c - dropout: training sets an element to +0 with probability P/100 and multiplies the others by 100 / (100 - P).
 *
 * After Srivastava et al. 2014 (JMLR 15, section 4), but training scales the kept elements, and an evaluation changes
 * nothing. An element is kept if the random word of its index under ULP_USE_DROP is at least P/100 2^32, rounded up.
 * The quotient is rounded to binary64, which never moves it across a number of at most 24 bits, and then at ULP_AT_ACT.
 * The gradient of the kept elements is computed in the same way and rounded at ULP_AT_AGRAD. The kind has no forward64,
 * because the kept elements depend on the step.
 */
#include "sim/layers/layer.h"

#include "sim/tensor.h"

static ulp_status drop_shape(ulp_layer *layer, const char *args) {
    layer->out = layer->in;
    return ulp_args_number(&layer->arg[0], args, 0, ULP_DROPOUT_MOST);
}

/* y (B,row) = x (B,row) after dropout, rounded as the tensor of a site. */
static ulp_status keep(const ulp_layer *layer, ulp_pass *pass, ulp_site site, float *y, const float *x) {
    const size_t row = ulp_dims_size(layer->out), n = pass->now.B * row;
    const ulp_dropout how = {.percent = (uint32_t)layer->arg[0],
                             .stream = {pass->run.seed, ulp_stream_id(ULP_USE_DROP, 0, layer->index, pass->now.step),
                                        ulp_pass_first_word(pass) + (uint64_t)pass->now.first * row}};
    double *exact = pass->scratch.wide;
    ULP_TRY(ulp_backend_dropout(pass->run.backend, exact, x, n, how));
    return ulp_pass_round64(pass, site, y, exact, n);
}

static ulp_status drop_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t n = pass->now.B * ulp_dims_size(layer->out);
    if (pass->now.evaluation) return ulp_tensor_copy(pass->run.backend, t->y, t->x, n);
    return keep(layer, pass, ulp_site_output(layer), t->y, t->x);
}

static ulp_status drop_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    return keep(layer, pass, ulp_site_input_gradient(layer), t->dx, t->dy);
}

const ulp_layer_kind ulp_layer_drop = {
    .name = "drop",
    .usage = "dropP: dropout, P percent (0 to 99)",
    .example = "drop50",
    .operation = ULP_OPERATION_DROPOUT,
    .shape = drop_shape,
    .forward = drop_forward,
    .backward = drop_backward,
};
