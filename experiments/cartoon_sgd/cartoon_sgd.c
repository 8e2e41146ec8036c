/* cartoon_sgd.c - gradient ascent on a parabola, every operation rounded: how far from the top do updates vanish?
 *
 * Q(w) = -(w - 3)^2 + 3 from w = 0 with rate 0.01: d = 3 - w, g = 2 d, u = rate g, w <- w + u, each rounded once; the
 * rate is rounded to the format first (rne). The update is about 0.02 d: near the top it is less than half the spacing
 * of the numbers at w, and w stands still although the gradient does not vanish. Cures, under rne: kahan   the update
 * is compensated, in the format (Kahan 1965, doi:10.1145/363707.363723) master  weight, rate and update in binary32;
 * the gradient d, g is computed in the format from the weight rounded to it (Micikevicius et al. 2018, arXiv
 * 1710.03740, section 3.1) and stochastic rounding of every operation, over many runs. No run oversteps: u is at most
 * d, and 3 is a number of the format, so that w + u, at most 3, rounds to 3 at most. Once at 3, d is 0 and w stays.
 * Without rounding w after k updates is 3 (1 - (1 - 2 rate)^k); stochastic rounding is unbiased and every operation
 * linear, so that this is the mean of the runs as well.
 * Rows `path` are one run; `stop` says after how many updates nothing moves, `open` that the weight still moved after
 * --updates; `spread` summarises all runs of a stochastic mode. Column weight: what the updates are added to, the
 * master copy where there is one; value: the weight in the format.
 */
#include "experiments/harness/sweep/running_sum.h"
#include "experiments/harness/claims/spread.h"

#include <math.h>

static const ulp_option options[] = {
    ULP_TAKES_FORMATS(ULP_RUNNING_FORMATS, NULL),
    ULP_TAKES_MODES("rne,rz,ru,sra", NULL),
    {"rate", ULP_OPTION_NUMBER, "0.01", NULL, NULL, "step size", 1e-6, 0.25, NULL, 0},
    {"updates", ULP_OPTION_INTEGER, "2000", NULL, "10000", "updates at most", 1, 1e5, NULL, 0},
    ULP_TAKES_RUNS("1000", "300", "20000"),
    ULP_TAKES_PATHS("3"),
    ULP_TAKES_SEED,
    {0},
};

enum { CURES = 2, EVERY = 10 /* updates from one row of a spread to the next */ };
static const ulp_cure cures[CURES] = {ULP_CURE_KAHAN, ULP_CURE_MASTER};

static int takes_format(const ulp_format *f) {
    return f->fits_binary32 && f->is_signed && f->has_zero && ulp_round(3, f, (ulp_rule){0}, 0) == 3;
}

static ulp_status prepare(ulp_run *run, void **context) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    (void)context;
    for (size_t f = 0; f < formats; f++)
        ulp_running_points(run, f, cures, CURES, (ulp_running_costs){1, format[f].prec == 24 ? 3000 : 500, 1});
    return ULP_OK;
}

/* An ascent under way: the weight, to which updates are added, and the rate: a value of the format; of binary32 under a
 * master copy. */
typedef struct ascent {
    ulp_running weight;
    double rate;
} ascent;

/* What the updates are added to. */
static double kept_weight(const ulp_running *w) { return w->cure == ULP_CURE_MASTER ? w->kept : w->value; }

static void step(ascent *s) {
    ulp_running *w = &s->weight;
    const double d = ulp_arith(ULP_SUB, 3, w->value, 0, w->format, w->rule, 0),
                 gradient = ulp_arith(ULP_MUL, 2, d, 0, w->format, w->rule, 0);
    if (w->cure == ULP_CURE_MASTER) ulp_running_add(w, (double)((float)s->rate * (float)gradient), 0);
    else ulp_running_add(w, ulp_arith(ULP_MUL, s->rate, gradient, 0, w->format, w->rule, 0), 0);
}

static double rate_in(const ulp_run *run, const ulp_format *format, ulp_cure c) {
    const double rate = ulp_option_number(run, "rate");
    return c == ULP_CURE_MASTER ? (double)(float)rate : ulp_round(rate, format, (ulp_rule){0}, 0);
}

/* From the top without rounding, after k updates. */
static double exact_distance(double rate, int64_t k) {
    double left = 3;
    for (int64_t i = 0; i < k; i++) left *= 1 - 2 * rate;
    return left;
}

