/* magnitudes.c - where do the numbers of a network lie, before and after training, and which of them does a format
 * hold?
 *
 * A network learns in binary32 by SGD with momentum. All its tensors are looked at in the first step (stage initial)
 * and in the last (trained), per layer and summed over layers (`all`): input   what enters the net             act what
 * each layer puts out weight  weights and biases              agrad  gradients of the loss with respect to each layer's
 * output wgrad   their gradients                 update rate times momentum, rounded to binary32: what is subtracted
 * from a weight Rows: bin     how many have 2^x <= |value| < 2^(x+1); `zero`: exact zeros; column share: of the whole
 * tensor share   of a format: how many values that are not zero in binary32 one rounding to nearest even flushes to
 * zero, makes subnormal, keeps normal or overflows (whether that gives Inf, NaN or the largest value) range   of a
 * format: its least positive and least normal number and the end of its range, as log2, for the figure's bars score
 * loss and test accuracy after training Percentages in tables, claims and figure are of the values that are not zero in
 * binary32. The loss is the mean over the batch and nothing is scaled. Of a density that is finite at zero each octave
 * far below the peak holds half of the one above it: a power law of slope 1 in a plot of log against log; gradients
 * need not have such a density.
 */
#include "experiments/harness/training/histogram_rows.h"
#include "experiments/harness/training/load.h"
#include "magnitudes.h"

#include <math.h>
#include <stdlib.h>

#include "sim/train.h"

static const ulp_option options[] = {
    ULP_TAKES_FORMATS("fp16,bf16,e5m2,e4m3,q8.8", NULL),
    {"net", ULP_OPTION_TEXT, "fc128 relu fc128 relu fc64 relu fc10", NULL, NULL, "the network, layer by layer", 0, 0,
     NULL, 0},
    ULP_TAKES_SET,
    {"batch", ULP_OPTION_INTEGER, "256", NULL, NULL, "samples per step", 1, 60000, NULL, 0},
    {"steps", ULP_OPTION_INTEGER, "600", "150", "6000", "training steps", 2, 1e7, NULL, 0},
    {"rate", ULP_OPTION_NUMBER, "0.1", NULL, NULL, "learning rate", 0x1p-40, 1000, NULL, 0},
    {"momentum", ULP_OPTION_NUMBER, "0.9", NULL, NULL, "momentum", 0, 1, NULL, 0},
    ULP_TAKES_SEED,
    ULP_TAKES_SEEDS("3", "1", "10"),
    ULP_TAKES_BACKEND,
    ULP_TAKES_DATA,
    {0},
};

enum {
    LAYERS = 64,
    SLOTS = LAYERS + 2,
    ALL = LAYERS + 1
}; /* slots: number of a tensor as in ulp_observation, and their sum */
const char *const stage_names[STAGES] = {"initial", "trained"};
const char *const kind_names[KINDS] = {"input", "weight", "act", "agrad", "wgrad", "update"};

/* ---- one training run under observation ---- */

typedef struct watch {
    const ulp_backend *backend;
    const ulp_format *format;
    size_t formats;
    uint64_t last;           /* step */
    float *device, *rounded; /* one tensor, backend memory */
    ulp_histogram histogram[KINDS][SLOTS][STAGES];
    ulp_stats *stats; /* [KINDS][SLOTS][STAGES][formats] */
    ulp_status status;
} watch;

static ulp_stats *stats_of(const watch *w, int kind, size_t slot, int stage) {
    return w->stats + (((size_t)kind * SLOTS + slot) * STAGES + (size_t)stage) * w->formats;
}

/* A tensor x (n), host memory. */
static void count(watch *w, int kind, size_t slot, int stage, const float *x, size_t n) {
    if (n == 0 || w->status != ULP_OK) return;
    ulp_histogram_add(&w->histogram[kind][slot][stage], x, n);
    w->status = w->backend->upload(w->device, x, n * sizeof *x);
    for (size_t f = 0; f < w->formats && w->status == ULP_OK; f++)
        w->status =
            ulp_backend_round(w->backend, w->rounded, w->device, n,
                              (ulp_rounding){.format = &w->format[f], .stats = &stats_of(w, kind, slot, stage)[f]});
}

static void see(void *context, const ulp_observation *observed) {
    watch *w = context;
    if ((observed->step != 0 && observed->step != w->last) || observed->layer > LAYERS) return;
    int kind = observed->point == ULP_AT_AGRAD   ? AGRAD
               : observed->point == ULP_AT_WGRAD ? WGRAD
               : observed->layer == 0            ? INPUT
                                                 : ACT;
    count(w, kind, observed->layer, observed->step == 0 ? INITIAL : TRAINED, observed->raw, observed->n);
}

/* x (params), host memory, layer by layer. */
static void count_layers(watch *w, const ulp_net *net, int kind, int stage, const float *x) {
    for (size_t l = 0; l < net->count; l++)
        count(w, kind, l, stage, x + net->layers[l].first_param, net->layers[l].params);
}

