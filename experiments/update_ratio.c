/* update_ratio.c - how large are a network's weights beside their updates, and which updates can a format still add?
 *
 * A network learns in binary32 by SGD with momentum and a rate that falls along a cosine. At --looks of its steps every
 * weight w meets its update u = -rate' v, the exact product of the binary32 rate and the momentum v of that step: what the
 * optimizer adds. For each format the weight is rounded to it, and the update is lost if round(w + u) = w, the exact sum
 * rounded once to nearest even. Updates that are zero in binary32 are counted apart. Rows:
 *   bin    how many have 2^x <= |w / u| < 2^(x+1), w in binary32; `zero`: how many weights are zero
 *   share  of a format: how many of the non-zero updates are lost; how many lie in the zones below; against: elements
 *          that contradict the zones, the criterion, or (binary32) the weight that the run really had next
 *   trace  training loss, mean of the steps since the last trace, of this run and of runs whose weights are of a format
 *          without master weights, all else binary32, by every mode; score: loss and accuracies after the last step
 *
 * With p significand bits and w of the format, exactly: let h be half the distance from w to its neighbour in u's direction.
 * The update is lost if |u| < h, or |u| = h and w is even. For a normal w in [2^e, 2^(e+1)) h is 2^(e-p), or 2^(e-p-1) from
 * w = 2^e towards zero, and that tie goes to w, which is even. So
 *   |w / u| >= 2^(p+1)   certain: the update is lost; for subnormal w and fixed point too, where h is not smaller
 *   |w / u| <  2^p       safe: the weight moves, if it is normal
 *   between              open: it depends on w's place in its binade
 *   small                the weight is not normal, so only the criterion tells; less than 2^(p+1)
 * Ties hardly happen in a training: rows `edge` count the criterion against rounding at u = h and h (1 +- 2^-20), both ways
 * from every weight of the first look. Micikevicius et al. 2018, "Mixed precision training", arXiv:1710.03740, section 3.1, name the ratio 2048 = 2^11 for binary16.
 * Longer than most files: the criterion, what is counted by it, and the claims are one thought.
 */
#include "harness/bins.h"
#include "harness/prepare.h"
#include "harness/setup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/train.h"

static const ulp_option options[] = {
    ULP_TAKES_FORMATS("fp32,fp16,bf16,e4m3", NULL),
    ULP_TAKES_MODES("rne,sr", NULL),
    {"net", ULP_OPTION_TEXT, "fc128 relu fc64 relu fc10", NULL, NULL, "the network, layer by layer", 0, 0, NULL, 0},
    ULP_TAKES_SET,
    {"batch", ULP_OPTION_INTEGER, "64", NULL, NULL, "samples per step", 1, 60000, NULL, 0},
    {"steps", ULP_OPTION_INTEGER, "2000", "600", "20000", "training steps", 2, 1e7, NULL, 0},
    {"looks", ULP_OPTION_INTEGER, "40", "12", NULL, "how many steps are looked at", 2, 1000, NULL, 0},
    {"rate", ULP_OPTION_NUMBER, "0.05", NULL, NULL, "learning rate at the start", 0x1p-40, 1000, NULL, 0},
    {"schedule", ULP_OPTION_CHOICE, "cosine", NULL, NULL, "the rate: falls to zero along a cosine, or constant", 0, 0, "cosine constant", 0},
    {"momentum", ULP_OPTION_NUMBER, "0.9", NULL, NULL, "momentum", 0, 1, NULL, 0},
    ULP_TAKES_SEED,
    ULP_TAKES_SEEDS("2", "1", "5"),
    ULP_TAKES_BACKEND,
    ULP_TAKES_DATA,
    {0},
};

enum { LAYERS = 64, ALL = LAYERS };
enum { OBSERVED = -1 }; /* in place of a format: the binary32 run that is looked at */

/* ---- one update of one format ---- */

typedef struct tally {
    uint64_t count, zero, lost;          /* lost: of the updates that are not zero */
    uint64_t certain, open, safe, small; /* of those, too */
    uint64_t open_lost;
    uint64_t against_zones, against_criterion, against_run;
} tally;