static void put_value(ulp_rows *rows, const ulp_running *w, const char *what, int64_t run, int64_t k, double weight,
                      double value) {
    ulp_running_key(rows, w, what, run);
    ulp_put_integer(rows, k);
    ulp_put_number(rows, weight);
    ulp_put_number(rows, value);
    ulp_put_code(rows, value, w->format);
    ulp_put_no_spread(rows);
    ulp_row_end(rows);
}

/* Ascends until nothing changes, which then is so for good: the next state depends on the last alone. */
static void put_ascent(ulp_rows *rows, ascent s, int64_t updates) {
    const ulp_running *w = &s.weight;
    int64_t k = 0, last = 0;
    int moves = 1;
    put_value(rows, w, "path", 1, 0, kept_weight(w), w->value);
    while (moves && k < updates) {
        const ulp_running before = *w;
        step(&s);
        k++;
        moves = !ulp_same(w->value, before.value) || !ulp_same(w->kept, before.kept);
        if (!ulp_same(kept_weight(w), kept_weight(&before))) last = k;
        put_value(rows, w, "path", 1, k, kept_weight(w), w->value);
    }
    put_value(rows, w, moves ? "open" : "stop", 1, moves ? updates : last, kept_weight(w), w->value);
}

/* w, d and u of all runs */
typedef struct crowd {
    float *w, *d, *u;
    float *three, *two, *rate;
    size_t runs;
} crowd;

/* Run i takes word k 2^32 + i of the streams of the four operations in update k: no run depends on how many there are.
 */
static ulp_status update_all(const ulp_backend *backend, const crowd *c, const ulp_running *s, ulp_stream stream[4],
                             int64_t k) {
    const struct {
        ulp_op op;
        float *to;
        const float *a, *b;
    } operations[] = {{ULP_SUB, c->d, c->three, c->w},
                      {ULP_MUL, c->u, c->two, c->d},
                      {ULP_MUL, c->u, c->rate, c->u},
                      {ULP_ADD, c->w, c->w, c->u}};
    ulp_status status = ULP_OK;
    for (int i = 0; i < 4 && status == ULP_OK; i++) {
        stream[i].first = (uint64_t)k << 32;
        status = ulp_backend_map(backend, operations[i].to,
                                 (ulp_array_op){operations[i].op, operations[i].a, operations[i].b, NULL}, c->runs,
                                 (ulp_rounding){s->format, s->rule, stream[i], NULL});
    }
    return status;
}

static ulp_status put_crowd(const ulp_run *run, ulp_rows *rows, const ulp_running *s, const crowd *c) {
    static const char *const operations[] = {"difference", "gradient", "update", "weight"};
    const int64_t updates = ulp_option_integer(run, "updates"), paths = ulp_option_integer(run, "paths");
    ulp_stream stream[4];
    ulp_status status = ULP_OK;
    for (int i = 0; i < 4; i++)
        stream[i] =
            ulp_stream_named(ulp_run_seed(run), "cartoon_sgd %s %s %s", s->format->name, s->mode, operations[i]);
    for (int64_t k = 0; k <= updates && status == ULP_OK; k++) {
        if (k > 0) status = update_all(ulp_run_backend(run), c, s, stream, k);
        if (k % EVERY != 0 && k < updates) continue;
        for (int64_t i = 0; i < paths && i < (int64_t)c->runs; i++)
            put_value(rows, s, "path", i + 1, k, (double)c->w[i], (double)c->w[i]);
        ulp_running_key(rows, s, "spread", 0);
        ulp_put_integer(rows, k);
        ulp_put_nones(rows, 3);
        ulp_put_spread(rows, c->w, c->runs);
        ulp_row_end(rows);
        if (ulp_rows_progress(rows, (double)k / (double)updates)) break;
    }
    return status;
}

static ulp_status put_ensemble(const ulp_run *run, ulp_rows *rows, const ascent *s) {
    const ulp_backend *backend = ulp_run_backend(run);
    const size_t runs = (size_t)ulp_option_integer(run, "runs");
    float *memory = backend->alloc(6 * runs * sizeof *memory);
    if (!memory) return ULP_NO_MEMORY;
    const crowd c = {memory, memory + runs, memory + 2 * runs, memory + 3 * runs, memory + 4 * runs, memory + 5 * runs,
                     runs};
    for (size_t i = 0; i < runs; i++) {
        c.w[i] = 0;
        c.three[i] = 3;
        c.two[i] = 2;
        c.rate[i] = (float)s->rate;
    }
    const ulp_status status = put_crowd(run, rows, &s->weight, &c);
    backend->release(memory);
    return status;
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    ascent s = {.weight = ulp_running_start(run, point)};
    s.rate = rate_in(run, s.weight.format, s.weight.cure);
    (void)context;
    if (ulp_mode_is_stochastic(s.weight.rule.mode)) return put_ensemble(run, rows, &s);
    put_ascent(rows, s, ulp_option_integer(run, "updates"));
    return ULP_OK;
}

