/* magnitudes.c - the magnitudes of a network's numbers, before and after training, and which of them a format holds.
 *
 * A network learns in binary32 by SGD with momentum. The magnitudes of all its tensors are counted in the first step
 * (stage initial) and in the last step (stage trained), per layer and summed over the layers (layer all). Kinds:
 *   - input: the input of the network
 *   - weight: weights and biases
 *   - act: the outputs of the layers
 *   - agrad: gradients of the loss with respect to the outputs of the layers
 *   - wgrad: gradients of the loss with respect to weights and biases
 *   - update: rate times momentum in binary32, which a step subtracts from the weights
 *
 * Rows:
 *   - bin: the number of values with 2^x <= |value| < 2^(x+1), and their share of the whole tensor
 *   - zero: the number of exact zeros, and their share of the whole tensor
 *   - share: for a format, the numbers of values that one rounding to nearest even flushes to zero, makes subnormal,
 *     keeps normal or overflows, among the values that are not zero in binary32. An overflow gives Inf, NaN or the
 *     largest value.
 *   - range_all, range_normal: the least positive or the least normal number of a format and the end of its range, as
 *     log2, for the bars of the figure
 *   - test_loss, test_accuracy: the scores of the trained network
 *
 * Percentages in tables, claims and the figure are shares of the values that are not zero in binary32. The percentage
 * of zeros is a share of all values. The loss is the mean over the batch, and nothing is scaled.
 *
 * If a density is finite at zero, each octave far below the peak holds half as much as the octave above: a power law of
 * slope 1 in a plot of log against log. Gradients need not have such a density.
 */
#include "magnitudes.h"

#include <math.h>
#include <stdlib.h>

static int takes_format(const ulp_format *f) { return ulp_format_with_sign(f) && f->taper == ULP_TAPER_NONE; }

static const ulp_option options[] = {
    ULP_OPTION_FORMATS_IF(settings, formats, "fp16,bf16,e5m2,e4m3,q8.8", NULL, takes_format,
                          ULP_WANTS_WITH_SIGN ", " ULP_WANTS_ONE_PRECISION),
    ULP_OPTION_NET(settings, lesson, "fc128 relu fc128 relu fc64 relu fc10", NULL, NULL),
    ULP_OPTION_SET(settings, lesson.set),
    ULP_OPTION_BATCH(settings, lesson, "256"),
    ULP_OPTION(settings, steps, integer, "600", .quick = "150", .full = "6000", .help = "training steps", .min = 2,
               .max = 1e7),
    ULP_OPTION(settings, rate, number, "0.1", .help = "learning rate", .min = 0x1p-40, .max = 1000),
    ULP_OPTION(settings, momentum, number, "0.9", .help = "momentum", .max = 1),
    ULP_OPTION_SEED(settings, lesson.seed),
    ULP_OPTION_SEEDS(settings, lesson.seeds, "3", "1", "10"),
    ULP_OPTION_BACKEND_OF(settings, lesson.backend),
    ULP_OPTION_DATA(settings, lesson.data),
    ULP_OPTIONS_TRAINING(settings, lesson.how),
    {0},
};

static const ulp_column columns[] = {
    ULP_COLUMNS(row, seed),
    ULP_WORDS(row, kind, KIND_WORDS),
    ULP_COLUMNS(row, layer, name),
    ULP_WORDS(row, stage, STAGE_WORDS),
    ULP_WORDS(row, what, WHAT_WORDS),
    ULP_COLUMNS(row, format),
    ULP_BIN_COLUMNS_OF(row, bin),
    ULP_COLUMNS(row, zero, flushed, subnormal, overflowed, normal, low, high),
    {0},
};

/* Slots: one for each tensor, numbered as in ulp_observation, and ALL for the sum over the layers. */
enum { LAYERS = 64, ALL = LAYERS + 1, SLOTS = LAYERS + 2 };

/* ---- one training run under observation ---- */