/* The criterion: half the way to the neighbour, ties to even. w is a value of the format, u is not zero. w is even if it is an
 * even multiple of that way; with one significand bit every number is 1 2^e, and its code decides. */
static int stays(double w, double u, const ulp_format *f) {
    double next = u > 0 ? ulp_next_up(w, f) : ulp_next_down(w, f), way = fabs(next - w);
    uint64_t code;
    if (next == w || isinf(next)) way = ulp_spacing(w, f); /* at the end of the range */
    if (fabs(u) != way / 2) return fabs(u) < way / 2;
    if (f->prec > 1) return fmod(fabs(w) / way, 2) == 0;
    return ulp_encode(&code, w, f) == ULP_OK && code % 2 == 0;
}

static int is_normal(double w, const ulp_format *f) {
    return !f->is_fixed && (fabs(w) > f->min_normal || (fabs(w) == f->min_normal && f->has_subnormals));
}

/* w rounded to the format, u exact, sum the rounded sum, next what the run went on with. */
static void judge(tally *t, double w, double u, double sum, float next, const ulp_format *f) {
    int lost = sum == w, ratio_is = fabs(w) >= ulp_scale(fabs(u), f->prec + 1) ? 2 : fabs(w) >= ulp_scale(fabs(u), f->prec) ? 1 : 0;
    t->count++;
    t->against_run += strcmp(f->name, "binary32") == 0 && (float)sum != next;
    if (u == 0) {
        t->zero++;
        return;
    }
    t->lost += (uint64_t)lost;
    t->against_criterion += lost != stays(w, u, f);
    if (ratio_is == 2) t->certain++;
    else if (!is_normal(w, f)) t->small++;
    else if (ratio_is == 1) t->open++, t->open_lost += (uint64_t)lost;
    else t->safe++;
    t->against_zones += ratio_is == 2 ? !lost : ratio_is == 0 && is_normal(w, f) && lost;
}

static void tally_add(tally *to, const tally *from) {
    uint64_t *a = &to->count;
    const uint64_t *b = &from->count;
    for (size_t i = 0; i < sizeof *to / sizeof *a; i++) a[i] += b[i];
}

/* ---- one look: a step of the run, all weights ---- */

typedef struct watch {
    const ulp_backend *backend;
    const ulp_format *format;
    size_t formats, n;
    float *before, *after, *direction, *host; /* (n) host memory */
    float *weight, *sum;                      /* (n) backend memory */
    ulp_histogram ratio;                      /* of |w / u|, u not zero */
    tally at[LAYERS + 1];                     /* of one format; the last one: all layers */
} watch;

/* Exact: w has 24 bits and u 48, so no quotient below a power of two rounds to it. */
static void count_ratios(watch *w, double rate) {
    ulp_histogram_clear(&w->ratio);
    for (size_t i = 0; i < w->n; i++) {
        double u = rate * (double)w->direction[i];
        int e;
        if (u == 0) continue;
        w->ratio.count++;
        if (w->before[i] == 0.0F) {
            w->ratio.zero++;
            continue;
        }
        frexp((double)w->before[i] / u, &e);
        e = e - 1 < ULP_BIN_MIN ? ULP_BIN_MIN : e - 1 > ULP_BIN_MAX ? ULP_BIN_MAX : e - 1;
        w->ratio.bin[e - ULP_BIN_MIN]++;
    }
}

