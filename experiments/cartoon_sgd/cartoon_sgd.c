/* cartoon_sgd.c - gradient ascent on a parabola, every operation rounded: where do updates stop moving the weight?
 *
 * The experiment maximizes Q(w) = -(w - 3)^2 + 3 from w = 0 with rate 0.01. An update computes d = 3 - w, g = 2 d,
 * u = rate g and w <- w + u. Each operation is rounded once. The rate is first rounded to the format (rne). The update
 * u is about 0.02 d. Near the top, u is less than half the spacing of the numbers at w, and w does not move although
 * the gradient is not 0.
 *
 * Two cures are tried under rne:
 *
 *  - kahan: the update is compensated, in the format (Kahan 1965, doi:10.1145/363707.363723)
 *  - master: weight, rate and update are in binary32. d and g are computed in the format, from the weight rounded to
 *    the format (Micikevicius et al. 2018, arXiv 1710.03740, section 3.1).
 *
 * Stochastic rounding of every operation is measured over many runs. No run goes beyond 3: u is at most d, and 3 is a
 * number of the format, so w + u, at most 3, rounds to at most 3. Once w is 3, d is 0 and w stays. Without rounding, w
 * after k updates is 3 (1 - (1 - 2 rate)^k). Stochastic rounding is unbiased and every operation is linear, so this is
 * the mean of the runs too.
 *
 * The kinds of rows:
 *
 *  - path: one run
 *  - stop: the number of updates after which nothing moves
 *  - open: the weight still moves after --updates updates
 *  - spread: a summary of all runs of a stochastic mode
 *
 * The column weight is the number that the updates are added to: the master copy, or without a master copy the weight
 * in the format. The column value is the weight in the format.
 */
#include "experiments/harness/sums.h"

#include <math.h>
#include <stdio.h>

typedef struct settings {
    ulp_sum_settings sums;
    double rate;
    int64_t updates;
} settings;

enum { EVERY = 10 /* updates between two rows of a spread */ };
static const ulp_sum_cures cures = {{ULP_CURE_KAHAN, ULP_CURE_MASTER}, 2};

/* --rate rounded to nearest even: to binary32 with a master copy, else to the format. */
static double rate_in(const settings *s, const ulp_format *format, ulp_cure cure) {
    return cure == ULP_CURE_MASTER ? (double)(float)s->rate : ulp_round(s->rate, format, (ulp_rule){0}, 0);
}

static int takes_format(const ulp_format *f) {
    return f->fits_binary32 && f->is_signed && f->has_zero && ulp_round(3, f, (ulp_rule){0}, 0) == 3;
}

static const ulp_option options[] = {
    ULP_OPTION_FORMATS_IF(settings, sums.formats, ULP_SUM_FORMATS, NULL, takes_format,
                          "has to lie within binary32 and to hold 0, 3 and negative numbers"),
    ULP_OPTION_MODES_OF(settings, sums.modes, "rne,rz,ru,sra", NULL),
    ULP_OPTION(settings, rate, number, "0.01", .help = "step size", .min = 1e-6, .max = 0.25),
    ULP_OPTION(settings, updates, integer, "2000", .full = "10000", .help = "updates at most", .min = 1, .max = 1e5),
    ULP_OPTION_RUNS(settings, sums.runs, "1000", "300", "20000"),
    ULP_OPTION_PATHS(settings, sums.paths, "3"),
    ULP_OPTION_SEED(settings, sums.seed),
    {0},
};

static const ulp_column columns[] = {
    ULP_SUM_COLUMNS,
    ULP_COLUMN_AS(ulp_sum_row, n, "update"),
    ULP_COLUMN_AS(ulp_sum_row, copy, "weight"),
    ULP_COLUMNS(ulp_sum_row, value, code),
    ULP_DISTRIBUTION_COLUMNS_OF(ulp_sum_row, runs),
    {0},
};

