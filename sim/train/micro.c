/* micro.c - a training step over micro-batches; see micro.h. */
#include "micro.h"

enum { WORD_RANGES = 1 << 16 }; /* of 2^48 words each, one for each micro-batch of each rank (policy.h) */

static ulp_status refuse_division(size_t micro, size_t batch, ulp_error *error) {
    size_t below = micro < batch ? micro : batch, above = micro;
    while (batch % below) below--;
    while (above < batch && batch % above) above++;
    if (above >= batch)
        return ulp_fail(error, ULP_BAD_ARGUMENT,
                        "optimizer: accumulate=%zu: micro-batches have to divide the %zu samples of a rank's step; the "
                        "nearest number is %zu",
                        micro, batch, micro > batch ? batch : below);
    return ulp_fail(error, ULP_BAD_ARGUMENT,
                    "optimizer: accumulate=%zu: micro-batches have to divide the %zu samples of a rank's step; the "
                    "nearest numbers are %zu and %zu",
                    micro, batch, below, above);
}

ulp_status ulp_micro_take(ulp_trainer *t, ulp_error *error) {
    const ulp_optimizer_rule *rule = &t->optimizer.rule;
    const size_t batch = t->batch / t->ranks;
    t->micro = rule->accumulate ? rule->accumulate : 1;
    if (batch % t->micro) return refuse_division(t->micro, batch, error);
    if (t->micro * t->ranks > WORD_RANGES)
        return ulp_fail(error, ULP_BAD_ARGUMENT,
                        "optimizer: accumulate=%zu on %zu ranks: a step has at most %d micro-batches on all ranks",
                        t->micro, t->ranks, WORD_RANGES);
    if (t->micro > 1 && t->scaler.rule.per_layer)
        return ulp_fail(error, ULP_UNSUPPORTED,
                        "scaler %s: it looks at gradients of activations, which every micro-batch has for itself; "
                        "accumulate=%zu needs a scaler of the whole loss, as pytorch",
                        t->scaler.rule.name, t->micro);
    return ULP_OK;
}

void ulp_micro_carve(ulp_trainer *t, ulp_arena *arena) {
    t->sum = ulp_micro_has_sum(&t->optimizer.rule) ? ulp_arena_take(arena, t->model.net.params) : NULL;
}

/* Add the gradients of micro-batch m to the sum. The last sum goes to model.wgrad, where the gradients are. */
static ulp_status add(ulp_trainer *t, size_t m) {
    const ulp_pass *pass = &t->pass;
    const ulp_cast *cast = &t->optimizer.rule.sum;
    const ulp_rounding how = {.format = &cast->format,
                              .rule = cast->rule,
                              .stream = {pass->run.seed,
                                         ulp_stream_id(ULP_USE_ACCUMULATE, 0, 0, pass->now.step & 0xfffffffu),
                                         ulp_pass_first_word(pass)}};
    float *const to = m + 1 < t->micro ? t->sum : t->model.wgrad;
    const ulp_array_op sum = {ULP_ADD, t->sum, t->model.wgrad, NULL};
    return m == 0 ? ulp_backend_round(pass->run.backend, to, t->model.wgrad, t->model.net.params, how)
                  : ulp_backend_map(pass->run.backend, to, sum, t->model.net.params, how);
}

ulp_status ulp_micro_step(ulp_trainer *t, ulp_status (*pass)(ulp_trainer *t, double *loss), double *mean) {
    const size_t rank = t->pass.now.rank;
    double sum = 0.0;
    if (!t->optimizer.rule.accumulate) return pass(t, mean);
    t->pass.now.parts = t->micro;
    for (size_t m = 0; m < t->micro; m++) {
        double loss = 0.0;
        t->pass.now.rank = rank * t->micro + m;
        ULP_TRY(pass(t, &loss));
        ULP_TRY(add(t, m));
        sum += loss;
    }
    t->pass.now.rank = rank;
    *mean = sum / (double)t->micro;
    return ULP_OK;
}
