/* sum_growth.c - how do the errors of long sums grow with their length, to nearest and stochastic, beside the bounds?
 *
 * Recursive sums from +0, every addition rounded: terms of U[0,1], of U[-1,1], the products of two such factors (each
 * rounded by the same mode, then added), and 1, 1/2, 1/3, ... Terms and factors are first rounded to nearest, so that
 * only sums and products err; the harmonic series alone is compared with the sum of the unrounded 1/i. A longer sum
 * begins with the terms and the random words of the shorter ones. The error of a sum s of terms x_i is
 * |computed - s| / sum |x_i|, the backward error; for terms of one sign it is the relative one.
 *
 * Bounds, with u = 2^-p to nearest and 2^(1-p) in other modes:
 *   gamma    n u / (1 - n u) where n u < 1 (Higham 2002, Accuracy and Stability, section 4.2);
 *   linear   n u, to nearest, for every n (Jeannerod and Rump 2013, doi:10.1137/120894488);
 *   likely   exp((lambda sqrt(n) u + n u^2) / (1 - u)) - 1, that is lambda sqrt(n) u and a little: for stochastic
 *            rounding it holds with probability 1 - delta at least if delta = 2 n exp(-lambda^2 / 2) (Connolly,
 *            Higham, Mary 2021, doi:10.1137/20M1334796; also Croci et al. 2022, doi:10.1098/rsos.211631). To nearest
 *            it is no theorem, and sums that stop break it.
 * A product below the least normal number errs by up to the least spacing rather than relatively: n of these are added
 * to the first two where products are rounded. With 32 random bits the mean of a stochastic error is within 2^-32
 * spacings of 0, too little to be seen beside the bounds.
 * Where sums of U[0,1] to nearest stop: from 2^p on numbers are 2 apart, and no term exceeds half of that; a tie, at
 * x = 1, goes to the even 2^p. Below, the spacing divides 2^p, so the sum stops exactly there.
 * Where stochastic sums S of positive terms x level off: a step's variance is s^2 nu (1 - nu), nu the fraction of x / s
 * that is cut, so at most s x; the spacing s is at most 2^(1-p) S. As E S is the exact sum, the variances add up to at
 * most 2^(1-p) sum S x, half of 2^(1-p) times the square of the whole sum: a standard deviation of 2^(-p/2) of the sum,
 * however long it is. The error of zero-mean data is a constant times u (Higham and Mary 2020, doi:10.1137/20M1314355).
 * One file, a little long: sums, bounds and the claims that compare them belong beside each other.
 */
#include "harness/spread.h"
#include "sim/elementary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POSITIVE, SIGNED, DOT_POSITIVE, DOT_SIGNED, HARMONIC, DATA_COUNT };
static const char *const data_names[DATA_COUNT] = {"positive", "signed", "dot-positive", "dot-signed", "harmonic"};

enum { MODES_MAX = 32, BLOCK = 4096 };

static const ulp_option options[] = {
    ULP_TAKES_FORMATS("binary16,bfloat16", NULL),
    ULP_TAKES_MODES("rne,sra", NULL),
    {.name = "data",
     .type = ULP_OPTION_CHOICES,
     .value = "all",
     .words = "positive signed dot-positive dot-signed harmonic",
     .help = "terms: U[0,1]; U[-1,1]; products of two of these; 1, 1/2, 1/3, ..."},
    {"longest", ULP_OPTION_NUMBER, "6", "5", NULL, "log10 of the longest sum, in quarters; the shortest has 10 terms",
     1, 7, NULL, 0},
    {"runs", ULP_OPTION_INTEGER, "32", NULL, "256", "sums with terms and random words of their own", 2, 1024, NULL, 0},
    {"delta", ULP_OPTION_NUMBER, "0.05", NULL, NULL, "probability that the likely bound may fail with, per sum", 1e-9,
     0.5, NULL, 0},
    ULP_TAKES_SEED,
    {0},
};

enum { AT_FORMAT, AT_DATA };

static int quarters(const ulp_run *run) { return (int)(4 * ulp_option_number(run, "longest")); }

