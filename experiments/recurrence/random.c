/* random.c - untrained Elman networks, by the gain of their recurrent weights. */
#include "recurrence.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/harness/training/load.h"
#include "sim/normal.h"

/* Numbers of binary16 and of bfloat16 at once. */
static float common(double x, const ulp_format *a, const ulp_format *b) {
    const ulp_rule nearest = {.mode = ULP_RNE};
    return (float)ulp_round(ulp_round(x, a, nearest, 0), b, nearest, 0);
}

static ulp_status draw(engine *e, double gain, uint64_t seed) {
    ulp_format bf16, fp16;
    ulp_status status = ulp_format_parse(&bf16, "bf16");
    if (status == ULP_OK) status = ulp_format_parse(&fp16, "fp16");
    if (status != ULP_OK) return status;
    ulp_stream weights = ulp_stream_named(seed, "recurrence weights"),
               inputs = ulp_stream_named(seed, "recurrence inputs");
    size_t in = FEATURES * e->N, x = e->B * FEATURES * e->T;
    double w_std = 0.25 / sqrt(FEATURES), u_std = gain / sqrt((double)e->N);
    for (size_t i = 0; i < in + e->N * e->N; i++)
        e->w[i] = common((i < in ? w_std : u_std) * ulp_random_normal(weights, i), &bf16, &fp16);
    for (size_t i = 0; i < x; i++) {
        e->x[i] = common(ulp_random_normal(inputs, i), &bf16, &fp16);
        e->x64[i] = (double)e->x[i];
    }
    return ULP_OK;
}

/* Whether a format holds every weight and input: else more than the state would be rounded. */
static int holds(const engine *e, const ulp_format *format) {
    const ulp_rule nearest = {.mode = ULP_RNE};
    size_t w = e->model.net.params, x = e->B * FEATURES * e->T;
    for (size_t i = 0; i < w + x; i++) {
        double value = (double)(i < w ? e->w[i] : e->x[i - w]);
        if (ulp_round(value, format, nearest, 0) != value) return 0;
    }
    return 1;
}

static ulp_status run_random(engine *e, const key *k, const ulp_policy *policy, ulp_rows *rows) {
    errors sum = {0};
    ulp_status status = engine_forward(e, policy);
    if (status != ULP_OK) return status;
    add_errors(&sum, e, NULL);
    put_errors(rows, k, &sum, e->T);
    return ULP_OK;
}

static ulp_status run_perturbed(engine *e, key k, ulp_rows *rows) {
    errors sum = {0};
    for (size_t i = 0; i < e->B * FEATURES; i++) e->x64[i * e->T] += 0x1p-40;
    ulp_status status = engine_reference(e, e->moved);
    if (status != ULP_OK) return status;
    k.arithmetic = "perturbed";
    k.mode = "rne";
    k.sums = "binary64";
    k.bits = 53;
    add_errors(&sum, e, e->moved);
    put_errors(rows, &k, &sum, e->T);
    return ULP_OK;
}

/* Backward from the same N(0,1) numbers as dL/dh_T, times 2^scale_log2; the other steps have no loss of their own. */
static ulp_status go_back(engine *e, const ulp_run *run, const arithmetic *a, uint64_t seed) {
    ulp_format bf16, fp16;
    ulp_stream top = ulp_stream_named(seed, "recurrence gradient");
    ulp_policy policy;
    ulp_status status = ulp_policy_read(run, &policy, a->policy, a->name);
    if (status == ULP_OK) status = engine_forward(e, &policy);
    if (status == ULP_OK) status = ulp_format_parse(&bf16, "bf16");
    if (status == ULP_OK) status = ulp_format_parse(&fp16, "fp16");
    if (status != ULP_OK) return status;
    for (size_t i = 0; i < e->B * e->N; i++)
        for (size_t t = 0; t < e->T; t++)
            e->top[i * e->T + t] =
                t + 1 < e->T ? 0 : ulp_scale((double)common(ulp_random_normal(top, i), &bf16, &fp16), a->scale_log2);
    return engine_backward(e, a->scale_log2);
}