typedef struct watch {
    const ulp_backend *backend;
    const ulp_format *format;
    size_t formats;
    uint64_t last;           /* the last step */
    float *device, *rounded; /* one tensor, backend memory */
    float *host;             /* (params) */
    ulp_histogram histogram[KINDS][SLOTS][STAGES];
    ulp_stats *stats; /* [KINDS][SLOTS][STAGES][formats] */
    ulp_status status;
} watch;

static ulp_stats *stats_of(const watch *w, int kind, size_t slot, int stage) {
    return w->stats + (((size_t)kind * SLOTS + slot) * STAGES + (size_t)stage) * w->formats;
}

/* Counts a tensor x (n), host memory, in its histogram and after one rounding to each format. */
static void count(watch *w, int kind, size_t slot, int stage, const float *x, size_t n) {
    if (n == 0 || w->status != ULP_OK) return;
    ulp_histogram_add(&w->histogram[kind][slot][stage], x, n);
    w->status = w->backend->upload(w->device, x, n * sizeof *x);
    for (size_t f = 0; f < w->formats && w->status == ULP_OK; f++)
        w->status =
            ulp_backend_round(w->backend, w->rounded, w->device, n,
                              (ulp_rounding){.format = &w->format[f], .stats = &stats_of(w, kind, slot, stage)[f]});
}

static void observe(void *own, const ulp_observation *observed) {
    watch *w = own;
    if ((observed->step != 0 && observed->step != w->last) || observed->layer > LAYERS) return;
    int kind = observed->point == ULP_AT_AGRAD   ? AGRAD
               : observed->point == ULP_AT_WGRAD ? WGRAD
               : observed->layer == 0            ? INPUT
                                                 : ACT;
    count(w, kind, observed->layer, observed->step == 0 ? INITIAL : TRAINED, observed->raw, observed->n);
}

/* Counts x (params), host memory, layer by layer. */
static void count_layers(watch *w, const ulp_net *net, int kind, int stage, const float *x) {
    for (size_t l = 0; l < net->count; l++)
        count(w, kind, l, stage, x + net->layers[l].first_param, net->layers[l].params);
}

/* Runs one step. Counts the weights before the step, the tensors that the observer receives, and the updates. */
static ulp_status observed_step(watch *w, ulp_trainer *t, int stage) {
    float *host = w->host;
    const float rate = (float)ulp_rate_at(&t->optimizer.rule, t->step);
    ULP_TRY(ulp_trainer_weights(t, host, NULL));
    count_layers(w, &t->model.net, WEIGHT, stage, host);
    ULP_TRY(ulp_trainer_step(t, NULL));
    const float *direction = t->optimizer.momentum ? t->optimizer.momentum : t->model.wgrad;
    ULP_TRY(w->backend->download(host, direction, t->model.net.params * sizeof *host));
    for (size_t i = 0; i < t->model.net.params; i++) host[i] *= rate;
    count_layers(w, &t->model.net, UPDATE, stage, host);
    return w->status;
}

static void add_up(watch *w) {
    for (int i = 0; i < KINDS * STAGES; i++)
        for (size_t slot = 0; slot < ALL; slot++) {
            int kind = i / STAGES, stage = i % STAGES;
            ulp_histogram_merge(&w->histogram[kind][ALL][stage], &w->histogram[kind][slot][stage]);
            ulp_stats *to = stats_of(w, kind, ALL, stage), *from = stats_of(w, kind, slot, stage);
            for (size_t f = 0; f < w->formats; f++) {
                to[f].count += from[f].count;
                to[f].underflow += from[f].underflow;
                to[f].subnormal += from[f].subnormal;
                to[f].overflow += from[f].overflow;
            }
        }
}

/* ---- rows ---- */

/* A row of the task's run. */
static row row_of(const ulp_task *task, int what) {
    row r;
    ulp_row_clear(task->rows, &r);
    r.seed = (int64_t)((const point *)task->point)->seed;
    r.what = what;
    return r;
}

