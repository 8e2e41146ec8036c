/* harmonic.c - at which term does the rounded harmonic series stop, and what keeps it growing?
 *
 * The sum is s <- round(s + round(1 / i)), i = 1, 2, ... The quotient is rounded once from the exact i, and the sum is
 * rounded once. All deterministic modes are monotone, and the terms get smaller: once a term does not move the sum, no
 * later term moves it. Under round to nearest this is the first term below half the spacing of the sum, or a term equal
 * to half the spacing if the tie goes back to the sum. The exact harmonic numbers H_i predict this term: it is near the
 * least i with 1 / i <= spacing(H_i) / 2.
 *
 * Two cures are tried under rne:
 *
 *  - kahan: compensated summation in the format (Kahan 1965, doi:10.1145/363707.363723)
 *  - master: the terms are rounded to the format and summed in binary32. The value is this sum rounded to the format.
 *
 * Stochastic rounding of quotient and sum is measured over many runs. It is unbiased: the mean of the sum is the
 * harmonic number.
 *
 * The kinds of rows:
 *
 *  - path: one run, thinned to 16 rows per octave
 *  - stop: the first term that does not move the sum; no later term moves it
 *  - open: the sum still moves after --limit terms
 *  - spread: a summary of all runs of a stochastic mode
 *
 * The column harmonic holds H_n in binary64, summed from the first term. Its relative error is less than n 2^-53
 * (Higham 2002, section 4.2).
 */
#include "experiments/harness/sums.h"

#include <math.h>
#include <stdio.h>

typedef struct settings {
    ulp_sum_settings sums;
    int64_t limit, terms;
} settings;

static const ulp_sum_cures cures = {{ULP_CURE_KAHAN, ULP_CURE_MASTER}, 2};

/* The least i with 1 / i <= spacing(H_i) / 2; 0 if there is no such i up to `limit` with H_i in the format's range. */
static int64_t predict(const ulp_format *format, int64_t limit) {
    double harmonic = 0;
    for (int64_t i = 1; i <= limit; i++) {
        harmonic += 1 / (double)i;
        if (harmonic > format->max) return 0;
        if (2 <= (double)i * ulp_spacing(harmonic, format)) return i;
    }
    return 0;
}

static const ulp_option options[] = {
    ULP_OPTION_FORMATS_IF(settings, sums.formats, ULP_SUM_FORMATS, NULL, ulp_format_within_binary32,
                          ULP_WANTS_WITHIN_BINARY32),
    ULP_OPTION_MODES_OF(settings, sums.modes, "rne,rz,sra", NULL),
    ULP_OPTION(settings, limit, integer, "2097152", .full = "16777216",
               .help = "terms after which a deterministic sum that still moves is left alone", .min = 1, .max = 0x1p24),
    ULP_OPTION(settings, terms, integer, "8192", .quick = "4096", .full = "262144", .help = "terms of a stochastic run",
               .min = 1, .max = 0x1p24),
    ULP_OPTION_RUNS(settings, sums.runs, "500", "200", "2000"),
    ULP_OPTION_PATHS(settings, sums.paths, "3"),
    ULP_OPTION_SEED(settings, sums.seed),
    ULP_OPTION_BACKEND_OF(settings, sums.backend),
    {0},
};

static const ulp_column columns[] = {
    ULP_SUM_COLUMNS,
    ULP_COLUMNS(ulp_sum_row, n),
    ULP_COLUMN_AS(ulp_sum_row, exact, "harmonic"),
    ULP_COLUMNS(ulp_sum_row, value, code, predicted),
    ULP_DISTRIBUTION_COLUMNS_OF(ulp_sum_row, runs),
    {0},
};

static ulp_status plan(ulp_plan *plan) {
    const settings *s = plan->settings;
    ulp_sum_points(plan, &(ulp_sum_grid){&s->sums, &cures, {1, 10, 4}, {20, 200, 4}});
    return ULP_OK;
}

static double exact_term(int64_t i) { return 1 / (double)i; }

