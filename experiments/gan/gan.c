/* gan.c - a generator and a discriminator in few bits: which arithmetic still learns to write digits?
 *
 * The networks and their losses are those of sim/gan/gan.h, after Goodfellow et al. 2014, arXiv:1406.2661; the
 * transposed convolution and Adam with beta1 = 0.5 follow Radford et al. 2016, arXiv:1511.06434. Both networks have the
 * policy of the variant and, where the variant scales the loss, a dynamic scaler each.
 *
 * A classifier, trained in binary32 on the same digits, judges the samples (classifier.c). The Frechet distance of its
 * features to those of the test part is the measure of Heusel et al. 2017, arXiv:1706.08500, with this classifier in
 * the place of theirs. All variants of a seed start from the same weights and see the same latent vectors.
 *
 * Rows `curve` are the verdict after every --every steps; `final` is the verdict at the end. Rows `pixel` are the first
 * --shown samples of the first seed at the end; nobody has selected them. The variant `digits` is no training: its
 * samples are the first digits of the training part.
 *
 * Reasons for this set-up:
 *   - The loss has the weight 2^W with W = --weight, which the update divides out again. Gradients are then as small as
 *     those of a mean over 2^23 outputs at a batch of 32, for example of a loss for each pixel of eight images of 1024
 * x 1024. Without a weight these small networks have gradients that binary16 holds.
 *   - Adam divides by the size of the gradients, so a common factor changes nothing until gradients vanish: the failure
 *     is a cliff.
 *   - The growth interval of a scaler is cut from 2,000 steps to --interval, because the run is short.
 *   - A run ends early if the loss of the discriminator has been NaN for PATIENCE steps. NaN weights stay NaN, and the
 *     scaler of the generator skips each step that a NaN discriminator judges.
 */
#include "gan.h"

#include <math.h>
#include <stdlib.h>

static const ulp_option options[] = {
    ULP_OPTION(settings, variants, choices, "all", .words = VARIANT_WORDS, .help = "the variants to train",
               .quick = "digits,fp32,fp16,fp16-scaled,fp16-all"),
    ULP_OPTION_AS(settings, generator, "generator-net", text, "fc128 relu reshape8x4x4 tconv1@4s2p1 sigmoid",
                  .topic = "nets", .help = "the generator, from latent vectors to samples"),
    ULP_OPTION_AS(settings, discriminator, "discriminator-net", text, "fc128 relu fc1", .topic = "nets",
                  .help = "the discriminator, from samples to one number"),
    ULP_OPTION_AS(settings, classifier, "classifier-net", text, "fc64 relu fc16 relu fc10", .topic = "nets",
                  .help =
                      "the classifier that judges; the inputs of its last layer are its features, and the time of a "
                      "verdict grows with the cube of their number (400: about 1 s, 784: about 10 s)"),
    ULP_OPTION_AS(settings, generator_optimizer, "generator-optimizer", optimizer, "adam,rate=3e-3,beta1=0.5",
                  .help = "how the generator learns"),
    ULP_OPTION_AS(settings, discriminator_optimizer, "discriminator-optimizer", optimizer, "adam,rate=2e-3,beta1=0.5",
                  .help = "how the discriminator learns"),
    ULP_OPTION(settings, latents, integer, "10", .help = "numbers of a latent vector", .min = 1, .max = 1e4),
    ULP_OPTION(settings, batch, integer, "32", .help = "digits per step, and samples per step", .min = 1, .max = 6e4),
    ULP_OPTION(settings, steps, integer, "800", .quick = "200", .full = "4000", .help = "steps of both networks",
               .min = 1, .max = 1e7),
    ULP_OPTION(settings, every, integer, "50", .full = "200", .help = "steps between two verdicts", .min = 1,
               .max = 1e7),
    ULP_OPTION(settings, samples, integer, "500", .full = "2000", .help = "samples that the classifier judges",
               .min = 20, .max = 1e5),
    ULP_OPTION(settings, shown, integer, "13",
               .help = "how many of the judged samples of the first seed are written pixel by pixel; at most --samples",
               .max = 1000),
    ULP_OPTION(settings, weight, integer, "-18", .help = "log2 of a weight of the losses, before scaling", .min = -60,
               .max = 60),
    ULP_OPTION(settings, interval, integer, "50", .help = "good steps before a scale doubles", .min = 1, .max = 1e6),
    ULP_OPTION_AS(settings, classifier_steps, "classifier-steps", integer, "1000", .quick = "400",
                  .help = "training steps of the classifier", .min = 1, .max = 1e6),
    ULP_OPTION_SET(settings, set),
    ULP_OPTION_SEED(settings, seed),
    ULP_OPTION_SEEDS(settings, seeds, "5", "2", "10"),
    ULP_OPTION_CHECKPOINT(settings, checkpoint),
    ULP_OPTION_BACKEND_OF(settings, backend),
    ULP_OPTION_DATA(settings, data),
    ULP_OPTIONS_TRAINING(settings, how),
    {0},
};