static ulp_status plan(ulp_plan *plan) {
    const settings *s = plan->settings;
    ulp_sum_points(plan, &(ulp_sum_grid){&s->sums, &cures, {1, 500, 1}, {1, 3000, 1}});
    return ULP_OK;
}

static void update(ulp_sum *w, int64_t k, const void *own) {
    const double rate = rate_in(own, w->format, w->cure),
                 d = ulp_arith((ulp_scalar_op){ULP_SUB, 3, w->value, 0}, w->format, w->rule, 0),
                 gradient = ulp_arith((ulp_scalar_op){ULP_MUL, 2, d, 0}, w->format, w->rule, 0);
    (void)k;
    if (w->cure == ULP_CURE_MASTER) ulp_sum_add(w, (double)((float)rate * (float)gradient), 0);
    else ulp_sum_add(w, ulp_arith((ulp_scalar_op){ULP_MUL, rate, gradient, 0}, w->format, w->rule, 0), 0);
}

/* The arrays of many ascents: w, d, g and then u, and the constants of the updates. */
enum { WEIGHT, DIFFERENCE, UPDATE, THREE, TWO, RATE, ARRAYS };

static ulp_status compute(const ulp_task *task) {
    const settings *set = task->settings;
    ulp_sum w = ulp_sum_start(task->point);
    const double rate = rate_in(set, w.format, w.cure);
    if (ulp_mode_is_stochastic(w.rule.mode))
        return ulp_sum_put_crowd(task, &w,
                                 &(ulp_sum_crowd){.name = "cartoon_sgd",
                                                  .steps = set->updates,
                                                  .every = EVERY,
                                                  .arrays = ARRAYS,
                                                  .start = {[THREE] = 3, [TWO] = 2, [RATE] = rate},
                                                  .operations = 4,
                                                  .operation = {{ULP_SUB, DIFFERENCE, THREE, WEIGHT, " difference"},
                                                                {ULP_MUL, UPDATE, TWO, DIFFERENCE, " gradient"},
                                                                {ULP_MUL, UPDATE, RATE, UPDATE, " update"},
                                                                {ULP_ADD, WEIGHT, WEIGHT, UPDATE, " weight"}}});
    const ulp_sum_row end =
        ulp_sum_follow(task, &w, &(ulp_sum_way){.step = update, .limit = set->updates, .every = 1, .by_copy = 1});
    ulp_row_put(task->rows, &end);
    return ULP_OK;
}

/* ---- the claims ---- */

static const struct fact {
    const char *format;
    int64_t updates;
    double weight;
} facts[] = {
    {"binary16", 199, 2.953125},
    {"bfloat16", 94, 2.625},
    {"e4m3", 17, 1},
    {"e5m2", 8, 0.5},
    {"binary32", 645, 2.99999427795410156},
};

static void claim_facts(ulp_claims *c) {
    const settings *s = c->settings;
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        const struct fact *want = &facts[i];
        const char *text =
            ulp_claim_text(c, "%s rne: %lld updates move the weight, which then is stuck at exactly %.14g",
                           want->format, (long long)want->updates, want->weight);
        const ulp_sum_row *stop = ulp_sum_stop_for(c, want->format, text, "updates", s->updates);
        if (stop)
            ulp_claim(c, stop->copy == want->weight && stop->n == want->updates, text, "%lld updates, %.17g",
                      (long long)stop->n, stop->copy);
    }
}

/* `want` is published to six decimals. */
static void claim_master(ulp_claims *c, const char *format, double want) {
    const ulp_sum_row *stop = ulp_sum_named(c, format, ULP_CURE_MASTER, ULP_SUM_STOP);
    if (!stop) return;
    ulp_claim(
        c, floor(1e6 * stop->copy + 0.5) == floor(1e6 * want + 0.5) && stop->value == 3,
        ulp_claim_text(c, "%s with a master copy: the copy stops at %.6f, which is 3 in the format", format, want),
        "%.9g, %.9g", stop->copy, stop->value);
}

