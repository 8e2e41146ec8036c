/* gradient_underflow.c - how small are the gradients of a network, and how many does a format turn to zero?
 *
 * A network learns the digits in binary32. At every --every-th step all gradients are looked at: of activations
 * (tensor i enters layer i; the last one is the loss's gradient with respect to the output) and of weights. Rows:
 *   bin    how many have 2^x <= |gradient| < 2^(x+1); rows `zero` count exact zeros
 *   share  what becomes of them, times 2^scale, rounded once to nearest even in a format: zero already in binary32,
 *          flushed to zero, overflowed (whether that gives Inf, NaN or the largest value); the rest is kept
 * Tables, claims and figure give percentages of the gradients that are not zero in binary32; what is zero there (a relu
 * that is off, say) is counted apart. The column `share` is of all gradients, so that a tensor's bins and zeros add to 1.
 * by layer (`all`: their sum) and stage of training (the thirds begin, middle, end; `all`). A scale is safe if not one
 * gradient of either kind overflows. The loss is the mean over the batch, as usual, and nothing is scaled
 * down for show. After Micikevicius et al. 2018, "Mixed precision training", arXiv:1710.03740,
 * figures 2b and 3: in their SSD detector 67 % of the activation gradients are zero and a scale of 8 is enough.
 * Longer than most files: what is counted, its rows and its claims are one thought.
 */
#include "harness/harness.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/stats.h"
#include "sim/train.h"

static const ulp_option options[] = {
    ULP_TAKES_FORMATS("fp16,e5m2,e4m3,bf16,q8.8", NULL),
    {"net", ULP_OPTION_TEXT, "fc128 relu fc128 relu fc64 relu fc10", NULL, NULL, "the network, layer by layer", 0, 0, NULL, 0},
    {"batch", ULP_OPTION_INTEGER, "256", NULL, NULL, "samples per step", 1, 60000, NULL, 0},
    {"steps", ULP_OPTION_INTEGER, "600", "90", "6000", "training steps", 3, 1e7, NULL, 0},
    {"every", ULP_OPTION_INTEGER, "15", NULL, NULL, "look at every so many steps", 1, 1e7, NULL, 0},
    {"rate", ULP_OPTION_NUMBER, "0.1", NULL, NULL, "learning rate", 0, 1000, NULL, 0},
    {"momentum", ULP_OPTION_NUMBER, "0.9", NULL, NULL, "momentum", 0, 1, NULL, 0},
    {"scales", ULP_OPTION_NUMBERS, "0..24", NULL, NULL, "log2 of the factors", -100, 100, NULL, 0},
    {"set", ULP_OPTION_TEXT, "digits", NULL, NULL, "the data set: digits or mnist", 0, 0, NULL, 0},
    ULP_TAKES_SEED,
    ULP_TAKES_SEEDS("2", "1", "5"),
    ULP_TAKES_BACKEND,
    ULP_TAKES_DATA,
    {0},
};

enum { STAGES = 4, ALL = 3, LAYERS = 64, SLOTS = LAYERS + 1 }; /* slot LAYERS: the sum of all layers */
static const char *const stage_names[STAGES] = {"begin", "middle", "end", "all"};
enum { KIND_AGRAD, KIND_WGRAD, KINDS };
static const char *const kind_names[KINDS] = {"agrad", "wgrad"};

/* ---- one training run under observation ---- */

typedef struct tensor {
    ulp_histogram histogram[STAGES];
    ulp_stats *stats[STAGES]; /* [formats][scales] */
} tensor;

typedef struct watch {
    const ulp_backend *backend;
    const ulp_format *format;
    const double *scale;
    size_t formats, scales;
    uint64_t steps, every;
    float *host;             /* one tensor */
    float *scaled, *rounded; /* the same in backend memory */
    tensor at[KINDS][SLOTS];
    ulp_status status;
} watch;

