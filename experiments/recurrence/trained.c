/* trained.c - networks that have learned the digits: their states and gradients, and what they reach in few bits. */
#include "recurrence.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/harness/training/load.h"
#include "experiments/harness/training/training.h"
#include "kernels/functions/softmax.h"

enum { BATCHES = 8 };

const arithmetic answering[ANSWERING] = {
    {"binary32", "fp32", 24, NULL, 0},
    {"mixed:binary16", "mixed:fp16", 11, NULL, 0},
    {"mixed:bfloat16", "mixed:bf16", 8, NULL, 0},
    {"binary16", "fp16", 11, NULL, 0},
    {"bfloat16", "bf16", 8, NULL, 0},
    {"mixed:e4m3", "mixed:e4m3@amax", 4, NULL, 0},
};
const arithmetic backward[BACKWARD] = {
    {"binary32", "fp32", 24, NULL, 0},
    {"mixed:binary16", "mixed:fp16", 11, NULL, 0},
    {"mixed:binary16", "mixed:fp16", 11, NULL, 12},
    {"mixed:bfloat16", "mixed:bf16", 8, NULL, 0},
};
const arithmetic learning[LEARNING] = {
    {"binary32", "fp32", 24, "none", 0},
    {"mixed:binary16", "mixed:fp16", 11, "pytorch", 0},
    {"binary16", "fp16", 11, "none", 0},
    {"bfloat16", "bf16", 8, "none", 0},
};

/* ulp_net_release(&to->net) in either case. */
static ulp_status read_training(ulp_training_rules *to, const ulp_run *run, const ulp_data *data,
                                const ulp_point *point, const arithmetic *a) {
    char net[64];
    snprintf(net, sizeof net, "rows %s%d last fc10", cells[point->at[AT_WHICH]].name,
             (int)ulp_option_integer(run, "hidden"));
    to->scaler = *ulp_scaler_rule_find(a->scaler);
    to->options = (ulp_train_options){.net = &to->net,
                                      .policy = &to->policy,
                                      .scaler = &to->scaler,
                                      .optimizer = &to->optimizer,
                                      .batch = (size_t)ulp_option_integer(run, "batch"),
                                      .seed = (uint64_t)point->at[AT_SEED],
                                      .backend = ulp_run_backend(run)};
    ulp_status status = ulp_net_read(run, &to->net, net, data->dims);
    if (status == ULP_OK) status = ulp_policy_read(run, &to->policy, a->policy, a->name);
    return status == ULP_OK ? ulp_optimizer_read(run, &to->optimizer, ulp_option_text(run, "optimizer")) : status;
}

ulp_status check_training(const ulp_run *run, const ulp_data *data, const ulp_point *point) {
    ulp_training_rules r;
    ulp_status status = ULP_OK;
    for (size_t p = 0; p < (point->at[AT_PART] == TRAINING ? LEARNING : 1) && status == ULP_OK; p++) {
        status = read_training(&r, run, data, point, &learning[p]);
        if (status == ULP_OK) status = ulp_training_check(ulp_run_plan(run), data, &r.options);
        ulp_net_release(&r.net);
    }
    return status;
}

static uint64_t steps_of(const ulp_run *run, const ulp_data *data) {
    return (uint64_t)ulp_option_integer(run, "epochs") *
           ulp_epoch_steps(data, (size_t)ulp_option_integer(run, "batch"));
}

/* w (params): the trained weights, or NULL. */
static ulp_status train(const ulp_run *run, const ulp_data *data, const ulp_train_options *o, float *w,
                        ulp_score *score, ulp_rows *rows) {
    ulp_trainer *t;
    ulp_status status = ulp_training_before(&t, ulp_rows_task(rows), data, o, steps_of(run, data), 0.9);
    if (status == ULP_OK) status = ulp_trainer_score(t, ULP_TEST_PART, score);
    if (status == ULP_OK && w) status = ulp_trainer_weights(t, w, NULL);
    ulp_trainer_free(t);
    return status;
}

static void read_samples(engine *e, const ulp_data *d, size_t first) {
    for (size_t i = 0; i < e->B * d->features; i++) {
        e->x[i] = (float)d->pixel[first * d->features + i] / (float)d->white;
        e->x64[i] = (double)e->x[i];
    }
    e->pass.now.first = first;
}

/* Backward from p (B,DIGITS), the probabilities of binary32, under the policy of the last forward. */
static ulp_status go_back(engine *e, const float *p, const uint8_t *label, int scale_log2) {
    for (size_t j = 0; j < e->B * DIGITS; j++)
        e->top[j] =
            ulp_softmax_slope(p[j], (uint32_t)(j % DIGITS == label[j / DIGITS]), ulp_scale(1.0, scale_log2), e->B);
    return engine_backward(e, scale_log2);
}

