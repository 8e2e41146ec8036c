/* player.c - the start and the updates of one network of a ulp_gan; see player.h. */
#include "player.h"

#include <stdlib.h>

#include "sim/train/learning_rules.h"

/* ---- start ---- */

static ulp_status take_rules(ulp_player *p, const ulp_player_options *o, const ulp_pass_run *run, ulp_error *error) {
    const ulp_learning_rules rules = {o->policy, o->scaler, o->optimizer};
    ULP_TRY(ulp_learning_rules_take(&rules, &p->policy, &p->scaler, &p->optimizer, error));
    p->start_rule = p->optimizer.rule;
    ULP_TRY(ulp_net_copy(&p->model.net, o->net));
    ULP_TRY(ulp_policy_resolve(&p->rows, p->policy, &p->model.net, error));
    ULP_TRY(ulp_optimizer_divide(&p->optimizer, &p->model.net, p->rows, error));
    p->pass.run = *run;
    p->pass.run.policy = p->policy;
    p->pass.run.rows = p->rows;
    return ulp_policy_runs_on(p->policy, run->backend->name, error);
}

ulp_status ulp_player_take(ulp_player *p, const ulp_player_options *o, const ulp_pass_run *run, const char *of,
                           ulp_error *error) {
    *p = (ulp_player){0};
    if (!o->net) return ulp_fail(error, ULP_BAD_ARGUMENT, "%s: no net", of);
    const ulp_status status = take_rules(p, o, run, error);
    return status == ULP_OK ? ULP_OK : ulp_fail_within(error, status, "%s", of);
}

/* Carve the arrays that do not belong to the model. */
static void carve(void *own, ulp_arena *arena) {
    ulp_player *p = own;
    ulp_optimizer_carve(&p->optimizer, arena, p->model.net.params);
    p->input_gradient = ulp_arena_take(arena, p->model.batch * ulp_dims_size(p->model.net.in));
}

ulp_status ulp_player_start(ulp_player *p, size_t batch, size_t room, double std) {
    ulp_net net = p->model.net;
    const ulp_status status = ulp_model_init(&p->model, &net, batch, room);
    ulp_net_release(&net);
    ULP_TRY(status);
    ULP_TRY(ulp_model_alloc(&p->model, &p->pass, &p->arena, carve, p));
    ULP_TRY(ulp_loss_scales_start(&p->loss_scales, &p->scaler, &p->model.net));
    return ulp_optimizer_start_net(&p->optimizer, &p->pass, &p->model.net, p->model.state, std);
}

void ulp_player_release(ulp_player *p) {
    ulp_arena_release(&p->arena);
    ulp_loss_scales_release(&p->loss_scales);
    ulp_optimizer_release(&p->optimizer);
    ulp_profile_release(&p->profile);
    free(p->policy);
    free(p->rows);
    ulp_model_release(&p->model, &p->pass);
}

/* ---- steps ---- */

void ulp_player_begin(ulp_player *p, uint64_t step, size_t B, int counting) {
    p->pass.now = (ulp_pass_now){
        .step = step, .counting = counting, .B = B, .scales = ulp_loss_scales_begin(&p->loss_scales, &p->scaler)};
    ulp_pass_begin(&p->pass);
}

ulp_status ulp_player_update(ulp_player *p, ulp_player_step *report) {
    ulp_gradient_check check;
    ulp_pass *pass = &p->pass;
    report->scale_log2 = pass->now.scales.log2;
    double began = ulp_profile_enter(&p->profile, p->profile.layers + ULP_TIME_CHECK);
    ULP_TRY(ulp_loss_scales_end(&p->loss_scales, &p->scaler, pass, &p->model, &check));
    ulp_profile_leave(&p->profile, began);
    began = ulp_profile_enter(&p->profile, p->profile.layers + ULP_TIME_UPDATE);
    report->overflow = check.overflow;
    report->skipped = check.skip;
    if (!check.skip) {
        ULP_TRY(ulp_optimizer_step(&p->optimizer, pass, p->model.wgrad, p->loss_scales.span, p->loss_scales.spans));
        ULP_TRY(ulp_optimizer_scale_weights(&p->optimizer, pass, &p->model.net));
    }
    ulp_profile_leave(&p->profile, began);
    p->profile.steps++;
    report->gradients.count = pass->counts.all[ULP_AT_AGRAD].count + pass->counts.all[ULP_AT_WGRAD].count;
    report->gradients.zero = pass->counts.all[ULP_AT_AGRAD].zero + pass->counts.all[ULP_AT_WGRAD].zero;
    return ULP_OK;
}
