/* run.c - the points of gan: one training of two networks with its verdicts and checkpoints, and the real digits. */
#include "gan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/checksum.h"
#include "sim/gan_checkpoint.h"

ulp_gan_options gan_options_of(const context *x, const settings *s, const point *at) {
    const ulp_method *g = &x->method[GENERATOR][at->variant], *d = &x->method[DISCRIMINATOR][at->variant];
    return (ulp_gan_options){
        .generator = {&x->generator, &g->policy, &g->scaler, &s->generator_optimizer.rule},
        .discriminator = {&x->discriminator, &d->policy, &d->scaler, &s->discriminator_optimizer.rule},
        .batch = (size_t)s->batch,
        .seed = at->seed,
        .backend = s->backend};
}

/* Puts the rows of the first samples x, pixel by pixel. Samples of several channels have their mean. */
static void put_pixels(const ulp_task *task, const float *x) {
    const context *c = task->context;
    const ulp_dims d = c->data.dims;
    row r;
    ulp_row_clear(task->rows, &r);
    r.variant = ((const point *)task->point)->variant;
    r.seed = (int64_t)((const point *)task->point)->seed;
    r.what = PIXEL;
    for (r.sample = 0; r.sample < ((const settings *)task->settings)->shown; r.sample++)
        for (size_t i = 0; i < d.h * d.w; i++) {
            const float *pixel = x + (size_t)r.sample * c->data.features + i;
            r.x = (int64_t)(i % d.w);
            r.y = (int64_t)(i / d.w);
            r.value = 0;
            for (size_t k = 0; k < d.c; k++) r.value += (double)pixel[k * d.h * d.w] / (double)d.c;
            ulp_row_put(task->rows, &r);
        }
}

/* The part of a run's state that a checkpoint keeps beside the networks: this note, then the rows so far. */
typedef struct note {
    uint32_t run;                              /* a checksum of everything that decides the numbers of the point */
    double generator_loss, discriminator_loss; /* sums since the row before */
    int64_t count, nan; /* steps since the row before; steps with a NaN loss, up to this one without a gap */
    uint64_t rows, row_bytes;
} note;

/* The state of a run. */
typedef struct run {
    ulp_gan *gan;
    float *x; /* (samples,features) */
    row row;
    note now;
    const char *file; /* the file of checkpoints; NULL: no checkpoints */
    double saved;     /* the time of the last checkpoint, in seconds of ulp_clock() */
} run;

/* ---- checkpoints ---- */

/* The checksum of the header of the CSV, which holds every option, and of the label of the point. */
static uint32_t checksum_of(const ulp_task *task) {
    const ulp_text *header = &task->sweep->plan->header;
    return ulp_crc32(ulp_crc32(0, ulp_text_of(header), header->length), task->label, strlen(task->label));
}

/* Saves a checkpoint. A checkpoint that cannot be written does not end the run. */
static void save(const ulp_task *task, run *w) {
    const ulp_rows *rows = task->rows;
    char error[512];
    ulp_text text = {0};
    w->now.rows = rows->count;
    w->now.row_bytes = rows->text.length;
    ulp_text_add(&text, (const char *)&w->now, sizeof w->now);
    ulp_text_add(&text, ulp_text_of(&rows->text), rows->text.length);
    if (ulp_gan_save(w->gan, w->file, text.data, text.length, error, sizeof error) != ULP_OK) {
        ulp_complain(task->sweep->program, "%s; going on without checkpoints", error);
        w->file = NULL;
    }
    ulp_text_free(&text);
    w->saved = ulp_clock();
}

static ulp_status start(const ulp_task *task, run *w) {
    char error[1536];
    ulp_gan_options o = gan_options_of(task->context, task->settings, task->point);
    o.clock = ulp_profile_clock(task);
    const ulp_status status = ulp_gan_new(&w->gan, &((const context *)task->context)->data, &o, error, sizeof error);
    return status == ULP_OK ? ULP_OK : ulp_task_fail(task, status, "%s", error);
}

/* Takes the note of a checkpoint. 0 if the checkpoint is of another run. */
static int take_note(const ulp_task *task, run *w, const char *bytes, size_t n) {
    note stored;
    if (n < sizeof stored) return 0;
    memcpy(&stored, bytes, sizeof stored);
    if (stored.run != w->now.run || n != sizeof stored + stored.row_bytes) return 0;
    w->now = stored;
    ulp_text_add(&task->rows->text, bytes + sizeof stored, stored.row_bytes);
    task->rows->count = stored.rows;
    return 1;
}

/* Continues from the checkpoint of the point. A checkpoint that is damaged or of another run is ignored. The rows are
 * the same in all cases. */
static ulp_status resume(const ulp_task *task, run *w) {
    char error[1024];
    void *bytes;
    size_t n;
    if (access(w->file, F_OK) != 0) return ULP_OK;
    ulp_status status = ulp_gan_load(w->gan, w->file, &bytes, &n, error, sizeof error);
    if (status != ULP_OK) {
        ulp_complain(task->sweep->program, "%s; '%s' starts from its beginning", error, task->label);
        return ULP_OK;
    }
    const int is_same_run = take_note(task, w, bytes, n);
    free(bytes);
    if (is_same_run) return ULP_OK;
    ulp_complain(task->sweep->program, "%s is of another run; '%s' starts from its beginning", w->file, task->label);
    ulp_gan_free(w->gan);
    return start(task, w);
}