/* Count what every format makes of x (n) at every scale. */
static void count(watch *w, ulp_stats *stats, const float *x, size_t n) {
    for (size_t s = 0; s < w->scales && w->status == ULP_OK; s++) {
        float factor = (float)ulp_scale(1.0, (int32_t)w->scale[s]);
        for (size_t i = 0; i < n; i++) w->host[i] = x[i] * factor; /* exact: no gradient is near the ends of binary32 */
        w->status = w->backend->upload(w->scaled, w->host, n * sizeof *w->host);
        for (size_t f = 0; f < w->formats && w->status == ULP_OK; f++)
            w->status = w->backend->round(w->rounded, w->scaled, n, &w->format[f], (ulp_rule){0}, (ulp_stream){0}, &stats[f * w->scales + s]);
    }
}

static void see(void *context, const ulp_sight *sight) {
    watch *w = context;
    if (sight->step % w->every != 0 || sight->layer >= LAYERS) return;
    size_t stage = (size_t)(sight->step * 3 / w->steps);
    tensor *t = &w->at[sight->point == ULP_AT_AGRAD ? KIND_AGRAD : KIND_WGRAD][sight->layer];
    ulp_histogram_add(&t->histogram[stage], sight->raw, sight->n);
    if (t->stats[stage] == NULL) t->stats[stage] = calloc(w->formats * w->scales, sizeof *t->stats[stage]);
    if (t->stats[stage] == NULL) w->status = ULP_NO_MEMORY;
    else count(w, t->stats[stage], sight->raw, sight->n);
}

/* One stage of one tensor into another place. */
static void add_to(watch *w, tensor *to, int to_stage, const tensor *from, int from_stage) {
    const size_t n = w->formats * w->scales;
    ulp_histogram_merge(&to->histogram[to_stage], &from->histogram[from_stage]);
    if (from->stats[from_stage] == NULL) return;
    if (to->stats[to_stage] == NULL) to->stats[to_stage] = calloc(n, sizeof *to->stats[to_stage]);
    if (to->stats[to_stage] == NULL) w->status = ULP_NO_MEMORY;
    for (size_t i = 0; to->stats[to_stage] != NULL && i < n; i++) {
        to->stats[to_stage][i].count += from->stats[from_stage][i].count;
        to->stats[to_stage][i].underflow += from->stats[from_stage][i].underflow;
        to->stats[to_stage][i].overflow += from->stats[from_stage][i].overflow;
    }
}

/* The sums over layers and over stages. */
static void add_up(watch *w) {
    for (int kind = 0; kind < KINDS; kind++) {
        tensor *all = &w->at[kind][LAYERS];
        for (int i = 0; i < LAYERS * ALL; i++) add_to(w, all, i % ALL, &w->at[kind][i / ALL], i % ALL);
        for (int i = 0; i < SLOTS * ALL; i++) add_to(w, &w->at[kind][i / ALL], ALL, &w->at[kind][i / ALL], i % ALL);
    }
}

/* ---- rows ---- */

static void put_key(ulp_rows *rows, uint64_t seed, int kind, size_t layer, const char *name, int stage, const char *what) {
    ulp_put_integer(rows, (int64_t)seed);
    ulp_put_text(rows, kind_names[kind]);
    if (layer == LAYERS) ulp_put_text(rows, "all");
    else ulp_put_integer(rows, (int64_t)layer);
    ulp_put_text(rows, name);
    ulp_put_text(rows, stage_names[stage]);
    ulp_put_text(rows, what);
}

static void put_bins(ulp_rows *rows, uint64_t seed, int kind, size_t layer, const char *name, int stage, const ulp_histogram *h) {
    for (int e = ULP_BIN_MIN - 1; e <= ULP_BIN_MAX; e++) {
        uint64_t n = e < ULP_BIN_MIN ? h->zero : h->bin[e - ULP_BIN_MIN];
        if (n == 0) continue;
        put_key(rows, seed, kind, layer, name, stage, e < ULP_BIN_MIN ? "zero" : "bin");
        ulp_put_none(rows);
        ulp_put_none(rows);
        if (e < ULP_BIN_MIN) ulp_put_none(rows);
        else ulp_put_integer(rows, e);
        ulp_put_integer(rows, (int64_t)n);
        ulp_put_number(rows, (double)n / (double)h->count);
        for (int i = 0; i < 4; i++) ulp_put_none(rows);
        ulp_row_end(rows);
    }
}

