/* tail.c - a second policy from a step on; see tail.h and train.h. */
#include "tail.h"

#include "learner.h"
#include "sim/policy/operand_parts.h"

#include <stdlib.h>

static int has_master(const ulp_policy *policy, const ulp_layer_policy *rows, size_t layer) {
    return rows ? rows[layer + 1].has_master : policy->has_master;
}

/* The arrays of master weights are allocated once, so both policies need them in the same layers. */
static ulp_status check_masters(const ulp_trainer *t, ulp_error *error) {
    for (size_t i = 0; i < t->model.net.count; i++) {
        const int before = has_master(t->policy, t->rows, i);
        if (t->model.net.layers[i].params == 0 || before == has_master(t->tail, t->tail_rows, i)) continue;
        return ulp_fail(error, ULP_UNSUPPORTED,
                        "tail: layer %zu, '%s', has %s master weights before step %llu and %s from this step on; a "
                        "second policy needs the master weights of the first: give both policies %s",
                        i, t->model.net.layers[i].word, before ? "its" : "no", (unsigned long long)t->tail_step,
                        before ? "none" : "some", before ? "a master format, as master=fp32" : "master=none");
    }
    return ULP_OK;
}

/* Make the parts of the optimizer under the second policy. */
static ulp_status take_parts(ulp_trainer *t, ulp_error *error) {
    ULP_TRY(ulp_optimizer_init(&t->tail_optimizer, &t->optimizer.rule, t->tail, error));
    return ulp_optimizer_divide(&t->tail_optimizer, &t->model.net, t->tail_rows, error);
}

ulp_status ulp_tail_take(ulp_trainer *t, const ulp_train_options *o, ulp_error *error) {
    if (!o->tail) return ULP_OK;
    t->tail_step = o->tail_step;
    t->tail = malloc(sizeof *t->tail);
    if (!t->tail) return ulp_fail(error, ULP_NO_MEMORY, "no memory for a policy");
    *t->tail = *o->tail;
    ulp_status status = ulp_policy_check(t->tail, error);
    if (status == ULP_OK) status = ulp_policy_resolve(&t->tail_rows, t->tail, &t->model.net, error);
    if (status == ULP_OK) status = ulp_policy_runs_on(t->tail, t->pass.run.backend, error);
    if (status == ULP_OK) status = ulp_learner_check_lengths(t, t->tail, t->tail_rows, error);
    if (status != ULP_OK) return ulp_fail_within(error, status, "tail");
    ULP_TRY(check_masters(t, error));
    return take_parts(t, error);
}

void ulp_tail_reserve(ulp_trainer *t) {
    if (!t->tail) return;
    t->pass.history.steps = ulp_longest_history(t->tail, t->tail_rows, t->model.net.count + 1);
    t->pass.run.later = ulp_policy_scratch(t->tail);
}

void ulp_tail_release(ulp_trainer *t) {
    ulp_optimizer_release(&t->tail_optimizer);
    free(t->tail);
    free(t->tail_rows);
}

/* Exchange the policies of the pass and the parts of the optimizer. */
static void exchange(ulp_trainer *t) {
    t->pass.run.policy = t->tail;
    t->pass.run.rows = t->tail_rows;
    ulp_optimizer_exchange(&t->optimizer, &t->tail_optimizer);
}

ulp_status ulp_tail_enter(ulp_trainer *t) {
    if (!t->tail || t->step != t->tail_step) return ULP_OK;
    exchange(t);
    t->pass.now = (ulp_pass_now){.step = t->step};
    return ulp_optimizer_round_weights(&t->optimizer, &t->pass, &t->model.net);
}

void ulp_tail_resume(ulp_trainer *t) {
    if (t->tail && t->step > t->tail_step) exchange(t);
}
