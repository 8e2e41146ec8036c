/* cartoon_sgd.c - gradient ascent on a parabola, every operation rounded: how far from the top do updates vanish?
 *
 * Q(w) = -(w - 3)^2 + 3 from w = 0 with rate 0.01: d = 3 - w, g = 2 d, u = rate g, w <- w + u, each rounded once; the rate
 * is rounded to the format first (rne). The update is about 0.02 d: near the top it is less than half the spacing of the
 * numbers at w, and w stands still although the gradient does not vanish. Cures, under rne:
 *   kahan   the update is compensated, in the format (Kahan 1965, doi:10.1145/363707.363723)
 *   master  weight, rate and update in binary32; the gradient d, g is computed in the format from the weight rounded to
 *           it (Micikevicius et al. 2018, arXiv 1710.03740, section 3.1)
 * and stochastic rounding of every operation, over many runs. No run oversteps: u is at most d, and 3 is a number of the
 * format, so that w + u, at most 3, rounds to 3 at most. Once at 3, d is 0 and w stays.
 * Without rounding w after k updates is 3 (1 - (1 - 2 rate)^k); stochastic rounding is unbiased and every operation
 * linear, so that this is the mean of the runs as well.
 * Rows `path` are one run; `stop` says after how many updates nothing moves, `open` that the weight still moved after
 * --updates; `spread` summarises all runs of a stochastic mode. Column weight: what the updates are added to, the master
 * copy where there is one; value: the weight in the format.
 */
#include "harness/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const ulp_option options[] = {
    ULP_TAKES_FORMATS("binary32,binary16,tf32,bfloat16,e6m9,e4m3,e5m2,q8.8", NULL),
    ULP_TAKES_MODES("rne,rz,ru,sra", NULL),
    {"rate", ULP_OPTION_NUMBER, "0.01", NULL, NULL, "step size", 1e-6, 0.25, NULL, 0},
    {"updates", ULP_OPTION_INTEGER, "2000", NULL, "10000", "updates at most", 1, 1e5, NULL, 0},
    {"runs", ULP_OPTION_INTEGER, "1000", "300", "20000", "runs of every stochastic mode", 1, 1e6, NULL, 0},
    {"paths", ULP_OPTION_INTEGER, "3", NULL, NULL, "stochastic runs that are written one by one", 0, 1000, NULL, 0},
    ULP_TAKES_SEED,
    {0},
};

typedef enum cure { PLAIN, KAHAN, MASTER, CURE_COUNT } cure;
static const char *const cure_names[CURE_COUNT] = {"plain", "kahan", "master"};

enum { AT_FORMAT, AT_MODE, AT_CURE, EVERY = 10 /* updates from one row of a spread to the next */ };

static ulp_status prepare(ulp_run *run, void **context) {
    size_t formats, modes;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const ulp_named_rule *mode = ulp_run_modes(run, &modes);
    (void)context;
    for (size_t f = 0; f < formats; f++) {
        const char *name = format[f].name;
        if (!format[f].fits_binary32)
            return ulp_run_fail(run, ULP_UNSUPPORTED, "--formats %s: wider than binary32", name);
        if (!format[f].is_signed || !format[f].has_zero || ulp_round(3, &format[f], (ulp_rule){0}, 0) != 3)
            return ulp_run_fail(run, ULP_UNSUPPORTED, "--formats %s: has to hold 0, 3 and negative numbers", name);
        for (size_t m = 0; m < modes; m++) {
            const double cost = ulp_mode_is_stochastic(mode[m].rule.mode) ? (format[f].prec == 24 ? 3000 : 500) : 1;
            ulp_point_add(run, (ulp_point){.at = {(int64_t)f, (int64_t)m, PLAIN}, .cost = cost}, "%s %s plain", name,
                          mode[m].name);
        }
        for (int c = PLAIN + 1; c < CURE_COUNT; c++)
            ulp_point_add(run, (ulp_point){.at = {(int64_t)f, 0, c}}, "%s rne %s", name, cure_names[c]);
    }
    return ULP_OK;
}