static void put_bins(const ulp_task *task, const ulp_histogram *h, row key) {
    for (int e = ULP_BIN_ZERO; e <= ULP_BIN_MAX; e++) {
        if (ulp_bin_count(h, e) == 0) continue;
        row r = key;
        r.what = e == ULP_BIN_ZERO ? ZERO : BIN;
        r.bin = ulp_bin_of(h, e);
        ulp_row_put(task->rows, &r);
    }
}

/* Puts the counts s of one rounding to the format f. `key` names the tensor. */
static void put_share(const ulp_task *task, const ulp_histogram *h, row key, const ulp_format *f, const ulp_stats *s) {
    row r = key;
    r.format = f->name;
    r.bin.count = (int64_t)s->count;
    r.zero = (int64_t)h->zero;
    r.flushed = (int64_t)s->underflow;
    r.subnormal = (int64_t)s->subnormal;
    r.overflowed = (int64_t)s->overflow;
    r.normal = (int64_t)(s->count - h->zero - s->underflow - s->subnormal - s->overflow);
    ulp_row_put(task->rows, &r);
}

static void put_tensor(const ulp_task *task, const watch *w, int kind, size_t slot, int stage) {
    const ulp_net *net = &((const ulp_lesson *)task->context)->net;
    const ulp_histogram *h = &w->histogram[kind][slot][stage];
    const int of_tensor = kind == INPUT || kind == ACT || kind == AGRAD; /* named after the layer that outputs it */
    char layer[8] = ALL_LAYERS;
    if (h->count == 0) return;
    row key = row_of(task, SHARE);
    if (slot != ALL) snprintf(layer, sizeof layer, "%zu", slot);
    key.kind = kind;
    key.layer = layer;
    key.name = slot == ALL              ? ALL_LAYERS
               : of_tensor && slot == 0 ? "input"
                                        : net->layers[of_tensor ? slot - 1 : slot].word;
    key.stage = stage;
    put_bins(task, h, key);
    for (size_t f = 0; f < w->formats; f++) put_share(task, h, key, &w->format[f], &stats_of(w, kind, slot, stage)[f]);
}

/* The ends of the range of a format, as log2. `least` is the least positive or the least normal number: a power of two,
 * except in dlfloat16. low is floor(log2(least)), and 2^high is the least power of two above the largest number. */
static void put_range(const ulp_task *task, const ulp_format *f, int what, double least) {
    int low, high;
    row r = row_of(task, what);
    frexp(least, &low);
    frexp(f->max, &high);
    r.format = f->name;
    r.low = low - 1;
    r.high = high;
    ulp_row_put(task->rows, &r);
}

static void put_score(const ulp_task *task, int what, double value) {
    row r = row_of(task, what);
    r.bin.share = value;
    ulp_row_put(task->rows, &r);
}

static void put_run(const ulp_task *task, const watch *w) {
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t slot = 0; slot < SLOTS; slot++)
            for (int stage = 0; stage < STAGES; stage++) put_tensor(task, w, kind, slot, stage);
    for (size_t f = 0; f < w->formats; f++) {
        put_range(task, &w->format[f], RANGE_ALL, w->format[f].min_positive);
        put_range(task, &w->format[f], RANGE_NORMAL, w->format[f].min_normal);
    }
}

/* ---- the grid: one training run per seed ---- */

static ulp_status plan(ulp_plan *plan) {
    const settings *set = plan->settings;
    const ulp_lesson *x = plan->context;
    ULP_TRY(ulp_lesson_load(plan, plan->context, &set->lesson));
    if (x->net.count > LAYERS)
        return ulp_plan_fail(plan, ULP_BAD_ARGUMENT, "--net has %zu layers, at most %d are looked at", x->net.count,
                             LAYERS);
    ulp_plan_note(plan, "stages", "initial: the first step; trained: the last one");
    for (int64_t s = 0; s < set->lesson.seeds; s++) {
        const point p = {set->lesson.seed + (uint64_t)s};
        ulp_plan_add(plan, &p, 1, "seed %llu", (unsigned long long)p.seed);
    }
    return ULP_OK;
}

