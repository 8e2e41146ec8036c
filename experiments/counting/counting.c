/* counting.c - count by adding ones: at which number does every format stop, and what lets it count further?
 *
 * In precision p the numbers from 2^p to 2^(p+1) are 2 apart. 2^p + 1 is not a number of the format, and the rounding
 * mode decides where the count goes from 2^p:
 *
 *  - to nearest even, toward zero and down: the result is 2^p again. The count stays at 2^p.
 *  - to nearest, ties away from zero: the count goes on in steps of 2 to 2^(p+1), where 1 is a quarter of the spacing.
 *  - to odd: the count goes to 2^p + 2, whose significand is odd, and stays.
 *  - up: the count goes on in steps of one spacing to the end of the range.
 *
 * Fixed point counts exactly up to its largest value.
 *
 * Three cures are tried under rne:
 *
 *  - chunks: the ones are added in chunks of --chunk ones, and then the sums of the chunks are added. The sum stops at
 *    --chunk times 2^p.
 *  - kahan: compensated summation in the format (Kahan 1965, doi:10.1145/363707.363723). The correction counts by ones
 *    too, up to 2^p. A correction of 2^p moves a sum whose spacing is less than 2^(p+1). The sum stops at 2^(2p), where
 *    the spacing is 2^(p+1).
 *  - master: the sum is kept in binary32. Its value is this sum rounded to the format. The sum stops at 2^24.
 *
 * Stochastic rounding is measured over many runs. A step from the sum S adds a variance of at most
 * spacing(S) <= S 2^(1-p), and the mean of S is the number of steps n. The standard deviation after n steps is
 * therefore at most n 2^(-p/2).
 *
 * The kinds of rows:
 *
 *  - path: one run, thinned to 16 rows per octave. A path with the cure chunks has rows at the ends of chunks only.
 *  - stop: the last addition that moves the sum, and the value where the sum stops
 *  - open: the sum still moves after --limit additions
 *  - spread: a summary of all runs of a stochastic mode
 */
#include "counting.h"

static int takes_format(const ulp_format *f) { return ulp_format_within_binary32(f) && f->taper == ULP_TAPER_NONE; }

static const ulp_option options[] = {
    ULP_OPTION_FORMATS_IF(settings, sums.formats, ULP_SUM_FORMATS, NULL, takes_format,
                          ULP_WANTS_WITHIN_BINARY32 ", " ULP_WANTS_ONE_PRECISION),
    ULP_OPTION_MODES_OF(settings, sums.modes, "rne,rz,ru,sra", NULL),
    ULP_OPTION(settings, limit, integer, "16777218", .quick = "1050000",
               .help = "additions after which a deterministic sum that still moves is left alone", .min = 1,
               .max = 1e9),
    ULP_OPTION(settings, terms, integer, "32768", .help = "additions of a stochastic run", .min = 1, .max = 1e7),
    ULP_OPTION_RUNS(settings, sums.runs, "500", "200", "10000"),
    ULP_OPTION_PATHS(settings, sums.paths, "3"),
    ULP_OPTION(settings, chunk, integer, "8", .help = "ones in a chunk", .min = 1, .max = 1e6),
    ULP_OPTION_SEED(settings, sums.seed),
    ULP_OPTION_BACKEND_OF(settings, sums.backend),
    {0},
};

static const ulp_column columns[] = {
    ULP_SUM_COLUMNS,
    ULP_COLUMNS(ulp_sum_row, n, value, code, predicted),
    ULP_DISTRIBUTION_COLUMNS_OF(ulp_sum_row, runs),
    {0},
};

static ulp_status plan(ulp_plan *plan) {
    const settings *s = plan->settings;
    ulp_sum_points(plan, &(ulp_sum_grid){&s->sums, &cures, {1, 30, 4}, {20, 30, 20}});
    return ULP_OK;
}

static void count(ulp_sum *s, int64_t k, const void *own) {
    (void)k, (void)own;
    ulp_sum_add(s, 1, 0);
}

static ulp_status compute(const ulp_task *task) {
    const settings *set = task->settings;
    ulp_sum s = ulp_sum_start(task->point);
    if (ulp_mode_is_stochastic(s.rule.mode))
        return ulp_sum_put_crowd(task, &s,
                                 &(ulp_sum_crowd){.name = "counting",
                                                  .steps = set->terms,
                                                  .arrays = 2, /* the sums, and ones */
                                                  .start = {s.value, 1},
                                                  .operations = 1,
                                                  .operation = {{ULP_ADD, 0, 0, 1, ""}}});
    if (s.cure == ULP_CURE_CHUNKS) s.period = set->chunk;
    /* the value of a master copy may reach the end of the format's range before the copy stops */
    const double range_end = end_of(s.format, s.rule);
    ulp_sum_row end = ulp_sum_follow(
        task, &s,
        &(ulp_sum_way){.step = count, .limit = set->limit, .end = s.cure == ULP_CURE_MASTER ? &range_end : NULL});
    double predicted;
    if (predict(&predicted, s.format, s.rule, s.cure, s.period)) end.predicted = predicted;
    ulp_row_put(task->rows, &end);
    return ULP_OK;
}

const ulp_experiment experiment = {
    .name = "counting",
    .question = "Count by adding ones: at which number does every format stop, as predicted, and what counts on?",
    ULP_EXPERIMENT_OF(settings, ulp_sum_point, ulp_sum_row),
};