/* What becomes of the updates -rate direction in a format: the optimizer's own operation, on rounded weights. */
static ulp_status look(watch *w, const ulp_net *net, float rate, const float *direction, const ulp_format *f) {
    const ulp_backend *b = w->backend;
    ulp_operand at = {.kind = ULP_OPERAND_ARRAY, .at = w->weight}, to = {.kind = ULP_OPERAND_ARRAY, .at = w->sum};
    ulp_operand d = {.kind = ULP_OPERAND_ARRAY, .at = (float *)(uintptr_t)direction}, r = {.kind = ULP_OPERAND_VALUE, .value = -rate};
    ulp_update_step steps[2] = {{.op = ULP_STEP_ROUND, .y = at, .a = at, .format = *f}, {.op = ULP_FUSED, .y = to, .a = r, .b = d, .c = at, .format = *f}};
    ulp_status status = b->upload(w->weight, w->before, w->n * sizeof(float));
    if (status == ULP_OK) status = b->update(steps, 2, w->n);
    if (status == ULP_OK) status = b->download(w->host, w->weight, w->n * sizeof(float));
    float *sum = w->host + w->n;
    if (status == ULP_OK) status = b->download(sum, w->sum, w->n * sizeof(float));
    if (status != ULP_OK) return status;
    memset(w->at, 0, sizeof w->at);
    for (size_t l = 0; l < net->count; l++) {
        const ulp_layer *layer = &net->layers[l];
        for (size_t i = layer->first_param; i < layer->first_param + layer->params; i++)
            judge(&w->at[l], (double)w->host[i], (double)-rate * (double)w->direction[i], (double)sum[i], w->after[i], f);
        tally_add(&w->at[ALL], &w->at[l]);
    }
    return ULP_OK;
}

/* Ties hardly ever happen in a training: the criterion at h and just beside it, both ways from every rounded weight. */
static void count_edges(const watch *w, const ulp_format *f, tally *t) {
    for (size_t i = 0; i < 6 * w->n; i++) {
        double x = (double)w->host[i / 6], next = i % 2 ? ulp_next_up(x, f) : ulp_next_down(x, f);
        double u = (next - x) / 2 * (1 + ((double)(i % 6 / 2) - 1) * 0x1p-20);
        if (next == x || isinf(next)) continue;
        t->count++;
        t->against_criterion += (ulp_round_pair(x, u, f, (ulp_rule){0}, 0) == x) != stays(x, u, f);
    }
}

static ulp_status watch_init(watch *w, size_t n) {
    w->n = n;
    w->before = malloc(5 * n * sizeof *w->before);
    w->weight = w->backend->alloc(n * sizeof(float));
    w->sum = w->backend->alloc(n * sizeof(float));
    if (w->before == NULL || w->weight == NULL || w->sum == NULL) return ULP_NO_MEMORY;
    w->after = w->before + n;
    w->direction = w->after + n;
    w->host = w->direction + n; /* (2 n) */
    return ULP_OK;
}

static void watch_free(watch *w) {
    if (w->weight != NULL) w->backend->release(w->weight);
    if (w->sum != NULL) w->backend->release(w->sum);
    free(w->before);
}

/* ---- rows ---- */

typedef struct key {
    uint64_t seed;
    const char *run, *mode; /* format of the weights and how they are rounded */
} key;

static void put_key(ulp_rows *rows, const key *k, const char *what, int64_t step, const char *layer, const char *format) {
    ulp_put_integer(rows, (int64_t)k->seed);
    ulp_put_text(rows, k->run);
    ulp_put_text(rows, k->mode);
    ulp_put_text(rows, what);
    ulp_put_integer(rows, step);
    if (layer) ulp_put_text(rows, layer);
    else ulp_put_none(rows);
    if (format) ulp_put_text(rows, format);
    else ulp_put_none(rows);
}

static void put_bins(ulp_rows *rows, const key *k, int64_t step, const ulp_histogram *h) {
    for (int e = ULP_BIN_ZERO; e <= ULP_BIN_MAX; e++) {
        if (ulp_bin_count(h, e) == 0) continue;
        put_key(rows, k, ulp_bin_word(e), step, "all", NULL);
        ulp_put_bin(rows, h, e);
        ulp_put_nones(rows, 11);
        ulp_row_end(rows);
    }
}

static void put_tally(ulp_rows *rows, const key *k, const char *what, int64_t step, const char *layer, const ulp_format *f, const tally *t) {
    put_key(rows, k, what, step, layer, f->name);
    ulp_put_none(rows);
    ulp_put_integer(rows, (int64_t)t->count);
    ulp_put_none(rows);
    const uint64_t *cell = &t->zero;
    for (size_t i = 1; i < sizeof *t / sizeof *cell; i++) ulp_put_integer(rows, (int64_t)cell[i - 1]);
    ulp_put_none(rows);
    ulp_row_end(rows);
}

