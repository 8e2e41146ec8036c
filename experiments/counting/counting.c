/* counting.c - count by adding ones: where does every format stop, as predicted, and what counts on?
 *
 * In precision p the numbers from 2^p to 2^(p+1) are 2 apart: 2^p + 1 is no number, and rounding decides. To nearest
 * even, toward zero and down give 2^p back, for good; ties away from zero go on by twos to 2^(p+1), where 1 is a
 * quarter of the spacing; to odd goes to 2^p + 2, which is odd there, and stays; up goes on by whole spacings to the
 * end of the range. Fixed point counts exactly up to its largest value. Cures, under rne: chunks  the ones are added in
 * chunks of --chunk, and the chunks' sums: stops at chunk 2^p kahan   compensated summation in the format (Kahan 1965,
 * doi:10.1145/363707.363723): the correction counts by ones as well, to 2^p, and moves a sum whose spacing is at most
 * twice that: stops at 2^(2p) master  the sum is kept in binary32 and rounded to the format to be looked at: stops at
 * 2^24 and stochastic rounding, over many runs. A step from S adds a variance of at most spacing(S) <= S 2^(1-p), and
 * the mean of S is the number of steps n: the standard deviation after n steps is at most n 2^(-p/2). Rows `path` are
 * one run, thinned to 16 per octave, those of chunks at the ends of chunks; `stop` says after which addition nothing
 * moves and where, `open` that the sum still moved after --limit additions; `spread` summarises all runs of a
 * stochastic mode.
 */
#include "experiments/harness/sweep/running_sum.h"
#include "experiments/harness/claims/spread.h"
#include "sim/tensor.h"

#include <math.h>
#include <stdlib.h>

static const ulp_option options[] = {
    ULP_TAKES_FORMATS(ULP_RUNNING_FORMATS, NULL),
    ULP_TAKES_MODES("rne,rz,ru,sra", NULL),
    {"limit", ULP_OPTION_INTEGER, "16777218", "1050000", NULL,
     "additions after which a deterministic sum that still moves is left alone", 1, 1e9, NULL, 0},
    {"terms", ULP_OPTION_INTEGER, "32768", NULL, NULL, "additions of a stochastic run", 1, 1e7, NULL, 0},
    ULP_TAKES_RUNS("500", "200", "10000"),
    ULP_TAKES_PATHS("3"),
    {"chunk", ULP_OPTION_INTEGER, "8", NULL, NULL, "ones in a chunk", 1, 1e6, NULL, 0},
    ULP_TAKES_SEED,
    ULP_TAKES_BACKEND,
    {0},
};

enum { CURES = 3 };
static const ulp_cure cures[CURES] = {ULP_CURE_CHUNKS, ULP_CURE_KAHAN, ULP_CURE_MASTER};

static ulp_status prepare(ulp_run *run, void **context) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    (void)context;
    for (size_t f = 0; f < formats; f++) {
        const int is_long = format[f].prec == 24; /* the way to the stop */
        ulp_running_points(run, f, cures, CURES, (ulp_running_costs){is_long ? 20 : 1, 30, is_long ? 20 : 4});
    }
    return ULP_OK;
}

/* A count under way; in chunks, what the sum keeps is the chunk's. */
typedef struct count {
    ulp_running sum;
    int64_t period; /* of chunks: ones in a chunk, else 1 */
} count;

/* Addition number k. */
static void step(count *s, int64_t k) {
    ulp_running *sum = &s->sum;
    if (sum->cure != ULP_CURE_CHUNKS) {
        ulp_running_add(sum, 1, 0);
        return;
    }
    sum->kept = ulp_running_plus(sum, sum->kept, 1, 0);
    if (k % s->period != 0) return;
    sum->value = ulp_running_plus(sum, sum->value, sum->kept, 0);
    sum->kept = ulp_round(0, sum->format, (ulp_rule){0}, 0);
}

/* What rounding makes of everything far beyond the range: the end where sums that leave it stay. */
static double end_of(const ulp_format *format, ulp_rule rule) { return ulp_round(4 * format->max, format, rule, 0); }