/* A step under observation: the weights that it starts from, what the observer sees, and its updates. */
static ulp_status observed_step(watch *w, ulp_trainer *t, int stage, float *host) {
    float rate = (float)ulp_rate_at(&t->optimizer.rule, t->step);
    ulp_status status = ulp_trainer_weights(t, host, NULL);
    if (status != ULP_OK) return status;
    count_layers(w, &t->model.net, WEIGHT, stage, host);
    status = ulp_trainer_step(t, NULL);
    const float *direction = t->optimizer.momentum ? t->optimizer.momentum : t->model.wgrad;
    if (status == ULP_OK) status = w->backend->download(host, direction, t->model.net.params * sizeof *host);
    if (status != ULP_OK) return status;
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

static void put_key(ulp_rows *rows, uint64_t seed, int kind, size_t slot, const ulp_net *net, int stage,
                    const char *what) {
    int of_tensor = kind == INPUT || kind == ACT || kind == AGRAD; /* called by the layer that made it */
    ulp_put_integer(rows, (int64_t)seed);
    ulp_put_text(rows, kind_names[kind]);
    if (slot == ALL) ulp_put_text(rows, "all");
    else ulp_put_integer(rows, (int64_t)slot);
    ulp_put_text(rows, slot == ALL              ? "all"
                       : of_tensor && slot == 0 ? "input"
                                                : net->layers[of_tensor ? slot - 1 : slot].word);
    ulp_put_text(rows, stage_names[stage]);
    ulp_put_text(rows, what);
}

static void put_tensor(ulp_rows *rows, const watch *w, const ulp_net *net, uint64_t seed, int kind, size_t slot,
                       int stage) {
    const ulp_histogram *h = &w->histogram[kind][slot][stage];
    if (h->count == 0) return;
    for (int e = ULP_BIN_ZERO; e <= ULP_BIN_MAX; e++) {
        if (ulp_bin_count(h, e) == 0) continue;
        put_key(rows, seed, kind, slot, net, stage, ulp_bin_word(e));
        ulp_put_none(rows);
        ulp_put_bin(rows, h, e);
        ulp_put_nones(rows, 7);
        ulp_row_end(rows);
    }
    const ulp_stats *s = stats_of(w, kind, slot, stage);
    for (size_t f = 0; f < w->formats; f++) {
        put_key(rows, seed, kind, slot, net, stage, "share");
        ulp_put_text(rows, w->format[f].name);
        ulp_put_none(rows);
        ulp_put_integer(rows, (int64_t)s[f].count);
        ulp_put_none(rows);
        ulp_put_integer(rows, (int64_t)h->zero);
        ulp_put_integer(rows, (int64_t)s[f].underflow);
        ulp_put_integer(rows, (int64_t)s[f].subnormal);
        ulp_put_integer(rows, (int64_t)s[f].overflow);
        ulp_put_integer(rows, (int64_t)(s[f].count - h->zero - s[f].underflow - s[f].subnormal - s[f].overflow));
        ulp_put_nones(rows, 2);
        ulp_row_end(rows);
    }
}

/* Ends of a format on the axis of log2: `low` is the least positive or least normal number, both powers of two but for
 * dlfloat16; `high` the binade past the largest number's. */
static void put_range(ulp_rows *rows, uint64_t seed, const ulp_format *f, const char *what, double least) {
    int low, high;
    frexp(least, &low);
    frexp(f->max, &high);
    ulp_put_integer(rows, (int64_t)seed);
    ulp_put_nones(rows, 4);
    ulp_put_text(rows, what);
    ulp_put_text(rows, f->name);
    ulp_put_nones(rows, 8);
    ulp_put_integer(rows, low - 1);
    ulp_put_integer(rows, high);
    ulp_row_end(rows);
}

static void put_score(ulp_rows *rows, uint64_t seed, const char *what, double value) {
    ulp_put_integer(rows, (int64_t)seed);
    ulp_put_nones(rows, 4);
    ulp_put_text(rows, what);
    ulp_put_nones(rows, 3);
    ulp_put_number(rows, value);
    ulp_put_nones(rows, 7);
    ulp_row_end(rows);
}

static void put_run(ulp_rows *rows, const watch *w, const ulp_net *net, uint64_t seed) {
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t slot = 0; slot < SLOTS; slot++)
            for (int stage = 0; stage < STAGES; stage++) put_tensor(rows, w, net, seed, kind, slot, stage);
    for (size_t f = 0; f < w->formats; f++) {
        put_range(rows, seed, &w->format[f], "range_all", w->format[f].min_positive);
        put_range(rows, seed, &w->format[f], "range_normal", w->format[f].min_normal);
    }
}

/* ---- the grid: one training run per seed ---- */

static ulp_status prepare(ulp_run *run, void **context) {
    ulp_status status = ulp_context_prepare(run, context, ulp_option_text(run, "set"));
    if (status != ULP_OK) return status;
    ulp_header_add(run, "stages", "initial: the first step; trained: the last one");
    for (int64_t s = 0; s < ulp_option_integer(run, "seeds"); s++) {
        ulp_point point = {.at = {(int64_t)ulp_run_seed(run) + s}};
        ulp_point_add(run, point, "seed %lld", (long long)point.at[0]);
    }
    return ULP_OK;
}