/* 10^(q / 4), rounded to a whole number. */
static size_t length_at(int q) {
    static const size_t mantissas[] = {10000000, 17782794, 31622777, 56234133};
    size_t scale = 1;
    for (int i = q / 4; i < 7; i++) scale *= 10;
    return (mantissas[q % 4] + scale / 2) / scale;
}

static ulp_status prepare(ulp_run *run, void **context) {
    size_t formats, modes;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const double longest = ulp_option_number(run, "longest");
    ulp_run_modes(run, &modes);
    (void)context;
    if (modes > MODES_MAX) return ulp_run_fail(run, ULP_NOT_IN_RANGE, "--modes: %d at most", MODES_MAX);
    if (4 * longest != floor(4 * longest))
        return ulp_run_fail(run, ULP_NOT_IN_RANGE, "--longest %g: quarters, as 4, 4.25, 4.5", longest);
    for (size_t f = 0; f < formats; f++) {
        if (!format[f].fits_binary32 || !format[f].is_signed || format[f].is_fixed || format[f].prec > 24)
            return ulp_run_fail(run, ULP_UNSUPPORTED, "--formats %s: signed floating point no wider than binary32",
                                format[f].name);
        for (int d = 0; d < DATA_COUNT; d++) {
            ulp_point point = {.at = {(int64_t)f, d}, .cost = d == HARMONIC ? 1 : d < DOT_POSITIVE ? 2 : 3};
            if (ulp_option_chosen(run, "data", data_names[d]))
                ulp_point_add(run, point, "%s %s", format[f].name, data_names[d]);
        }
    }
    return ULP_OK;
}

/* All sums of a point under way: runs beside each other, modes one after the other on the same terms. */
typedef struct sums {
    const ulp_run *run;
    const ulp_backend *backend;
    const ulp_format *format;
    int data;
    size_t runs, modes, n; /* n terms are added */
    const ulp_named_rule *mode;
    ulp_stream words[MODES_MAX];
    ulp_datapath serial[MODES_MAX], exact;
    float *ones, *x, *y, *terms; /* (BLOCK), (BLOCK,runs) thrice: factors, and their products as rounded */
    double *ones64, *exactly;    /* (BLOCK), (BLOCK,runs): the terms as they are without error */
    float *sum;                  /* (modes,runs) */
    double *truth, *size;        /* (runs): the sum, and of the magnitudes */
} sums;

static int is_dot(int data) { return data == DOT_POSITIVE || data == DOT_SIGNED; }

static ulp_status sums_new(sums *s) {
    const size_t block = BLOCK * s->runs, floats = BLOCK + 3 * block + s->modes * s->runs,
                 doubles = BLOCK + block + 2 * s->runs;
    ulp_status status = ulp_datapath_parse(&s->exact, "exact:binary64:rne");
    for (size_t m = 0; m < s->modes && status == ULP_OK; m++) {
        s->serial[m] = (ulp_datapath){.kind = ULP_SERIAL, .accumulator = *s->format, .rule = s->mode[m].rule};
        status = ulp_datapath_init(&s->serial[m]);
        s->words[m] = ulp_stream_named(ulp_run_seed(s->run), "sum_growth %s %s %s", s->format->name,
                                       data_names[s->data], s->mode[m].name);
    }
    s->ones = s->backend->alloc(floats * sizeof(float));
    s->ones64 = s->backend->alloc(doubles * sizeof(double));
    if (s->ones == NULL || s->ones64 == NULL) return ULP_NO_MEMORY;
    memset(s->ones, 0, floats * sizeof(float));
    memset(s->ones64, 0, doubles * sizeof(double));
    for (size_t i = 0; i < BLOCK; i++) s->ones64[i] = s->ones[i] = 1;
    s->x = s->ones + BLOCK;
    s->y = s->x + block;
    s->terms = s->y + block;
    s->sum = s->terms + block;
    s->exactly = s->ones64 + BLOCK;
    s->truth = s->exactly + block;
    s->size = s->truth + s->runs;
    return status;
}