/* ---- one run ---- */

static ulp_status watch_start(watch *w, const ulp_trainer *t) {
    const ulp_model *m = &t->model;
    size_t largest = m->net.params > m->batch * m->net.widest ? m->net.params : m->batch * m->net.widest;
    w->device = w->backend->alloc(largest * sizeof(float));
    w->rounded = w->backend->alloc(largest * sizeof(float));
    w->stats = calloc((size_t)KINDS * SLOTS * STAGES * w->formats, sizeof *w->stats);
    w->host = malloc((m->net.params + 1) * sizeof *w->host);
    if (w->device == NULL || w->rounded == NULL || w->stats == NULL || w->host == NULL) return ULP_NO_MEMORY;
    for (int i = 0; i < KINDS * SLOTS * STAGES; i++)
        ulp_histogram_clear(&w->histogram[i / STAGES / SLOTS][i / STAGES % SLOTS][i % STAGES]);
    return ULP_OK;
}

static void watch_end(watch *w) {
    if (w->device != NULL) w->backend->release(w->device);
    if (w->rounded != NULL) w->backend->release(w->rounded);
    free(w->stats);
    free(w->host);
    free(w);
}

static ulp_status train(const ulp_task *task, ulp_trainer *t, watch *w) {
    const unsigned long long seed = ((const point *)task->point)->seed;
    ulp_score score = {0};
    ulp_status status = watch_start(w, t);
    for (uint64_t i = 0; i <= w->last && status == ULP_OK; i++) {
        const int stage = i == 0 ? INITIAL : TRAINED;
        status = i == 0 || i == w->last ? observed_step(w, t, stage) : ulp_trainer_step(t, NULL);
        if (ulp_task_progress(task, (double)i / (double)w->last)) break;
    }
    if (status == ULP_OK) status = ulp_trainer_score(t, ULP_TEST_PART, &score);
    if (status != ULP_OK)
        return ulp_task_fail(task, status, "the training run of seed %llu: %s", seed, ulp_status_text(status));
    if (!isfinite(score.loss))
        return ulp_task_fail(task, ULP_BAD_ARGUMENT, "--rate %g: the run of seed %llu diverges",
                             ((const settings *)task->settings)->rate, seed);
    add_up(w);
    put_run(task, w);
    put_score(task, TEST_LOSS, score.loss);
    put_score(task, TEST_ACCURACY, score.accuracy);
    return ULP_OK;
}

static ulp_status compute(const ulp_task *task) {
    const settings *set = task->settings;
    const ulp_lesson *x = task->context;
    ulp_trainer *t;
    watch *w = calloc(1, sizeof *w);
    if (w == NULL) return ULP_NO_MEMORY;
    w->backend = set->lesson.backend;
    w->format = set->formats.at;
    w->formats = set->formats.count;
    w->last = (uint64_t)set->steps - 1;
    const ulp_observer observer = {observe, w, 1u << ULP_AT_ACT | 1u << ULP_AT_AGRAD | 1u << ULP_AT_WGRAD};
    const ulp_method m = ulp_lesson_plain(x, set->rate, set->momentum);
    ulp_train_options o = ulp_lesson_options(x, &m, ((const point *)task->point)->seed);
    o.observer = &observer;
    ulp_status status = ulp_training_open(&t, task, &x->data, &o);
    if (status == ULP_OK) status = train(task, t, w);
    ulp_training_close(task, t);
    watch_end(w);
    return status;
}

const ulp_experiment experiment = {
    .name = "magnitudes",
    .question =
        "where do the numbers of a network lie, before and after training, and which of them does a format hold?",
    ULP_EXPERIMENT_OF(settings, point, row),
    .context_size = sizeof(ulp_lesson),
    .release = ulp_lesson_release,
};