static void put_shares(ulp_rows *rows, const watch *w, uint64_t seed, int kind, size_t layer, const char *name, int stage) {
    const tensor *t = &w->at[kind][layer];
    for (size_t i = 0; t->stats[stage] != NULL && i < w->formats * w->scales; i++) {
        const ulp_stats *s = &t->stats[stage][i];
        put_key(rows, seed, kind, layer, name, stage, "share");
        ulp_put_text(rows, w->format[i / w->scales].name);
        ulp_put_integer(rows, (int64_t)w->scale[i % w->scales]);
        ulp_put_none(rows);
        ulp_put_integer(rows, (int64_t)s->count);
        ulp_put_none(rows);
        ulp_put_integer(rows, (int64_t)t->histogram[stage].zero);
        ulp_put_integer(rows, (int64_t)s->underflow);
        ulp_put_integer(rows, (int64_t)s->overflow);
        ulp_put_integer(rows, (int64_t)(s->count - t->histogram[stage].zero - s->underflow - s->overflow));
        ulp_row_end(rows);
    }
}

static void put_run(ulp_rows *rows, const watch *w, const ulp_net *net, uint64_t seed) {
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t layer = 0; layer < SLOTS; layer++)
            for (int stage = 0; stage < STAGES; stage++) {
                const ulp_histogram *h = &w->at[kind][layer].histogram[stage];
                if (h->count == 0) continue;
                /* an activation is called by the layer that made it */
                const char *name = layer == LAYERS ? "all" : net->layers[kind == KIND_AGRAD ? layer - 1 : layer].word;
                put_bins(rows, seed, kind, layer, name, stage, h);
                put_shares(rows, w, seed, kind, layer, name, stage);
            }
}

static void put_score(ulp_rows *rows, uint64_t seed, const char *what, double value) {
    ulp_put_integer(rows, (int64_t)seed);
    for (int i = 0; i < 4; i++) ulp_put_none(rows);
    ulp_put_text(rows, what);
    for (int i = 0; i < 4; i++) ulp_put_none(rows);
    ulp_put_number(rows, value);
    for (int i = 0; i < 4; i++) ulp_put_none(rows);
    ulp_row_end(rows);
}

/* ---- the grid: one training run per seed ---- */

static ulp_status prepare(ulp_run *run, void **context) {
    char error[1024];
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    for (size_t f = 0; f < formats; f++)
        if (!format[f].fits_binary32)
            return ulp_run_fail(run, ULP_BAD_ARGUMENT, "--formats %s: gradients are carried in binary32, which does not hold its values", format[f].name);
    ulp_data *data = calloc(1, sizeof *data);
    if (data == NULL) return ULP_NO_MEMORY;
    *context = data;
    ulp_status status = ulp_data_load(data, ulp_option_text(run, "set"), ulp_run_data(run), ulp_run_seed(run), error, sizeof error);
    if (status != ULP_OK) return ulp_run_fail(run, status, "%s", error);
    ulp_header_add(run, "data", "%s, crc32 %08x, %zu for training, %zu for tests", data->name, data->checksum, data->n_train, data->n - data->n_train);
    ulp_header_add(run, "rounding", "rne: zero, flushed, overflowed and kept count what one rounding to nearest even makes of a gradient times 2^scale_log2");
    ulp_header_add(run, "share", "of all gradients of the tensor, those that are zero in binary32 included");
    for (int64_t s = 0; s < ulp_option_integer(run, "seeds"); s++) {
        ulp_point point = {.at = {(int64_t)ulp_run_seed(run) + s}};
        ulp_point_add(run, point, "seed %lld", (long long)point.at[0]);
    }
    return ULP_OK;
}