/* Adds 1 / i, rounded once. An i up to 2^24 is exact in binary32. If a term changes neither the value nor the
 * correction or master copy, no later term changes them: while Kahan's correction stays the same, the corrected term is
 * monotone in the term, as every sum here is. */
static void add_term(ulp_sum *s, int64_t i, const void *own) {
    (void)own;
    if (s->native) ulp_sum_add(s, (double)(1.0f / (float)i), 0);
    else ulp_sum_add(s, ulp_arith((ulp_scalar_op){ULP_DIV, 1, (double)i, 0}, s->format, s->rule, 0), 0);
}

/* The arrays of many sums. */
enum { SUMS, ONES, DIVISORS, QUOTIENTS, ARRAYS };

static ulp_status compute(const ulp_task *task) {
    const settings *set = task->settings;
    ulp_sum s = ulp_sum_start(task->point);
    if (ulp_mode_is_stochastic(s.rule.mode))
        return ulp_sum_put_crowd(task, &s,
                                 &(ulp_sum_crowd){.name = "harmonic",
                                                  .steps = set->terms,
                                                  .first = 1,
                                                  .arrays = ARRAYS,
                                                  .counter = DIVISORS,
                                                  .start = {[SUMS] = s.value, [ONES] = 1},
                                                  .operations = 2,
                                                  .operation = {{ULP_DIV, QUOTIENTS, ONES, DIVISORS, " quotients"},
                                                                {ULP_ADD, SUMS, SUMS, QUOTIENTS, " sums"}},
                                                  .exact_term = exact_term});
    ulp_sum_row end = ulp_sum_follow(
        task, &s, &(ulp_sum_way){.step = add_term, .limit = set->limit, .first = 1, .exact_term = exact_term});
    const int nearest = s.cure == ULP_CURE_NONE && s.rule.mode == ULP_RNE;
    const int64_t predicted = nearest ? predict(s.format, set->limit) : 0;
    if (end.what == ULP_SUM_STOP) end.n++; /* the first term that does not move the sum */
    if (predicted > 0) end.predicted = (double)predicted;
    ulp_row_put(task->rows, &end);
    return ULP_OK;
}

/* ---- the claims ---- */

static const struct fact {
    const char *format;
    double value;
    int64_t idle; /* the first term that does not move the sum */
} facts[] = {
    {"bfloat16", 5.0625, 65},
    {"binary16", 7.0859375, 513},
    {"e4m3", 3, 9},
    {"e5m2", 2, 5},
    {"binary32", 15.403682708740234375, 2097152},
};

static const ulp_sum_row *stop_of(const ulp_claims *c, const ulp_format *format) {
    return ulp_sum_cured(c, format, ULP_CURE_NONE, ULP_SUM_STOP);
}

static void claim_facts(ulp_claims *c) {
    const settings *s = c->settings;
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        const struct fact *want = &facts[i];
        const char *text =
            ulp_claim_text(c, "%s rne: the sum stops at exactly %.9g, the first term that moves nothing is 1/%lld",
                           want->format, want->value, (long long)want->idle);
        const ulp_sum_row *stop = ulp_sum_stop_for(c, want->format, text, "limit", s->limit);
        if (stop)
            ulp_claim(c, stop->value == want->value && stop->n == want->idle, text, "%.17g at term %lld", stop->value,
                      (long long)stop->n);
    }
}

static int is_default(const ulp_format *format) { return ulp_list_has(ULP_SUM_FORMATS, format->name); }

/* Compares the stops with the prediction from the harmonic numbers, for the default formats only. If the sum of a
 * format crosses a power of two at the stop, the prediction may be wrong by more than the one term of a tie. */