/* ---- claims ---- */

static long spread_row(const ulp_run *run, const char *format, const char *mode, int64_t k) {
    return ulp_running_row_at(run, format, mode, ULP_CURE_NONE, "spread", "update", k);
}

static const struct fact {
    const char *format;
    int updates;
    double weight;
} facts[] = {
    {"binary16", 199, 2.953125},
    {"bfloat16", 94, 2.625},
    {"e4m3", 17, 1},
    {"e5m2", 8, 0.5},
    {"binary32", 645, 2.99999427795410156},
};

static void claim_facts(ulp_run *run) {
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        const struct fact *want = &facts[i];
        char text[160];
        snprintf(text, sizeof text, "%s rne: %d updates move the weight, which then is stuck at exactly %.14g",
                 want->format, want->updates, want->weight);
        const long stop = ulp_running_stop_claimed(run, want->format, "updates", text);
        if (stop == ULP_NO_ROW) continue;
        const double weight = ulp_row_number(run, stop, "weight"), k = ulp_row_number(run, stop, "update");
        ulp_claim(ulp_run_claims(run), weight == want->weight && k == (double)want->updates, text,
                  "%.0f updates, %.17g", k, weight);
    }
}

/* Published to six decimals. */
static void claim_master(ulp_run *run, const char *format, double want) {
    const long stop = ulp_running_stop(run, format, ULP_CURE_MASTER);
    char text[160];
    if (stop == ULP_NO_ROW) return;
    const double weight = ulp_row_number(run, stop, "weight"), value = ulp_row_number(run, stop, "value");
    snprintf(text, sizeof text, "%s with a master copy: the copy stops at %.6f, which is 3 in the format", format,
             want);
    ulp_claim(ulp_run_claims(run), floor(1e6 * weight + 0.5) == floor(1e6 * want + 0.5) && value == 3, text,
              "%.9g, %.9g", weight, value);
}

static void claim_cures(ulp_run *run) {
    static const char *const wide[] = {"binary32", "binary16", "tf32", "bfloat16", "e6m9"}, *const narrow[] = {"e4m3",
                                                                                                               "e5m2"};
    int count = 0, good = 0;
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++) {
        const long stop = ulp_running_stop(run, wide[i], ULP_CURE_KAHAN);
        count += stop != ULP_NO_ROW;
        good += stop != ULP_NO_ROW && ulp_row_number(run, stop, "value") == 3;
    }
    if (count)
        ulp_claim(ulp_run_claims(run), good == count,
                  "Kahan's compensated update reaches exactly 3 in formats of 8 bits of precision and more", "%d of %d",
                  good, count);
    count = good = 0;
    for (size_t i = 0; i < sizeof narrow / sizeof narrow[0]; i++) {
        const long stop = ulp_running_stop(run, narrow[i], ULP_CURE_KAHAN),
                   plain = ulp_running_stop(run, narrow[i], ULP_CURE_NONE);
        if (stop == ULP_NO_ROW || plain == ULP_NO_ROW) continue;
        const double value = ulp_row_number(run, stop, "value");
        count++;
        good += value < 3 && value > ulp_row_number(run, plain, "value");
    }
    if (count)
        ulp_claim(ulp_run_claims(run), good == count, "in 8 bits it gets further than the plain update, but not to 3",
                  "%d of %d", good, count);
}

/* At the exact path's three quarters, or before the end of a short run. */
static int64_t half_way(const ulp_run *run) {
    const int64_t updates = ulp_option_integer(run, "updates");
    const double rate = ulp_option_number(run, "rate");
    int64_t k = 0;
    while (k + EVERY <= updates && exact_distance(rate, k) > 0.75) k += EVERY;
    return k;
}

/* The mean distance from 3 after k updates is 3 (1 - 2 rate)^k, and a run that is not at 3 is a spacing away at least:
 * so many runs are late at most, on average (Markov). */
static double late_runs(const ulp_run *run, const ulp_format *format) {
    const double distance = exact_distance(rate_in(run, format, ULP_CURE_NONE), ulp_option_integer(run, "updates"));
    return (double)ulp_option_integer(run, "runs") * distance / ulp_spacing(3, format);
}