static void claim_cures(ulp_claims *c) {
    static const char *const formats[] = {"binary32", "binary16", "tf32", "bfloat16", "e6m9", "e4m3", "e5m2"};
    enum { WIDE = 5 /* formats of 8 bits of precision and more come first */ };
    int count[2] = {0}, good[2] = {0};
    for (int i = 0; i < (int)(sizeof formats / sizeof formats[0]); i++) {
        const ulp_sum_row *stop = ulp_sum_named(c, formats[i], ULP_CURE_KAHAN, ULP_SUM_STOP),
                          *plain = ulp_sum_named(c, formats[i], ULP_CURE_NONE, ULP_SUM_STOP);
        const int narrow = i >= WIDE;
        if (!stop || (narrow && !plain)) continue;
        count[narrow]++;
        good[narrow] += narrow ? stop->value < 3 && stop->value > plain->value : stop->value == 3;
    }
    if (count[0])
        ulp_claim(c, good[0] == count[0],
                  "Kahan's compensated update reaches exactly 3 in formats of 8 bits of precision and more", "%d of %d",
                  good[0], count[0]);
    if (count[1])
        ulp_claim(c, good[1] == count[1], "in 8 bits it gets further than the plain update, but not to 3", "%d of %d",
                  good[1], count[1]);
}

/* The distance of w from 3 after k updates without rounding. */
static double exact_distance(double rate, int64_t k) {
    double left = 3;
    for (int64_t i = 0; i < k; i++) left *= 1 - 2 * rate;
    return left;
}

/* The number of updates (a multiple of EVERY) after which the exact distance from 3 is at most 0.75, a quarter of the
 * start's; less if --updates is less. */
static int64_t half_way(const settings *s) {
    int64_t k = 0;
    while (k + EVERY <= s->updates && exact_distance(s->rate, k) > 0.75) k += EVERY;
    return k;
}

/* A bound of the mean number of runs that are not at 3 after --updates updates, by Markov's inequality: the mean
 * distance from 3 after k updates is 3 (1 - 2 rate)^k, and a run that is not at 3 is at least one spacing away. */
static double late_runs(const settings *s, const ulp_format *format) {
    const double distance = exact_distance(rate_in(s, format, ULP_CURE_NONE), s->updates);
    return (double)s->sums.runs * distance / ulp_spacing(3, format);
}

static void claim_arrival(ulp_claims *c, const ulp_format *format, const ulp_named_rule *rule, const ulp_sum_row *end) {
    const settings *s = c->settings;
    const double least = end->runs.quantile[0], most = end->runs.quantile[ULP_QUANTILES - 1];
    const char *text = ulp_claim_text(c, "%s %s: every run ends at exactly 3", format->name, rule->name);
    if (late_runs(s, format) > 1e-6)
        ulp_claim_skip(c, text, "--updates %lld of rate %g may be too few", (long long)s->updates,
                       rate_in(s, format, ULP_CURE_NONE));
    else
        ulp_claim(c, least == 3 && most == 3, text, "least %.9g, most %.9g of %lld run%s", least, most,
                  (long long)s->sums.runs, ulp_plural((size_t)s->sums.runs));
}

static void claim_stochastic(ulp_claims *c, const ulp_format *format, const ulp_named_rule *rule) {
    const settings *s = c->settings;
    const int64_t k = half_way(s);
    const ulp_sum_row *end = ulp_sum_after(c, format, rule, ULP_SUM_SPREAD, s->updates),
                      *middle = ulp_sum_after(c, format, rule, ULP_SUM_SPREAD, k);
    const double runs = (double)s->sums.runs;
    if (!end || !middle) return;
    claim_arrival(c, format, rule, end);
    const double want = 3 - exact_distance(rate_in(s, format, ULP_CURE_NONE), k), mean = middle->runs.mean,
                 error = middle->runs.sd / sqrt(runs);
    const char *text =
        ulp_claim_text(c, "%s %s: after %lld updates the mean is the exact weight within 5 standard errors",
                       format->name, rule->name, (long long)k);
    if (runs < 100 || error == 0)
        ulp_claim_skip(c, text, runs < 100 ? "--runs is less than 100" : "all runs are alike");
    else
        ulp_claim(c, fabs(mean - want) <= 5 * error, text, "mean %.9g, exact %.9g, off by %.2f", mean, want,
                  fabs(mean - want) / error);
}