/* p (B,DIGITS) from the net's output. */
static ulp_status probabilities(engine *e, float *p) {
    float z[SAMPLES_MAX * DIGITS];
    ulp_status status =
        e->pass.run.backend->download(z, e->model.tensor[e->model.net.count], e->B * DIGITS * sizeof(float));
    if (status != ULP_OK) return status;
    for (size_t b = 0; b < e->B; b++) {
        double row[DIGITS];
        const double largest = ulp_softmax_largest(z + b * DIGITS, DIGITS);
        for (size_t j = 0; j < DIGITS; j++) row[j] = ulp_exp((double)z[b * DIGITS + j] - largest);
        const double sum = ulp_softmax_sum(row, DIGITS);
        for (size_t j = 0; j < DIGITS; j++) p[b * DIGITS + j] = (float)(row[j] / sum);
    }
    return ULP_OK;
}

static ulp_status forward_in(engine *e, const ulp_run *run, const arithmetic *a) {
    ulp_policy policy;
    ulp_status status = ulp_policy_read(run, &policy, a->policy, a->name);
    return status == ULP_OK ? engine_forward(e, &policy) : status;
}

/* One batch, forward and back under every arithmetic. */
static ulp_status run_batch(engine *e, const ulp_run *run, const ulp_data *data, size_t first, errors *forth,
                            losses *back) {
    float p[SAMPLES_MAX * DIGITS];
    const uint8_t *label = data->label + first;
    read_samples(e, data, first);
    ulp_status status = engine_reference(e, e->h64);
    for (size_t i = 0; i < ANSWERING && status == ULP_OK; i++) {
        status = forward_in(e, run, &answering[i]);
        if (status == ULP_OK) add_errors(&forth[i], e, NULL);
        if (status == ULP_OK && i == 0) status = probabilities(e, p);
    }
    for (size_t i = 0; i < BACKWARD && status == ULP_OK; i++) {
        status = forward_in(e, run, &backward[i]);
        if (status == ULP_OK) status = go_back(e, p, label, backward[i].scale_log2);
        if (i == 0) memcpy(e->dh32, e->dh, e->T * e->B * e->N * sizeof(float));
        add_losses(&back[i], e, backward[i].scale_log2);
    }
    return status;
}

static void put_score(ulp_rows *rows, key k, const arithmetic *a, size_t steps, double accuracy) {
    k.part = "training";
    k.arithmetic = a->name;
    k.bits = a->bits;
    k.scale_log2 = 0;
    put_row(rows, &k, steps, (const double[VALUES]){NAN, NAN, NAN, NAN, accuracy});
}

ulp_status compute_trained(const ulp_run *run, const ulp_data *data, const ulp_point *point, ulp_rows *rows) {
    ulp_training_rules r;
    const size_t batch = (size_t)ulp_option_integer(run, "batch");
    size_t c = (size_t)point->at[AT_WHICH];
    key k = {.cell = cells[c].name, .seed = point->at[AT_SEED], .mode = "rne", .sums = "policy", .gain = 0};
    errors *forth = calloc(ANSWERING, sizeof *forth);
    losses *back = calloc(BACKWARD, sizeof *back);
    engine e = {0};
    ulp_score score;
    ulp_status status = read_training(&r, run, data, point, &learning[0]);
    if (status == ULP_OK && !(forth && back)) status = ULP_NO_MEMORY;
    if (status == ULP_OK) status = engine_start(&e, run, &r.net, batch, 1, c);
    if (status == ULP_OK) status = train(run, data, &r.options, e.w, &score, rows);
    for (size_t b = 0; b < BATCHES && (b + 1) * batch <= data->n_train && status == ULP_OK; b++)
        status = run_batch(&e, run, data, b * batch, forth, back);
    if (status == ULP_OK) put_score(rows, k, &learning[0], steps_of(run, data), score.accuracy);
    k.part = "trained";
    for (size_t i = 0; i < ANSWERING && status == ULP_OK; i++) {
        k.arithmetic = answering[i].name;
        k.bits = answering[i].bits;
        put_errors(rows, &k, &forth[i], e.T);
    }
    k.part = "trained-back";
    for (size_t i = 0; i < BACKWARD && status == ULP_OK; i++) {
        k.arithmetic = backward[i].name;
        k.bits = backward[i].bits;
        k.scale_log2 = backward[i].scale_log2;
        put_losses(rows, &k, &back[i], e.T);
    }
    engine_end(&e);
    ulp_net_release(&r.net);
    free(forth);
    free(back);
    return status;
}

ulp_status compute_training(const ulp_run *run, const ulp_data *data, const ulp_point *point, ulp_rows *rows) {
    ulp_training_rules r;
    const arithmetic *a = &learning[point->at[AT_POLICY]];
    ulp_score score;
    ulp_status status = read_training(&r, run, data, point, a);
    if (status == ULP_OK) status = train(run, data, &r.options, NULL, &score, rows);
    ulp_net_release(&r.net);
    if (status != ULP_OK) return status;
    put_score(
        rows,
        (key){.cell = cells[point->at[AT_WHICH]].name, .seed = point->at[AT_SEED], .mode = "rne", .sums = "policy"}, a,
        steps_of(run, data), score.accuracy);
    return ULP_OK;
}
