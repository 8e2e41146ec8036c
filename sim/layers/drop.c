/* drop.c - dropout: training sets an element to +0 with probability P/100 and multiplies the others by 100 / (100 - P).
 *
 * After Srivastava et al. 2014 (JMLR 15, section 4), but training scales the kept elements, and an evaluation changes
 * nothing. An element is kept if the random word of its index under ULP_USE_DROP is at least P/100 2^32, rounded up.
 * The quotient is rounded to binary64, which never moves it across a number of at most 24 bits, and then at ULP_AT_ACT.
 * The gradient of the kept elements is computed in the same way and rounded at ULP_AT_AGRAD. The kind has no forward64,
 * because the kept elements depend on the step.
 */
#include "sim/layer.h"

#include "formats/rng.h"
#include "sim/tensor.h"

static ulp_status drop_shape(ulp_layer *layer, const char *args) {
    layer->out = layer->in;
    return ulp_args_number(&layer->arg[0], args, 0, 99);
}

/* own->host_wide (B,row) = x (B,row) after dropout, not rounded yet. */
static ulp_status keep(const ulp_layer *layer, const ulp_pass *pass, const ulp_workspace *own, const float *x) {
    const size_t row = ulp_dims_size(layer->out), n = pass->now.B * row;
    const uint64_t P = layer->arg[0], least = (P * 0x100000000u + 99) / 100;
    const ulp_stream stream = {pass->run.seed, ulp_stream_id(ULP_USE_DROP, 0, layer->index, pass->now.step),
                               ulp_pass_first_word(pass) + (uint64_t)pass->now.first * row};
    ulp_status status = pass->run.backend->download(own->host_x, x, n * sizeof(float));
    if (status != ULP_OK) return status;
    for (size_t i = 0; i < n; i++)
        own->host_wide[i] =
            ulp_random_word(stream, i) >= least ? (double)own->host_x[i] * 100.0 / (double)(100 - P) : 0.0;
    return ULP_OK;
}

static ulp_status drop_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t row = ulp_dims_size(layer->out), n = pass->now.B * row;
    if (pass->now.evaluation) return ulp_tensor_copy(pass->run.backend, t->y, t->x, n);
    ulp_status status = keep(layer, pass, &t->own, t->x);
    return status == ULP_OK ? ulp_pass_round_host(pass, ulp_site_output(layer), t->y, t->own.host_wide, n) : status;
}

static ulp_status drop_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t row = ulp_dims_size(layer->out), n = pass->now.B * row;
    if (!t->dx) return ULP_OK;
    ulp_status status = keep(layer, pass, &t->own, t->dy);
    return status == ULP_OK ? ulp_pass_round_host(pass, ulp_site_input_gradient(layer), t->dx, t->own.host_wide, n)
                            : status;
}

extern const ulp_layer_kind ulp_layer_drop;
const ulp_layer_kind ulp_layer_drop = {
    .name = "drop",
    .usage = "dropP: dropout, P percent (0 to 99)",
    .example = "drop50",
    .gain = 1.0,
    .reads = ULP_READS_NEITHER,
    .operation = "dropout",
    .shape = drop_shape,
    .forward = drop_forward,
    .backward = drop_backward,
};