static void put_shares(ulp_rows *rows, const key *k, int64_t step, const watch *w, const ulp_net *net, const ulp_format *f) {
    for (size_t l = 0; l <= LAYERS; l++) {
        char name[48] = "all";
        if (w->at[l].count == 0) continue;
        if (l < ALL) snprintf(name, sizeof name, "%zu %s", l, net->layers[l].word);
        put_tally(rows, k, "share", step, name, f, &w->at[l]);
    }
    if (step > 0) return;
    tally edges = {0};
    count_edges(w, f, &edges);
    put_tally(rows, k, "edge", step, "all", f, &edges);
}

static void put_value(ulp_rows *rows, const key *k, const char *what, int64_t step, double value) {
    put_key(rows, k, what, step, NULL, NULL);
    ulp_put_nones(rows, 13);
    ulp_put_number(rows, value);
    ulp_row_end(rows);
}

/* ---- the grid: per seed the observed run, and one run per format and mode without master weights ---- */

static ulp_status check_formats(const ulp_run *run) {
    size_t formats;
    const ulp_format *f = ulp_run_formats(run, &formats);
    for (size_t i = 0; i < formats; i++) {
        if (!f[i].fits_binary32) return ulp_run_fail(run, ULP_BAD_ARGUMENT, "--formats %s: weights are carried in binary32, which does not hold its values", f[i].name);
        if (!f[i].is_signed || !f[i].has_zero) return ulp_run_fail(run, ULP_BAD_ARGUMENT, "--formats %s: weights need a sign and a zero", f[i].name);
        if (f[i].overflow == ULP_OVERFLOW_WRAP) return ulp_run_fail(run, ULP_BAD_ARGUMENT, "--formats %s: a sum that wraps around is no rounded sum", f[i].name);
    }
    return ULP_OK;
}

static void list_points(ulp_run *run) {
    size_t formats, modes;
    const ulp_format *f = ulp_run_formats(run, &formats);
    const ulp_named_rule *mode = ulp_run_modes(run, &modes);
    for (int64_t s = 0; s < ulp_option_integer(run, "seeds"); s++) {
        ulp_point point = {.at = {(int64_t)ulp_run_seed(run) + s, OBSERVED}, .cost = 1.5};
        ulp_point_add(run, point, "seed %lld observed", (long long)point.at[0]);
        point.cost = 1;
        for (size_t i = 0; i < formats; i++)
            for (size_t m = 0; m < modes && strcmp(f[i].name, "binary32") != 0; m++) {
                point.at[1] = (int64_t)i;
                point.at[2] = (int64_t)m;
                ulp_point_add(run, point, "seed %lld %s %s", (long long)point.at[0], f[i].name, mode[m].name);
            }
    }
}

static ulp_status prepare(ulp_run *run, void **context) {
    ulp_status status = check_formats(run);
    if (status != ULP_OK) return status;
    if (ulp_option_integer(run, "looks") > ulp_option_integer(run, "steps"))
        return ulp_run_fail(run, ULP_BAD_ARGUMENT, "--looks %lld: more than --steps %lld", (long long)ulp_option_integer(run, "looks"),
                            (long long)ulp_option_integer(run, "steps"));
    status = ulp_context_prepare(run, context, ulp_option_text(run, "set"));
    if (status != ULP_OK) return status;
    ulp_header_add(run, "update", "u = -rate' v: the binary32 rate of the step times its momentum, exact; lost: w + u rounded once, rne, is w");
    list_points(run);
    return ULP_OK;
}

/* The step of look i: the first, the last, and evenly between. */
static uint64_t look_step(const ulp_run *run, uint64_t i) {
    uint64_t looks = (uint64_t)ulp_option_integer(run, "looks"), last = (uint64_t)ulp_option_integer(run, "steps") - 1;
    return i * last / (looks - 1);
}