/* An ascent under way. */
typedef struct ascent {
    const ulp_format *format;
    ulp_rule rule;
    cure cure;
    double rate;         /* a value of the format; of binary32 under a master copy */
    double weight, kept; /* weight: what updates are added to; kept: Kahan's correction */
    double value;        /* the weight in the format */
} ascent;

static double apply(const ascent *s, ulp_op op, double a, double b) {
    return ulp_arith(op, a, b, 0, s->format, s->rule, 0);
}

static void step(ascent *s) {
    const double gradient = apply(s, ULP_MUL, 2, apply(s, ULP_SUB, 3, s->value));
    if (s->cure == MASTER) {
        const float update = (float)s->rate * (float)gradient;
        s->weight = (double)((float)s->weight + update);
        s->value = ulp_round(s->weight, s->format, s->rule, 0);
        return;
    }
    double update = apply(s, ULP_MUL, s->rate, gradient);
    if (s->cure == KAHAN) update = apply(s, ULP_SUB, update, s->kept);
    const double next = apply(s, ULP_ADD, s->weight, update);
    if (s->cure == KAHAN) s->kept = apply(s, ULP_SUB, apply(s, ULP_SUB, next, s->weight), update);
    s->weight = s->value = next;
}

static double rate_in(const ulp_run *run, const ulp_format *format, cure c) {
    const double rate = ulp_option_number(run, "rate");
    return c == MASTER ? (double)(float)rate : ulp_round(rate, format, (ulp_rule){0}, 0);
}

/* From the top without rounding, after k updates. */
static double exact_distance(double rate, int64_t k) {
    double left = 3;
    for (int64_t i = 0; i < k; i++) left *= 1 - 2 * rate;
    return left;
}

static void put_key(ulp_rows *rows, const ascent *s, const char *mode, const char *what, int64_t run, int64_t k) {
    ulp_put_text(rows, s->format->name);
    ulp_put_text(rows, mode);
    ulp_put_text(rows, cure_names[s->cure]);
    ulp_put_text(rows, what);
    if (run > 0) ulp_put_integer(rows, run);
    else ulp_put_none(rows);
    ulp_put_integer(rows, k);
}

static void put_value(ulp_rows *rows, const ascent *s, const char *mode, const char *what, int64_t run, int64_t k,
                      double weight, double value) {
    put_key(rows, s, mode, what, run, k);
    ulp_put_number(rows, weight);
    ulp_put_number(rows, value);
    ulp_put_code(rows, value, s->format);
    ulp_put_no_spread(rows);
    ulp_row_end(rows);
}

static int same(double x, double y) { return x == y || (isnan(x) && isnan(y)); }

/* Ascends until nothing changes, which then is so for good: the next state depends on the last alone. */
static void put_ascent(ulp_rows *rows, ascent s, const char *mode, int64_t updates) {
    int64_t k = 0, last = 0;
    int moves = 1;
    put_value(rows, &s, mode, "path", 1, 0, s.weight, s.value);
    while (moves && k < updates) {
        const ascent before = s;
        step(&s);
        k++;
        moves = !same(s.weight, before.weight) || !same(s.kept, before.kept);
        if (!same(s.weight, before.weight)) last = k;
        put_value(rows, &s, mode, "path", 1, k, s.weight, s.value);
    }
    put_value(rows, &s, mode, moves ? "open" : "stop", 1, moves ? updates : last, s.weight, s.value);
}

/* w, d and u of all runs */
typedef struct crowd {
    float *w, *d, *u;
    float *three, *two, *rate, *sorted;
    size_t runs;
} crowd;

/* Run i takes word k 2^32 + i of the streams of the four operations in update k: no run depends on how many there are. */
static ulp_status update_all(const ulp_backend *backend, const crowd *c, const ascent *s, ulp_stream stream[4],
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
        status = backend->map(operations[i].op, operations[i].to, operations[i].a, operations[i].b, NULL, c->runs,
                              s->format, s->rule, stream[i], NULL);
    }
    return status;
}

