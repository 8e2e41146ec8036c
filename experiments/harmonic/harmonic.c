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

#include <math.h>
#include <stdlib.h>

#include "sim/tensor.h"

static const ulp_option options[] = {
    ULP_OPTION_FORMATS_IF(settings, formats, ULP_SUM_FORMATS, NULL, ulp_format_within_binary32,
                          ULP_WANTS_WITHIN_BINARY32),
    ULP_OPTION_MODES_OF(settings, modes, "rne,rz,sra", NULL),
    ULP_OPTION(settings, limit, integer, "2097152", .full = "16777216",
               .help = "terms after which a deterministic sum that still moves is left alone", .min = 1, .max = 0x1p24),
    ULP_OPTION(settings, terms, integer, "8192", .quick = "4096", .full = "262144", .help = "terms of a stochastic run",
               .min = 1, .max = 0x1p24),
    ULP_OPTION_RUNS(settings, runs, "500", "200", "2000"),
    ULP_OPTION_PATHS(settings, paths, "3"),
    ULP_OPTION_SEED(settings, seed),
    ULP_OPTION_BACKEND_OF(settings, backend),
    {0},
};

static const ulp_column columns[] = {
    ULP_SUM_COLUMNS_OF(row, key, WHAT_WORDS),
    ULP_COLUMNS(row, n, harmonic, value, code, predicted),
    ULP_DISTRIBUTION_COLUMNS_OF(row, runs),
    {0},
};

static ulp_status plan(ulp_plan *plan, const void *own, void *context) {
    const settings *s = own;
    (void)context;
    ulp_sum_points(plan, &(ulp_sum_grid){&s->formats, &s->modes, cures, CURES, {1, 10, 4}, {20, 200, 4}});
    return ULP_OK;
}

/* 1 / i, rounded once. An i up to 2^24 is exact in binary32. */
static double term(const ulp_sum *s, int64_t i) {
    if (s->native) return (double)(1.0f / (float)i);
    return ulp_arith((ulp_scalar_op){ULP_DIV, 1, (double)i, 0}, s->format, s->rule, 0);
}

/* ---- rows ---- */

/* A row after n terms. The exact sum of the terms is `harmonic`. */
static row row_of(const ulp_rows *rows, ulp_sum_key key, int64_t n, double harmonic) {
    row r;
    ulp_row_clear(rows, &r);
    r.key = key;
    r.n = n;
    r.harmonic = harmonic;
    return r;
}

static void put_value(ulp_rows *rows, row r, const ulp_format *format, double value) {
    r.value = value;
    r.code = (ulp_code){format, value};
    ulp_row_put(rows, &r);
}

/* Sums until a term changes neither the value nor the correction or master copy. No later term changes them: while
 * Kahan's correction stays the same, the corrected term is monotone in the term, as every sum here is. */
static void put_sum(const ulp_task *task, ulp_sum s, int64_t limit) {
    ulp_rows *rows = task->rows;
    double harmonic = 0;
    int64_t i = 0, last = 0;
    int moves = 1;
    while (moves && i < limit) {
        const ulp_sum before = s;
        i++;
        ulp_sum_add(&s, term(&s, i), 0);
        harmonic += 1 / (double)i;
        if (!ulp_same(s.value, before.value)) last = i;
        moves = !ulp_same(s.value, before.value) || !ulp_same(s.kept, before.kept);
        if (ulp_is_thinned_row(i) || !moves)
            put_value(rows, row_of(rows, ulp_sum_key_of(&s, PATH, 1), i, harmonic), s.format, s.value);
        if (i % (1 << 16) == 0 && ulp_task_progress(task, (double)i / (double)limit)) return;
    }
    const int64_t predicted = s.cure == ULP_CURE_NONE && s.rule.mode == ULP_RNE ? predict(s.format, limit) : 0;
    row end = row_of(rows, ulp_sum_key_of(&s, moves ? OPEN : STOP, 1), moves ? i : last + 1, harmonic);
    if (predicted > 0) end.predicted = predicted;
    put_value(rows, end, s.format, s.value);
}

/* ---- many sums ---- */

