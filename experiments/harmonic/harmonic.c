/* harmonic.c - the harmonic series diverges; in a format it stops: at which term, and what keeps it growing?
 *
 * s <- round(s + round(1 / i)), i = 1, 2, ...: the quotient is rounded once from the exact i, the sum once. Under a
 * mode that is monotone, as all deterministic ones are, a term that does not move the sum is followed by none that
 * does: terms get smaller. To nearest that is the first term below half the spacing of the sum (or equal to it, where
 * the tie goes back), so that the exact harmonic numbers tell beforehand where to look: near the least i with 1 / i <=
 * spacing(H_i) / 2. Cures, under rne: kahan   compensated summation in the format (Kahan 1965,
 * doi:10.1145/363707.363723) master  the terms, rounded to the format, are summed in binary32; the sum is rounded to
 * the format to be looked at and stochastic rounding of quotient and sum, over many runs: unbiased, so that the mean is
 * the harmonic number. Rows `path` are one run, thinned to 16 per octave; `stop` names the first term that moves
 * nothing, nor does any later one, `open` that the sum still moved at --limit; `spread` summarises all runs of a
 * stochastic mode. The column harmonic holds H_n in binary64, summed from the first term: off by less than n 2^-53 of
 * itself (Higham 2002, section 4.2).
 */
#include "experiments/harness/sweep/running_sum.h"
#include "experiments/harness/claims/spread.h"
#include "sim/tensor.h"

#include <math.h>
#include <stdlib.h>

static const ulp_option options[] = {
    ULP_TAKES_FORMATS(ULP_RUNNING_FORMATS, NULL),
    ULP_TAKES_MODES("rne,rz,sra", NULL),
    {"limit", ULP_OPTION_INTEGER, "2097152", NULL, "16777216",
     "terms after which a deterministic sum that still moves is left alone", 1, 0x1p24, NULL, 0},
    {"terms", ULP_OPTION_INTEGER, "8192", "4096", "262144", "terms of a stochastic run", 1, 0x1p24, NULL, 0},
    ULP_TAKES_RUNS("500", "200", "2000"),
    ULP_TAKES_PATHS("3"),
    ULP_TAKES_SEED,
    ULP_TAKES_BACKEND,
    {0},
};

enum { CURES = 2 };
static const ulp_cure cures[CURES] = {ULP_CURE_KAHAN, ULP_CURE_MASTER};

static ulp_status prepare(ulp_run *run, void **context) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    (void)context;
    for (size_t f = 0; f < formats; f++) {
        const double way = format[f].prec == 24 ? 20 : 1; /* to the stop */
        ulp_running_points(run, f, cures, CURES, (ulp_running_costs){way, 10 * way, 4});
    }
    return ULP_OK;
}

/* 1 / i; i up to 2^24 is a float */
static double term(const ulp_running *s, int64_t i) {
    if (s->native) return (double)(1.0f / (float)i);
    return ulp_arith(ULP_DIV, 1, (double)i, 0, s->format, s->rule, 0);
}

/* The least i with 1 / i <= spacing(H_i) / 2, up to `limit`; 0 if there is none. */
static int64_t predict(const ulp_format *format, int64_t limit) {
    double harmonic = 0;
    for (int64_t i = 1; i <= limit; i++) {
        harmonic += 1 / (double)i;
        if (harmonic > format->max) return 0;
        if (2 <= (double)i * ulp_spacing(harmonic, format)) return i;
    }
    return 0;
}

static void put_value(ulp_rows *rows, const ulp_running *s, const char *what, int64_t run, int64_t n, double value,
                      double harmonic, int64_t predicted) {
    ulp_running_key(rows, s, what, run);
    ulp_put_integer(rows, n);
    ulp_put_number(rows, harmonic);
    ulp_put_number(rows, value);
    ulp_put_code(rows, value, s->format);
    if (predicted > 0) ulp_put_integer(rows, predicted);
    else ulp_put_none(rows);
    ulp_put_no_spread(rows);
    ulp_row_end(rows);
}

/* Sums until a term changes nothing, the correction or the copy included: no later one does then. A corrected term that
 * leaves Kahan's correction as it was is monotone in the term, like every sum here. */
