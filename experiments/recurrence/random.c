/* random.c - runs untrained Elman networks with different gains of their recurrent weights. */
#include "recurrence.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/normal.h"

/* Rounds x to a number that both formats hold. */
static float round_to_both(double x, const ulp_format *a, const ulp_format *b) {
    const ulp_rule nearest = {.mode = ULP_RNE};
    return (float)ulp_round(ulp_round(x, a, nearest, 0), b, nearest, 0);
}

static ulp_status draw(engine *e, double gain, uint64_t seed) {
    ulp_format bf16, fp16;
    ULP_TRY(ulp_format_parse(&bf16, "bf16"));
    ULP_TRY(ulp_format_parse(&fp16, "fp16"));
    ulp_stream weights = ulp_stream_named(seed, "recurrence weights"),
               inputs = ulp_stream_named(seed, "recurrence inputs");
    size_t in = FEATURES * e->N, x = e->B * FEATURES * e->T;
    double w_std = 0.25 / sqrt(FEATURES), u_std = gain / sqrt((double)e->N);
    for (size_t i = 0; i < in + e->N * e->N; i++)
        e->w[i] = round_to_both((i < in ? w_std : u_std) * ulp_random_normal(weights, i), &bf16, &fp16);
    for (size_t i = 0; i < x; i++) {
        e->x[i] = round_to_both(ulp_random_normal(inputs, i), &bf16, &fp16);
        e->x64[i] = (double)e->x[i];
    }
    return ULP_OK;
}

/* Whether a format holds every weight and input. Otherwise not only the state would be rounded. */
static int holds(const engine *e, const ulp_format *format) {
    const ulp_rule nearest = {.mode = ULP_RNE};
    size_t w = e->model.net.params, x = e->B * FEATURES * e->T;
    for (size_t i = 0; i < w + x; i++) {
        double value = (double)(i < w ? e->w[i] : e->x[i - w]);
        if (ulp_round(value, format, nearest, 0) != value) return 0;
    }
    return 1;
}

static ulp_status run_random(engine *e, const row *r, const ulp_policy *policy, ulp_rows *rows) {
    errors sum = {0};
    ULP_TRY(engine_forward(e, policy));
    add_errors(&sum, e, NULL);
    put_errors(rows, *r, &sum, e->T);
    return ULP_OK;
}

static ulp_status run_perturbed(engine *e, row r, ulp_rows *rows) {
    errors sum = {0};
    for (size_t i = 0; i < e->B * FEATURES; i++) e->x64[i * e->T] += 0x1p-40;
    ULP_TRY(engine_reference(e, e->moved));
    r.arithmetic = "perturbed";
    r.sums = SUMS_BINARY64;
    r.bits = 53;
    add_errors(&sum, e, e->moved);
    put_errors(rows, r, &sum, e->T);
    return ULP_OK;
}

/* Runs backward with N(0,1) numbers as dL/dh_T, times 2^scale_log2. The numbers are the same for every policy. The
 * other steps have no loss of their own. */
static ulp_status go_back(engine *e, const ulp_policy *policy, int scale_log2, uint64_t seed) {
    ulp_format bf16, fp16;
    ulp_stream top = ulp_stream_named(seed, "recurrence gradient");
    ULP_TRY(engine_forward(e, policy));
    ULP_TRY(ulp_format_parse(&bf16, "bf16"));
    ULP_TRY(ulp_format_parse(&fp16, "fp16"));
    for (size_t i = 0; i < e->B * e->N; i++)
        for (size_t t = 0; t < e->T; t++)
            e->top[i * e->T + t] =
                t + 1 < e->T ? 0
                             : ulp_scale((double)round_to_both(ulp_random_normal(top, i), &bf16, &fp16), scale_log2);
    return engine_backward(e, scale_log2);
}

static ulp_status run_backward(engine *e, const context *x, row r, ulp_rows *rows) {
    ulp_status status = ULP_OK;
    losses *sum = malloc(sizeof *sum);
    if (sum == NULL) return ULP_NO_MEMORY;
    r.part = RANDOM_BACK;
    r.sums = SUMS_BINARY32;
    for (size_t i = 0; i < BACKWARD && status == ULP_OK; i++) {
        memset(sum, 0, sizeof *sum);
        status = go_back(e, &x->backward[i], backward[i].scale_log2, (uint64_t)r.seed);
        if (i == 0) memcpy(e->dh32, e->dh, e->T * e->B * e->N * sizeof(float));
        r.arithmetic = backward[i].name;
        r.bits = backward[i].bits;
        r.scale_log2 = backward[i].scale_log2;
        add_losses(sum, e, backward[i].scale_log2);
        if (status == ULP_OK) put_losses(rows, r, sum, e->T);
    }
    free(sum);
    return status;
}

/* Runs one format: in every mode with sums in binary32, and with sums in the format. */
static ulp_status run_format(engine *e, const ulp_task *task, size_t f, row r) {
    const settings *s = task->settings;
    const context *x = task->context;
    const ulp_format *format = &s->formats.at[f];
    ulp_status status = ULP_OK;
    r.arithmetic = format->name;
    r.bits = format->prec;
    r.sums = SUMS_BINARY32;
    for (size_t m = 0; m < s->modes.count && s->sums & 1 << SUMS_BINARY32 && status == ULP_OK; m++) {
        ulp_policy policy = x->fp32;
        r.mode = s->modes.at[m].name;
        status = ulp_policy_set(&policy, ULP_AT_ACT, format, ULP_UNSCALED, 0);
        policy.at[ULP_AT_ACT].rule = s->modes.at[m].rule;
        if (status == ULP_OK) status = run_random(e, &r, &policy, task->rows);
    }
    /* for binary32, sums in the format are sums in binary32: there is no second run */
    if (status != ULP_OK || strcmp(format->name, "binary32") == 0 || !(s->sums & 1 << SUMS_OWN)) return status;
    r.mode = "rne";
    r.sums = SUMS_OWN;
    return run_random(e, &r, &x->own[f], task->rows);
}

static ulp_status run_formats(engine *e, const ulp_task *task, const row *r) {
    const settings *s = task->settings;
    ulp_status status = ULP_OK;
    for (size_t f = 0; f < s->formats.count && status == ULP_OK; f++) {
        if (!holds(e, &s->formats.at[f]))
            return ulp_task_fail(task, ULP_BAD_ARGUMENT, "--formats %s: does not hold the network's weights and inputs",
                                 s->formats.at[f].name);
        status = run_format(e, task, f, *r);
        if (ulp_task_progress(task, 0.8 * (double)(f + 1) / (double)s->formats.count)) break;
    }
    return status;
}

ulp_status compute_random(const ulp_task *task) {
    const settings *s = task->settings;
    const context *x = task->context;
    const point *at = task->point;
    row r = row_of(task);
    engine e = {0};
    r.part = RANDOM;
    ulp_status status = engine_start(&e, s->backend, &x->random_net, (size_t)s->sequences, 0, RNN);
    e.pass.run.seed = at->seed;
    if (status == ULP_OK) status = draw(&e, at->gain, at->seed);
    if (status == ULP_OK) status = engine_reference(&e, e.h64);
    if (status == ULP_OK) status = run_formats(&e, task, &r);
    if (status == ULP_OK) status = run_backward(&e, x, r, task->rows);
    if (status == ULP_OK) status = run_perturbed(&e, r, task->rows);
    engine_end(&e);
    return status;
}