/* Where a deterministic count stops; 0 if nothing is predicted. */
static int predict(double *value, const ulp_format *f, ulp_rule rule, ulp_cure c, int64_t chunk) {
    const double top = ldexp(1, f->prec), end = end_of(f, rule), n = (double)chunk;
    if (ulp_mode_is_stochastic(rule.mode) || ulp_overflow_of(f, (ulp_overflow)rule.overflow) == ULP_OVERFLOW_WRAP ||
        (f->prec < 2 && !f->is_fixed) || !f->has_zero)
        return 0;
    int known = 1;
    *value = end;
    switch (c) {
    case ULP_CURE_CHUNKS: /* powers of two only: other chunks' sums round on the way */
        known = (chunk & (chunk - 1)) == 0 && n <= f->max && (f->is_fixed || n <= top);
        if (!f->is_fixed && n * top <= f->max) *value = n * top;
        break;
    case ULP_CURE_KAHAN:
        known = !f->is_fixed && f->is_signed && top * top <= f->max; /* the correction is negative */
        *value = top * top;
        break;
    case ULP_CURE_MASTER: *value = ulp_round(0x1p24, f, rule, 0); break;
    default:
        if (f->is_fixed || f->max < top) break;
        if (rule.mode == ULP_RNE || rule.mode == ULP_RZ || rule.mode == ULP_RD) *value = top;
        else if (rule.mode == ULP_RNA && 2 * top <= f->max) *value = 2 * top;
        else if (rule.mode == ULP_RO && top + 2 <= f->max) *value = top + 2;
        break;
    }
    return known;
}

static void put_value(ulp_rows *rows, const ulp_running *s, const char *what, int64_t run, int64_t n, double value) {
    ulp_running_key(rows, s, what, run);
    ulp_put_integer(rows, n);
    ulp_put_number(rows, value);
    ulp_put_code(rows, value, s->format);
    ulp_put_none(rows);
    ulp_put_no_spread(rows);
    ulp_row_end(rows);
}

static void put_end(ulp_rows *rows, const count *s, const char *what, int64_t n) {
    double predicted;
    ulp_running_key(rows, &s->sum, what, 1);
    ulp_put_integer(rows, n);
    ulp_put_number(rows, s->sum.value);
    ulp_put_code(rows, s->sum.value, s->sum.format);
    if (predict(&predicted, s->sum.format, s->sum.rule, s->sum.cure, s->period)) ulp_put_number(rows, predicted);
    else ulp_put_none(rows);
    ulp_put_no_spread(rows);
    ulp_row_end(rows);
}

/* Adds ones until the state repeats, from which nothing can move: the next state depends on the last alone. A master
 * copy may also leave its format's range before. */
static void put_count(ulp_rows *rows, count s, int64_t limit) {
    const double end = end_of(s.sum.format, s.sum.rule);
    ulp_running before = s.sum; /* a period ago */
    int64_t last = 0, k = 0;
    int moves = 1;
    put_value(rows, &s.sum, "path", 1, 0, s.sum.value);
    while (moves && k < limit) {
        step(&s, ++k);
        if (k % s.period != 0) continue;
        if (!ulp_same(s.sum.value, before.value)) last = k;
        moves = !ulp_same(s.sum.value, before.value) || !ulp_same(s.sum.kept, before.kept);
        if (s.sum.cure == ULP_CURE_MASTER && ulp_same(s.sum.value, end)) moves = 0;
        before = s.sum;
        if (ulp_is_thinned_row(k) || !moves) put_value(rows, &s.sum, "path", 1, k, s.sum.value);
        if (k % (1 << 16) == 0 && ulp_rows_progress(rows, (double)k / (double)limit)) return;
    }
    put_end(rows, &s, moves ? "open" : "stop", moves ? limit : last);
}

/* Run i takes word k 2^32 + i of the mode's stream in addition k: no run depends on how many there are. */
static ulp_status put_ensemble(const ulp_run *run, ulp_rows *rows, const ulp_running *s) {
    const int64_t terms = ulp_option_integer(run, "terms"), paths = ulp_option_integer(run, "paths");
    const size_t runs = (size_t)ulp_option_integer(run, "runs");
    const ulp_backend *backend = ulp_run_backend(run);
    ulp_stream stream = ulp_stream_named(ulp_run_seed(run), "counting %s %s", s->format->name, s->mode);
    float *sum = malloc(runs * sizeof *sum),
          *there = backend->alloc(2 * runs * sizeof *there); /* sums, and behind them ones */
    ulp_status status =
        sum != NULL && there != NULL ? ulp_tensor_fill(backend, there, runs, (float)s->value) : ULP_NO_MEMORY;
    if (status == ULP_OK) status = ulp_tensor_fill(backend, there + runs, runs, 1.0f);
    for (int64_t k = 0; k <= terms && status == ULP_OK; k++) {
        stream.first = (uint64_t)k << 32;
        if (k > 0)
            status = ulp_backend_map(backend, there, (ulp_array_op){ULP_ADD, there, there + runs, NULL}, runs,
                                     (ulp_rounding){s->format, s->rule, stream, NULL});
        if (!ulp_is_thinned_row(k) && k < terms) continue;
        if (status == ULP_OK) status = backend->download(sum, there, runs * sizeof *sum);
        if (status != ULP_OK) break;
        for (int64_t i = 0; i < paths && i < (int64_t)runs; i++) put_value(rows, s, "path", i + 1, k, (double)sum[i]);
        ulp_running_key(rows, s, "spread", 0);
        ulp_put_integer(rows, k);
        ulp_put_nones(rows, 3);
        ulp_put_spread(rows, sum, runs);
        ulp_row_end(rows);
        if (ulp_rows_progress(rows, (double)k / (double)terms)) break;
    }
    if (there != NULL) backend->release(there);
    free(sum);
    return status;
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    count s = {.sum = ulp_running_start(run, point), .period = 1};
    if (s.sum.cure == ULP_CURE_CHUNKS) s.period = ulp_option_integer(run, "chunk");
    (void)context;
    if (ulp_mode_is_stochastic(s.sum.rule.mode)) return put_ensemble(run, rows, &s.sum);
    put_count(rows, s, ulp_option_integer(run, "limit"));
    return ULP_OK;
}