static void put_sum(ulp_rows *rows, ulp_running s, int64_t limit) {
    double harmonic = 0;
    int64_t i = 0, last = 0;
    int moves = 1;
    while (moves && i < limit) {
        const ulp_running before = s;
        i++;
        ulp_running_add(&s, term(&s, i), 0);
        harmonic += 1 / (double)i;
        if (!ulp_same(s.value, before.value)) last = i;
        moves = !ulp_same(s.value, before.value) || !ulp_same(s.kept, before.kept);
        if (ulp_is_thinned_row(i) || !moves) put_value(rows, &s, "path", 1, i, s.value, harmonic, 0);
        if (i % (1 << 16) == 0 && ulp_rows_progress(rows, (double)i / (double)limit)) return;
    }
    const int64_t predicted = s.cure == ULP_CURE_NONE && s.rule.mode == ULP_RNE ? predict(s.format, limit) : 0;
    if (moves) put_value(rows, &s, "open", 1, i, s.value, harmonic, predicted);
    else put_value(rows, &s, "stop", 1, last + 1, s.value, harmonic, predicted);
}

/* Run j takes word i 2^32 + j of the mode's two streams for term i: no run depends on how many there are. */
static ulp_status put_ensemble(const ulp_run *run, ulp_rows *rows, const ulp_running *s) {
    const int64_t terms = ulp_option_integer(run, "terms"), paths = ulp_option_integer(run, "paths");
    const size_t runs = (size_t)ulp_option_integer(run, "runs");
    const ulp_backend *backend = ulp_run_backend(run);
    ulp_stream quotients = ulp_stream_named(ulp_run_seed(run), "harmonic %s %s quotients", s->format->name, s->mode);
    ulp_stream sums = ulp_stream_named(ulp_run_seed(run), "harmonic %s %s sums", s->format->name, s->mode);
    float *host = malloc(runs * sizeof *host), *total = backend->alloc(4 * runs * sizeof *total);
    float *const one = total ? total + runs : NULL, *const at = one ? one + runs : NULL,
                 *const quotient = at ? at + runs : NULL;
    double harmonic = 0; /* total, one, at and quotient are backend memory */
    ulp_status status = host && total ? ulp_tensor_fill(backend, total, runs, (float)s->value) : ULP_NO_MEMORY;
    if (status == ULP_OK) status = ulp_tensor_fill(backend, one, runs, 1.0f);
    for (int64_t i = 1; i <= terms && status == ULP_OK; i++) {
        quotients.first = sums.first = (uint64_t)i << 32;
        harmonic += 1 / (double)i;
        status = ulp_tensor_fill(backend, at, runs, (float)i);
        if (status == ULP_OK)
            status = ulp_backend_map(backend, quotient, (ulp_array_op){ULP_DIV, one, at, NULL}, runs,
                                     (ulp_rounding){s->format, s->rule, quotients, NULL});
        if (status == ULP_OK)
            status = ulp_backend_map(backend, total, (ulp_array_op){ULP_ADD, total, quotient, NULL}, runs,
                                     (ulp_rounding){s->format, s->rule, sums, NULL});
        if (!ulp_is_thinned_row(i) && i < terms) continue;
        if (status == ULP_OK) status = backend->download(host, total, runs * sizeof *host);
        if (status != ULP_OK) break;
        for (int64_t j = 0; j < paths && j < (int64_t)runs; j++)
            put_value(rows, s, "path", j + 1, i, (double)host[j], harmonic, 0);
        ulp_running_key(rows, s, "spread", 0);
        ulp_put_integer(rows, i);
        ulp_put_number(rows, harmonic);
        ulp_put_nones(rows, 3);
        ulp_put_spread(rows, host, runs);
        ulp_row_end(rows);
        if (ulp_rows_progress(rows, (double)i / (double)terms)) break;
    }
    if (total != NULL) backend->release(total);
    free(host);
    return status;
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    const ulp_running s = ulp_running_start(run, point);
    (void)context;
    if (ulp_mode_is_stochastic(s.rule.mode)) return put_ensemble(run, rows, &s);
    put_sum(rows, s, ulp_option_integer(run, "limit"));
    return ULP_OK;
}

/* ---- claims ---- */

static long row_at(const ulp_run *run, const char *format, const char *mode, ulp_cure c, const char *what, int64_t n) {
    return ulp_running_row_at(run, format, mode, c, what, "n", n);
}

static const struct fact {
    const char *format;
    double value;
    int64_t idle; /* the first term that moves nothing */
} facts[] = {
    {"bfloat16", 5.0625, 65},
    {"binary16", 7.0859375, 513},
    {"e4m3", 3, 9},
    {"e5m2", 2, 5},
    {"binary32", 15.403682708740234375, 2097152},
};