static ulp_status train(const ulp_run *run, ulp_trainer *t, watch *w, ulp_rows *rows, uint64_t seed) {
    ulp_status status = ULP_OK;
    ulp_score score = {0};
    if (t->model.net.count >= LAYERS) return ulp_run_fail(run, ULP_BAD_ARGUMENT, "--net has %zu layers, at most %d are looked at", t->model.net.count, LAYERS - 1);
    size_t largest = t->model.net.params > t->model.batch * t->model.net.widest ? t->model.net.params : t->model.batch * t->model.net.widest;
    w->host = malloc(largest * sizeof *w->host);
    w->scaled = w->backend->alloc(largest * sizeof(float));
    w->rounded = w->backend->alloc(largest * sizeof(float));
    if (w->host == NULL || w->scaled == NULL || w->rounded == NULL) return ULP_NO_MEMORY;
    for (uint64_t i = 0; i < w->steps && status == ULP_OK; i++) {
        status = ulp_trainer_step(t, NULL);
        if (status == ULP_OK) status = w->status;
        if (ulp_rows_progress(rows, (double)i / (double)w->steps)) break;
    }
    if (status == ULP_OK) status = ulp_trainer_score(t, ULP_TEST_PART, &score);
    if (status != ULP_OK) return ulp_run_fail(run, status, "the training run of seed %llu: %s", (unsigned long long)seed, ulp_status_text(status));
    add_up(w);
    if (w->status != ULP_OK) return w->status;
    put_run(rows, w, &t->model.net, seed);
    put_score(rows, seed, "accuracy", score.accuracy);
    return ULP_OK;
}

static void watch_free(watch *w) {
    if (w->scaled != NULL) w->backend->release(w->scaled);
    if (w->rounded != NULL) w->backend->release(w->rounded);
    free(w->host);
    for (int i = 0; i < KINDS * SLOTS * STAGES; i++) free(w->at[i / STAGES / SLOTS][i / STAGES % SLOTS].stats[i % STAGES]);
    free(w);
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    char optimizer[96], error[1024];
    watch *w = calloc(1, sizeof *w);
    ulp_trainer *t = NULL;
    if (w == NULL) return ULP_NO_MEMORY;
    w->backend = ulp_run_backend(run);
    w->format = ulp_run_formats(run, &w->formats);
    w->scale = ulp_option_numbers(run, "scales", &w->scales);
    w->steps = (uint64_t)ulp_option_integer(run, "steps");
    w->every = (uint64_t)ulp_option_integer(run, "every");
    for (int i = 0; i < KINDS * SLOTS * STAGES; i++) ulp_histogram_clear(&w->at[i / STAGES / SLOTS][i / STAGES % SLOTS].histogram[i % STAGES]);
    ulp_observer observer = {see, w, 1u << ULP_AT_AGRAD | 1u << ULP_AT_WGRAD};
    snprintf(optimizer, sizeof optimizer, "sgd,rate=%.17g,momentum=%.17g", ulp_option_number(run, "rate"), ulp_option_number(run, "momentum"));
    ulp_train_options o = {
        .net = ulp_option_text(run, "net"),
        .optimizer = optimizer,
        .batch = (size_t)ulp_option_integer(run, "batch"),
        .seed = (uint64_t)point->at[0],
        .backend = w->backend,
        .observer = &observer,
    };
    ulp_status status = ulp_trainer_new(&t, context, &o, error, sizeof error);
    status = status == ULP_OK ? train(run, t, w, rows, o.seed) : ulp_run_fail(run, status, "%s", error);
    ulp_trainer_free(t);
    watch_free(w);
    return status;
}

static void release(void *context) {
    if (context != NULL) ulp_data_release(context);
    free(context);
}

/* ---- claims ---- */

/* Counts of one kind, format and scale, over seeds. */
typedef struct total {
    double count, zero, flushed, overflow;
} total;