/* ---- claims ---- */

static const struct fact {
    const char *format;
    int log2;
} facts[] = {{"binary32", 24}, {"binary16", 11}, {"tf32", 11}, {"bfloat16", 8}, {"e6m9", 10}, {"e4m3", 4}, {"e5m2", 3}};

static void claim_facts(ulp_run *run) {
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        const double want = ldexp(1, facts[i].log2);
        char text[160];
        snprintf(text, sizeof text,
                 "%s rne: ones add up to exactly 2^%d = %.0f, and no addition after that many moves the sum",
                 facts[i].format, facts[i].log2, want);
        const long stop = ulp_running_stop_claimed(run, facts[i].format, "limit", text);
        if (stop == ULP_NO_ROW) continue;
        const double value = ulp_row_number(run, stop, "value"), last = ulp_row_number(run, stop, "n");
        ulp_claim(run, value == want && last == want, text, "stops at %.17g after %.0f additions", value, last);
    }
}

/* Every end of one cure (of all deterministic modes, if plain) against its prediction. */
static void claim_predicted(ulp_run *run, ulp_cure c, const char *text) {
    int good = 0, bad = 0, open = 0;
    char first_bad[96] = "";
    for (long row = 0;; row++) {
        row = ulp_row_find(run, row, "cure", ulp_cure_names[c], "run", "1", (const char *)NULL);
        if (row == ULP_NO_ROW) break;
        const int stopped = ulp_row_is(run, row, "what", "stop");
        if ((!stopped && !ulp_row_is(run, row, "what", "open")) || !*ulp_row_text(run, row, "predicted")) continue;
        const double want = ulp_row_number(run, row, "predicted"), got = ulp_row_number(run, row, "value");
        if (stopped && ulp_same(got, want)) good++;
        else if (!stopped && !(got > want)) open++;
        else if (bad++ == 0)
            snprintf(first_bad, sizeof first_bad, "; %s %s: predicted %.10g, got %.17g",
                     ulp_row_text(run, row, "format"), ulp_row_text(run, row, "mode"), want, got);
    }
    if (good + bad > 0)
        ulp_claim(run, bad == 0, text, "%d as predicted, %d not, %d still moving at --limit%s", good, bad, open,
                  first_bad);
    else ulp_claim_skip(run, text, "nothing is predicted, or not within --limit");
}

/* Far beyond the stop, and a dozen standard deviations from the end of the range, so that no run feels it: the largest
 * such power of two up to --terms; 0 if that is not four times the stop. */
static int64_t far_out(const ulp_run *run, const ulp_format *format) {
    const double room = format->max / (1 + 12 * sqrt(ldexp(1, -format->prec)));
    int64_t n = 1;
    if (format->is_fixed || format->prec < 2) return 0;
    while (2 * n <= ulp_option_integer(run, "terms") && (double)(2 * n) <= room) n *= 2;
    return n >= 4 * (INT64_C(1) << format->prec) ? n : 0;
}

/* Many tests, and sums of 8 bits are skewed: 5 standard errors, so that a run by another seed does not fail by chance.
 */