/* All formats at the step that was just done. */
static ulp_status look_at_all(watch *w, const ulp_trainer *t, ulp_rows *rows, const key *k) {
    int64_t step = (int64_t)t->step - 1;
    float rate = (float)ulp_rate_at(&t->optimizer.rule, (uint64_t)step);
    const float *direction = t->optimizer.momentum ? t->optimizer.momentum : t->model.wgrad;
    ulp_status status = ulp_trainer_weights(t, w->after, NULL);
    if (status == ULP_OK) status = w->backend->download(w->direction, direction, w->n * sizeof(float));
    if (status != ULP_OK) return status;
    count_ratios(w, (double)rate);
    put_bins(rows, k, step, &w->ratio);
    for (size_t i = 0; i < w->formats && status == ULP_OK; i++) {
        status = look(w, &t->model.net, rate, direction, &w->format[i]);
        if (status == ULP_OK) put_shares(rows, k, step, w, &t->model.net, &w->format[i]);
    }
    return status;
}

static ulp_status train(const ulp_run *run, ulp_trainer *t, watch *w, ulp_rows *rows, const key *k) {
    uint64_t steps = (uint64_t)ulp_option_integer(run, "steps"), looks = 0, since = 0;
    ulp_status status = w ? watch_init(w, t->model.net.params) : ULP_OK;
    double loss = 0;
    for (uint64_t i = 0; i < steps && status == ULP_OK; i++) {
        ulp_step step;
        int looking = i == look_step(run, looks);
        if (w && looking) status = ulp_trainer_weights(t, w->before, NULL);
        if (status == ULP_OK) status = ulp_trainer_step(t, &step);
        if (status != ULP_OK) break;
        if (w && !isfinite(step.loss)) return ulp_run_fail(run, ULP_BAD_ARGUMENT, "--rate %g: the binary32 run of seed %llu diverges at step %llu", ulp_option_number(run, "rate"), (unsigned long long)k->seed, (unsigned long long)i);
        loss += step.loss;
        since++;
        if (looking) {
            put_value(rows, k, "trace", (int64_t)i, loss / (double)since);
            loss = 0;
            since = 0;
            looks++;
            if (w) status = look_at_all(w, t, rows, k);
        }
        if (ulp_rows_progress(rows, (double)i / (double)steps)) break;
    }
    ulp_score train_part = {0}, test_part = {0};
    if (status == ULP_OK) status = ulp_trainer_score(t, ULP_TRAIN_PART, &train_part);
    if (status == ULP_OK) status = ulp_trainer_score(t, ULP_TEST_PART, &test_part);
    if (status != ULP_OK) return ulp_run_fail(run, status, "the training run of seed %llu: %s", (unsigned long long)k->seed, ulp_status_text(status));
    put_value(rows, k, "train_loss", (int64_t)steps, train_part.loss);
    put_value(rows, k, "train_accuracy", (int64_t)steps, train_part.accuracy);
    put_value(rows, k, "test_accuracy", (int64_t)steps, test_part.accuracy);
    return ULP_OK;
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    char optimizer[128], policy[96], error[1024];
    size_t formats, modes;
    const ulp_format *f = ulp_run_formats(run, &formats);
    const ulp_named_rule *mode = ulp_run_modes(run, &modes);
    int observed = point->at[1] == OBSERVED;
    key k = {(uint64_t)point->at[0], observed ? "binary32" : f[point->at[1]].name, observed ? "rne" : mode[point->at[2]].name};
    watch w = {.backend = ulp_run_backend(run), .format = f, .formats = formats};
    ulp_trainer *t = NULL;
    snprintf(optimizer, sizeof optimizer, "sgd,rate=%.17g,momentum=%.17g,cosine=%lld", ulp_option_number(run, "rate"), ulp_option_number(run, "momentum"),
             ulp_option_chosen(run, "schedule", "cosine") ? (long long)ulp_option_integer(run, "steps") : 0);
    snprintf(policy, sizeof policy, "fp32,weight=%s/%s,master=none", k.run, k.mode);
    ulp_train_options o = {
        .net = ulp_option_text(run, "net"),
        .policy = policy,
        .optimizer = optimizer,
        .batch = (size_t)ulp_option_integer(run, "batch"),
        .seed = k.seed,
        .backend = ulp_run_backend(run),
    };
    ulp_status status = ulp_trainer_new(&t, context, &o, error, sizeof error);
    if (status != ULP_OK) return ulp_run_fail(run, status, "%s", error);
    if (t->model.net.count > LAYERS) status = ulp_run_fail(run, ULP_BAD_ARGUMENT, "--net has %zu layers, at most %d are looked at", t->model.net.count, LAYERS);
    if (status == ULP_OK && t->model.net.params == 0) status = ulp_run_fail(run, ULP_BAD_ARGUMENT, "--net '%s' has no parameters", o.net);
    if (status == ULP_OK) status = train(run, t, observed ? &w : NULL, rows, &k);
    ulp_trainer_free(t);
    watch_free(&w);
    return status;
}