static total total_of(const ulp_run *run, const char *kind, const char *layer, const char *stage, const char *format, double scale) {
    total t = {0};
    char k[24];
    snprintf(k, sizeof k, "%d", (int)scale);
    for (long row = 0;; row++) {
        row = ulp_row_find(run, row, "scale_log2", k, "layer", layer, "format", format, "kind", kind, "stage", stage, (const char *)NULL);
        if (row == ULP_NO_ROW) return t;
        t.count += ulp_row_number(run, row, "count");
        t.zero += ulp_row_number(run, row, "zero");
        t.flushed += ulp_row_number(run, row, "flushed");
        t.overflow += ulp_row_number(run, row, "overflowed");
    }
}

static double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

/* Share of the non-zero gradients that a format flushes, in percent. */
static double flushed(const ulp_run *run, const char *kind, const char *stage, const char *format, double scale) {
    total t = total_of(run, kind, "all", stage, format, scale);
    return percent(t.flushed, t.count - t.zero);
}

/* The largest scale of the grid at which nothing overflows; -1000 if there is none. */
static double safe_scale(const ulp_run *run, const char *format) {
    size_t scales;
    const double *k = ulp_option_numbers(run, "scales", &scales);
    double best = -1000;
    for (size_t i = 0; i < scales; i++) {
        double over = total_of(run, "agrad", "all", "all", format, k[i]).overflow + total_of(run, "wgrad", "all", "all", format, k[i]).overflow;
        if (over == 0 && k[i] > best) best = k[i];
    }
    return best;
}

/* A dash where the scales of the grid leave it out. */
static void put_percent(ulp_table *table, double part, double whole) {
    if (whole > 0) ulp_table_put(table, "%.4g", percent(part, whole));
    else ulp_table_put(table, "-");
}

static void print_formats(const ulp_run *run) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    ulp_table *table = ulp_table_new("percent of the gradients that are not zero in binary32, rounded to nearest even; zero in fp32: percent of all",
                                     "kind,format,zero in fp32,flushed at 1,at 2^8,at 2^16,at 2^24,overflowed at 2^16,at 2^24,safe scale,flushed there");
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t f = 0; f < formats; f++) {
            const char *of = kind_names[kind], *name = format[f].name;
            double safe = safe_scale(run, name);
            total t = total_of(run, of, "all", "all", name, 0);
            ulp_table_put(table, "%s", of);
            ulp_table_put(table, "%s", name);
            put_percent(table, t.zero, t.count);
            for (int k = 0; k <= 24; k += 8) {
                t = total_of(run, of, "all", "all", name, k);
                put_percent(table, t.flushed, t.count - t.zero);
            }
            for (int k = 16; k <= 24; k += 8) {
                t = total_of(run, of, "all", "all", name, k);
                put_percent(table, t.overflow, t.count - t.zero);
            }
            t = total_of(run, of, "all", "all", name, safe);
            ulp_table_put(table, t.count > 0 ? "2^%.0f" : "-", safe);
            put_percent(table, t.flushed, t.count - t.zero);
        }
    ulp_table_print(table, run);
}

static void print_layers(const ulp_run *run, const char *format) {
    ulp_table *table = ulp_table_new("by layer and stage at scale 1, percent of the gradients that are not zero in binary32; zero in fp32: percent of all",
                                     "kind,layer,name,zero in fp32,format,flushed: begin,middle,end");
    char seed[24];
    snprintf(seed, sizeof seed, "%lld", (long long)ulp_run_seed(run));
    for (long row = 0; row < ulp_row_count(run); row++) {
        row = ulp_row_find(run, row, "scale_log2", "0", "seed", seed, "format", format, "stage", "all", (const char *)NULL);
        if (row == ULP_NO_ROW) break;
        const char *kind = ulp_row_text(run, row, "kind"), *layer = ulp_row_text(run, row, "layer");
        total all = total_of(run, kind, layer, "all", format, 0);
        ulp_table_put(table, "%s", kind);
        ulp_table_put(table, "%s", layer);
        ulp_table_put(table, "%s", ulp_row_text(run, row, "name"));
        put_percent(table, all.zero, all.count);
        ulp_table_put(table, "%s", format);
        for (int stage = 0; stage < ALL; stage++) {
            total t = total_of(run, kind, layer, stage_names[stage], format, 0);
            put_percent(table, t.flushed, t.count - t.zero);
        }
    }
    ulp_table_print(table, run);
}