static void claim_predicted(ulp_claims *c) {
    const settings *s = c->settings;
    int good = 0, bad = 0;
    for (size_t f = 0; f < s->sums.formats.count; f++) {
        const ulp_sum_row *stop = stop_of(c, &s->sums.formats.at[f]);
        if (!stop || !is_default(&s->sums.formats.at[f])) continue;
        if ((double)stop->n == stop->predicted || (double)stop->n == stop->predicted + 1) good++;
        else bad++;
    }
    if (good + bad > 0)
        ulp_claim(
            c, bad == 0,
            "to nearest, sums stop at the first term of at most half the spacing at the harmonic number, or one later "
            "if that is a tie",
            "%d formats do, %d do not", good, bad);
}

static double harmonic_number(int64_t n) {
    double total = 0;
    for (int64_t i = n; i > 0; i--) total += 1 / (double)i;
    return total;
}

/* The relative error after 10^6 terms. A sum that stops earlier keeps its value. */
static void claim_error(ulp_claims *c, const char *name, double want) {
    const ulp_sum_row *stop = ulp_sum_named(c, name, ULP_CURE_NONE, ULP_SUM_STOP);
    if (!stop || stop->n > 1000000) return;
    const double error = 1 - stop->value / harmonic_number(1000000);
    ulp_claim(c, floor(1e4 * error + 0.5) == floor(1e4 * want + 0.5),
              ulp_claim_text(c, "%s rne: after 10^6 terms the relative error is %.4f", name, want), "%.8f", error);
}

/* The counts of claim_kahan. late, early: sums that stop late enough or too early. close, far: values that are within a
 * spacing of the harmonic number or farther from it. */
typedef struct kahan_count {
    int late, early, close, far;
} kahan_count;

/* `idle` is the first term that does not move the sum without a cure. */
static void count_kahan(const ulp_claims *c, const ulp_format *format, double idle, kahan_count *count) {
    const ulp_sum_row *stop = ulp_sum_cured(c, format, ULP_CURE_KAHAN, ULP_SUM_STOP);
    if (stop && (double)stop->n <= idle * idle / 2) count->early++;
    else if (stop) count->late++;
    for (int64_t n = 1; (double)n <= idle * idle / 2; n *= 2) {
        const ulp_sum_row *r =
            ulp_sum_find_at(c->table, &(ulp_sum_wanted){format, NULL, ULP_CURE_KAHAN, ULP_SUM_PATH}, n);
        if (!r) break;
        const int near = fabs(r->value - r->exact) <= ulp_spacing(r->exact, format);
        count->close += near;
        count->far += !near;
    }
}

/* Kahan's correction is at most half the spacing of the sum. A term stops moving the correction when the term is about
 * 2^-p of the correction. */
static void claim_kahan(ulp_claims *c) {
    const settings *s = c->settings;
    kahan_count count = {0};
    for (size_t f = 0; f < s->sums.formats.count; f++) {
        const ulp_format *format = &s->sums.formats.at[f];
        const ulp_sum_row *plain = stop_of(c, format);
        if (!format->is_fixed && is_default(format) && plain) count_kahan(c, format, (double)plain->n, &count);
    }
    if (count.late + count.early > 0)
        ulp_claim(c, count.early == 0,
                  "Kahan's sum stops too, but beyond half the square of the term at which the plain one does",
                  "%d formats do, %d do not", count.late, count.early);
    if (count.close + count.far > 0)
        ulp_claim(c, count.far == 0,
                  "up to half that square, Kahan's sums of 1, 2, 4, 8, ... terms are right to a spacing of the format",
                  "%d are, %d are not", count.close, count.far);
}

/* The tests are many, and the sums of 8-bit formats have a skewed distribution. The tests allow 5 standard errors, so
 * that an experiment with another seed does not fail by chance. */
