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

/* ---- one training run under observation ---- */

enum { LAYERS = ULP_LAYER_ALL - 1 /* at most; a network has one more tensor than layers */ };

typedef struct watch {
    ulp_tensor_counts *counts;
    uint64_t last; /* the last step */
    float *host;   /* (params) */
} watch;

static void observe(void *own, const ulp_observation *observed) {
    const watch *w = own;
    if ((observed->step != 0 && observed->step != w->last) || observed->layer > LAYERS) return;
    int kind = observed->point == ULP_AT_AGRAD   ? AGRAD
               : observed->point == ULP_AT_WGRAD ? WGRAD
               : observed->layer == 0            ? INPUT
                                                 : ACT;
    ulp_tensor_count(w->counts, kind, observed->layer, observed->step == 0 ? INITIAL : TRAINED, observed->raw,
                     observed->n);
}

/* Counts x (params), host memory, layer by layer. */
static void count_layers(const watch *w, const ulp_net *net, int kind, int stage, const float *x) {
    for (size_t l = 0; l < net->count; l++)
        ulp_tensor_count(w->counts, kind, l, stage, x + net->layers[l].first_param, net->layers[l].params);
}

/* Runs one step. Counts the weights before the step, the tensors that the observer receives, and the updates. */
static ulp_status observed_step(const watch *w, ulp_trainer *t, int stage) {
    float *host = w->host;
    const float rate = (float)ulp_rate_at(&t->optimizer.rule, t->step);
    ULP_TRY(ulp_trainer_weights(t, host, NULL));
    count_layers(w, &t->model.net, WEIGHT, stage, host);
    ULP_TRY(ulp_trainer_step(t, NULL));
    const float *direction = t->optimizer.momentum ? t->optimizer.momentum : t->model.wgrad;
    ULP_TRY(w->counts->looks.backend->download(host, direction, t->model.net.params * sizeof *host));
    for (size_t i = 0; i < t->model.net.params; i++) host[i] *= rate;
    count_layers(w, &t->model.net, UPDATE, stage, host);
    return w->counts->status;
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

static void put_tensor(const ulp_task *task, const ulp_tensor_counts *counts, int kind, size_t slot, int stage) {
    const ulp_net *net = &((const ulp_lesson *)task->context)->net;
    const ulp_layer_counts *at = &counts->at[kind][slot];
    const ulp_histogram *h = &at->histogram[stage];
    const ulp_format_list *formats = counts->looks.formats;
    const int of_tensor = kind == INPUT || kind == ACT || kind == AGRAD; /* named after the layer that outputs it */
    char layer[8] = ALL_LAYERS;
    if (h->count == 0) return;
    row key = row_of(task, SHARE);
    if (slot != ULP_LAYER_ALL) snprintf(layer, sizeof layer, "%zu", slot);
    key.kind = kind;
    key.layer = layer;
    key.name = slot == ULP_LAYER_ALL    ? ALL_LAYERS
               : of_tensor && slot == 0 ? "input"
                                        : net->layers[of_tensor ? slot - 1 : slot].word;
    key.stage = stage;
    row bins = key;
    ulp_bins_put(task->rows, &bins, &bins.bin, &bins.what, h);
    for (size_t f = 0; f < formats->count; f++) put_share(task, h, key, &formats->at[f], &at->stats[stage][f]);
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

static void put_run(const ulp_task *task, const ulp_tensor_counts *counts) {
    const ulp_format_list *formats = counts->looks.formats;
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t slot = 0; slot < ULP_LAYER_SLOTS; slot++)
            for (int stage = 0; stage < STAGES; stage++) put_tensor(task, counts, kind, slot, stage);
    for (size_t f = 0; f < formats->count; f++) {
        put_range(task, &formats->at[f], RANGE_ALL, formats->at[f].min_positive);
        put_range(task, &formats->at[f], RANGE_NORMAL, formats->at[f].min_normal);
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

static ulp_status train(const ulp_task *task, ulp_trainer *t, watch *w) {
    const settings *set = task->settings;
    const unsigned long long seed = ((const point *)task->point)->seed;
    ulp_score score = {0};
    ulp_status status =
        ulp_tensor_counts_new(&w->counts, &(ulp_tensor_looks){set->lesson.backend, &set->formats, NULL}, &t->model);
    w->host = ulp_grow(NULL, (t->model.net.params + 1) * sizeof *w->host);
    for (uint64_t i = 0; i <= w->last && status == ULP_OK; i++) {
        const int stage = i == 0 ? INITIAL : TRAINED;
        status = i == 0 || i == w->last ? observed_step(w, t, stage) : ulp_trainer_step(t, NULL);
        if (ulp_task_progress(task, (double)i / (double)w->last)) break;
    }
    if (status == ULP_OK) status = ulp_trainer_score(t, ULP_TEST_PART, &score);
    if (status == ULP_OK) status = ulp_tensor_counts_sum(w->counts);
    if (status != ULP_OK)
        return ulp_task_fail(task, status, "the training run of seed %llu: %s", seed, ulp_status_text(status));
    if (!isfinite(score.loss))
        return ulp_task_fail(task, ULP_BAD_ARGUMENT, "--rate %g: the run of seed %llu diverges", set->rate, seed);
    put_run(task, w->counts);
    put_score(task, TEST_LOSS, score.loss);
    put_score(task, TEST_ACCURACY, score.accuracy);
    return ULP_OK;
}

static ulp_status compute(const ulp_task *task) {
    const settings *set = task->settings;
    const ulp_lesson *x = task->context;
    ulp_trainer *t;
    watch w = {.last = (uint64_t)set->steps - 1};
    const ulp_observer observer = {observe, &w, 1u << ULP_AT_ACT | 1u << ULP_AT_AGRAD | 1u << ULP_AT_WGRAD};
    const ulp_method m = ulp_lesson_plain(x, set->rate, set->momentum);
    ulp_train_options o = ulp_lesson_options(x, &m, ((const point *)task->point)->seed);
    o.observer = &observer;
    ulp_status status = ulp_training_open(&t, task, &x->data, &o);
    if (status == ULP_OK) status = train(task, t, &w);
    ulp_training_close(task, t);
    ulp_tensor_counts_free(w.counts);
    free(w.host);
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