static const ulp_column columns[] = {
    ULP_WORDS(row, variant, ROW_WORDS),
    ULP_COLUMNS(row, seed),
    ULP_WORDS(row, what, "curve final pixel"),
    ULP_COLUMNS(row, step),
    ULP_COLUMNS_OF(row, verdict, distance, classes, sure),
    ULP_COLUMNS(row, generator_loss, discriminator_loss, generator_scale, discriminator_scale, generator_skipped),
    ULP_COLUMNS(row, discriminator_skipped, sample, x, y, value),
    {0}};

/* The options of a training. */
static ulp_gan_options gan_options_of(const context *x, const settings *s, const point *at) {
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

/* The part of a checkpoint in addition to the two networks and the rows so far. */
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
    ulp_error error;
    ulp_gan_options o = gan_options_of(c, w->task->settings, w->task->point);
    o.clock = ulp_profile_clock(w->task);
    const ulp_status status = ulp_gan_new(&w->gan, &c->data, &o, &error);
    return status == ULP_OK ? ULP_OK : ulp_task_fail(w->task, status, "%s", error.text);
}

static ulp_status save(const void *own, const char *path, const void *note, size_t note_bytes, ulp_error *error) {
    return ulp_gan_save(((const run *)own)->gan, path, note, note_bytes, error);
}