static void claim_facts(ulp_run *run) {
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        const struct fact *want = &facts[i];
        char text[160];
        snprintf(text, sizeof text,
                 "%s rne: the sum stops at exactly %.9g, the first term that moves nothing is 1/%lld", want->format,
                 want->value, (long long)want->idle);
        const long stop = ulp_running_stop_claimed(run, want->format, "limit", text);
        if (stop == ULP_NO_ROW) continue;
        const double value = ulp_row_number(run, stop, "value"), idle = ulp_row_number(run, stop, "n");
        ulp_claim(ulp_run_claims(run), value == want->value && idle == (double)want->idle, text, "%.17g at term %.0f",
                  value, idle);
    }
}

static int is_default(const char *format) { return ulp_list_has(ULP_RUNNING_FORMATS, format); }

/* The stop against the harmonic numbers alone. Not for any format: one whose sum crosses a power of two at the stop may
 * be off by more than the tie. */
static void claim_predicted(ulp_run *run) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    int good = 0, bad = 0;
    for (size_t f = 0; f < formats; f++) {
        const long stop = ulp_running_stop(run, format[f].name, ULP_CURE_NONE);
        if (stop == ULP_NO_ROW || !is_default(format[f].name)) continue;
        const double later = ulp_row_number(run, stop, "n") - ulp_row_number(run, stop, "predicted");
        if (later == 0 || later == 1) good++;
        else bad++;
    }
    if (good + bad > 0)
        ulp_claim(
            ulp_run_claims(run), bad == 0,
            "to nearest, sums stop at the first term of at most half the spacing at the harmonic number, or one later "
            "if that is a tie",
            "%d formats do, %d do not", good, bad);
}

static double harmonic_number(int64_t n) {
    double total = 0;
    for (int64_t i = n; i > 0; i--) total += 1 / (double)i;
    return total;
}

/* After a million terms; what has stopped before stays. */
static void claim_error(ulp_run *run, const char *format, double want) {
    const long stop = ulp_running_stop(run, format, ULP_CURE_NONE);
    char text[120];
    if (stop == ULP_NO_ROW || ulp_row_number(run, stop, "n") > 1e6) return;
    const double harmonic = harmonic_number(1000000), error = 1 - ulp_row_number(run, stop, "value") / harmonic;
    snprintf(text, sizeof text, "%s rne: after 10^6 terms the relative error is %.4f", format, want);
    ulp_claim(ulp_run_claims(run), floor(1e4 * error + 0.5) == floor(1e4 * want + 0.5), text, "%.8f", error);
}

/* The correction is at most half the spacing of the sum, and small terms stop moving it where they are a 2^-p of that.
 */
static void claim_kahan(ulp_run *run) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    int good = 0, bad = 0, close = 0, far = 0;
    for (size_t f = 0; f < formats; f++) {
        const char *name = format[f].name;
        const long plain = ulp_running_stop(run, name, ULP_CURE_NONE),
                   kahan = ulp_running_stop(run, name, ULP_CURE_KAHAN);
        if (format[f].is_fixed || !is_default(name) || plain == ULP_NO_ROW) continue;
        const double idle = ulp_row_number(run, plain, "n");
        if (kahan != ULP_NO_ROW && ulp_row_number(run, kahan, "n") <= idle * idle / 2) bad++;
        else if (kahan != ULP_NO_ROW) good++;
        for (int64_t n = 1; (double)n <= idle * idle / 2; n *= 2) {
            const long row = row_at(run, name, "rne", ULP_CURE_KAHAN, "path", n);
            if (row == ULP_NO_ROW) break;
            const double harmonic = ulp_row_number(run, row, "harmonic");
            const int near = fabs(ulp_row_number(run, row, "value") - harmonic) <= ulp_spacing(harmonic, &format[f]);
            close += near;
            far += !near;
        }
    }
    if (good + bad > 0)
        ulp_claim(ulp_run_claims(run), bad == 0,
                  "Kahan's sum stops too, but beyond half the square of the term at which the plain one does",
                  "%d formats do, %d do not", good, bad);
    if (close + far > 0)
        ulp_claim(ulp_run_claims(run), far == 0,
                  "up to half that square, Kahan's sums of 1, 2, 4, 8, ... terms are right to a spacing of the format",
                  "%d are, %d are not", close, far);
}

/* Many tests, and sums of 8 bits are skewed: 5 standard errors, so that a run by another seed does not fail by chance.
 */