static ulp_status put_crowd(const ulp_run *run, ulp_rows *rows, const ascent *s, const char *mode, const crowd *c) {
    static const char *const operations[] = {"difference", "gradient", "update", "weight"};
    const int64_t updates = ulp_option_integer(run, "updates"), paths = ulp_option_integer(run, "paths");
    ulp_stream stream[4];
    ulp_status status = ULP_OK;
    for (int i = 0; i < 4; i++)
        stream[i] = ulp_stream_named(ulp_run_seed(run), "cartoon_sgd %s %s %s", s->format->name, mode, operations[i]);
    for (int64_t k = 0; k <= updates && status == ULP_OK; k++) {
        if (k > 0) status = update_all(ulp_run_backend(run), c, s, stream, k);
        if (k % EVERY != 0 && k < updates) continue;
        for (int64_t i = 0; i < paths && i < (int64_t)c->runs; i++)
            put_value(rows, s, mode, "path", i + 1, k, (double)c->w[i], (double)c->w[i]);
        put_key(rows, s, mode, "spread", 0, k);
        for (int i = 0; i < 3; i++) ulp_put_none(rows);
        memcpy(c->sorted, c->w, c->runs * sizeof *c->w);
        ulp_put_spread(rows, c->sorted, c->runs);
        ulp_row_end(rows);
        if (ulp_rows_progress(rows, (double)k / (double)updates)) break;
    }
    return status;
}

static ulp_status put_ensemble(const ulp_run *run, ulp_rows *rows, const ascent *s, const char *mode) {
    const ulp_backend *backend = ulp_run_backend(run);
    const size_t runs = (size_t)ulp_option_integer(run, "runs");
    float *memory = backend->alloc(7 * runs * sizeof *memory);
    if (!memory) return ULP_NO_MEMORY;
    const crowd c = {memory,            memory + runs,     memory + 2 * runs, memory + 3 * runs,
                     memory + 4 * runs, memory + 5 * runs, memory + 6 * runs, runs};
    for (size_t i = 0; i < runs; i++) {
        c.w[i] = 0;
        c.three[i] = 3;
        c.two[i] = 2;
        c.rate[i] = (float)s->rate;
    }
    const ulp_status status = put_crowd(run, rows, s, mode, &c);
    backend->release(memory);
    return status;
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    size_t formats, modes;
    const cure c = (cure)point->at[AT_CURE];
    const ulp_named_rule nearest = {"rne", {0}},
                         *mode = c == PLAIN ? &ulp_run_modes(run, &modes)[point->at[AT_MODE]] : &nearest;
    ascent s = {.format = &ulp_run_formats(run, &formats)[point->at[AT_FORMAT]], .rule = mode->rule, .cure = c};
    s.rate = rate_in(run, s.format, c);
    (void)context;
    if (ulp_mode_is_stochastic(mode->rule.mode)) return put_ensemble(run, rows, &s, mode->name);
    put_ascent(rows, s, mode->name, ulp_option_integer(run, "updates"));
    return ULP_OK;
}

/* ---- claims ---- */

static long end_row(const ulp_run *run, const char *format, const char *mode, cure c, const char *what) {
    return ulp_row_find(run, 0, "what", what, "format", format, "mode", mode, "cure", cure_names[c],
                        (const char *)NULL);
}

static long spread_row(const ulp_run *run, const char *format, const char *mode, int64_t k) {
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)k);
    return ulp_row_find(run, 0, "what", "spread", "update", text, "format", format, "mode", mode, (const char *)NULL);
}

static const struct fact {
    const char *format;
    int updates;
    double weight;
} facts[] = {
    {"binary16", 199, 2.953125}, {"bfloat16", 94, 2.625}, {"e4m3", 17, 1},
    {"e5m2", 8, 0.5},            {"binary32", 645, 2.99999427795410156},
};