/* to (count,runs): factors n, n + 1, ... of every run, in binary32; four share a block of random words. */
static void draw(const sums *s, float *to, const char *factor, size_t count) {
    const int both = s->data == SIGNED || s->data == DOT_SIGNED;
    for (size_t run = 0; run < s->runs; run++) {
        const ulp_stream stream = ulp_stream_named(ulp_run_seed(s->run), "sum_growth %s %zu", factor, run);
        philox4x32_ctr_t block = ulp_random_block(stream.seed, stream.stream, s->n / 4);
        for (size_t i = 0; i < count; i++) {
            const uint64_t index = s->n + i; /* of ulp_random_uniform(): a named stream begins at 0 */
            if (index % 4 == 0) block = ulp_random_block(stream.seed, stream.stream, index / 4);
            const double u = (double)block.v[index % 4] * 0x1p-32;
            to[i * s->runs + run] = (float)(both ? 2 * u - 1 : u);
        }
    }
}

static ulp_status fill(sums *s, size_t count) {
    const size_t all = count * s->runs;
    const ulp_rule nearest = {0};
    if (s->data == HARMONIC) {
        for (size_t i = 0; i < count; i++) {
            const double term = 1 / (double)(s->n + i + 1), rounded = ulp_round(term, s->format, nearest, 0);
            for (size_t run = 0; run < s->runs; run++) {
                s->exactly[i * s->runs + run] = term;
                s->x[i * s->runs + run] = (float)rounded;
            }
        }
        return ULP_OK;
    }
    draw(s, s->x, "x", count);
    ulp_status status = s->backend->round(s->x, s->x, all, s->format, nearest, (ulp_stream){0}, NULL);
    if (status == ULP_OK && is_dot(s->data)) {
        draw(s, s->y, "y", count);
        status = s->backend->round(s->y, s->y, all, s->format, nearest, (ulp_stream){0}, NULL);
    }
    for (size_t i = 0; i < all; i++) s->exactly[i] = (double)s->x[i] * (is_dot(s->data) ? (double)s->y[i] : 1);
    return status;
}

/* Adds the next `count` terms, BLOCK at most. */
static ulp_status add(sums *s, size_t count) {
    const ulp_gemm_shape shape = {
        .m = 1, .n = s->runs, .k = count, .lda = count, .ldb = s->runs, .ldc = s->runs, .accumulate = 1};
    ulp_status status = fill(s, count);
    for (size_t i = 0; i < count; i++)
        for (size_t run = 0; run < s->runs; run++) s->size[run] += fabs(s->exactly[i * s->runs + run]);
    if (status == ULP_OK)
        status = s->backend->gemm64(s->truth, s->ones64, s->exactly, &shape, &s->exact, (ulp_stream){0});
    for (size_t m = 0; m < s->modes && status == ULP_OK; m++) {
        const float *terms = s->x;
        if (is_dot(s->data)) {
            terms = s->terms;
            status = s->backend->map(ULP_MUL, s->terms, s->x, s->y, NULL, count * s->runs, s->format, s->mode[m].rule,
                                     s->words[m], NULL);
            s->words[m].first += count * s->runs;
        }
        if (status == ULP_OK)
            status = s->backend->gemm(s->sum + m * s->runs, s->ones, terms, &shape, &s->serial[m], s->words[m]);
        s->words[m].first += count * s->runs;
    }
    s->n += count;
    return status;
}

/* With few random bits errors have a bias, and the likely bound is no theorem; sr_bits.c is about that. */
static int is_unbiased(ulp_rule rule) {
    return ulp_mode_is_stochastic(rule.mode) && (rule.random_bits == 0 || rule.random_bits == 32);
}

/* The bounds for a sum of n terms. NaN: none. */
typedef struct bounds {
    double gamma, linear, likely, lambda;
} bounds;

static bounds bounds_of(const sums *s, size_t m) {
    const int nearest = s->mode[m].rule.mode == ULP_RNE || s->mode[m].rule.mode == ULP_RNA;
    const double n = (double)s->n, u = ldexp(nearest ? 0.5 : 1, 1 - (int)s->format->prec);
    const double delta = ulp_option_number(s->run, "delta");
    bounds b = {.gamma = NAN, .linear = NAN, .likely = NAN};
    double least = s->size[0];
    for (size_t i = 1; i < s->runs; i++) least = fmin(least, s->size[i]);
    const double tiny = is_dot(s->data) ? n * s->format->min_positive / least : 0;
    if (n * u < 1) b.gamma = n * u / (1 - n * u) + tiny / (1 - n * u);
    if (nearest) b.linear = n * u + tiny;
    b.lambda = sqrt(2 * ulp_log(2 * n / delta));
    if (s->mode[m].rule.mode == ULP_RNE || is_unbiased(s->mode[m].rule))
        b.likely = ulp_exp((b.lambda * sqrt(n) * u + n * u * u) / (1 - u)) - 1;
    return b;
}

