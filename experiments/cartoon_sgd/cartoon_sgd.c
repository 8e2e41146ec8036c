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
#include "cartoon_sgd.h"

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

const ulp_experiment experiment = {
    .name = "cartoon_sgd",
    .question =
        "Gradient ascent on a parabola, every operation rounded: where do the updates vanish, and what cures it?",
    ULP_EXPERIMENT_OF(settings, ulp_sum_point, ulp_sum_row),
};