static ulp_status run_backward(engine *e, const ulp_run *run, key k, ulp_rows *rows) {
    ulp_status status = ULP_OK;
    losses *sum = malloc(sizeof *sum);
    if (sum == NULL) return ULP_NO_MEMORY;
    k.part = "random-back";
    k.sums = "binary32";
    for (size_t i = 0; i < BACKWARD && status == ULP_OK; i++) {
        memset(sum, 0, sizeof *sum);
        status = go_back(e, run, &backward[i], (uint64_t)k.seed);
        if (i == 0) memcpy(e->dh32, e->dh, e->T * e->B * e->N * sizeof(float));
        k.arithmetic = backward[i].name;
        k.bits = backward[i].bits;
        k.scale_log2 = backward[i].scale_log2;
        add_losses(sum, e, k.scale_log2);
        if (status == ULP_OK) put_losses(rows, &k, sum, e->T);
    }
    free(sum);
    return status;
}

static ulp_status run_formats(engine *e, const ulp_run *run, key k, ulp_rows *rows) {
    size_t formats, modes;
    ulp_policy policy;
    ulp_status status = ULP_OK;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const ulp_named_rule *mode = ulp_run_modes(run, &modes);
    for (size_t f = 0; f < formats && status == ULP_OK; f++) {
        /* binary32's state is the tanh of sums in binary32: it has no other sums, and no rounding after them but its
         * own */
        int plain = strcmp(format[f].name, "binary32") == 0;
        if (!holds(e, &format[f]))
            return ulp_run_fail(run, ULP_BAD_ARGUMENT, "--formats %s: does not hold the network's weights and inputs",
                                format[f].name);
        k.arithmetic = format[f].name;
        k.bits = format[f].prec;
        k.sums = "binary32";
        for (size_t m = 0; m < modes && ulp_option_chosen(run, "sums", "binary32") && status == ULP_OK; m++) {
            k.mode = mode[m].name;
            status = ulp_policy_read(run, &policy, "fp32", "the run in binary32");
            if (status == ULP_OK) status = ulp_policy_set(&policy, ULP_AT_ACT, &format[f], ULP_UNSCALED, 0);
            policy.at[ULP_AT_ACT].rule = mode[m].rule;
            if (status == ULP_OK) status = run_random(e, &k, &policy, rows);
        }
        if (status != ULP_OK || plain || !ulp_option_chosen(run, "sums", "own")) continue;
        k.mode = "rne";
        k.sums = "own";
        status = ulp_policy_read(run, &policy, format[f].name, "--formats");
        if (status == ULP_OK) status = run_random(e, &k, &policy, rows);
        if (ulp_rows_progress(rows, 0.8 * (double)(f + 1) / (double)formats)) break;
    }
    return status;
}

ulp_status compute_random(const ulp_run *run, const ulp_point *point, ulp_rows *rows) {
    size_t gains;
    char net[32];
    key k = {.part = "random",
             .cell = "rnn",
             .mode = "rne",
             .gain = ulp_option_numbers(run, "gains", &gains)[point->at[AT_WHICH]],
             .seed = point->at[AT_SEED]};
    engine e = {0};
    ulp_net parsed;
    snprintf(net, sizeof net, "rnn%d", (int)ulp_option_integer(run, "units"));
    ulp_status status =
        ulp_net_read(run, &parsed, net, (ulp_dims){FEATURES, 1, (size_t)ulp_option_integer(run, "steps")});
    if (status == ULP_OK) status = engine_start(&e, run, &parsed, (size_t)ulp_option_integer(run, "sequences"), 0, 0);
    e.pass.run.seed = (uint64_t)k.seed;
    if (status == ULP_OK) status = draw(&e, k.gain, (uint64_t)k.seed);
    if (status == ULP_OK) status = engine_reference(&e, e.h64);
    if (status == ULP_OK) status = run_formats(&e, run, k, rows);
    if (status == ULP_OK) status = run_backward(&e, run, k, rows);
    if (status == ULP_OK) status = run_perturbed(&e, k, rows);
    engine_end(&e);
    ulp_net_release(&parsed);
    return status;
}