static void claim_stochastic(ulp_run *run, const ulp_format *format, const char *mode) {
    const int64_t updates = ulp_option_integer(run, "updates"), k = half_way(run);
    const long end = spread_row(run, format->name, mode, updates), middle = spread_row(run, format->name, mode, k);
    const double runs = (double)ulp_option_integer(run, "runs"), rate = rate_in(run, format, ULP_CURE_NONE);
    char text[200];
    if (end == ULP_NO_ROW || middle == ULP_NO_ROW) return;
    snprintf(text, sizeof text, "%s %s: every run ends at exactly 3", format->name, mode);
    if (late_runs(run, format) > 1e-6)
        ulp_claim_skip(ulp_run_claims(run), text, "--updates %lld of rate %g may be too few", (long long)updates, rate);
    else
        ulp_claim(ulp_run_claims(run), ulp_row_number(run, end, "min") == 3 && ulp_row_number(run, end, "max") == 3,
                  text, "least %.9g, most %.9g of %.0f runs", ulp_row_number(run, end, "min"),
                  ulp_row_number(run, end, "max"), runs);
    const double want = 3 - exact_distance(rate, k), mean = ulp_row_number(run, middle, "mean"),
                 error = ulp_row_number(run, middle, "sd") / sqrt(runs);
    snprintf(text, sizeof text, "%s %s: after %lld updates the mean is the exact weight within 5 standard errors",
             format->name, mode, (long long)k);
    if (runs < 100 || error == 0)
        ulp_claim_skip(ulp_run_claims(run), text, runs < 100 ? "--runs is less than 100" : "all runs are alike");
    else
        ulp_claim(ulp_run_claims(run), fabs(mean - want) <= 5 * error, text, "mean %.9g, exact %.9g, off by %.2f", mean,
                  want, fabs(mean - want) / error);
}

static void print_end(ulp_sheet *table, const ulp_run *run, const char *format, const char *mode, ulp_cure c) {
    const long stop = ulp_running_row(run, format, mode, c, "stop"),
               open = ulp_running_row(run, format, mode, c, "open");
    if (stop != ULP_NO_ROW)
        ulp_sheet_put(table, "%.8g after %.0f", ulp_row_number(run, stop, "weight"),
                      ulp_row_number(run, stop, "update"));
    else if (open != ULP_NO_ROW) ulp_sheet_put(table, "%.8g, moving", ulp_row_number(run, open, "weight"));
    else ulp_sheet_put(table, "-");
}

static void print_table(const ulp_run *run) {
    static const char *const modes[] = {"rne", "rz", "ru"};
    const int64_t updates = ulp_option_integer(run, "updates");
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    char columns[160];
    snprintf(columns, sizeof columns, "format,rate,rne,rz,ru,kahan,master,sra after %lld", (long long)updates);
    ulp_sheet *table = ulp_sheet_new("the weight at the end, and the updates that moved it; the top is at 3", columns);
    for (size_t f = 0; f < formats; f++) {
        const char *name = format[f].name;
        const long spread = spread_row(run, name, "sra", updates);
        ulp_sheet_put(table, "%s", name);
        ulp_sheet_put(table, "%.7g", rate_in(run, &format[f], ULP_CURE_NONE));
        for (int m = 0; m < 3; m++) print_end(table, run, name, modes[m], ULP_CURE_NONE);
        for (int c = 0; c < CURES; c++) print_end(table, run, name, "rne", cures[c]);
        if (spread == ULP_NO_ROW) ulp_sheet_put(table, "-");
        else
            ulp_sheet_put(table, "%.7g +- %.2g", ulp_row_number(run, spread, "mean"),
                          ulp_row_number(run, spread, "sd"));
    }
    ulp_sheet_print(table, ulp_run_people(run));
}

static void check(ulp_run *run, const void *context) {
    (void)context;
    print_table(run);
    if (ulp_option_number(run, "rate") == 0.01) {
        claim_facts(run);
        claim_master(run, "binary16", 2.999047);
        claim_master(run, "bfloat16", 2.992344);
        claim_cures(run);
    } else ulp_claim_skip(ulp_run_claims(run), "the published numbers", "they are for --rate 0.01");
    ulp_running_claims(run, claim_stochastic);
}

static const ulp_experiment experiment = {
    .name = "cartoon_sgd",
    .question =
        "Gradient ascent on a parabola, every operation rounded: where do the updates vanish, and what cures it?",
    .columns = ULP_RUNNING_COLUMNS ",update,weight,value,code," ULP_SPREAD_COLUMNS,
    .options = options,
    .takes_format = takes_format,
    .format_wants = "has to lie within binary32 and to hold 0, 3 and negative numbers",
    .prepare = prepare,
    .compute = compute,
    .check = check,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
