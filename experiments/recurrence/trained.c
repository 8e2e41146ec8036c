/* trained.c - states and gradients of networks that have learned the digits, and accuracies of training in few bits. */
#include "recurrence.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/harness/training/training.h"
#include "kernels/functions/elementwise.h"

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

static ulp_train_options options_of(const settings *s, const context *x, const point *at) {
    return (ulp_train_options){.net = &x->net[at->cell],
                               .policy = at->learning ? &x->learning[at->learning] : &x->plain[at->cell],
                               .scaler = at->learning ? ulp_scaler_rule_find(learning[at->learning].scaler)
                                                      : &x->scaler[at->cell],
                               .optimizer = &s->optimizer.rule,
                               .batch = (size_t)s->batch,
                               .seed = at->seed,
                               .backend = s->backend};
}

ulp_status plan_training(ulp_plan *plan, const settings *s, context *x, int c, int arithmetics) {
    ulp_text text = {0};
    const ulp_word cell = ulp_word_of(CELL_WORDS, (size_t)c);
    ulp_text_print(&text, "rows %s%lld last fc10", cell.text, (long long)s->hidden);
    ulp_status status = ULP_OK;
    if (x->net[c].count == 0) status = ulp_plan_read_net(plan, &x->net[c], ulp_text_of(&text), x->data.dims);
    x->plain[c] = x->learning[0];
    x->scaler[c] = *ulp_scaler_rule_find(learning[0].scaler);
    if (status == ULP_OK) status = ulp_plan_amp(plan, &x->plain[c], &x->scaler[c], &s->how.amp, &x->net[c], cell.text);
    for (int p = 0; p < arithmetics && status == ULP_OK; p++) {
        const ulp_train_options o = options_of(s, x, &(point){.cell = c, .learning = p});
        status = ulp_training_check(plan, &x->data, &o);
    }
    ulp_text_free(&text);
    return status;
}

static uint64_t steps_of(const settings *s, const ulp_data *data) {
    return (uint64_t)s->epochs * ulp_epoch_steps(data, (size_t)s->batch);
}

/* Trains a network. w (params) gets the trained weights; it may be NULL. */
static ulp_status train(const ulp_task *task, float *w, ulp_score *score) {
    const settings *s = task->settings;
    const context *x = task->context;
    const ulp_train_options o = options_of(s, x, task->point);
    ulp_trainer *t;
    ulp_status status = ulp_training_before(&t, task, &x->data, &o, steps_of(s, &x->data), 0.9);
    if (status == ULP_OK) status = ulp_trainer_score(t, ULP_TEST_PART, score);
    if (status == ULP_OK && w) status = ulp_trainer_weights(t, w, NULL);
    ulp_training_close(task, t);
    return status;
}

static void read_samples(engine *e, const ulp_data *d, size_t first) {
    for (size_t i = 0; i < e->B * d->features; i++) {
        e->x[i] = (float)d->pixel[first * d->features + i] / (float)d->white;
        e->x64[i] = (double)e->x[i];
    }
    e->pass.now.first = first;
}

/* Runs backward under the policy of the last forward run, from the probabilities p (B,DIGITS) of binary32. */
static ulp_status go_back(engine *e, const float *p, const uint8_t *label, int scale_log2) {
    for (size_t j = 0; j < e->B * DIGITS; j++)
        e->top[j] =
            ulp_softmax_slope(p[j], (uint32_t)(j % DIGITS == label[j / DIGITS]), ulp_scale(1.0, scale_log2), e->B);
    return engine_backward(e, scale_log2);
}

/* p (B,DIGITS) gets the softmax of the output of the net. */
static ulp_status probabilities(engine *e, float *p) {
    float z[SAMPLES_MAX * DIGITS];
    ULP_TRY(e->pass.run.backend->download(z, e->model.tensor[e->model.net.count], e->B * DIGITS * sizeof(float)));
    for (size_t b = 0; b < e->B; b++) {
        double terms[DIGITS];
        const double largest = ulp_softmax_largest(z + b * DIGITS, DIGITS);
        for (size_t j = 0; j < DIGITS; j++) terms[j] = ulp_exp((double)z[b * DIGITS + j] - largest);
        const double sum = ulp_softmax_sum(terms, DIGITS);
        for (size_t j = 0; j < DIGITS; j++) p[b * DIGITS + j] = (float)(terms[j] / sum);
    }
    return ULP_OK;
}

/* Runs one batch forward and backward under every arithmetic. */
static ulp_status run_batch(engine *e, const context *x, size_t first, errors *forth, losses *back) {
    float p[SAMPLES_MAX * DIGITS];
    const uint8_t *label = x->data.label + first;
    read_samples(e, &x->data, first);
    ulp_status status = engine_reference(e, e->h64);
    for (size_t i = 0; i < ANSWERING && status == ULP_OK; i++) {
        status = engine_forward(e, &x->answering[i]);
        if (status == ULP_OK) add_errors(&forth[i], e, NULL);
        if (status == ULP_OK && i == 0) status = probabilities(e, p);
    }
    for (size_t i = 0; i < BACKWARD && status == ULP_OK; i++) {
        status = engine_forward(e, &x->backward[i]);
        if (status == ULP_OK) status = go_back(e, p, label, backward[i].scale_log2);
        if (i == 0) memcpy(e->dh32, e->dh, e->T * e->B * e->N * sizeof(float));
        add_losses(&back[i], e, backward[i].scale_log2);
    }
    return status;
}

/* A row of the point with the names of an arithmetic. */
static row row_in(const ulp_task *task, int part, const arithmetic *a) {
    row r = row_of(task);
    r.part = part;
    r.sums = SUMS_POLICY;
    r.arithmetic = a->name;
    r.bits = a->bits;
    r.scale_log2 = a->scale_log2;
    return r;
}

static void put_score(const ulp_task *task, const ulp_score *score) {
    const context *x = task->context;
    row r = row_in(task, TRAINING, &learning[((const point *)task->point)->learning]);
    r.step = (int64_t)steps_of(task->settings, &x->data);
    r.accuracy = score->accuracy;
    ulp_row_put(task->rows, &r);
}

ulp_status compute_trained(const ulp_task *task) {
    const settings *s = task->settings;
    const context *x = task->context;
    const int c = ((const point *)task->point)->cell;
    const size_t batch = (size_t)s->batch;
    errors *forth = calloc(ANSWERING, sizeof *forth);
    losses *back = calloc(BACKWARD, sizeof *back);
    engine e = {0};
    ulp_score score;
    ulp_status status = forth && back ? ULP_OK : ULP_NO_MEMORY;
    if (status == ULP_OK) status = engine_start(&e, s->backend, &x->net[c], batch, 1, c);
    if (status == ULP_OK) status = train(task, e.w, &score);
    for (size_t b = 0; b < BATCHES && (b + 1) * batch <= x->data.n_train && status == ULP_OK; b++)
        status = run_batch(&e, x, b * batch, forth, back);
    if (status == ULP_OK) {
        put_score(task, &score);
        for (size_t i = 0; i < ANSWERING; i++)
            put_errors(task->rows, row_in(task, TRAINED, &answering[i]), &forth[i], e.T);
        for (size_t i = 0; i < BACKWARD; i++)
            put_losses(task->rows, row_in(task, TRAINED_BACK, &backward[i]), &back[i], e.T);
    }
    engine_end(&e);
    free(forth);
    free(back);
    return status;
}

ulp_status compute_training(const ulp_task *task) {
    ulp_score score;
    ULP_TRY(train(task, NULL, &score));
    put_score(task, &score);
    return ULP_OK;
}