/* ---- claims ---- */

static double sum_of_rows(const ulp_run *run, const char *what, const char *column, const char *format, const char *seed, const char *step) {
    double sum = 0;
    for (long row = 0;; row++) {
        row = ulp_row_find(run, row, "layer", "all", "what", what, "format", format, (const char *)NULL);
        if (row == ULP_NO_ROW) return sum;
        if ((seed && !ulp_row_is(run, row, "seed", seed)) || (step && !ulp_row_is(run, row, "step", step))) continue;
        sum += ulp_row_number(run, row, column);
    }
}

static double sum_of(const ulp_run *run, const char *column, const char *format, const char *seed, const char *step) {
    return sum_of_rows(run, "share", column, format, seed, step);
}

/* Percent of the non-zero updates that a format loses; over all looks if step is NULL. */
static double lost(const ulp_run *run, const char *format, const char *seed, const char *step) {
    double n = sum_of(run, "count", format, seed, step) - sum_of(run, "zero", format, seed, step);
    return n > 0 ? 100 * sum_of(run, "lost", format, seed, step) / n : 0;
}

static const char *step_text(const ulp_run *run, char *text, size_t size, uint64_t look_number) {
    snprintf(text, size, "%llu", (unsigned long long)look_step(run, look_number));
    return text;
}

/* Mean over seeds of a value after the last step; NaN if there is none. */
static double score(const ulp_run *run, const char *what, const char *format, const char *mode) {
    double sum = 0, n = 0;
    for (long row = 0;; row++) {
        row = ulp_row_find(run, row, "what", what, "run", format, "mode", mode, (const char *)NULL);
        if (row == ULP_NO_ROW) return n > 0 ? sum / n : (double)NAN;
        sum += ulp_row_number(run, row, "value");
        n++;
    }
}

static void print_formats(const ulp_run *run) {
    size_t formats;
    const ulp_format *f = ulp_run_formats(run, &formats);
    uint64_t looks = (uint64_t)ulp_option_integer(run, "looks");
    ulp_table *table = ulp_table_new("percent of the non-zero updates of the binary32 run that round(w + u) = w would lose, weights of each format",
                                     "format,p,first step,middle,at 3/4,last step,all looks,all: ratio below 2^p,2^p to 2^(p+1),of these lost,from 2^(p+1),weight not normal");
    for (size_t i = 0; i < formats; i++) {
        const char *name = f[i].name;
        char step[24];
        double n = sum_of(run, "count", name, NULL, NULL) - sum_of(run, "zero", name, NULL, NULL), open = sum_of(run, "open", name, NULL, NULL);
        ulp_table_put(table, "%s", name);
        ulp_table_put(table, "%d", f[i].prec);
        for (uint64_t q = 0; q < 4; q++) ulp_table_put(table, "%.4g", lost(run, name, NULL, step_text(run, step, sizeof step, q == 0 ? 0 : (q + 1) * (looks - 1) / 4)));
        ulp_table_put(table, "%.4g", lost(run, name, NULL, NULL));
        ulp_table_put(table, "%.4g", 100 * sum_of(run, "safe", name, NULL, NULL) / n);
        ulp_table_put(table, "%.4g", 100 * open / n);
        ulp_table_put(table, open > 0 ? "%.3g" : "-", 100 * sum_of(run, "open_lost", name, NULL, NULL) / open);
        ulp_table_put(table, "%.4g", 100 * sum_of(run, "certain", name, NULL, NULL) / n);
        ulp_table_put(table, "%.4g", 100 * sum_of(run, "small", name, NULL, NULL) / n);
    }
    ulp_table_print(table, run);
}