static void claim_stochastic(ulp_run *run, const ulp_format *format, const char *mode) {
    const int64_t terms = ulp_option_integer(run, "terms");
    const long row = row_at(run, format->name, mode, ULP_CURE_NONE, "spread", terms);
    const long stop = ulp_running_stop(run, format->name, ULP_CURE_NONE);
    const double runs = (double)ulp_option_integer(run, "runs");
    char text[200];
    if (row == ULP_NO_ROW) return;
    const double mean = ulp_row_number(run, row, "mean"), sd = ulp_row_number(run, row, "sd"),
                 harmonic = ulp_row_number(run, row, "harmonic");
    snprintf(text, sizeof text, "%s %s: after %lld terms the mean is the harmonic number within 5 standard errors",
             format->name, mode, (long long)terms);
    if (runs < 100 || harmonic > format->max / 2) {
        ulp_claim_skip(ulp_run_claims(run), text, runs < 100 ? "--runs is less than 100" : "it may leave the range");
        return;
    }
    const double errors = fabs(mean - harmonic) / (sd / sqrt(runs));
    const int beyond = stop == ULP_NO_ROW || ulp_row_number(run, stop, "n") > (double)terms / 8 ||
                       mean > ulp_row_number(run, stop, "value") + sd / sqrt(runs);
    ulp_claim(ulp_run_claims(run), errors <= 5 && beyond, text, "mean %.9g, sd %.3g, H %.9g, off by %.2f%s", mean, sd,
              harmonic, errors, beyond ? "" : "; not beyond where nearest stops");
}

static void print_end(ulp_sheet *table, const ulp_run *run, const char *format, const char *mode, ulp_cure c) {
    const long stop = ulp_running_row(run, format, mode, c, "stop"),
               open = ulp_running_row(run, format, mode, c, "open");
    if (stop != ULP_NO_ROW)
        ulp_sheet_put(table, "%.9g at %.0f", ulp_row_number(run, stop, "value"), ulp_row_number(run, stop, "n"));
    else if (open != ULP_NO_ROW) ulp_sheet_put(table, "> %.9g", ulp_row_number(run, open, "value"));
    else ulp_sheet_put(table, "-");
}

static void print_table(const ulp_run *run) {
    const int64_t terms = ulp_option_integer(run, "terms");
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    char columns[160], title[160];
    snprintf(columns, sizeof columns, "format,predicted,rne,rz,kahan,master,sra after %lld", (long long)terms);
    snprintf(
        title, sizeof title,
        "where the harmonic series stops, at the first term that moves nothing; >: still moving; H of %lld is %.8g",
        (long long)terms, harmonic_number(terms));
    ulp_sheet *table = ulp_sheet_new(title, columns);
    for (size_t f = 0; f < formats; f++) {
        const char *name = format[f].name;
        const int64_t predicted = predict(&format[f], ulp_option_integer(run, "limit"));
        const long spread = row_at(run, name, "sra", ULP_CURE_NONE, "spread", terms);
        ulp_sheet_put(table, "%s", name);
        if (predicted) ulp_sheet_put(table, "%lld", (long long)predicted);
        else ulp_sheet_put(table, "-");
        print_end(table, run, name, "rne", ULP_CURE_NONE);
        print_end(table, run, name, "rz", ULP_CURE_NONE);
        for (int c = 0; c < CURES; c++) print_end(table, run, name, "rne", cures[c]);
        if (spread == ULP_NO_ROW) ulp_sheet_put(table, "-");
        else
            ulp_sheet_put(table, "%.7g +- %.2g", ulp_row_number(run, spread, "mean"),
                          ulp_row_number(run, spread, "sd"));
    }
    ulp_sheet_print(table, ulp_run_people(run));
}

static void check(ulp_run *run, const void *context) {
    (void)context;
    print_table(run);
    claim_facts(run);
    claim_predicted(run);
    claim_error(run, "binary16", 0.5077);
    claim_error(run, "bfloat16", 0.6483);
    claim_kahan(run);
    ulp_running_claims(run, claim_stochastic);
}

static const ulp_experiment experiment = {
    .name = "harmonic",
    .question = "The harmonic series diverges: at which term does it stop in every format, and what keeps it growing?",
    .columns = ULP_RUNNING_COLUMNS ",n,harmonic,value,code,predicted," ULP_SPREAD_COLUMNS,
    .options = options,
    .takes_format = ulp_format_within_binary32,
    .format_wants = ULP_WANTS_WITHIN_BINARY32,
    .prepare = prepare,
    .compute = compute,
    .check = check,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
