/* training.c - the loop of a training experiment and its checkpoints; see training.h. */
#include "training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/checksum.h"
#include "sim/checkpoint.h"

/* Sums over the gradients of the counted steps. */
typedef struct gradient_sums {
    uint64_t count, zero, flushed, overflow;
} gradient_sums;

/* What a checkpoint keeps in addition to the trainer: this note, then the rows so far. */
typedef struct note {
    uint32_t run;    /* a checksum of everything that decides the numbers of the point */
    uint64_t losses; /* the number of terms in `loss` */
    double loss;     /* sum over the steps of the current stretch that were not skipped */
    int64_t diverged, last;
    gradient_sums gradients;
    uint64_t rows, row_bytes;
} note;

/* The state of a training that is running. */
typedef struct work {
    const ulp_task *task;
    const ulp_training *training;
    ulp_trainer *trainer;
    note now;
    float *before, *after; /* (params) the weights before and after the last step of a stretch, if wanted */
    int watched;           /* `before` holds the weights before the latest step */
    const char *file;      /* the file of checkpoints; NULL: no checkpoints */
    double saved;          /* the time of the last checkpoint, in seconds of ulp_clock() */
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

/* ---- checkpoints ---- */

/* The checksum of the header of the CSV, which holds every option, and of the label of the point. */
static uint32_t checksum_of(const ulp_task *task) {
    const ulp_text *header = &task->sweep->plan->header;
    const uint32_t crc = ulp_crc32(0, ulp_text_of(header), header->length);
    return ulp_crc32(crc, task->label, strlen(task->label));
}

/* Saves a checkpoint. A checkpoint that cannot be written does not end the run. */
static void save(work *w) {
    const ulp_rows *rows = w->task->rows;
    char error[512];
    ulp_text text = {0};
    w->now.rows = rows->count;
    w->now.row_bytes = rows->text.length;
    ulp_text_add(&text, (const char *)&w->now, sizeof w->now);
    ulp_text_add(&text, ulp_text_of(&rows->text), rows->text.length);
    if (ulp_checkpoint_save(w->trainer, w->file, text.data, text.length, error, sizeof error) != ULP_OK) {
        ulp_complain(w->task->sweep->program, "%s; going on without checkpoints", error);
        w->file = NULL;
    }
    ulp_text_free(&text);
    w->saved = ulp_clock();
}

/* Reads the note of a checkpoint. 0 if the checkpoint is of another run. */
static int take_note(work *w, const char *bytes, size_t n) {
    note stored;
    if (n < sizeof stored) return 0;
    memcpy(&stored, bytes, sizeof stored);
    if (stored.run != w->now.run || n != sizeof stored + stored.row_bytes) return 0;
    w->now = stored;
    ulp_text_add(&w->task->rows->text, bytes + sizeof stored, stored.row_bytes);
    w->task->rows->count = stored.rows;
    return 1;
}

ulp_status ulp_training_check(const ulp_plan *plan, const ulp_data *data, const ulp_train_options *options) {
    char error[1536];
    ulp_status status = ulp_train_check(data, options, error, sizeof error);
    return status == ULP_OK ? ULP_OK : ulp_plan_fail(plan, status, "%s", error);
}

static ulp_status start(work *w) {
    return ulp_training_open(&w->trainer, w->task, w->training->data, &w->training->options);
}

/* Continues from the checkpoint of the point. A checkpoint that is damaged or of another run is ignored. The rows are
 * the same in all cases. */
static ulp_status resume(work *w) {
    char error[1024];
    void *bytes;
    size_t n;
    if (access(w->file, F_OK) != 0) return ULP_OK;
    ulp_status status = ulp_checkpoint_load(w->trainer, w->file, &bytes, &n, error, sizeof error);
    if (status != ULP_OK) {
        ulp_complain(w->task->sweep->program, "%s; '%s' starts from its beginning", error, w->task->label);
        return ULP_OK;
    }
    int is_same_run = take_note(w, bytes, n);
    free(bytes);
    if (is_same_run) return ULP_OK;
    ulp_complain(w->task->sweep->program, "%s is of another run; '%s' starts from its beginning", w->file,
                 w->task->label);
    ulp_trainer_free(w->trainer);
    return start(w);
}

/* ---- the loop ---- */

/* A NaN that an update has put into the weights stays there. All later losses are NaN, too. */
static int is_hopeless(const ulp_step *s) { return isnan(s->loss) && s->overflow && !s->skipped; }

static ulp_status step_of(work *w) {
    const ulp_training *t = w->training;
    note *now = &w->now;
    ulp_step s = {0};
    w->watched = w->before && (w->trainer->step + 1 == t->steps || (w->trainer->step + 1) % t->every == 0);
    ulp_status status = w->watched ? ulp_trainer_weights(w->trainer, w->before, NULL) : ULP_OK;
    if (t->count_every) w->trainer->counting = w->trainer->step % t->count_every == 0;
    if (status == ULP_OK) status = ulp_trainer_step(w->trainer, &s);
    if (status != ULP_OK) return status;
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
    note *now = &w->now;
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
    if (status == ULP_OK) t->record(w->task, w->trainer, &s);
    if (status != ULP_OK || !now->last) return status;
    s.final = 1;
    if (t->want_learned) {
        status = ulp_trainer_score(w->trainer, ULP_TRAIN_PART, &learned);
        s.loss = learned.loss;
        s.train_accuracy = learned.accuracy;
    }
    if (status == ULP_OK) t->record(w->task, w->trainer, &s);
    return status;
}

static ulp_status train(work *w) {
    const ulp_training *t = w->training;
    ulp_status status = ULP_OK;
    while (!w->now.last && status == ULP_OK) {
        status = step_of(w);
        if (status == ULP_OK && (w->now.last || w->trainer->step % t->every == 0)) status = end_stretch(w);
        if (status != ULP_OK || w->now.last) break;
        int stop = ulp_task_progress(w->task, (double)w->trainer->step / (double)t->steps);
        if (w->file && (stop || ulp_clock() - w->saved >= w->training->checkpoint)) save(w);
        if (stop) break;
    }
    return status;
}

ulp_status ulp_training_run(const ulp_task *task, const ulp_training *training) {
    work w = {.task = task, .training = training, .saved = ulp_clock()};
    w.file = training->checkpoint > 0 ? task->file : NULL;
    w.now.run = checksum_of(task);
    ulp_status status = start(&w);
    if (status == ULP_OK && training->want_moved) {
        w.before = ulp_grow(NULL, 2 * w.trainer->model.net.params * sizeof *w.before);
        w.after = w.before + w.trainer->model.net.params;
    }
    if (status == ULP_OK && w.file && task->resumed) status = resume(&w);
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