/* One row: the errors of a mode over all runs, after n terms. Where a sum left the format's range its error is Inf. */
static void put_row(const sums *s, ulp_rows *rows, size_t m, double *error) {
    const bounds b = bounds_of(s, m);
    double squares = 0, least = INFINITY, most = -INFINITY;
    size_t within = 0;
    for (size_t i = 0; i < s->runs; i++) {
        const double sum = (double)s->sum[m * s->runs + i];
        error[i] = isfinite(sum) ? fabs(sum - s->truth[i]) / s->size[i] : INFINITY;
        squares += error[i] * error[i];
        within += error[i] <= b.likely;
        least = isnan(sum) ? -INFINITY : fmin(least, sum);
        most = isnan(sum) ? INFINITY : fmax(most, sum);
    }
    ulp_sort_numbers(error, s->runs);
    ulp_put_text(rows, s->format->name);
    ulp_put_text(rows, data_names[s->data]);
    ulp_put_text(rows, s->mode[m].name);
    ulp_put_integer(rows, (int64_t)s->n);
    ulp_put_number(rows, error[0]);
    ulp_put_number(rows, (error[(s->runs - 1) / 2] + error[s->runs / 2]) / 2);
    ulp_put_number(rows, sqrt(squares / (double)s->runs));
    ulp_put_number(rows, error[s->runs - 1]);
    const double bound[] = {b.gamma, b.linear, b.likely};
    for (int i = 0; i < 3; i++) {
        if (isnan(bound[i])) ulp_put_none(rows);
        else ulp_put_number(rows, bound[i]);
    }
    ulp_put_number(rows, b.lambda);
    if (isnan(b.likely)) ulp_put_none(rows);
    else ulp_put_integer(rows, (int64_t)within);
    ulp_put_number(rows, least);
    ulp_put_number(rows, most);
    ulp_put_number(rows, s->truth[0]);
    ulp_row_end(rows);
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    size_t formats;
    sums s = {.run = run, .backend = ulp_run_backend(run), .data = (int)point->at[AT_DATA]};
    s.format = &ulp_run_formats(run, &formats)[point->at[AT_FORMAT]];
    s.mode = ulp_run_modes(run, &s.modes);
    s.runs = (size_t)ulp_option_integer(run, "runs");
    double *error = malloc(s.runs * sizeof *error);
    ulp_status status = sums_new(&s);
    if (error == NULL) status = ULP_NO_MEMORY;
    (void)context;
    const size_t longest = length_at(quarters(run));
    int stopped = 0;
    for (int q = 4; q <= quarters(run) && status == ULP_OK && !stopped; q++) {
        for (const size_t n = length_at(q); s.n < n && status == ULP_OK && !stopped;) {
            status = add(&s, n - s.n < BLOCK ? n - s.n : BLOCK);
            stopped = ulp_rows_progress(rows, (double)s.n / (double)longest);
        }
        for (size_t m = 0; m < s.modes && status == ULP_OK; m++) put_row(&s, rows, m, error);
    }
    free(error);
    s.backend->release(s.ones);
    s.backend->release(s.ones64);
    return status;
}

/* ---- claims ---- */

/* The row of a length; ULP_NO_ROW. */
static long find(const ulp_run *run, const char *format, int data, const char *mode, size_t n) {
    char text[24];
    snprintf(text, sizeof text, "%zu", n);
    return ulp_row_find(run, 0, "n", text, "mode", mode, "format", format, "data", data_names[data],
                        (const char *)NULL);
}

/* The exact sum comes close to the end of the format's range: whether the computed one leaves it is chance. */
static int is_beyond(const ulp_run *run, long row) {
    ulp_format format;
    if (ulp_format_parse(&format, ulp_row_text(run, row, "format")) != ULP_OK) return 1;
    return fabs(ulp_row_number(run, row, "exact")) > 0.8 * format.max;
}