/* ---- the table and the summary ---- */

static void print_end(ulp_sheet *sheet, const ulp_sum_row *stop, const ulp_sum_row *open) {
    if (stop) ulp_sheet_put(sheet, "%.8g after %lld", stop->copy, (long long)stop->n);
    else ULP_SHEET_PUT_IF(open, sheet, "%.8g, moving", open->copy);
}

static void print_format(ulp_sheet *sheet, const ulp_claims *c, const ulp_format *format) {
    const settings *s = c->settings;
    const ulp_sum_row *runs = ulp_sum_after(c, format, ulp_sum_rule(c, "sra"), ULP_SUM_SPREAD, s->updates);
    ulp_sheet_put_row(sheet, "%s,%.7g", format->name, rate_in(s, format, ULP_CURE_NONE));
    ulp_sum_put_ends(sheet, c, format, "rne rz ru", &cures, print_end);
    ULP_SHEET_PUT_IF(runs, sheet, "%.7g +- %.2g", runs->runs.mean, runs->runs.sd);
}

static void print_table(ulp_claims *c) {
    const settings *s = c->settings;
    const char *heads = ulp_claim_text(c, "format,rate,rne,rz,ru,kahan,master,sra after %lld", (long long)s->updates);
    ulp_sheet *sheet = ulp_sheet_new("the weight at the end, and the updates that moved it; the top is at 3", heads);
    for (size_t f = 0; f < s->sums.formats.count; f++) print_format(sheet, c, &s->sums.formats.at[f]);
    ulp_sheet_print(sheet, c->file);
}

/* The weight at the stop under rne, and the number of updates that move it. */
static void summarize(ulp_claims *c, const ulp_sum_row *stop, const char *of) {
    ulp_summary(c, "stop", stop->copy, "%s", of);
    ulp_summary(c, "updates", (double)stop->n, "%s", of);
}

/* The lowest end of the runs of every stochastic mode. */
static void summarize_runs(ulp_claims *c, const ulp_format *format) {
    const settings *s = c->settings;
    for (size_t m = 0; m < s->sums.modes.count; m++) {
        const ulp_named_rule *rule = &s->sums.modes.at[m];
        const ulp_sum_row *end = ulp_sum_after(c, format, rule, ULP_SUM_SPREAD, s->updates);
        if (end) ulp_summary(c, "lowest end", end->runs.quantile[0], "%s %s", format->name, rule->name);
    }
}

void judge(ulp_claims *c) {
    const settings *s = c->settings;
    print_table(c);
    for (size_t f = 0; f < s->sums.formats.count; f++) {
        ulp_sum_summarize(c, &s->sums.formats.at[f], &cures, summarize);
        summarize_runs(c, &s->sums.formats.at[f]);
    }
    if (s->rate == 0.01) {
        claim_facts(c);
        claim_master(c, "binary16", 2.999047);
        claim_master(c, "bfloat16", 2.992344);
        claim_cures(c);
    } else ulp_claim_skip(c, "the published numbers", "they are for --rate 0.01");
    ulp_sum_each_stochastic(c, claim_stochastic);
}

const ulp_experiment experiment = {
    .name = "cartoon_sgd",
    .question =
        "Gradient ascent on a parabola, every operation rounded: where do the updates vanish, and what cures it?",
    ULP_EXPERIMENT_OF(settings, ulp_sum_point, ulp_sum_row),
};
