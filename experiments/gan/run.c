/* run.c - the points of gan: one training of two networks with its verdicts, and the real digits. */
#include "gan.h"

#include <math.h>
#include <stdlib.h>

#include "sim/gan/gan_checkpoint.h"

ulp_gan_options gan_options_of(const context *x, const settings *s, const point *at) {
    const ulp_method *g = &x->method[GENERATOR][at->variant], *d = &x->method[DISCRIMINATOR][at->variant];
    return (ulp_gan_options){
        .generator = {&x->generator, &g->policy, &g->scaler, &s->generator_optimizer.rule},
        .discriminator = {&x->discriminator, &d->policy, &d->scaler, &s->discriminator_optimizer.rule},
        .batch = (size_t)s->batch,
        .seed = at->seed,
        .backend = s->backend};
}

/* Puts the rows of the first --shown samples of x (n,features), pixel by pixel. Samples of several channels have their
 * mean. */
static void put_pixels(const ulp_task *task, const float *x, size_t n) {
    const context *c = task->context;
    const ulp_dims d = c->data.dims;
    const size_t asked = (size_t)((const settings *)task->settings)->shown, shown = asked < n ? asked : n;
    row r;
    ulp_row_clear(task->rows, &r);
    r.variant = ((const point *)task->point)->variant;
    r.seed = (int64_t)((const point *)task->point)->seed;
    r.what = PIXEL;
    for (r.sample = 0; (size_t)r.sample < shown; r.sample++)
        for (size_t i = 0; i < d.h * d.w; i++) {
            const float *pixel = x + (size_t)r.sample * c->data.features + i;
            r.x = (int64_t)(i % d.w);
            r.y = (int64_t)(i / d.w);
            r.value = 0;
            for (size_t k = 0; k < d.c; k++) r.value += (double)pixel[k * d.h * d.w] / (double)d.c;
            ulp_row_put(task->rows, &r);
        }
}

/* What a checkpoint keeps in addition to the two networks and the rows so far. */
typedef struct state {
    double generator_loss, discriminator_loss; /* sums since the row before */
    int64_t count, nan; /* steps since the row before; steps with a NaN loss, up to this one without a gap */
} state;

/* The state of a run. */
typedef struct run {
    const ulp_task *task;
    ulp_gan *gan;
    float *x; /* (samples,features) */
    row row;
    state now;
    ulp_checkpoints checkpoints;
} run;

/* ---- start and checkpoints ---- */

static ulp_status start(run *w) {
    const context *c = w->task->context;
    char error[1536];
    ulp_gan_options o = gan_options_of(c, w->task->settings, w->task->point);
    o.clock = ulp_profile_clock(w->task);
    const ulp_status status = ulp_gan_new(&w->gan, &c->data, &o, error, sizeof error);
    return status == ULP_OK ? ULP_OK : ulp_task_fail(w->task, status, "%s", error);
}

static ulp_status save(const void *own, const char *path, const void *note, size_t note_bytes, char *error,
                       size_t error_size) {
    return ulp_gan_save(((const run *)own)->gan, path, note, note_bytes, error, error_size);
}

static ulp_status load(void *own, const char *path, void **note, size_t *note_bytes, char *error, size_t error_size) {
    return ulp_gan_load(((run *)own)->gan, path, note, note_bytes, error, error_size);
}

static ulp_status restart(void *own) {
    run *w = own;
    ulp_gan_free(w->gan);
    return start(w);
}

static const ulp_checkpoint_kind gan_kind = {save, load, restart};

/* ---- the training ---- */

/* Judges the samples of the present generator, and puts the row of this step; with `last` also the row of the end. */
static ulp_status put_verdict(run *w, int last) {
    const settings *s = w->task->settings;
    const context *c = w->task->context;
    row *r = &w->row;
    ulp_status status = ulp_gan_make(w->gan, w->x, 0, (size_t)s->samples);
    if (status == ULP_OK) status = classifier_judge(&c->classifier, &r->verdict, w->x, (size_t)s->samples);
    r->step = (int64_t)w->gan->step;
    r->generator_loss = w->now.generator_loss / (double)w->now.count;
    r->discriminator_loss = w->now.discriminator_loss / (double)w->now.count;
    r->generator_scale = w->gan->generator.scaler.log2 - s->weight;
    r->discriminator_scale = w->gan->discriminator.scaler.log2 - s->weight;
    r->generator_skipped = (int64_t)w->gan->generator.scaler.skipped;
    r->discriminator_skipped = (int64_t)w->gan->discriminator.scaler.skipped;
    r->what = CURVE;
    if (status == ULP_OK) ulp_row_put(w->task->rows, r);
    r->what = FINAL;
    if (status == ULP_OK && last) ulp_row_put(w->task->rows, r);
    return status;
}

static ulp_status train(run *w) {
    const settings *s = w->task->settings;
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
        status = put_verdict(w, last);
        w->now.generator_loss = w->now.discriminator_loss = 0;
        w->now.count = 0;
        const int stop = ulp_task_progress(w->task, (double)step / (double)s->steps);
        if (status == ULP_OK && !last) ulp_checkpoints_keep(&w->checkpoints, stop);
        if (stop) break;
    }
    return status;
}

ulp_status compute_training(const ulp_task *task) {
    const settings *s = task->settings;
    const context *c = task->context;
    const point *at = task->point;
    run w = {.task = task};
    const size_t n = (size_t)s->samples;
    w.checkpoints = (ulp_checkpoints){.task = task,
                                      .kind = &gan_kind,
                                      .run = &w,
                                      .state = &w.now,
                                      .state_bytes = sizeof w.now,
                                      .seconds = s->checkpoint};
    ulp_row_clear(task->rows, &w.row);
    w.row.variant = at->variant;
    w.row.seed = (int64_t)at->seed;
    w.x = calloc(n * c->data.features, sizeof *w.x);
    if (!w.x) return ULP_NO_MEMORY;
    ulp_status status = start(&w);
    if (status == ULP_OK) status = ulp_checkpoints_start(&w.checkpoints);
    if (status == ULP_OK) status = train(&w);
    if (status == ULP_OK && at->seed == s->seed && s->shown) {
        status = ulp_gan_make(w.gan, w.x, 0, n);
        if (status == ULP_OK) put_pixels(task, w.x, n);
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
    const size_t n = (size_t)s->samples < d->n_train ? (size_t)s->samples : d->n_train;
    float *x = calloc(n * d->features, sizeof *x);
    row r;
    if (!x) return ULP_NO_MEMORY;
    for (size_t i = 0; i < n * d->features; i++) x[i] = (float)d->pixel[i] / (float)d->white;
    ulp_row_clear(task->rows, &r);
    r.variant = DIGITS;
    r.seed = (int64_t)((const point *)task->point)->seed;
    r.what = FINAL;
    const ulp_status status = classifier_judge(&c->classifier, &r.verdict, x, n);
    if (status == ULP_OK) {
        ulp_row_put(task->rows, &r);
        put_pixels(task, x, n);
    }
    free(x);
    return status;
}
