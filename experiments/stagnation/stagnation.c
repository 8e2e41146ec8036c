/* stagnation.c - add 0.01 to 100 a hundred times: in which formats and modes does the sum move, and what cures it?
 *
 * Start and term are first rounded to the format (rne). Then every addition is rounded once. Three cures are tried
 * under rne:
 *
 *  - master: the sum is kept in binary32. Its value is this sum rounded to the format.
 *  - kahan: compensated summation, every operation in the format (Kahan 1965, doi:10.1145/363707.363723)
 *  - first: the terms are summed first, and their sum is added to the start once
 *
 * Stochastic rounding is measured over many runs.
 *
 * The kinds of rows:
 *
 *  - path: one run
 *  - spread: a summary of all runs of a stochastic mode. The column value is the mean, and every quantile is a value of
 *    a run (nearest rank).
 *
 * The example is Catanzaro's. claims.c compares the sums with the published numbers to the last bit.
 */
#include "stagnation.h"

#include <stdlib.h>

static const ulp_option options[] = {
    ULP_OPTION_FORMATS_OF(settings, sums.formats, "binary32,binary16,tf32,bfloat16,e6m9,e4m3,e4m3:inf,e5m2,q8.8,q16.16",
                          NULL),
    ULP_OPTION_MODES_OF(settings, sums.modes, "all", NULL),
    ULP_OPTION(settings, start, number, "100", .help = "the value that is added to", .min = -1e30, .max = 1e30),
    ULP_OPTION(settings, term, number, "0.01", .help = "what is added in every step", .min = -1e30, .max = 1e30),
    ULP_OPTION(settings, steps, integer, "100", .help = "number of additions", .min = 1, .max = 1e6),
    ULP_OPTION_AS(settings, sums.runs, "runs", integer, "2000", .quick = "1000", .full = "100000",
                  .help = "runs of every stochastic mode", .min = 1, .max = 1e7),
    ULP_OPTION_AS(settings, sums.paths, "paths", integer, "3", .help = "stochastic runs whose every step is written",
                  .max = 1000),
    ULP_OPTION_SEED(settings, sums.seed),
    {0},
};

static const ulp_column columns[] = {
    ULP_SUM_COLUMNS,
    ULP_COLUMN_AS(ulp_sum_row, n, "step"),
    ULP_COLUMNS(ulp_sum_row, value, code),
    ULP_COLUMN_AS(ulp_sum_row, runs.sd, "sd"),
    ULP_QUANTILE_COLUMNS_OF(ulp_sum_row, runs),
    {0},
};

static ulp_status plan(ulp_plan *plan) {
    const settings *s = plan->settings;
    const ulp_sum_costs costs = {1, (double)s->sums.runs, 1};
    ulp_sum_points(plan, &(ulp_sum_grid){&s->sums, &cures, costs, costs});
    return ULP_OK;
}

/* A sum in progress. */
typedef struct sum {
    ulp_sum sum;
    double term;
} sum;

static sum sum_new(const settings *set, const void *point) {
    sum s = {.sum = ulp_sum_start(point)};
    ulp_sum_begin(&s.sum, set->start);
    s.term = rounded(set->term, s.sum.format);
    return s;
}

static void put_path(ulp_rows *rows, sum s, int64_t number, int64_t steps, ulp_stream stream) {
    for (int64_t k = 0; k <= steps; k++) {
        const uint32_t word =
            ulp_mode_is_stochastic(s.sum.rule.mode) && k > 0 ? ulp_random_word(stream, (uint64_t)k - 1) : 0;
        if (k > 0) ulp_sum_add(&s.sum, s.term, word);
        const ulp_sum_row r = ulp_sum_row_of(rows, &s.sum, ULP_SUM_PATH, number, k, s.sum.value);
        ulp_row_put(rows, &r);
    }
}

static void put_spread(ulp_rows *rows, const ulp_sum *s, const double *value, size_t runs, int64_t k) {
    ulp_sum_row r = ulp_sum_row_of(rows, s, ULP_SUM_SPREAD, 0, k, 0);
    r.runs = ulp_distribution_of(value, runs);
    r.value = r.runs.mean;
    ulp_row_put(rows, &r);
}

static ulp_stream stream_of(const settings *set, const ulp_sum *s, int64_t number) {
    return ulp_stream_named(set->sums.seed, "stagnation %s %s run %lld", s->format->name, s->mode, (long long)number);
}

static ulp_status put_ensemble(const ulp_task *task, const sum *s) {
    const settings *set = task->settings;
    const size_t runs = (size_t)set->sums.runs;
    ulp_stream *stream = malloc(runs * sizeof *stream);
    double *value = malloc(runs * sizeof *value);
    const ulp_status status = stream && value ? ULP_OK : ULP_NO_MEMORY;
    for (size_t i = 0; i < runs && status == ULP_OK; i++) {
        stream[i] = stream_of(set, &s->sum, (int64_t)i + 1);
        value[i] = s->sum.start;
    }
    for (int64_t k = 0; k <= set->steps && status == ULP_OK; k++) {
        for (size_t i = 0; k > 0 && i < runs; i++)
            value[i] = ulp_sum_plus(&s->sum, value[i], s->term, ulp_random_word(stream[i], (uint64_t)k - 1));
        put_spread(task->rows, &s->sum, value, runs, k);
        if (ulp_task_progress(task, (double)k / (double)set->steps)) break;
    }
    free(stream);
    free(value);
    return status;
}

static ulp_status compute(const ulp_task *task) {
    const settings *set = task->settings;
    const sum s = sum_new(set, task->point);
    int64_t paths = 1;
    ulp_status status = ULP_OK;
    if (ulp_mode_is_stochastic(s.sum.rule.mode)) {
        paths = set->sums.paths;
        status = put_ensemble(task, &s);
    }
    for (int64_t i = 1; i <= paths; i++) put_path(task->rows, s, i, set->steps, stream_of(set, &s.sum, i));
    return status;
}

const ulp_experiment experiment = {
    .name = "stagnation",
    .question = "Add 0.01 to 100 a hundred times: in which formats and modes does the sum move, and what cures it?",
    ULP_EXPERIMENT_OF(settings, ulp_sum_point, ulp_sum_row),
};