static void print_runs(const ulp_run *run) {
    ulp_table *table = ulp_table_new("trained with weights of a format and no master weights, all else binary32; means of the seeds", "weights,mode,training loss,training accuracy,test accuracy");
    for (long row = 0; row < ulp_row_count(run); row++) {
        char seed[24];
        snprintf(seed, sizeof seed, "%lld", (long long)ulp_run_seed(run));
        row = ulp_row_find(run, row, "what", "train_loss", "seed", seed, (const char *)NULL);
        if (row == ULP_NO_ROW) break;
        const char *format = ulp_row_text(run, row, "run"), *mode = ulp_row_text(run, row, "mode");
        ulp_table_put(table, "%s", format);
        ulp_table_put(table, "%s", mode);
        ulp_table_put(table, "%.5g", score(run, "train_loss", format, mode));
        ulp_table_put(table, "%.2f %%", 100 * score(run, "train_accuracy", format, mode));
        ulp_table_put(table, "%.2f %%", 100 * score(run, "test_accuracy", format, mode));
    }
    ulp_table_print(table, run);
}

/* What holds for every element, whatever the options. */
static void claim_exact(ulp_run *run) {
    size_t formats;
    const ulp_format *f = ulp_run_formats(run, &formats);
    double n = 0, edges = 0, zones = 0, criterion = 0, certain = 0, safe = 0;
    for (size_t i = 0; i < formats; i++) {
        n += sum_of(run, "count", f[i].name, NULL, NULL) - sum_of(run, "zero", f[i].name, NULL, NULL);
        zones += sum_of(run, "against_zones", f[i].name, NULL, NULL);
        criterion += sum_of(run, "against_criterion", f[i].name, NULL, NULL) + sum_of_rows(run, "edge", "against_criterion", f[i].name, NULL, NULL);
        edges += sum_of_rows(run, "edge", "count", f[i].name, NULL, NULL);
        certain += sum_of(run, "certain", f[i].name, NULL, NULL);
        safe += sum_of(run, "safe", f[i].name, NULL, NULL);
    }
    ulp_claim(run, n > 0 && criterion == 0, "an update is lost exactly if it is less than half the distance to the weight's neighbour, or that half and the weight is even",
              "%.0f updates that are not zero and %.0f made ones at and beside that half, %.0f against it", n, edges, criterion);
    ulp_claim(run, certain + safe > 0 && zones == 0, "from |w/u| = 2^(p+1) on every update is lost; below 2^p every normal weight moves", "%.0f and %.0f of the updates, %.0f against it", certain,
              safe, zones);
    if (!ulp_run_has_format(run, "binary32")) return;
    double all = sum_of(run, "count", "binary32", NULL, NULL), other = sum_of(run, "against_run", "binary32", NULL, NULL);
    ulp_claim(run, all > 0 && other == 0, "the updates are those of the run: in binary32 w + u is the run's next weight, bit for bit", "%.0f weights, %.0f against it", all, other);
}

/* More significand bits, fewer lost updates: at every look of every seed. */
static void claim_order(ulp_run *run) {
    static const char *const names[] = {"e4m3", "bfloat16", "binary16", "binary32"};
    int64_t looks = ulp_option_integer(run, "looks"), seeds = ulp_option_integer(run, "seeds");
    int wrong = 0, formats = 0;
    for (int64_t s = 0; s < seeds * looks; s++) {
        char seed[24], step[24];
        double last = 100;
        snprintf(seed, sizeof seed, "%lld", (long long)ulp_run_seed(run) + (long long)(s / looks));
        step_text(run, step, sizeof step, (uint64_t)(s % looks));
        formats = 0;
        for (size_t i = 0; i < 4; i++) {
            if (!ulp_run_has_format(run, names[i])) continue;
            double share = lost(run, names[i], seed, step);
            wrong += share > last;
            last = share;
            formats++;
        }
    }
    if (formats > 1)
        ulp_claim(run, wrong == 0, "at every look the lost share does not grow with p: e4m3, bfloat16, binary16, binary32", "%lld looks of %d formats, %d against it", (long long)(looks * seeds),
                  formats, wrong);
}