/* How many rows have this bound, and in how many the largest error exceeds it; the closest, as a share of the bound. */
static void claim_bound(ulp_run *run, const char *bound, const char *text) {
    long rows = 0, broken = 0;
    double closest = 0;
    for (long row = 0; row < ulp_row_count(run); row++) {
        const double limit = ulp_row_number(run, row, bound), error = ulp_row_number(run, row, "most_error");
        if (isnan(limit) || is_beyond(run, row)) continue;
        rows++;
        broken += !(error <= limit);
        closest = fmax(closest, error / limit);
    }
    if (rows == 0) ulp_claim_skip(run, text, "no row has this bound");
    else
        ulp_claim(run, broken == 0, text, "%ld rows of %lld sums, the closest at %.1f %% of the bound", rows,
                  (long long)ulp_option_integer(run, "runs"), 100 * closest);
}

/* lambda sqrt(n) u of a row, without what `likely` adds to it. */
static double plain_bound(const ulp_run *run, long row) {
    ulp_format format;
    const double n = ulp_row_number(run, row, "n"), delta = ulp_option_number(run, "delta");
    if (ulp_format_parse(&format, ulp_row_text(run, row, "format")) != ULP_OK) return NAN;
    return sqrt(2 * n * ulp_log(2 * n / delta)) * ldexp(1, 1 - (int)format.prec);
}

/* Of all stochastic sums, over all lengths where the likely bound says anything (below 1): 1 - delta of them keep it.
 * What is added to lambda sqrt(n) u is less than half of it there, as exp(x) - 1 <= x / ln 2 where it is below 1. */
static void claim_likely(ulp_run *run) {
    size_t modes;
    const ulp_named_rule *mode = ulp_run_modes(run, &modes);
    const double runs = (double)ulp_option_integer(run, "runs"), delta = ulp_option_number(run, "delta");
    double count = 0, within = 0, closest = 0;
    int sound = 1;
    char text[200];
    snprintf(text, sizeof text,
             "stochastic: %.4g %% of the sums at least are within the likely bound, about lambda sqrt(n) u, where that "
             "is below 1",
             100 * (1 - delta));
    for (long row = 0; row < ulp_row_count(run); row++)
        for (size_t m = 0; m < modes; m++) {
            if (!is_unbiased(mode[m].rule) || !ulp_row_is(run, row, "mode", mode[m].name)) continue;
            if (ulp_row_is(run, row, "data", "harmonic") || is_beyond(run, row)) continue;
            if (!(ulp_row_number(run, row, "likely") < 1)) continue;
            const double times = ulp_row_number(run, row, "likely") / plain_bound(run, row);
            sound &= times >= 1 && times < 1.5;
            count += runs;
            within += ulp_row_number(run, row, "within");
            closest = fmax(closest, ulp_row_number(run, row, "most_error") / ulp_row_number(run, row, "likely"));
        }
    if (count == 0) ulp_claim_skip(run, text, "needs sra, srb or src in --modes, and --data other than harmonic");
    else
        ulp_claim(run, sound && within >= (1 - delta) * count, text,
                  "%.0f of %.0f, the farthest at %.1f %% of the bound", within, count, 100 * closest);
}

/* Sums of U[0,1] and of products of these, to nearest: exactly 2^p where about half as many terms get there: the mean
 * of a term is 1/2, so 2 2^p terms; that of a product is 1/4 and, below 2^p, where only products over 1/2 count, as 1,
 * it is 0.153: 5.5 2^p products. */
static void claim_stop(ulp_run *run, const ulp_format *format, int data) {
    const double stop = ldexp(1, (int)format->prec), from = stop * (data == POSITIVE ? 4 : 10);
    double least = INFINITY, most = -INFINITY;
    long rows = 0;
    char text[160];
    for (int q = 4; q <= quarters(run); q++) {
        const long row = find(run, format->name, data, "rne", length_at(q));
        if (row == ULP_NO_ROW || (double)length_at(q) < from) continue;
        least = fmin(least, ulp_row_number(run, row, "least"));
        most = fmax(most, ulp_row_number(run, row, "most"));
        rows++;
    }
    if (stop > format->max / 2 || ulp_row_find(run, 0, "format", format->name, "data", data_names[data], "mode", "rne",
                                               (const char *)NULL) == ULP_NO_ROW)
        return;
    snprintf(text, sizeof text, "%s to nearest, %s of U[0,1]: every one of %.0f terms or more is exactly %.0f",
             format->name, data == POSITIVE ? "sums" : "inner products", from, stop);
    if (rows == 0) ulp_claim_skip(run, text, "--longest is %g", ulp_option_number(run, "longest"));
    else ulp_claim(run, least == stop && most == stop, text, "%ld lengths, from %.17g to %.17g", rows, least, most);
}

