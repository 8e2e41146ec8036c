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
#include "harmonic.h"

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

const ulp_experiment experiment = {
    .name = "harmonic",
    .question = "The harmonic series diverges: at which term does it stop in every format, and what keeps it growing?",
    ULP_EXPERIMENT_OF(settings, ulp_sum_point, ulp_sum_row),
};