static void claim_facts(ulp_run *run) {
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        const struct fact *want = &facts[i];
        const long stop = end_row(run, want->format, "rne", PLAIN, "stop");
        char text[160];
        snprintf(text, sizeof text, "%s rne: %d updates move the weight, which then is stuck at exactly %.14g",
                 want->format, want->updates, want->weight);
        if (stop == ULP_NO_ROW) {
            if (end_row(run, want->format, "rne", PLAIN, "open") != ULP_NO_ROW)
                ulp_claim_skip(run, text, "--updates is %lld", (long long)ulp_option_integer(run, "updates"));
            continue;
        }
        const double weight = ulp_row_number(run, stop, "weight"), k = ulp_row_number(run, stop, "update");
        ulp_claim(run, weight == want->weight && k == (double)want->updates, text, "%.0f updates, %.17g", k, weight);
    }
}

/* Published to six decimals. */
static void claim_master(ulp_run *run, const char *format, double want) {
    const long stop = end_row(run, format, "rne", MASTER, "stop");
    char text[160];
    if (stop == ULP_NO_ROW) return;
    const double weight = ulp_row_number(run, stop, "weight"), value = ulp_row_number(run, stop, "value");
    snprintf(text, sizeof text, "%s with a master copy: the copy stops at %.6f, which is 3 in the format", format, want);
    ulp_claim(run, floor(1e6 * weight + 0.5) == floor(1e6 * want + 0.5) && value == 3, text, "%.9g, %.9g", weight, value);
}

static void claim_cures(ulp_run *run) {
    static const char *const wide[] = {"binary32", "binary16", "tf32", "bfloat16", "e6m9"}, *const narrow[] = {"e4m3", "e5m2"};
    int count = 0, good = 0;
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++) {
        const long stop = end_row(run, wide[i], "rne", KAHAN, "stop");
        count += stop != ULP_NO_ROW;
        good += stop != ULP_NO_ROW && ulp_row_number(run, stop, "value") == 3;
    }
    if (count)
        ulp_claim(run, good == count, "Kahan's compensated update reaches exactly 3 in formats of 8 bits of precision and more",
                  "%d of %d", good, count);
    count = good = 0;
    for (size_t i = 0; i < sizeof narrow / sizeof narrow[0]; i++) {
        const long stop = end_row(run, narrow[i], "rne", KAHAN, "stop"), plain = end_row(run, narrow[i], "rne", PLAIN, "stop");
        if (stop == ULP_NO_ROW || plain == ULP_NO_ROW) continue;
        const double value = ulp_row_number(run, stop, "value");
        count++;
        good += value < 3 && value > ulp_row_number(run, plain, "value");
    }
    if (count)
        ulp_claim(run, good == count, "in 8 bits it gets further than the plain update, but not to 3", "%d of %d", good, count);
}

/* At the exact path's three quarters, or before the end of a short run. */
static int64_t half_way(const ulp_run *run) {
    const int64_t updates = ulp_option_integer(run, "updates");
    const double rate = ulp_option_number(run, "rate");
    int64_t k = 0;
    while (k + EVERY <= updates && exact_distance(rate, k) > 0.75) k += EVERY;
    return k;
}

/* The mean distance from 3 after k updates is 3 (1 - 2 rate)^k, and a run that is not at 3 is a spacing away at least: so
 * many runs are late at most, on average (Markov). */
static double late_runs(const ulp_run *run, const ulp_format *format) {
    const double distance = exact_distance(rate_in(run, format, PLAIN), ulp_option_integer(run, "updates"));
    return (double)ulp_option_integer(run, "runs") * distance / ulp_spacing(3, format);
}