static void claim_stochastic(ulp_run *run, const ulp_format *format, const char *mode) {
    const int64_t n = far_out(run, format);
    const long row = ulp_running_row_at(run, format->name, mode, ULP_CURE_NONE, "spread", "n", n);
    char text[200];
    if (n == 0 || row == ULP_NO_ROW) return;
    const double runs = (double)ulp_option_integer(run, "runs"), bound = (double)n * sqrt(ldexp(1, -format->prec));
    const double mean = ulp_row_number(run, row, "mean"), sd = ulp_row_number(run, row, "sd"),
                 least = ulp_row_number(run, row, "min");
    snprintf(text, sizeof text,
             "%s %s: after %lld ones every run is beyond 2^%d, the mean is right within 5 standard errors, and the "
             "standard deviation is at most n 2^(-p/2)",
             format->name, mode, (long long)n, format->prec);
    if (runs < 100) {
        ulp_claim_skip(run, text, "--runs %.0f is less than 100", runs);
        return;
    }
    ulp_claim(run, least > ldexp(1, format->prec) && fabs(mean - (double)n) <= 5 * sd / sqrt(runs) && sd <= bound, text,
              "least %.10g, mean %.10g, off by %.2f, sd %.4g, bound %.4g", least, mean,
              fabs(mean - (double)n) / (sd / sqrt(runs)), sd, bound);
}

static void print_end(ulp_table *table, const ulp_run *run, const char *format, const char *mode, ulp_cure c) {
    const long stop = ulp_running_row(run, format, mode, c, "stop"),
               open = ulp_running_row(run, format, mode, c, "open");
    if (stop == ULP_NO_ROW && open == ULP_NO_ROW) ulp_table_put(table, "-");
    else if (stop == ULP_NO_ROW) ulp_table_put(table, "> %.10g", ulp_row_number(run, open, "value"));
    else if (isfinite(ulp_row_number(run, stop, "value")))
        ulp_table_put(table, "%.10g", ulp_row_number(run, stop, "value"));
    else ulp_table_put(table, "%g (%.0f)", ulp_row_number(run, stop, "value"), ulp_row_number(run, stop, "n"));
}

static void print_table(const ulp_run *run) {
    static const char *const modes[] = {"rne", "rz", "ru"};
    const int64_t terms = ulp_option_integer(run, "terms");
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    char columns[160];
    snprintf(columns, sizeof columns, "format,p,predicted,rne,rz,ru,chunks of %lld,kahan,master,sra",
             (long long)ulp_option_integer(run, "chunk"));
    ulp_table *table = ulp_table_new(
        "where adding ones stops; predicted for rne; in brackets: the addition that leaves the range; >: still moving; "
        "sra: mean +- sd",
        columns);
    for (size_t f = 0; f < formats; f++) {
        double predicted;
        const char *name = format[f].name;
        const int64_t far = far_out(run, &format[f]), n = far ? far : terms;
        const long spread = ulp_running_row_at(run, name, "sra", ULP_CURE_NONE, "spread", "n", n);
        ulp_table_put(table, "%s", name);
        ulp_table_put(table, "%d", format[f].prec);
        if (predict(&predicted, &format[f], (ulp_rule){0}, ULP_CURE_NONE, 1)) ulp_table_put(table, "%.10g", predicted);
        else ulp_table_put(table, "-");
        for (int m = 0; m < 3; m++) print_end(table, run, name, modes[m], ULP_CURE_NONE);
        for (int c = 0; c < CURES; c++) print_end(table, run, name, "rne", cures[c]);
        if (spread == ULP_NO_ROW) ulp_table_put(table, "-");
        else
            ulp_table_put(table, "%.6g +- %.3g of %lld", ulp_row_number(run, spread, "mean"),
                          ulp_row_number(run, spread, "sd"), (long long)n);
    }
    ulp_table_print(table, run);
}

static void check(ulp_run *run, const void *context) {
    (void)context;
    print_table(run);
    claim_facts(run);
    claim_predicted(run, ULP_CURE_NONE, "every plain sum stops where its format and mode say beforehand");
    claim_predicted(run, ULP_CURE_CHUNKS,
                    "in chunks of a power of two sums stop at the chunk times 2^p, or at the end of the range");
    claim_predicted(run, ULP_CURE_KAHAN,
                    "Kahan's summation squares the reach: it stops at 2^(2p) where the range has room");
    claim_predicted(run, ULP_CURE_MASTER,
                    "with a binary32 master copy the sum stops at 2^24, or at the end of the format's range");
    ulp_running_claims(run, claim_stochastic);
}

static const ulp_experiment experiment = {
    .name = "counting",
    .question = "Count by adding ones: at which number does every format stop, as predicted, and what counts on?",
    .columns = ULP_RUNNING_COLUMNS ",n,value,code,predicted," ULP_SPREAD_COLUMNS,
    .options = options,
    .takes_format = ulp_format_within_binary32,
    .format_wants = ULP_WANTS_WITHIN_BINARY32,
    .prepare = prepare,
    .compute = compute,
    .check = check,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
