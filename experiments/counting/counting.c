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

#include <stdlib.h>

#include "sim/tensor.h"

static int takes_format(const ulp_format *f) { return ulp_format_within_binary32(f) && f->taper == ULP_TAPER_NONE; }

static const ulp_option options[] = {
    ULP_OPTION_FORMATS_IF(settings, formats, ULP_SUM_FORMATS, NULL, takes_format,
                          ULP_WANTS_WITHIN_BINARY32 ", " ULP_WANTS_ONE_PRECISION),
    ULP_OPTION_MODES_OF(settings, modes, "rne,rz,ru,sra", NULL),
    ULP_OPTION(settings, limit, integer, "16777218", .quick = "1050000",
               .help = "additions after which a deterministic sum that still moves is left alone", .min = 1,
               .max = 1e9),
    ULP_OPTION(settings, terms, integer, "32768", .help = "additions of a stochastic run", .min = 1, .max = 1e7),
    ULP_OPTION_RUNS(settings, runs, "500", "200", "10000"),
    ULP_OPTION_PATHS(settings, paths, "3"),
    ULP_OPTION(settings, chunk, integer, "8", .help = "ones in a chunk", .min = 1, .max = 1e6),
    ULP_OPTION_SEED(settings, seed),
    ULP_OPTION_BACKEND_OF(settings, backend),
    {0},
};

static const ulp_column columns[] = {
    ULP_SUM_COLUMNS_OF(row, key, WHAT_WORDS),
    ULP_COLUMNS(row, n, value, code, predicted),
    ULP_DISTRIBUTION_COLUMNS_OF(row, runs),
    {0},
};

static ulp_status plan(ulp_plan *plan, const void *own, void *context) {
    const settings *s = own;
    (void)context;
    ulp_sum_points(plan, &(ulp_sum_grid){&s->formats, &s->modes, cures, CURES, {1, 30, 4}, {20, 30, 20}});
    return ULP_OK;
}

/* A row of the sum s. The columns about all runs stay empty. */
static row row_of(const ulp_rows *rows, const ulp_sum *s, int what, int64_t run, int64_t n) {
    row r;
    ulp_row_clear(rows, &r);
    r.key = ulp_sum_key_of(s, what, run);
    r.n = n;
    return r;
}

static void put_value(ulp_rows *rows, const ulp_sum *s, int64_t run, int64_t n, double value) {
    row r = row_of(rows, s, PATH, run, n);
    r.value = value;
    r.code = (ulp_code){s->format, value};
    ulp_row_put(rows, &r);
}

static void put_end(ulp_rows *rows, const ulp_sum *s, int what, int64_t n) {
    double predicted;
    row r = row_of(rows, s, what, 1, n);
    r.value = s->value;
    r.code = (ulp_code){s->format, s->value};
    if (predict(&predicted, s->format, s->rule, s->cure, s->period)) r.predicted = predicted;
    ulp_row_put(rows, &r);
}

/* Adds ones until the state repeats. Each state depends on the state before alone, so nothing moves from then on. The
 * value of a master copy may reach the end of the format's range before the copy stops. */
static void put_count(const ulp_task *task, ulp_sum s, int64_t limit) {
    const double end = end_of(s.format, s.rule);
    ulp_sum before = s; /* one period earlier */
    int64_t last = 0, k = 0;
    int moves = 1;
    put_value(task->rows, &s, 1, 0, s.value);
    while (moves && k < limit) {
        ulp_sum_add(&s, 1, 0);
        k++;
        if (k % s.period != 0) continue;
        if (!ulp_same(s.value, before.value)) last = k;
        moves = !ulp_same(s.value, before.value) || !ulp_same(s.kept, before.kept);
        if (s.cure == ULP_CURE_MASTER && ulp_same(s.value, end)) moves = 0;
        before = s;
        if (ulp_is_thinned_row(k) || !moves) put_value(task->rows, &s, 1, k, s.value);
        if (k % (1 << 16) == 0 && ulp_task_progress(task, (double)k / (double)limit)) return;
    }
    put_end(task->rows, &s, moves ? OPEN : STOP, moves ? limit : last);
}

static void put_runs(ulp_rows *rows, const ulp_sum *s, const settings *set, const float *sum, int64_t k) {
    double *values = ulp_grow(NULL, (size_t)set->runs * sizeof *values);
    for (int64_t i = 0; i < set->paths && i < set->runs; i++) put_value(rows, s, i + 1, k, (double)sum[i]);
    for (int64_t i = 0; i < set->runs; i++) values[i] = (double)sum[i];
    row r = row_of(rows, s, SPREAD, 0, k);
    r.runs = ulp_distribution_of(values, (size_t)set->runs);
    ulp_row_put(rows, &r);
    free(values);
}

/* Run i takes word k 2^32 + i of the mode's stream in addition k, so no run depends on the number of runs. */
static ulp_status put_ensemble(const ulp_task *task, const ulp_sum *s) {
    const settings *set = task->settings;
    const ulp_backend *backend = set->backend;
    const size_t runs = (size_t)set->runs;
    ulp_stream stream = ulp_stream_named(set->seed, "counting %s %s", s->format->name, s->mode);
    float *sum = malloc(runs * sizeof *sum),
          *device = backend->alloc(2 * runs * sizeof *device); /* (2,runs) backend memory: the sums, then ones */
    ulp_status status =
        sum != NULL && device != NULL ? ulp_tensor_fill(backend, device, runs, (float)s->value) : ULP_NO_MEMORY;
    if (status == ULP_OK) status = ulp_tensor_fill(backend, device + runs, runs, 1.0f);
    for (int64_t k = 0; k <= set->terms && status == ULP_OK; k++) {
        stream.first = (uint64_t)k << 32;
        if (k > 0)
            status = ulp_backend_map(backend, device, (ulp_array_op){ULP_ADD, device, device + runs, NULL}, runs,
                                     (ulp_rounding){s->format, s->rule, stream, NULL});
        if (!ulp_is_thinned_row(k) && k < set->terms) continue;
        if (status == ULP_OK) status = backend->download(sum, device, runs * sizeof *sum);
        if (status != ULP_OK) break;
        put_runs(task->rows, s, set, sum, k);
        if (ulp_task_progress(task, (double)k / (double)set->terms)) break;
    }
    if (device != NULL) backend->release(device);
    free(sum);
    return status;
}

static ulp_status compute(const ulp_task *task) {
    const settings *set = task->settings;
    ulp_sum s = ulp_sum_start(task->point);
    if (s.cure == ULP_CURE_CHUNKS) s.period = set->chunk;
    if (ulp_mode_is_stochastic(s.rule.mode)) return put_ensemble(task, &s);
    put_count(task, s, set->limit);
    return ULP_OK;
}

static const ulp_experiment experiment = {
    .name = "counting",
    .question = "Count by adding ones: at which number does every format stop, as predicted, and what counts on?",
    ULP_EXPERIMENT_OF(settings, ulp_sum_point, row),
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
