/* gradient_underflow.c - how small are the gradients of a network, and how many does a format turn to zero?
 *
 * Networks learn the digits in binary32. In every --every-th step all gradients are counted by kind, by layer and by
 * stage of training:
 *   - kinds: the gradients of activations (tensor i is the input of layer i; the last tensor is the gradient of the
 *     loss with respect to the output) and the gradients of weights
 *   - stages: the thirds begin, middle and end
 *   - `all`: the sum over layers, or over stages. Networks after the first one have only these sums.
 *
 * Rows:
 *   - bin, zero: the number of gradients with 2^x <= |gradient| < 2^(x+1), and of gradients that are zero in binary32
 *   - share: all gradients times 2^scale are rounded once to nearest even in a format. The row counts the gradients
 *     that are zero in binary32, that the rounding flushes to zero, that overflow (to Inf, NaN or the largest value),
 *     and the rest.
 *   - tensor: the same, with a power of two for each tensor of each step in place of the scale. The power of two brings
 *     the largest gradient of the tensor just below the largest number of the format (sim/policy/policy.h, @amax).
 *
 * Percentages in tables, claims and figure refer to the gradients that are not zero in binary32. The column `share`
 * refers to all gradients, so that the bins and zeros of a tensor add up to 1. A scale is safe if no gradient of either
 * kind overflows. The loss is the mean over the batch, as usual.
 *
 * The experiment follows Micikevicius et al. 2018, "Mixed precision training", arXiv:1710.03740, figures 2b and 3. In
 * their SSD detector 67 % of the activation gradients are zero, and a scale of 8 is enough. Tensor scales follow
 * Micikevicius et al. 2022, arXiv:2209.05433.
 */
#include "gradient_underflow.h"

static const ulp_option options[] = {
    ULP_OPTION_FORMATS_IF(settings, formats, "fp16,e5m2,e4m3,bf16,q8.8", NULL, ulp_format_with_sign,
                          ULP_WANTS_WITH_SIGN),
    ULP_OPTIONS_NETWORKS(settings, networks, "mlp,cnn,resnet,gru,lstm", NULL, NULL),
    ULP_OPTION(settings, steps, integer, "300", .quick = "90", .full = "6000", .min = 3, .max = 1e7,
               .help = "training steps"),
    ULP_OPTION(settings, every, integer, "15", .min = 1, .max = 1e7, .help = "look at every so many steps"),
    ULP_OPTION(settings, scales, integers, "0..24", .min = -100, .max = 100, .help = "log2 of the factors"),
    ULP_OPTION_SEED(settings, seed),
    ULP_OPTION_SEEDS(settings, seeds, "2", "1", "5"),
    ULP_OPTION_BACKEND_OF(settings, backend),
    ULP_OPTION_DATA(settings, networks.data),
    ULP_OPTIONS_TRAINING(settings, networks.how),
    {0},
};

static const ulp_column columns[] = {
    ULP_COLUMNS(row, net, seed),
    ULP_WORDS(row, kind, KIND_WORDS),
    ULP_COLUMNS(row, layer, name),
    ULP_WORDS(row, stage, STAGE_WORDS),
    ULP_WORDS(row, what, WHAT_WORDS),
    ULP_COLUMNS(row, format, scale_log2),
    ULP_BIN_COLUMNS_OF(row, bin),
    ULP_COLUMNS(row, zero, flushed, overflowed, kept),
    {0},
};

/* ---- the grid: one training run per network and seed ---- */

static ulp_status plan(ulp_plan *plan) {
    const settings *s = plan->settings;
    ulp_networks *networks = plan->context;
    ULP_TRY(ulp_networks_load(plan, networks, &s->networks, s->seed, s->steps));
    ulp_plan_note(plan, "rounding",
                  "rne: zero, flushed, overflowed and kept count what one rounding to nearest even makes of a gradient "
                  "times 2^scale_log2");
    ulp_plan_note(plan, "share", "of all gradients of the tensor, those that are zero in binary32 included");
    for (size_t i = 0; i < networks->count; i++)
        for (int64_t k = 0; k < s->seeds; k++) {
            const point p = {&networks->at[i], s->seed + (uint64_t)k};
            ulp_plan_add(plan, &p, p.network->cost, "%s seed %llu", p.network->name, (unsigned long long)p.seed);
        }
    return ULP_OK;
}

/* ---- rows ---- */

static void put_shares(const ulp_task *task, row r, const ulp_layer_counts *at) {
    const settings *s = task->settings;
    const size_t ways = s->scales.count + 1;
    r.zero = (int64_t)at->histogram[r.stage].zero;
    for (size_t i = 0; at->stats[r.stage] != NULL && i < s->formats.count * ways; i++) {
        const ulp_stats *stats = &at->stats[r.stage][i];
        const size_t k = i % ways;
        r.what = k < s->scales.count ? SHARE : TENSOR;
        r.format = s->formats.at[i / ways].name;
        r.scale_log2 = k < s->scales.count ? s->scales.at[k] : ULP_NO_INTEGER;
        r.bin.count = (int64_t)stats->count;
        r.flushed = (int64_t)stats->underflow;
        r.overflowed = (int64_t)stats->overflow;
        r.kept = r.bin.count - r.zero - r.flushed - r.overflowed;
        ulp_row_put(task->rows, &r);
    }
}