static void claim_stochastic(ulp_run *run, const ulp_format *format, const char *mode) {
    const int64_t updates = ulp_option_integer(run, "updates"), k = half_way(run);
    const long end = spread_row(run, format->name, mode, updates), middle = spread_row(run, format->name, mode, k);
    const double runs = (double)ulp_option_integer(run, "runs"), rate = rate_in(run, format, PLAIN);
    char text[200];
    if (end == ULP_NO_ROW || middle == ULP_NO_ROW) return;
    snprintf(text, sizeof text, "%s %s: every run ends at exactly 3", format->name, mode);
    if (late_runs(run, format) > 1e-6)
        ulp_claim_skip(run, text, "--updates %lld of rate %g may be too few", (long long)updates, rate);
    else
        ulp_claim(run, ulp_row_number(run, end, "min") == 3 && ulp_row_number(run, end, "max") == 3, text,
                  "least %.9g, most %.9g of %.0f runs", ulp_row_number(run, end, "min"), ulp_row_number(run, end, "max"),
                  runs);
    const double want = 3 - exact_distance(rate, k), mean = ulp_row_number(run, middle, "mean"),
                 error = ulp_row_number(run, middle, "sd") / sqrt(runs);
    snprintf(text, sizeof text, "%s %s: after %lld updates the mean is the exact weight within 5 standard errors",
             format->name, mode, (long long)k);
    if (runs < 100 || error == 0) ulp_claim_skip(run, text, runs < 100 ? "--runs is less than 100" : "all runs are alike");
    else
        ulp_claim(run, fabs(mean - want) <= 5 * error, text, "mean %.9g, exact %.9g, off by %.2f", mean, want,
                  fabs(mean - want) / error);
}

static void print_end(ulp_table *table, const ulp_run *run, const char *format, const char *mode, cure c) {
    const long stop = end_row(run, format, mode, c, "stop"), open = end_row(run, format, mode, c, "open");
    if (stop != ULP_NO_ROW)
        ulp_table_put(table, "%.8g after %.0f", ulp_row_number(run, stop, "weight"), ulp_row_number(run, stop, "update"));
    else if (open != ULP_NO_ROW) ulp_table_put(table, "%.8g, moving", ulp_row_number(run, open, "weight"));
    else ulp_table_put(table, "-");
}

static void print_table(const ulp_run *run) {
    static const char *const modes[] = {"rne", "rz", "ru"};
    const int64_t updates = ulp_option_integer(run, "updates");
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    char columns[160];
    snprintf(columns, sizeof columns, "format,rate,rne,rz,ru,kahan,master,sra after %lld", (long long)updates);
    ulp_table *table = ulp_table_new("the weight at the end, and the updates that moved it; the top is at 3", columns);
    for (size_t f = 0; f < formats; f++) {
        const char *name = format[f].name;
        const long spread = spread_row(run, name, "sra", updates);
        ulp_table_put(table, "%s", name);
        ulp_table_put(table, "%.7g", rate_in(run, &format[f], PLAIN));
        for (int m = 0; m < 3; m++) print_end(table, run, name, modes[m], PLAIN);
        for (int c = PLAIN + 1; c < CURE_COUNT; c++) print_end(table, run, name, "rne", (cure)c);
        if (spread == ULP_NO_ROW) ulp_table_put(table, "-");
        else
            ulp_table_put(table, "%.7g +- %.2g", ulp_row_number(run, spread, "mean"), ulp_row_number(run, spread, "sd"));
    }
    ulp_table_print(table, run);
}

static void check(ulp_run *run, const void *context) {
    size_t formats, modes;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const ulp_named_rule *mode = ulp_run_modes(run, &modes);
    (void)context;
    print_table(run);
    if (ulp_option_number(run, "rate") == 0.01) {
        claim_facts(run);
        claim_master(run, "binary16", 2.999047);
        claim_master(run, "bfloat16", 2.992344);
        claim_cures(run);
    } else ulp_claim_skip(run, "the published numbers", "they are for --rate 0.01");
    for (size_t f = 0; f < formats; f++)
        for (size_t m = 0; m < modes; m++)
            if (ulp_mode_is_stochastic(mode[m].rule.mode) && mode[m].rule.random_bits == 0)
                claim_stochastic(run, &format[f], mode[m].name);
}

static const ulp_experiment experiment = {
    .name = "cartoon_sgd",
    .question = "Gradient ascent on a parabola, every operation rounded: where do the updates vanish, and what cures it?",
    .columns = "format,mode,cure,what,run,update,weight,value,code," ULP_SPREAD_COLUMNS,
    .options = options,
    .prepare = prepare,
    .compute = compute,
    .check = check,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
