/* training.c - the loop of a training experiment; see training.h. */
#include "training.h"

#include <math.h>
#include <stdlib.h>

#include "sim/train/checkpoint.h"

/* Sums over the gradients of the counted steps. */
typedef struct gradient_sums {
    uint64_t count, zero, flushed, overflow;
} gradient_sums;

/* The part of a checkpoint in addition to the trainer and the rows so far. */
typedef struct state {
    uint64_t losses; /* the number of terms in `loss` */
    double loss;     /* sum over the steps of the current stretch that were not skipped */
    int64_t diverged, last;
    gradient_sums gradients;
} state;

/* The state of a training that is running. */
typedef struct work {
    const ulp_task *task;
    const ulp_training *training;
    ulp_trainer *trainer;
    state now;
    ulp_checkpoints checkpoints;
    float *before, *after; /* (params) the weights before and after the last step of a stretch, if wanted */
    int watched;           /* `before` holds the weights before the latest step */
} work;

uint64_t ulp_epoch_steps(const ulp_data *data, size_t batch) {
    return batch && data->n_train >= batch ? data->n_train / batch : 1;
}

/* ---- gradients ---- */

static gradient_sums gradients_of(const ulp_step *s) {
    return (gradient_sums){.count = s->agrad_all.count + s->wgrad_all.count,
                           .zero = s->agrad_all.zero + s->wgrad_all.zero,
                           .flushed = s->agrad.underflow + s->wgrad.underflow,
                           .overflow = s->agrad.overflow + s->wgrad.overflow};
}

static void add_gradients(gradient_sums *to, gradient_sums more) {
    to->count += more.count;
    to->zero += more.zero;
    to->flushed += more.flushed;
    to->overflow += more.overflow;
}

static double share(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : ULP_NO_NUMBER; }

static ulp_gradient_shares shares_of(const gradient_sums *s) {
    return (ulp_gradient_shares){share(s->zero, s->count), share(s->flushed, s->count), share(s->overflow, s->count)};
}

ulp_gradient_shares ulp_step_shares(const ulp_step *step) {
    const gradient_sums sums = gradients_of(step);
    return shares_of(&sums);
}

/* ---- start and checkpoints ---- */

void ulp_training_tail(ulp_train_options *options, const ulp_named_tail *tail, uint64_t steps) {
    options->tail = tail && tail->share > 0 ? &tail->policy : NULL;
    options->tail_step = options->tail ? (uint64_t)floor(tail->share * (double)steps) : 0;
}

ulp_status ulp_training_check(const ulp_plan *plan, const ulp_data *data, const ulp_train_options *options) {
    ulp_error error;
    ulp_status status = ulp_train_check(data, options, &error);
    return status == ULP_OK ? ULP_OK : ulp_plan_fail(plan, status, "%s", error.text);
}

static ulp_status start(work *w) {
    return ulp_training_open(&w->trainer, w->task, w->training->data, &w->training->options);
}

static ulp_status save(const void *run, const char *path, const void *note, size_t note_bytes, ulp_error *error) {
    return ulp_checkpoint_save(((const work *)run)->trainer, path, note, note_bytes, error);
}

static ulp_status load(void *run, const char *path, void **note, size_t *note_bytes, ulp_error *error) {
    return ulp_checkpoint_load(((work *)run)->trainer, path, note, note_bytes, error);
}

static ulp_status restart(void *run) {
    work *w = run;
    ulp_trainer_free(w->trainer);
    return start(w);
}

static const ulp_checkpoint_kind trainer_kind = {save, load, restart};

/* ---- the loop ---- */

/* A NaN that an update has put into the weights stays there. All later losses are NaN, too. */
static int is_hopeless(const ulp_step *s) { return isnan(s->loss) && s->overflow && !s->skipped; }

static ulp_status step_of(work *w) {
    const ulp_training *t = w->training;
    state *now = &w->now;
    ulp_step s = {0};
    w->watched = w->before && (w->trainer->step + 1 == t->steps || (w->trainer->step + 1) % t->every == 0);
    if (w->watched) ULP_TRY(ulp_trainer_weights(w->trainer, w->before, NULL));
    if (t->count_every) w->trainer->counting = w->trainer->step % t->count_every == 0;
    ULP_TRY(ulp_trainer_step(w->trainer, &s));
    if (t->record_step) t->record_step(w->task, &s);
    if (t->count_every) add_gradients(&now->gradients, gradients_of(&s));
    if (!s.skipped) now->losses++, now->loss += s.loss;
    now->diverged |= !s.skipped && !isfinite(s.loss);
    now->last = w->trainer->step == t->steps || is_hopeless(&s);
    return ULP_OK;
}

static double moved_share(work *w, ulp_status *status) {
    size_t n = w->trainer->model.net.params, moved = 0;
    if (!w->watched) return NAN;
    *status = ulp_trainer_weights(w->trainer, w->after, NULL);
    for (size_t i = 0; i < n; i++) moved += w->before[i] != w->after[i];
    return (double)moved / (double)n;
}