/* A row of the run with empty numbers. */
static row row_of(const ulp_task *task) {
    const point *p = task->point;
    row r;
    ulp_row_clear(task->rows, &r);
    r.net = p->network->name;
    r.seed = (int64_t)p->seed;
    return r;
}

/* Puts the rows of one layer, or of the sum over layers. */
static void put_layer(const ulp_task *task, const ulp_tensor_counts *counts, int kind, size_t layer) {
    const point *p = task->point;
    const int sums = p->network != ((const ulp_networks *)task->context)->at;
    char number[24];
    row r = row_of(task);
    snprintf(number, sizeof number, "%zu", layer);
    r.kind = kind;
    r.layer = layer == ULP_LAYER_ALL ? ALL_LAYERS : number;
    for (r.stage = sums ? ULP_STAGE_ALL : 0; r.stage < ULP_STAGES; r.stage++) {
        const ulp_layer_counts *at = &counts->at[kind][layer];
        if ((sums && layer < ULP_LAYER_ALL) || at->histogram[r.stage].count == 0) continue;
        /* an activation has the name of the layer that computes it */
        r.name = layer == ULP_LAYER_ALL ? ALL_LAYERS : p->network->net.layers[kind == ACT ? layer - 1 : layer].word;
        row bins = r;
        ulp_bins_put(task->rows, &bins, &bins.bin, &bins.what, &at->histogram[r.stage]);
        put_shares(task, r, at);
    }
}

/* ---- one run ---- */

enum { LAYERS = 63 /* at most */ };

/* A run under observation. */
typedef struct watch {
    const settings *settings;
    ulp_tensor_counts *counts;
} watch;

static void observe(void *own, const ulp_observation *observed) {
    const watch *w = own;
    const int stage = (int)(observed->step * 3 / (uint64_t)w->settings->steps);
    if (observed->step % (uint64_t)w->settings->every == 0)
        ulp_tensor_count(w->counts, observed->point == ULP_AT_AGRAD ? ACT : WEIGHT, observed->layer, stage,
                         observed->raw, observed->n);
}

static ulp_status train(const ulp_task *task, ulp_trainer *t, ulp_tensor_counts *counts) {
    const settings *s = task->settings;
    const point *p = task->point;
    ulp_score score = {0};
    ulp_status status = ULP_OK;
    row r = row_of(task);
    for (int64_t i = 0; i < s->steps && status == ULP_OK; i++) {
        status = ulp_trainer_step(t, NULL);
        if (status == ULP_OK) status = counts->status;
        if (ulp_task_progress(task, (double)i / (double)s->steps)) break;
    }
    if (status == ULP_OK) status = ulp_trainer_score(t, ULP_TEST_PART, &score);
    if (status == ULP_OK) status = ulp_tensor_counts_sum(counts);
    if (status != ULP_OK)
        return ulp_task_fail(task, status, "the training run of %s, seed %llu: %s", p->network->name,
                             (unsigned long long)p->seed, ulp_status_text(status));
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t layer = 0; layer < ULP_LAYER_SLOTS; layer++) put_layer(task, counts, kind, layer);
    r.what = ACCURACY;
    r.bin.share = score.accuracy;
    ulp_row_put(task->rows, &r);
    return ULP_OK;
}

static ulp_status compute(const ulp_task *task) {
    const settings *s = task->settings;
    const point *p = task->point;
    watch w = {s, NULL};
    const ulp_observer observer = {observe, &w, 1u << ULP_AT_AGRAD | 1u << ULP_AT_WGRAD};
    ulp_train_options o = ulp_network_options(p->network, p->seed, s->backend);
    ulp_trainer *t;
    o.observer = &observer;
    ulp_status status = ulp_training_open(&t, task, &((const ulp_networks *)task->context)->data, &o);
    if (status != ULP_OK) return status;
    if (t->model.net.count > LAYERS)
        status = ulp_task_fail(task, ULP_BAD_ARGUMENT, "--net has %zu layers, at most %d are looked at",
                               t->model.net.count, LAYERS);
    if (status == ULP_OK)
        status = ulp_tensor_counts_new(&w.counts, &(ulp_tensor_looks){s->backend, &s->formats, &s->scales}, &t->model);
    if (status == ULP_OK) status = train(task, t, w.counts);
    ulp_tensor_counts_free(w.counts);
    ulp_training_close(task, t);
    return status;
}

const ulp_experiment experiment = {
    .name = "gradient_underflow",
    .question = "how small are the gradients of a network, and how many does a format turn to zero?",
    ULP_EXPERIMENT_OF(settings, point, row),
    .context_size = sizeof(ulp_networks),
    .release = ulp_networks_release,
};