/* The sums of all runs. */
typedef struct ensemble {
    const ulp_backend *backend;
    ulp_stream quotients, sums;
    size_t runs;
    float *host;
    float *total, *one, *divisor, *quotient; /* (runs) each, in backend memory */
} ensemble;

static ulp_status ensemble_new(ensemble *e, const settings *set, const ulp_sum *s) {
    const size_t runs = (size_t)set->runs;
    e->backend = set->backend;
    e->runs = runs;
    e->quotients = ulp_stream_named(set->seed, "harmonic %s %s quotients", s->format->name, s->mode);
    e->sums = ulp_stream_named(set->seed, "harmonic %s %s sums", s->format->name, s->mode);
    e->host = malloc(runs * sizeof *e->host);
    e->total = e->backend->alloc(4 * runs * sizeof *e->total);
    if (!e->host || !e->total) return ULP_NO_MEMORY;
    e->one = e->total + runs;
    e->divisor = e->one + runs;
    e->quotient = e->divisor + runs;
    ULP_TRY(ulp_tensor_fill(e->backend, e->total, runs, (float)s->value));
    return ulp_tensor_fill(e->backend, e->one, runs, 1.0f);
}

static void ensemble_free(ensemble *e) {
    if (e->total) e->backend->release(e->total);
    free(e->host);
}

/* Adds term i. Run j takes word i 2^32 + j of the mode's two streams, so no run depends on the number of runs. */
static ulp_status ensemble_step(ensemble *e, const ulp_sum *s, int64_t i) {
    e->quotients.first = e->sums.first = (uint64_t)i << 32;
    ULP_TRY(ulp_tensor_fill(e->backend, e->divisor, e->runs, (float)i));
    ULP_TRY(ulp_backend_map(e->backend, e->quotient, (ulp_array_op){ULP_DIV, e->one, e->divisor, NULL}, e->runs,
                            (ulp_rounding){s->format, s->rule, e->quotients, NULL}));
    return ulp_backend_map(e->backend, e->total, (ulp_array_op){ULP_ADD, e->total, e->quotient, NULL}, e->runs,
                           (ulp_rounding){s->format, s->rule, e->sums, NULL});
}

static void put_runs(const ulp_task *task, const ulp_sum *s, const ensemble *e, int64_t i, double harmonic) {
    const settings *set = task->settings;
    ulp_rows *rows = task->rows;
    double *values = ulp_grow(NULL, e->runs * sizeof *values);
    for (size_t j = 0; j < e->runs; j++) values[j] = (double)e->host[j];
    for (int64_t j = 0; j < set->paths && j < set->runs; j++)
        put_value(rows, row_of(rows, ulp_sum_key_of(s, PATH, j + 1), i, harmonic), s->format, values[j]);
    row r = row_of(rows, ulp_sum_key_of(s, SPREAD, 0), i, harmonic);
    r.runs = ulp_distribution_of(values, e->runs);
    ulp_row_put(rows, &r);
    free(values);
}

static ulp_status put_ensemble(const ulp_task *task, const ulp_sum *s) {
    const settings *set = task->settings;
    ensemble e = {0};
    double harmonic = 0;
    ulp_status status = ensemble_new(&e, set, s);
    for (int64_t i = 1; i <= set->terms && status == ULP_OK; i++) {
        harmonic += 1 / (double)i;
        status = ensemble_step(&e, s, i);
        if (!ulp_is_thinned_row(i) && i < set->terms) continue;
        if (status == ULP_OK) status = e.backend->download(e.host, e.total, e.runs * sizeof *e.host);
        if (status != ULP_OK) break;
        put_runs(task, s, &e, i, harmonic);
        if (ulp_task_progress(task, (double)i / (double)set->terms)) break;
    }
    ensemble_free(&e);
    return status;
}

static ulp_status compute(const ulp_task *task) {
    const settings *set = task->settings;
    const ulp_sum s = ulp_sum_start(task->point);
    if (ulp_mode_is_stochastic(s.rule.mode)) return put_ensemble(task, &s);
    put_sum(task, s, set->limit);
    return ULP_OK;
}

static const ulp_experiment experiment = {
    .name = "harmonic",
    .question = "The harmonic series diverges: at which term does it stop in every format, and what keeps it growing?",
    ULP_EXPERIMENT_OF(settings, ulp_sum_point, row),
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