static void claim_growth(ulp_run *run) {
    char first[24], late[24];
    int64_t looks = ulp_option_integer(run, "looks");
    step_text(run, first, sizeof first, 0);
    step_text(run, late, sizeof late, (uint64_t)(3 * (looks - 1) / 4));
    if (ulp_run_has_format(run, "binary16")) {
        double a = lost(run, "binary16", NULL, first), b = lost(run, "binary16", NULL, late);
        ulp_claim(run, a < 50 && b > 50, "binary16 loses less than half of the updates at the first step and more than half at three quarters of the training",
                  "%.2f %% at step %s, %.2f %% at step %s", a, first, b, late);
    }
    if (ulp_run_has_format(run, "bfloat16")) {
        double a = lost(run, "bfloat16", NULL, first), b = lost(run, "bfloat16", NULL, late);
        ulp_claim(run, b > a && b > 90, "bfloat16 loses more than nine in ten at three quarters of the training, more than at first", "%.2f %% at step %s, %.2f %% at step %s", a, first, b, late);
    }
    if (ulp_run_has_format(run, "binary32")) {
        double a = lost(run, "binary32", NULL, first);
        ulp_claim(run, a < 0.1, "binary32 loses less than one in a thousand at the first step", "%.4f %%", a);
    }
}

/* One format's runs without master weights. */
static void claim_training(ulp_run *run, const char *format) {
    double whole = score(run, "train_loss", "binary32", "rne"), near = score(run, "train_loss", format, "rne"), random = score(run, "train_loss", format, "sra");
    char text[160];
    if (!isnan(near)) {
        snprintf(text, sizeof text, "weights in %s alone, rounded to nearest, end at a higher training loss than in binary32", format);
        ulp_claim(run, near > whole, text, "%.5f, binary32 %.5f", near, whole);
    }
    if (!isnan(near) && !isnan(random)) {
        snprintf(text, sizeof text, "weights in %s alone, rounded stochastically, end nearer to binary32's training loss than rounded to nearest", format);
        ulp_claim(run, fabs(random - whole) < fabs(near - whole), text, "%.5f, to nearest %.5f, binary32 %.5f", random, near, whole);
    }
}

/* The measured facts are about the training of the table of options. */
static void claim_measured(ulp_run *run) {
    static const char *const names[] = {"binary16", "bfloat16", "e4m3"};
    char why[256];
    if (ulp_setup_differs(run, "net set batch steps rate schedule momentum", why, sizeof why)) {
        ulp_claim_skip(run, "what the formats lose, and what that does to the training", "%s", why);
        return;
    }
    claim_order(run);
    claim_growth(run);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) claim_training(run, names[i]);
}

static void check(ulp_run *run, const void *context) {
    (void)context;
    print_formats(run);
    print_runs(run);
    claim_exact(run);
    claim_measured(run);
    if (ulp_run_has_format(run, "binary16")) {
        double n = sum_of(run, "open", "binary16", NULL, NULL);
        ulp_beside(run, "ratio |w|/|u| from which binary16 loses updates", "Micikevicius et al. 2018, section 3.1", "2048", "%.0f %% of those between 2048 and 4096, all from 4096 on",
                   n > 0 ? 100 * sum_of(run, "open_lost", "binary16", NULL, NULL) / n : 0);
    }
}

static const ulp_experiment experiment = {
    .name = "update_ratio",
    .question = "how large are a network's weights beside their updates, and which updates can a format still add?",
    .columns = "seed,run,mode,what,step,layer,format,x,count,share,zero,lost,certain,open,safe,small,open_lost,against_zones,against_criterion,against_run,value",
    .options = options,
    .prepare = prepare,
    .compute = compute,
    .check = check,
    .release = ulp_context_release,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