/* Puts the rows of a stretch that is over, and begins a new stretch; after the last one puts those of the training. */
static ulp_status end_stretch(work *w) {
    const ulp_training *t = w->training;
    state *now = &w->now;
    ulp_status status = ULP_OK;
    ulp_score learned = {0};
    ulp_stretch s = {.steps = w->trainer->step,
                     .diverged = now->diverged != 0,
                     .train_accuracy = ULP_NO_NUMBER,
                     .gradients = shares_of(&now->gradients)};
    const uint64_t per_epoch = ulp_epoch_steps(t->data, t->options.batch);
    s.epochs = (s.steps + per_epoch - 1) / per_epoch;
    s.loss = now->losses ? now->loss / (double)now->losses : NAN;
    s.moved = moved_share(w, &status);
    if (status == ULP_OK) status = ulp_trainer_score(w->trainer, ULP_TEST_PART, &s.test);
    now->losses = 0;
    now->loss = 0;
    if (status == ULP_OK) status = t->record(w->task, w->trainer, &s);
    if (status != ULP_OK || !now->last) return status;
    s.final = 1;
    if (t->want_learned) {
        status = ulp_trainer_score(w->trainer, ULP_TRAIN_PART, &learned);
        s.loss = learned.loss;
        s.train_accuracy = learned.accuracy;
    }
    if (status == ULP_OK) status = t->record(w->task, w->trainer, &s);
    return status;
}

static ulp_status train(work *w) {
    const ulp_training *t = w->training;
    while (!w->now.last) {
        ULP_TRY(step_of(w));
        if (w->now.last || w->trainer->step % t->every == 0) ULP_TRY(end_stretch(w));
        if (w->now.last) break;
        int stop = ulp_task_progress(w->task, (double)w->trainer->step / (double)t->steps);
        ulp_checkpoints_keep(&w->checkpoints, stop);
        if (stop) break;
    }
    return ULP_OK;
}

ulp_status ulp_training_run(const ulp_task *task, const ulp_training *training) {
    work w = {.task = task, .training = training};
    w.checkpoints = (ulp_checkpoints){.task = task,
                                      .kind = &trainer_kind,
                                      .run = &w,
                                      .state = &w.now,
                                      .state_bytes = sizeof w.now,
                                      .seconds = training->checkpoint};
    ulp_status status = start(&w);
    if (status == ULP_OK && training->want_moved) {
        w.before = ulp_grow(NULL, 2 * w.trainer->model.net.params * sizeof *w.before);
        w.after = w.before + w.trainer->model.net.params;
    }
    if (status == ULP_OK) status = ulp_checkpoints_start(&w.checkpoints);
    if (status == ULP_OK) status = train(&w);
    ulp_training_close(task, w.trainer);
    free(w.before);
    return status;
}

ulp_status ulp_training_before(ulp_trainer **trainer, const ulp_task *task, const ulp_data *data,
                               const ulp_train_options *options, uint64_t steps, double share) {
    *trainer = NULL;
    ulp_status status = ulp_training_open(trainer, task, data, options);
    for (uint64_t i = 0; i < steps && status == ULP_OK; i++) {
        status = ulp_trainer_step(*trainer, NULL);
        if (ulp_task_progress(task, share * (double)i / (double)steps)) break;
    }
    return status;
}

/* ---- the cells of a row ---- */

ulp_training_cells ulp_cells_of_step(const ulp_step *step) {
    return (ulp_training_cells){.step = (int64_t)step->step,
                                .scale_log2 = step->scale_log2,
                                .loss = step->loss,
                                .skipped = step->skipped,
                                .gradients = ulp_step_shares(step),
                                .train_accuracy = ULP_NO_NUMBER,
                                .test_accuracy = ULP_NO_NUMBER};
}

ulp_training_cells ulp_cells_of_stretch(const ulp_trainer *trainer, const ulp_stretch *stretch) {
    return (ulp_training_cells){.step = (int64_t)stretch->steps,
                                .epoch = (int64_t)stretch->epochs,
                                .scale_log2 = trainer->scaler.log2,
                                .loss = stretch->loss,
                                .skipped = (int64_t)trainer->scaler.skipped,
                                .diverged = stretch->diverged,
                                .gradients = stretch->gradients,
                                .train_accuracy = stretch->train_accuracy,
                                .test_accuracy = stretch->test.accuracy};
}

ulp_training_mean ulp_training_mean_of(const ulp_table *table, size_t at, ulp_row_match matches, const void *key) {
    ulp_training_mean m = {0};
    const char *row;
    for (size_t i = 0; (row = ulp_table_find(table, &i, matches, key)) != NULL; i++) {
        const ulp_training_cells *cells = (const void *)(row + at);
        m.accuracy += 100 * cells->test_accuracy;
        m.loss += cells->loss;
        m.zero += 100 * cells->gradients.zero;
        m.skipped += (double)cells->skipped;
        m.scale += (double)cells->scale_log2;
        m.diverged += !isfinite(cells->loss);
        m.n++;
    }
    const double n = m.n ? m.n : 1;
    return (ulp_training_mean){m.accuracy / n, m.loss / n, m.zero / n, m.skipped / n, m.scale / n, m.diverged, m.n};
}

void ulp_training_mean_put(ulp_sheet *sheet, const ulp_training_mean *m) {
    ulp_sheet_put_row(sheet, "%.2f,%.4g,%d of %d,%.2f,%.1f,2^%.1f", m->accuracy, m->loss, m->diverged, m->n, m->zero,
                      m->skipped, m->scale);
}