/* The slope of log rms error over log n by least squares, lengths from `from` to `to`; NaN for less than 3 of them. */
static double slope(const ulp_run *run, const char *format, int data, const char *mode, double from, double to) {
    double sx = 0, sy = 0, sxx = 0, sxy = 0, rows = 0;
    for (int q = 4; q <= quarters(run); q++) {
        const double n = (double)length_at(q);
        const long row = n < from || n > to ? ULP_NO_ROW : find(run, format, data, mode, length_at(q));
        if (row == ULP_NO_ROW || is_beyond(run, row)) continue;
        const double x = q / 4.0, y = ulp_log(ulp_row_number(run, row, "rms")) / ulp_log(10);
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
        rows++;
    }
    return rows < 3 ? NAN : (rows * sxy - sx * sy) / (rows * sxx - sx * sx);
}

/* A slope lies between two numbers. */
static void claim_slope(ulp_run *run, const ulp_format *format, int data, const char *mode, double from, double to,
                        double low, double high, const char *what) {
    const double got = slope(run, format->name, data, mode, from, to), reached = (double)length_at(quarters(run));
    char text[240];
    if (find(run, format->name, data, mode, 10) == ULP_NO_ROW) return;
    snprintf(text, sizeof text, "%s %s, %s, n from %.0f to %.0f: %s", format->name, mode, data_names[data], from,
             fmin(to, reached), what);
    if (isnan(got) || reached < 1e4 || (to < INFINITY && reached < 0.7 * to))
        ulp_claim_skip(run, text, "--longest is %g", ulp_option_number(run, "longest"));
    else if (ulp_option_integer(run, "runs") < 16)
        ulp_claim_skip(run, text, "--runs is %lld: too much chance", (long long)ulp_option_integer(run, "runs"));
    else ulp_claim(run, got >= low && got <= high, text, "slope %.3f", got);
}

/* Slopes where there is a decade to measure them in, for the formats whose terms are not coarser than their sums. */
static void claim_slopes(ulp_run *run, const ulp_format *format) {
    const double half = ldexp(1, (int)format->prec - 1);
    if (format->prec < 8 || format->prec > 16) return;
    for (int data = POSITIVE; data <= DOT_POSITIVE; data += DOT_POSITIVE - POSITIVE) {
        if (format->prec >= 11)
            claim_slope(run, format, data, "sra", 10, half, 0.35, 0.65,
                        "the error grows like sqrt(n), with a slope of 0.35 to 0.65");
        claim_slope(run, format, data, "rne", 0.7 * half, 7 * half, 0.9, INFINITY,
                    "the error grows like n or faster, with a slope of 0.9 or more");
    }
    claim_slope(run, format, SIGNED, "rne", 10, INFINITY, -0.15, 0.15,
                "the error does not grow, with a slope of -0.15 to 0.15");
    claim_slope(run, format, SIGNED, "sra", 10, INFINITY, -0.15, 0.15,
                "the error does not grow, with a slope of -0.15 to 0.15");
}

/* Stochastic sums of positive terms: no error over 5 times 2^(-p/2), the standard deviation's bound, at any length. */
static void claim_level(ulp_run *run, const ulp_format *format) {
    const double sd = sqrt(ldexp(1, -(int)format->prec));
    double most = 0;
    long rows = 0;
    char text[200];
    for (int q = 4; q <= quarters(run); q++)
        for (int data = POSITIVE; data <= DOT_POSITIVE; data += DOT_POSITIVE - POSITIVE) {
            const long row = find(run, format->name, data, "sra", length_at(q));
            if (row == ULP_NO_ROW || is_beyond(run, row)) continue;
            most = fmax(most, ulp_row_number(run, row, "most_error"));
            rows++;
        }
    snprintf(text, sizeof text, "%s sra, positive terms: no sum of any length errs by over 5 2^(-p/2), that is %.3g %%",
             format->name, 500 * sd);
    if (rows > 0) ulp_claim(run, most <= 5 * sd, text, "%ld rows, the farthest sum off by %.3g %%", rows, 100 * most);
}