static int has_format(const ulp_run *run, const char *name) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    for (size_t f = 0; f < formats; f++)
        if (strcmp(format[f].name, name) == 0) return 1;
    return 0;
}

/* What the claims are about: the network and the training of the table of options. */
static int is_other_setup(const ulp_run *run, char *why, size_t size) {
    static const char *const decisive[] = {"net", "batch", "steps", "every", "rate", "momentum", "set"};
    for (const ulp_option *o = options; o->name != NULL; o++)
        for (size_t i = 0; i < sizeof decisive / sizeof decisive[0]; i++) {
            const char *want = o->quick && ulp_option_flag(run, "quick") ? o->quick : o->full && ulp_option_flag(run, "full") ? o->full : o->value;
            if (strcmp(o->name, decisive[i]) != 0 || strcmp(ulp_option_text(run, o->name), want) == 0) continue;
            snprintf(why, size, "--%s is %.60s, the claim is about %s", o->name, ulp_option_text(run, o->name), want);
            return 1;
        }
    return 0;
}

/* The largest safe scale is known if every power of two from 2^0 to 2^24 was tried. */
static int has_all_scales(const ulp_run *run) {
    size_t scales;
    const double *k = ulp_option_numbers(run, "scales", &scales);
    for (int want = 0; want <= 24; want++) {
        int found = 0;
        for (size_t i = 0; i < scales; i++) found |= k[i] == want;
        if (!found) return 0;
    }
    return 1;
}

/* A claim about the set-up of the table of options, and about the largest safe scale if `of_safe`; where the options
 * are others it is skipped and says what was measured. */
static void claim_setup(ulp_run *run, int of_safe, int pass, const char *text, const char *measured, ...) ULP_PRINTF(5, 6);
static void claim_setup(ulp_run *run, int of_safe, int pass, const char *text, const char *measured, ...) {
    char values[256], why[256];
    va_list arguments;
    va_start(arguments, measured);
    vsnprintf(values, sizeof values, measured, arguments);
    va_end(arguments);
    if (is_other_setup(run, why, sizeof why)) ulp_claim_skip(run, text, "%s; here: %s", why, values);
    else if (of_safe && !has_all_scales(run)) ulp_claim_skip(run, text, "--scales lacks some of 0..24; here: %s", values);
    else ulp_claim(run, pass, text, "%s", values);
}

static const char *scale_name(char *text, size_t size, double scale) {
    if (scale > -1000) snprintf(text, size, "2^%.0f", scale);
    else snprintf(text, size, "no scale");
    return text;
}

static void claim_binary16(ulp_run *run) {
    double at_one = flushed(run, "agrad", "all", "binary16", 0), of_weights = flushed(run, "wgrad", "all", "binary16", 0);
    double late = flushed(run, "agrad", "end", "binary16", 0), early = flushed(run, "agrad", "begin", "binary16", 0);
    double safe = safe_scale(run, "binary16"), there = flushed(run, "agrad", "all", "binary16", safe);
    char name[24];
    claim_setup(run, 0, at_one >= 10, "binary16 at scale 1 flushes to zero at least a tenth of the activation gradients that are not zero in binary32", "%.2f %%",
                at_one);
    claim_setup(run, 0, at_one > 2 * of_weights, "activation gradients suffer more than twice as much as weight gradients, which are sums over the batch",
                "%.2f %% of the non-zero activation gradients, %.2f %% of the non-zero weight gradients", at_one, of_weights);
    claim_setup(run, 0, late > early, "the share grows as the network learns and its loss shrinks", "%.2f %% in the first third, %.2f %% in the last", early, late);
    claim_setup(run, 1, safe >= 0 && there <= at_one / 2, "a power of two as loss scale brings back more than half of them and overflows none",
               "%s: %.2f %% instead of %.2f %%", scale_name(name, sizeof name, safe), there, at_one);
}