static ulp_status watch_init(watch *w, const ulp_trainer *t) {
    const ulp_model *m = &t->model;
    size_t largest = m->net.params > m->batch * m->net.widest ? m->net.params : m->batch * m->net.widest;
    w->device = w->backend->alloc(largest * sizeof(float));
    w->rounded = w->backend->alloc(largest * sizeof(float));
    w->stats = calloc((size_t)KINDS * SLOTS * STAGES * w->formats, sizeof *w->stats);
    if (w->device == NULL || w->rounded == NULL || w->stats == NULL) return ULP_NO_MEMORY;
    for (int i = 0; i < KINDS * SLOTS * STAGES; i++)
        ulp_histogram_clear(&w->histogram[i / STAGES / SLOTS][i / STAGES % SLOTS][i % STAGES]);
    return ULP_OK;
}

static ulp_status train(const ulp_run *run, ulp_trainer *t, watch *w, ulp_rows *rows, uint64_t seed) {
    ulp_score score = {0};
    ulp_step step = {0};
    if (t->model.net.count > LAYERS)
        return ulp_run_fail(run, ULP_BAD_ARGUMENT, "--net has %zu layers, at most %d are looked at", t->model.net.count,
                            LAYERS);
    float *host = malloc((t->model.net.params + 1) * sizeof *host);
    ulp_status status = host ? watch_init(w, t) : ULP_NO_MEMORY;
    for (uint64_t i = 0; i <= w->last && status == ULP_OK; i++) {
        int stage = i == 0 ? INITIAL : TRAINED;
        status = i == 0 || i == w->last ? observed_step(w, t, stage, host) : ulp_trainer_step(t, &step);
        if (ulp_rows_progress(rows, (double)i / (double)w->last)) break;
    }
    free(host);
    if (status == ULP_OK) status = ulp_trainer_score(t, ULP_TEST_PART, &score);
    if (status != ULP_OK)
        return ulp_run_fail(run, status, "the training run of seed %llu: %s", (unsigned long long)seed,
                            ulp_status_text(status));
    if (!isfinite(score.loss))
        return ulp_run_fail(run, ULP_BAD_ARGUMENT, "--rate %g: the run of seed %llu diverges",
                            ulp_option_number(run, "rate"), (unsigned long long)seed);
    add_up(w);
    put_run(rows, w, &t->model.net, seed);
    put_score(rows, seed, "test_loss", score.loss);
    put_score(rows, seed, "test_accuracy", score.accuracy);
    return ULP_OK;
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    char error[1024];
    watch *w = calloc(1, sizeof *w);
    ulp_trainer *t = NULL;
    if (w == NULL) return ULP_NO_MEMORY;
    w->backend = ulp_run_backend(run);
    w->format = ulp_run_formats(run, &w->formats);
    w->last = (uint64_t)ulp_option_integer(run, "steps") - 1;
    ulp_observer observer = {see, w, 1u << ULP_AT_ACT | 1u << ULP_AT_AGRAD | 1u << ULP_AT_WGRAD};
    const ulp_data *data = context;
    ulp_net net;
    ulp_optimizer_rule optimizer = ulp_optimizer_rule_of(ulp_optimizer_kind_find("sgd"));
    optimizer.rate = ulp_option_number(run, "rate");
    optimizer.momentum = ulp_option_number(run, "momentum");
    ulp_status status = ulp_net_read(run, &net, ulp_option_text(run, "net"), data->dims);
    ulp_train_options o = {
        .net = &net,
        .optimizer = &optimizer,
        .batch = (size_t)ulp_option_integer(run, "batch"),
        .seed = (uint64_t)point->at[0],
        .backend = w->backend,
        .observer = &observer,
    };
    if (status == ULP_OK) {
        status = ulp_trainer_new(&t, data, &o, error, sizeof error);
        status = status == ULP_OK ? train(run, t, w, rows, o.seed) : ulp_run_fail(run, status, "%s", error);
    }
    ulp_trainer_free(t);
    ulp_net_release(&net);
    if (w->device != NULL) w->backend->release(w->device);
    if (w->rounded != NULL) w->backend->release(w->rounded);
    free(w->stats);
    free(w);
    return status;
}

static const ulp_experiment experiment = {
    .name = "magnitudes",
    .question =
        "where do the numbers of a network lie, before and after training, and which of them does a format hold?",
    .columns = "seed,kind,layer,name,stage,what,format,x,count,share,zero,flushed,subnormal,overflowed,normal,low,high",
    .options = options,
    .takes_format = ulp_format_with_sign,
    .format_wants = ULP_WANTS_WITH_SIGN,
    .prepare = prepare,
    .compute = compute,
    .check = magnitudes_check,
    .release = ulp_context_release,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