/* ---- the training ---- */

/* Judges the samples of the present generator, and puts a row. */
static ulp_status put_verdict(const ulp_task *task, run *w, int what) {
    const settings *s = task->settings;
    const context *c = task->context;
    row *r = &w->row;
    ulp_status status = ulp_gan_make(w->gan, w->x, 0, (size_t)s->samples);
    if (status == ULP_OK) status = classifier_judge(&c->classifier, &r->verdict, w->x, (size_t)s->samples);
    r->what = what;
    r->step = (int64_t)w->gan->step;
    r->generator_loss = w->now.generator_loss / (double)w->now.count;
    r->discriminator_loss = w->now.discriminator_loss / (double)w->now.count;
    r->generator_scale = w->gan->generator.scaler.log2 - s->weight;
    r->discriminator_scale = w->gan->discriminator.scaler.log2 - s->weight;
    r->generator_skipped = (int64_t)w->gan->generator.scaler.skipped;
    r->discriminator_skipped = (int64_t)w->gan->discriminator.scaler.skipped;
    if (status == ULP_OK) ulp_row_put(task->rows, r);
    return status;
}

static ulp_status train(const ulp_task *task, run *w) {
    const settings *s = task->settings;
    ulp_status status = ULP_OK;
    while (w->gan->step < (uint64_t)s->steps && w->now.nan < PATIENCE && status == ULP_OK) {
        ulp_gan_report report;
        status = ulp_gan_step(w->gan, &report);
        if (status != ULP_OK) break;
        w->now.generator_loss += report.generator.loss;
        w->now.discriminator_loss += report.discriminator.loss;
        w->now.count++;
        w->now.nan = isnan(report.discriminator.loss) ? w->now.nan + 1 : 0;
        const int64_t step = (int64_t)w->gan->step;
        const int last = step == s->steps || w->now.nan == PATIENCE;
        if (!last && step % s->every != 0) continue;
        status = put_verdict(task, w, CURVE);
        if (last && status == ULP_OK) status = put_verdict(task, w, FINAL);
        w->now.generator_loss = w->now.discriminator_loss = 0;
        w->now.count = 0;
        const int stop = ulp_task_progress(task, (double)step / (double)s->steps);
        if (status == ULP_OK && !last && w->file && (stop || ulp_clock() - w->saved >= s->checkpoint)) save(task, w);
        if (stop) break;
    }
    return status;
}

ulp_status compute_training(const ulp_task *task) {
    const settings *s = task->settings;
    const context *c = task->context;
    const point *at = task->point;
    run w = {.file = s->checkpoint > 0 ? task->file : NULL, .saved = ulp_clock(), .now = {.run = checksum_of(task)}};
    const size_t n = (size_t)(s->samples > s->shown ? s->samples : s->shown);
    ulp_row_clear(task->rows, &w.row);
    w.row.variant = at->variant;
    w.row.seed = (int64_t)at->seed;
    w.x = calloc(n * c->data.features, sizeof *w.x);
    if (!w.x) return ULP_NO_MEMORY;
    ulp_status status = start(task, &w);
    if (status == ULP_OK && w.file && task->resumed) status = resume(task, &w);
    if (status == ULP_OK) status = train(task, &w);
    if (status == ULP_OK && at->seed == s->seed && s->shown) {
        status = ulp_gan_make(w.gan, w.x, 0, n);
        if (status == ULP_OK) put_pixels(task, w.x);
    }
    for (int i = 0; i < PLAYERS && w.gan; i++) {
        const ulp_player *p = i == GENERATOR ? &w.gan->generator : &w.gan->discriminator;
        ulp_profile_add(task, &p->model.net, &p->policy, &p->profile);
    }
    ulp_gan_free(w.gan);
    free(w.x);
    return status;
}

/* Judges digits of the training part. */
ulp_status compute_digits(const ulp_task *task) {
    const settings *s = task->settings;
    const context *c = task->context;
    const ulp_data *d = &c->data;
    const size_t n = (size_t)s->samples < d->n_train ? (size_t)s->samples : d->n_train,
                 shown = (size_t)s->shown < d->n_train ? (size_t)s->shown : d->n_train;
    float *x = calloc((n > shown ? n : shown) * d->features, sizeof *x);
    row r;
    if (!x) return ULP_NO_MEMORY;
    for (size_t i = 0; i < (n > shown ? n : shown) * d->features; i++) x[i] = (float)d->pixel[i] / (float)d->white;
    ulp_row_clear(task->rows, &r);
    r.variant = DIGITS;
    r.seed = (int64_t)((const point *)task->point)->seed;
    r.what = FINAL;
    const ulp_status status = classifier_judge(&c->classifier, &r.verdict, x, n);
    if (status == ULP_OK) {
        ulp_row_put(task->rows, &r);
        put_pixels(task, x);
    }
    free(x);
    return status;
}