static void claim_order(ulp_run *run) {
    static const char *const names[] = {"bfloat16", "binary16", "e5m2", "e4m3", "q8.8"};
    char measured[200] = "";
    double last = -1;
    int good = 1, found = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!has_format(run, names[i])) continue;
        double share = flushed(run, "agrad", "all", names[i], 0);
        size_t used = strlen(measured);
        snprintf(measured + used, sizeof measured - used, "%s%s %.3f %%", found++ ? ", " : "", names[i], share);
        good &= share > last || (share == last && share == 0);
        last = share;
    }
    if (found > 1) claim_setup(run, 0, good, "at scale 1 the flushed share grows as the least positive value does", "%s", measured);
}

/* More scale, less underflow: for every format, over the whole grid of scales. */
static void claim_monotone(ulp_run *run) {
    size_t formats, scales;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const double *k = ulp_option_numbers(run, "scales", &scales);
    int steps = 0, wrong = 0;
    for (size_t f = 0; f < formats; f++)
        for (size_t i = 1; i < scales; i++) {
            total a = total_of(run, "agrad", "all", "all", format[f].name, k[i - 1]), b = total_of(run, "agrad", "all", "all", format[f].name, k[i]);
            steps++;
            wrong += k[i] > k[i - 1] && (b.flushed > a.flushed || b.overflow < a.overflow);
        }
    if (steps) ulp_claim(run, wrong == 0, "doubling the scale never flushes more and never overflows less", "%d steps, %d against it", steps, wrong);
}

static void claim_eight_bits(ulp_run *run) {
    double safe = safe_scale(run, "e4m3"), there = flushed(run, "agrad", "all", "e4m3", safe);
    double wide = safe_scale(run, "e5m2"), kept = flushed(run, "agrad", "all", "e5m2", wide);
    char name[24], wide_name[24];
    claim_setup(run, 1, there > kept && there >= 20, "no one scale saves e4m3: the largest safe one still flushes a fifth or more, and more than e5m2's",
               "e4m3 at %s %.2f %%, e5m2 at %s %.2f %%", scale_name(name, sizeof name, safe), there, scale_name(wide_name, sizeof wide_name, wide), kept);
}

static void check(ulp_run *run, const void *context) {
    size_t formats, scales;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const double *k = ulp_option_numbers(run, "scales", &scales);
    int has_one = 0;
    (void)context;
    for (size_t i = 0; i < scales; i++) has_one |= k[i] == 0;
    print_formats(run);
    print_layers(run, has_format(run, "binary16") ? "binary16" : format[0].name);
    claim_monotone(run);
    if (!has_one) {
        ulp_claim_skip(run, "what is flushed at scale 1", "0 is not in --scales");
        return;
    }
    if (has_format(run, "binary16")) claim_binary16(run);
    claim_order(run);
    if (has_format(run, "bfloat16")) {
        double share = flushed(run, "agrad", "all", "bfloat16", 0);
        claim_setup(run, 0, share <= 0.01, "bfloat16 needs no scale: it flushes at most one in 10000", "%.5f %%", share);
    }
    if (has_format(run, "e4m3") && has_format(run, "e5m2")) claim_eight_bits(run);
}

static const ulp_experiment experiment = {
    .name = "gradient_underflow",
    .question = "how small are the gradients of a network, and how many does a format turn to zero?",
    .columns = "seed,kind,layer,name,stage,what,format,scale_log2,x,count,share,zero,flushed,overflowed,kept",
    .options = options,
    .prepare = prepare,
    .compute = compute,
    .check = check,
    .release = release,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
