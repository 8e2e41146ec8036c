/* learner.c - the start, the batches and the updates of one network that learns; see learner.h. */
#include "learner.h"

#include "sim/policy/operand_parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- start ---- */

ulp_status ulp_learner_take(ulp_trainer *t, const ulp_train_options *o, ulp_error *error) {
    const ulp_optimizer_rule sgd = ulp_optimizer_rule_of(&ulp_optimizer_sgd),
                             *optimizer = o->optimizer ? o->optimizer : &sgd;
    t->policy = malloc(sizeof *t->policy);
    if (!t->policy) return ulp_fail(error, ULP_NO_MEMORY, "no memory for a policy");
    if (o->policy) *t->policy = *o->policy;
    else ulp_policy_binary32(t->policy);
    ULP_TRY(ulp_policy_check(t->policy, error));
    ULP_TRY(ulp_scaler_init(&t->scaler, o->scaler ? o->scaler : &ulp_scaler_rules[ULP_SCALER_NONE], error));
    t->start_rule = *optimizer;
    if (optimizer->clip > 0.0 && optimizer->clip_scaled && t->scaler.rule.per_layer)
        return ulp_fail(error, ULP_UNSUPPORTED,
                        "optimizer: clip-at=scaled with scaler %s: the gradients of layers have loss scales of their "
                        "own, so they have no common norm before they are unscaled",
                        t->scaler.rule.name);
    return ulp_optimizer_init(&t->optimizer, optimizer, t->policy, error);
}

ulp_status ulp_learner_check_lengths(const ulp_trainer *t, const ulp_policy *policy, const ulp_layer_policy *rows,
                                     ulp_error *error) {
    const ulp_net *net = &t->model.net;
    for (size_t i = 0; i < net->count; i++)
        ULP_TRY(ulp_operand_lengths_check(
            rows ? rows[i + 1].operand : policy->operand, rows ? &rows[i + 1].forward : &policy->forward,
            rows ? &rows[i + 1].backward : &policy->backward, &net->layers[i], t->model.batch, error));
    return ULP_OK;
}

ulp_status ulp_learner_fit(ulp_trainer *t, ulp_error *error) {
    const ulp_net *net = &t->model.net;
    ULP_TRY(ulp_policy_resolve(&t->rows, t->policy, net, error));
    ULP_TRY(ulp_learner_check_lengths(t, t->policy, t->rows, error));
    return ulp_optimizer_divide(&t->optimizer, &t->model.net, t->rows, error);
}

ulp_status ulp_learner_run_on(ulp_trainer *t, const ulp_backend *backend, uint64_t seed, ulp_error *error) {
    t->pass.run =
        (ulp_pass_run){.backend = backend, .policy = t->policy, .rows = t->rows, .seed = seed, .profile = &t->profile};
    const ulp_status status = backend ? ULP_OK : ulp_backend_get(&t->pass.run.backend, NULL);
    if (status != ULP_OK) return ulp_fail(error, status, "no backend");
    return ulp_policy_runs_on(t->policy, t->pass.run.backend, error);
}

ulp_status ulp_learner_start(ulp_trainer *t, void (*carve)(void *own, ulp_arena *arena), void *own, double init_std,
                             double (*clock)(void)) {
    const ulp_data *d = t->data;
    if (d) {
        t->order = calloc(d->n_train, sizeof *t->order);
        t->label = calloc(t->model.room, d->labels);
        t->input = calloc(t->model.room * d->features, sizeof *t->input);
        if (!t->order || !t->label || !t->input) return ULP_NO_MEMORY;
    }
    ULP_TRY(ulp_model_alloc(&t->model, &t->pass, &t->arena, carve, own));
    ULP_TRY(ulp_loss_scales_start(&t->loss_scales, &t->scaler, &t->model.net));
    ULP_TRY(ulp_optimizer_start_net(&t->optimizer, &t->pass, &t->model.net, t->model.state, init_std));
    return clock ? ulp_profile_init(&t->profile, t->model.net.count, clock) : ULP_OK;
}

void ulp_learner_release(ulp_trainer *t) {
    ulp_arena_release(&t->arena);
    ulp_loss_scales_release(&t->loss_scales);
    ulp_optimizer_release(&t->optimizer);
    ulp_profile_release(&t->profile);
    free(t->policy);
    free(t->rows);
    free(t->order);
    free(t->label);
    free(t->input);
    ulp_model_release(&t->model, &t->pass);
}