static ulp_status load(void *own, const char *path, void **note, size_t *note_bytes, ulp_error *error) {
    return ulp_gan_load(((run *)own)->gan, path, note, note_bytes, error);
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
    r->step = (int64_t)w->gan->generator.step;
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
    while (w->gan->generator.step < (uint64_t)s->steps && w->now.nan < PATIENCE && status == ULP_OK) {
        ulp_gan_report report;
        status = ulp_gan_step(w->gan, &report);
        if (status != ULP_OK) break;
        w->now.generator_loss += report.generator.loss;
        w->now.discriminator_loss += report.discriminator.loss;
        w->now.count++;
        w->now.nan = isnan(report.discriminator.loss) ? w->now.nan + 1 : 0;
        const int64_t step = (int64_t)w->gan->generator.step;
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

static ulp_status compute_training(const ulp_task *task) {
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
        const ulp_trainer *p = i == GENERATOR ? &w.gan->generator : &w.gan->discriminator;
        ulp_profile_add(task, &p->model.net, p->policy, &p->profile);
    }
    ulp_gan_free(w.gan);
    free(w.x);
    return status;
}

/* Judges digits of the training part. */
static ulp_status compute_digits(const ulp_task *task) {
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

/* ---- the plan ---- */

/* Sets the policy and the scaler of both networks. `of` begins the sentence of a failure. */
static ulp_status set_methods(ulp_plan *plan, const settings *s, context *x, int index, const char *of) {
    char full[ULP_POLICY_TEXT_MAX];
    ulp_method *g = &x->method[GENERATOR][index], *d = &x->method[DISCRIMINATOR][index];
    ulp_status status;
    if (index == AMP) {
        status = ulp_plan_amp(plan, &g->policy, &g->scaler, &s->how.amp, &x->generator, "generator");
        if (status == ULP_OK)
            status = ulp_plan_amp(plan, &d->policy, &d->scaler, &s->how.amp, &x->discriminator, "discriminator");
    } else {
        const struct variant *v = &variants[index];
        g->scaler = *ulp_scaler_rule_find(v->scaler);
        status = ulp_plan_read_policy(plan, &g->policy, v->policy, of);
        if (status == ULP_OK) status = ulp_policy_admit(plan, &g->policy, of, s->backend, full);
        if (status == ULP_OK) ulp_plan_note(plan, "policy in full", "%s: %s; scaler %s", v->name, full, v->scaler);
        *d = *g;
    }
    for (int i = 0; i < PLAYERS; i++) {
        ulp_scaler_rule *scaler = &x->method[i][index].scaler;
        scaler->init = (int16_t)(s->weight + (scaler->way == ULP_SCALE_FIXED ? 0 : 16));
        scaler->interval = (uint32_t)s->interval;
    }
    return status;
}

/* Names the option of an optimizer that does not fit a variant; `of` names the variant. */
static ulp_status refuse(ulp_plan *plan, ulp_status status, const char *of, const char *error) {
    static const char *const players[PLAYERS] = {"generator", "discriminator"};
    for (int i = 0; i < PLAYERS; i++) {
        const char *what = ulp_after_subject(error, players[i]), *why = ulp_after_subject(what, "optimizer");
        if (what != error && why != what)
            return ulp_plan_fail(plan, status, "--%s-optimizer, %s: %s", players[i], of, why);
    }
    return ulp_plan_fail(plan, status, "%s: %s", of, error);
}

static ulp_status add_variant(ulp_plan *plan, const settings *s, context *x, int index) {
    const char *name = index == AMP ? "amp" : variants[index].name;
    point at = {index, s->seed};
    ulp_error error;
    char of[64];
    if (index == DIGITS) {
        ulp_plan_add(plan, &at, 0.01, "%s", name);
        return ULP_OK;
    }
    snprintf(of, sizeof of, index == AMP ? "--amp" : "variant %s", name);
    ulp_status status = set_methods(plan, s, x, index, of);
    if (status != ULP_OK) return status;
    const ulp_gan_options o = gan_options_of(x, s, &at);
    status = ulp_gan_check(&x->data, &o, &error);
    if (status != ULP_OK) return refuse(plan, status, of, error.text);
    for (; at.seed < s->seed + (uint64_t)s->seeds; at.seed++)
        ulp_plan_add(plan, &at, 1, "%s seed %llu", name, (unsigned long long)at.seed);
    return ULP_OK;
}

/* Reads one of the three networks; the message names its option. */
static ulp_status read_net(const ulp_plan *plan, ulp_net *net, const char *option, const char *text, ulp_dims in) {
    ulp_error error;
    const ulp_status status = ulp_net_parse(net, text, in, &error);
    return status == ULP_OK ? ULP_OK
                            : ulp_plan_fail(plan, status, "--%s: %s", option, ulp_after_subject(error.text, "net"));
}

/* Refuses options that fit no variant. */
static ulp_status check_options(const ulp_plan *plan, const settings *s, const context *x) {
    const ulp_dims made = x->generator.out, data = x->data.dims;
    const size_t outputs = ulp_dims_size(x->discriminator.out);
    if ((size_t)s->batch > x->data.n_train)
        return ulp_plan_fail(plan, ULP_BAD_ARGUMENT, "--batch %lld: must be at most %zu, the training part",
                             (long long)s->batch, x->data.n_train);
    if (s->shown > s->samples)
        return ulp_plan_fail(plan, ULP_BAD_ARGUMENT, "--shown %lld: must be at most %lld, the value of --samples",
                             (long long)s->shown, (long long)s->samples);
    if (made.c != data.c || made.h != data.h || made.w != data.w)
        return ulp_plan_fail(
            plan, ULP_BAD_ARGUMENT,
            "--generator-net: makes samples of %zu x %zu x %zu (channels, height, width), the data have "
            "%zu x %zu x %zu",
            made.c, made.h, made.w, data.c, data.h, data.w);
    if (outputs != 1)
        return ulp_plan_fail(plan, ULP_BAD_ARGUMENT,
                             "--discriminator-net: has %zu outputs; a discriminator ends in one number, for example "
                             "with fc1",
                             outputs);
    return ULP_OK;
}

static ulp_status plan(ulp_plan *plan) {
    const settings *s = plan->settings;
    context *x = plan->context;
    ULP_TRY(ulp_set_load(plan, &x->data, &(ulp_set){s->set, s->data, s->seed}));
    ULP_TRY(read_net(plan, &x->generator, "generator-net", s->generator, (ulp_dims){(size_t)s->latents, 1, 1}));
    ULP_TRY(read_net(plan, &x->discriminator, "discriminator-net", s->discriminator, x->data.dims));
    ULP_TRY(read_net(plan, &x->judging, "classifier-net", s->classifier, x->data.dims));
    ULP_TRY(check_options(plan, s, x));
    for (int i = 0; i < COUNT; i++)
        if (s->variants >> i & 1) ULP_TRY(add_variant(plan, s, x, i));
    if (s->how.amp.bits) ULP_TRY(add_variant(plan, s, x, AMP));
    return classifier_start(&x->classifier, plan, &x->data, &x->judging, (uint64_t)s->classifier_steps, s->seed,
                            s->backend);
}

static void release(void *own) {
    context *x = own;
    classifier_end(&x->classifier);
    ulp_net_release(&x->generator);
    ulp_net_release(&x->discriminator);
    ulp_net_release(&x->judging);
    ulp_data_release(&x->data);
}

static ulp_status compute(const ulp_task *task) {
    return ((const point *)task->point)->variant == DIGITS ? compute_digits(task) : compute_training(task);
}

const ulp_experiment experiment = {
    .name = "gan",
    .question = "in which arithmetic do two networks that train against each other still learn to write digits?",
    ULP_EXPERIMENT_OF(settings, point, row),
    .context_size = sizeof(context),
    .release = release,
};