/* Croci et al. 2022, to the four digits given there: harmonic sums of 10^6 terms to nearest. */
static void claim_harmonic(ulp_run *run) {
    static const struct {
        const char *format;
        double sum, error;
    } facts[] = {{"binary16", 7.0859375, 0.5077}, {"bfloat16", 5.0625, 0.6483}};
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        char text[160];
        const long row = find(run, facts[i].format, HARMONIC, "rne", 1000000);
        snprintf(text, sizeof text, "%s to nearest: the harmonic sum of 10^6 terms is exactly %.10g, its error %.4f",
                 facts[i].format, facts[i].sum, facts[i].error);
        if (row == ULP_NO_ROW) {
            if (find(run, facts[i].format, HARMONIC, "rne", 10) != ULP_NO_ROW)
                ulp_claim_skip(run, text, "--longest is %g", ulp_option_number(run, "longest"));
            continue;
        }
        const double least = ulp_row_number(run, row, "least"), most = ulp_row_number(run, row, "most"),
                     error = ulp_row_number(run, row, "most_error");
        ulp_claim(run, least == facts[i].sum && most == facts[i].sum && fabs(error - facts[i].error) <= 0.5e-4, text,
                  "sums from %.10g to %.10g, error %.6f", least, most, error);
    }
}

static void print_table(const ulp_run *run) {
    size_t formats, modes;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const ulp_named_rule *mode = ulp_run_modes(run, &modes);
    const int last = quarters(run) - quarters(run) % 4;
    char columns[240] = "format,terms,mode";
    for (int q = 8; q <= last; q += 4)
        snprintf(columns + strlen(columns), 40, ",n = 10^%d%s", q / 4, q == last ? ",gamma,likely" : "");
    ulp_table *table = ulp_table_new("rms error / sum of magnitudes, and two bounds at the last length", columns);
    for (size_t f = 0; f < formats && last >= 8; f++)
        for (int d = 0; d < DATA_COUNT; d++)
            for (size_t m = 0; m < modes && ulp_option_chosen(run, "data", data_names[d]); m++) {
                ulp_table_put(table, "%s", format[f].name);
                ulp_table_put(table, "%s", data_names[d]);
                ulp_table_put(table, "%s", mode[m].name);
                for (int q = 8; q <= last; q += 4) {
                    const long row = find(run, format[f].name, d, mode[m].name, length_at(q));
                    const double rms = ulp_row_number(run, row, "rms");
                    ulp_table_put(table, isfinite(rms) ? "%.2e" : "overflow", rms);
                    if (q < last) continue;
                    const double gamma = ulp_row_number(run, row, "gamma"), likely = ulp_row_number(run, row, "likely");
                    ulp_table_put(table, isnan(gamma) ? "none" : "%.2e", gamma);
                    ulp_table_put(table, isnan(likely) ? "none" : "%.2e", likely);
                }
            }
    ulp_table_print(table, run);
}

static void check(ulp_run *run, const void *context) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    (void)context;
    print_table(run);
    claim_bound(run, "gamma", "no error exceeds gamma_n = n u / (1 - n u), where n u < 1");
    claim_bound(run, "linear", "to nearest: no error exceeds n u, at any length");
    claim_likely(run);
    for (size_t f = 0; f < formats; f++) {
        claim_stop(run, &format[f], POSITIVE);
        claim_stop(run, &format[f], DOT_POSITIVE);
        claim_slopes(run, &format[f]);
        claim_level(run, &format[f]);
    }
    claim_harmonic(run);
}

static const ulp_experiment experiment = {
    .name = "sum_growth",
    .question = "how do the errors of long sums grow with their length, to nearest and stochastic, beside the bounds?",
    .columns =
        "format,data,mode,n,least_error,median,rms,most_error,gamma,linear,likely,lambda,within,least,most,exact",
    .options = options,
    .prepare = prepare,
    .compute = compute,
    .check = check,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