static void claim_stochastic(ulp_claims *c, const ulp_format *format, const ulp_named_rule *rule) {
    const settings *s = c->settings;
    const ulp_sum_row *r = ulp_sum_after(c, format, rule, ULP_SUM_SPREAD, s->terms), *stop = stop_of(c, format);
    const double runs = (double)s->sums.runs;
    if (!r) return;
    const double mean = r->runs.mean, sd = r->runs.sd;
    const char *text =
        ulp_claim_text(c, "%s %s: after %lld terms the mean is the harmonic number within 5 standard errors",
                       format->name, rule->name, (long long)s->terms);
    if (runs < 100 || r->exact > format->max / 2) {
        ulp_claim_skip(c, text, runs < 100 ? "--runs is less than 100" : "it may leave the range");
        return;
    }
    const double errors = fabs(mean - r->exact) / (sd / sqrt(runs));
    const int beyond = !stop || (double)stop->n > (double)s->terms / 8 || mean > stop->value + sd / sqrt(runs);
    ulp_claim(c, errors <= 5 && beyond, text, "mean %.9g, sd %.3g, H %.9g, off by %.2f%s", mean, sd, r->exact, errors,
              beyond ? "" : "; not beyond where nearest stops");
}

/* ---- the table and the summary ---- */

static void print_end(ulp_sheet *sheet, const ulp_sum_row *stop, const ulp_sum_row *open) {
    if (stop) ulp_sheet_put(sheet, "%.9g at %lld", stop->value, (long long)stop->n);
    else ULP_SHEET_PUT_IF(open, sheet, "> %.9g", open->value);
}

static void print_format(ulp_sheet *sheet, const ulp_claims *c, const ulp_format *format) {
    const settings *s = c->settings;
    const int64_t predicted = predict(format, s->limit);
    const ulp_sum_row *runs = ulp_sum_after(c, format, ulp_sum_rule(c, "sra"), ULP_SUM_SPREAD, s->terms);
    ulp_sheet_put(sheet, "%s", format->name);
    ULP_SHEET_PUT_IF(predicted, sheet, "%lld", (long long)predicted);
    ulp_sum_put_ends(sheet, c, format, "rne rz", &cures, print_end);
    ULP_SHEET_PUT_IF(runs, sheet, "%.7g +- %.2g", runs->runs.mean, runs->runs.sd);
}

static void print_table(ulp_claims *c) {
    const settings *s = c->settings;
    char heads[160];
    snprintf(heads, sizeof heads, "format,predicted,rne,rz,kahan,master,sra after %lld", (long long)s->terms);
    const char *title = ulp_claim_text(
        c, "where the harmonic series stops, at the first term that moves nothing; >: still moving; H of %lld is %.8g",
        (long long)s->terms, harmonic_number(s->terms));
    ulp_sheet *sheet = ulp_sheet_new(title, heads);
    for (size_t f = 0; f < s->sums.formats.count; f++) print_format(sheet, c, &s->sums.formats.at[f]);
    ulp_sheet_print(sheet, c->file);
}

/* The value and the term at which the sum stops under rne; the predicted term, and its harmonic number. */
static void summarize(ulp_claims *c, const ulp_sum_row *stop, const char *of) {
    ulp_summary(c, "stop", stop->value, "%s", of);
    ulp_summary(c, "idle term", (double)stop->n, "%s", of);
    if (ulp_is_no_number(stop->predicted)) return;
    ulp_summary(c, "predicted term", stop->predicted, "%s", of);
    ulp_summary(c, "predicted stop", harmonic_number((int64_t)stop->predicted), "%s", of);
}

void judge(ulp_claims *c) {
    const ulp_format_list *formats = &((const settings *)c->settings)->sums.formats;
    print_table(c);
    for (size_t f = 0; f < formats->count; f++) ulp_sum_summarize(c, &formats->at[f], &cures, summarize);
    claim_facts(c);
    claim_predicted(c);
    claim_error(c, "binary16", 0.5077);
    claim_error(c, "bfloat16", 0.6483);
    claim_kahan(c);
    ulp_sum_each_stochastic(c, claim_stochastic);
}

const ulp_experiment experiment = {
    .name = "harmonic",
    .question = "The harmonic series diverges: at which term does it stop in every format, and what keeps it growing?",
    ULP_EXPERIMENT_OF(settings, ulp_sum_point, ulp_sum_row),
};