/* ---- batches ---- */

const uint32_t *ulp_learner_rows(ulp_trainer *t) {
    const uint64_t per_epoch = t->data->n_train / t->batch, epoch = t->step / per_epoch;
    if (t->epoch != epoch + 1) {
        const ulp_stream stream = {t->pass.run.seed, ulp_stream_id(ULP_USE_SHUFFLE, 0, 0, epoch), 0};
        ulp_permutation(t->order, t->data->n_train, stream);
        t->epoch = epoch + 1;
    }
    return t->order + (t->step % per_epoch) * t->batch;
}

ulp_status ulp_learner_gather(ulp_trainer *t, const uint32_t *rows, size_t B) {
    const ulp_data *d = t->data;
    float value[256];
    for (size_t i = 0; i < 256; i++) value[i] = (float)i / (float)d->white;
    for (size_t b = 0; b < B; b++) {
        const size_t row = rows ? rows[b] : t->pass.now.first + b;
        const uint8_t *pixel = d->value ? NULL : d->pixel + row * d->features;
        float *to = t->input + b * d->features;
        if (d->value) memcpy(to, d->value + row * d->features, d->features * sizeof *to);
        for (size_t i = 0; i < d->features && pixel; i++) to[i] = value[pixel[i]];
        memcpy(t->label + b * d->labels, d->label + row * d->labels, d->labels);
    }
    return t->pass.run.backend->upload(t->model.tensor[0], t->input, B * d->features * sizeof(float));
}

ulp_status ulp_learner_round_input(ulp_trainer *t) {
    const size_t n = ulp_dims_size(t->model.net.in);
    if (t->data && t->data->tokens) return ULP_OK; /* numbers of tokens are exact */
    return ulp_pass_round(&t->pass, ulp_site_of(ULP_AT_ACT, 0, n), t->model.tensor[0], t->pass.now.B * n);
}

/* ---- steps ---- */

void ulp_learner_begin(ulp_trainer *t, size_t B) {
    t->pass.now = (ulp_pass_now){.step = t->step,
                                 .counting = t->counting,
                                 .B = B,
                                 .scales = ulp_loss_scales_begin(&t->loss_scales, &t->scaler),
                                 .observer = t->observer};
    ulp_pass_begin(&t->pass);
}

static void fill_report(ulp_step *r, const ulp_trainer *t, const ulp_gradient_check *check) {
    const ulp_pass *pass = &t->pass;
    *r = (ulp_step){.step = t->step,
                    .loss = r->loss,
                    .scale_log2 = pass->now.scales.log2,
                    .layer_scale = pass->now.scales.layer,
                    .overflow = check->overflow,
                    .skipped = check->skip,
                    .norm = check->skip ? 0.0 : t->optimizer.norm,
                    .coefficient = check->skip ? 1.0 : (double)t->optimizer.coefficient,
                    .act = pass->counts.rounded[ULP_AT_ACT],
                    .agrad = pass->counts.rounded[ULP_AT_AGRAD],
                    .wgrad = pass->counts.rounded[ULP_AT_WGRAD],
                    .agrad_all = pass->counts.all[ULP_AT_AGRAD],
                    .wgrad_all = pass->counts.all[ULP_AT_WGRAD]};
}

ulp_status ulp_learner_update(ulp_trainer *t, ulp_step *report) {
    ulp_gradient_check check;
    double began = ulp_learner_enter(t, ULP_TIME_CHECK);
    ULP_TRY(ulp_loss_scales_end(&t->loss_scales, &t->scaler, &t->pass, &t->model, &check));
    ulp_profile_leave(&t->profile, began);
    began = ulp_learner_enter(t, ULP_TIME_UPDATE);
    if (!check.skip) {
        ULP_TRY(ulp_optimizer_step(&t->optimizer, &t->pass, t->model.wgrad, t->loss_scales.span, t->loss_scales.spans));
        ULP_TRY(ulp_optimizer_scale_weights(&t->optimizer, &t->pass, &t->model.net));
    }
    ulp_profile_leave(&t->profile, began);
    fill_report(report, t, &check);
    t->profile.steps++;
    t->step++;
    return ULP_OK;
}
