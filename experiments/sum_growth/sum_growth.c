/* sum_growth.c - how do errors of long sums grow with length, to nearest and stochastic, compared with the bounds?
 *
 * The experiment computes recursive sums from +0 and rounds every addition. There are five kinds of terms: U[0,1];
 * U[-1,1]; products of two factors of U[0,1]; products of two factors of U[-1,1]; and 1, 1/2, 1/3, ... The mode that
 * rounds the sums also rounds the products, before they are added. Terms and factors are first rounded to nearest, and
 * the exact sum is computed from the rounded terms or factors, so only additions and products have errors. The harmonic
 * series alone is compared with the sum of the unrounded 1/i. A longer sum begins with the terms and the random words
 * of the shorter sums. The error of a sum s of terms x_i is |computed - s| / sum |x_i|, the backward error. For terms
 * of one sign it is the relative error.
 *
 * Bounds, with u = 2^-p to nearest and 2^(1-p) in other modes:
 *
 *  - gamma: n u / (1 - n u) where n u < 1 (Higham 2002, Accuracy and Stability, section 4.2)
 *  - linear: n u, to nearest, for every n (Jeannerod and Rump 2013, doi:10.1137/120894488)
 *  - likely: exp((lambda sqrt(n) u + n u^2) / (1 - u)) - 1, which is slightly more than lambda sqrt(n) u. For
 *    stochastic rounding the bound holds with probability at least 1 - delta if delta = 2 n exp(-lambda^2 / 2)
 *    (Connolly, Higham, Mary 2021, doi:10.1137/20M1334796; also Croci et al. 2022, doi:10.1098/rsos.211631). Under
 *    round to nearest it is no theorem, and sums that stop exceed it.
 *
 * A product below the least normal number has no relative error bound: its error is up to the least spacing. Where
 * products are rounded, n such errors are added to gamma and linear. With 32 random bits, the mean of a stochastic
 * error is within 2^-32 spacings of 0, which is negligible against the bounds.
 *
 * Sums of U[0,1] to nearest stop. From 2^p on the numbers are 2 apart, and no term exceeds half of this spacing. A tie,
 * at x = 1, goes to 2^p, which is even. Below 2^p the spacing divides 2^p, so the sum stops at exactly 2^p. In a format
 * with a significand of one bit, a tie goes to the even code, and the sum stops at 2^p or at 2^(p+1).
 *
 * The errors of stochastic sums S of positive terms x level off. The variance of a step is s^2 nu (1 - nu), where s is
 * the spacing and nu the part of x / s that rounding cuts off. The variance is at most s x, and s is at most 2^(1-p) S.
 * The mean of S is the exact sum. The variances therefore add up to at most 2^(1-p) sum S x, which is half of 2^(1-p)
 * times the square of the whole sum. This is a standard deviation of 2^(-p/2) of the sum, for every length. The error
 * of zero-mean data is a constant times u (Higham and Mary 2020, doi:10.1137/20M1314355).
 *
 * The claims are in sum_growth/claims.c.
 */
#include "sum_growth.h"
#include "experiments/harness/claims/spread.h"
#include "kernels/functions/elementary.h"
#include "sim/tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MODES_MAX = 32, BLOCK = 4096 };

static int takes_format(const ulp_format *f) {
    return f->fits_binary32 && f->is_signed && !f->is_fixed && f->prec <= 24 && f->taper == ULP_TAPER_NONE;
}

static const ulp_option options[] = {
    ULP_OPTION_FORMATS_IF(settings, formats, "binary16,bfloat16", NULL, takes_format,
                          "has to be signed floating point no wider than binary32, " ULP_WANTS_ONE_PRECISION),
    ULP_OPTION_MODES_OF(settings, modes, "rne,sra", NULL),
    ULP_OPTION(settings, data, choices, "all", .words = DATA_WORDS,
               .help = "terms: U[0,1]; U[-1,1]; products of two of these; 1, 1/2, 1/3, ..."),
    ULP_OPTION(settings, longest, number, "6", .quick = "5",
               .help = "log10 of the longest sum, in quarters; the shortest has 10 terms", .min = 1, .max = 7),
    ULP_OPTION(settings, runs, integer, "32", .full = "256", .help = "sums with terms and random words of their own",
               .min = 2, .max = 1024),
    ULP_OPTION(settings, delta, number, "0.05", .help = "probability that the likely bound may fail with, per sum",
               .min = 1e-9, .max = 0.5),
    ULP_OPTION_BACKEND_OF(settings, backend),
    ULP_OPTION_SEED(settings, seed),
    {0},
};

static const ulp_column columns[] = {
    ULP_COLUMNS(row, format),
    ULP_WORDS(row, data, DATA_WORDS),
    ULP_COLUMNS(row, mode, n, least_error, median, rms, most_error, gamma),
    ULP_COLUMNS(row, linear, likely, lambda, within, least, most, exact),
    {0},
};

static ulp_status plan(ulp_plan *plan) {
    const settings *s = plan->settings;
    if (s->modes.count > MODES_MAX) return ulp_plan_fail(plan, ULP_NOT_IN_RANGE, "--modes: %d at most", MODES_MAX);
    if (4 * s->longest != floor(4 * s->longest))
        return ulp_plan_fail(plan, ULP_NOT_IN_RANGE, "--longest %g: quarters, as 4, 4.25, 4.5", s->longest);
    for (size_t f = 0; f < s->formats.count; f++)
        for (int data = 0; data < DATA_COUNT; data++) {
            const ulp_format *format = &s->formats.at[f];
            if (s->data >> data & 1)
                ulp_plan_add(plan, &(point){format, data},
                             data == HARMONIC      ? 1
                             : data < DOT_POSITIVE ? 2
                                                   : 3,
                             "%s %s", format->name, ulp_word_of(DATA_WORDS, (size_t)data).text);
        }
    return ULP_OK;
}

/* The sums of all runs and modes of a point. All modes add the same terms. */
typedef struct sums {
    const settings *settings;
    const ulp_backend *backend;
    const ulp_format *format;
    int data;
    size_t runs, modes, n; /* n: the number of terms added so far */
    const ulp_named_rule *mode;
    ulp_stream words[MODES_MAX];
    ulp_datapath serial[MODES_MAX], exact;
    float *x, *y, *sum;                          /* x, y (BLOCK,runs): terms or factors; sum (modes,runs) */
    double *exact_terms, *exact_sum, *magnitude; /* (BLOCK,runs); (runs); (runs), sum of the |terms| */
    ulp_arena arena;
    struct {                         /* arrays in backend memory */
        float *ones, *x, *y, *terms; /* ones (BLOCK); others (BLOCK,runs); terms: the rounded products of the factors */
        double *ones64, *exact_terms;
        float *sum;
        double *exact_sum;
    } device;
} sums;

static void carve(void *own, ulp_arena *arena) {
    sums *s = own;
    const size_t block = BLOCK * s->runs;
    s->device.ones = ulp_arena_take(arena, BLOCK);
    s->device.x = ulp_arena_take(arena, block);
    s->device.y = ulp_arena_take(arena, block);
    s->device.terms = ulp_arena_take(arena, block);
    s->device.sum = ulp_arena_take(arena, s->modes * s->runs);
    s->device.ones64 = ulp_arena_take64(arena, BLOCK);
    s->device.exact_terms = ulp_arena_take64(arena, block);
    s->device.exact_sum = ulp_arena_take64(arena, s->runs);
}

static int is_dot(int data) { return data == DOT_POSITIVE || data == DOT_SIGNED; }

static ulp_status sums_new(sums *s) {
    const size_t block = BLOCK * s->runs;
    ulp_status status = ulp_datapath_parse(&s->exact, "exact:binary64:rne");
    for (size_t m = 0; m < s->modes && status == ULP_OK; m++) {
        s->serial[m] = (ulp_datapath){.kind = ULP_SERIAL, .accumulator = *s->format, .rule = s->mode[m].rule};
        status = ulp_datapath_init(&s->serial[m]);
        s->words[m] = ulp_stream_named(s->settings->seed, "sum_growth %s %s %s", s->format->name,
                                       ulp_word_of(DATA_WORDS, (size_t)s->data).text, s->mode[m].name);
    }
    s->x = calloc(2 * block + s->modes * s->runs, sizeof(float));
    s->exact_terms = calloc(block + 2 * s->runs, sizeof(double));
    ULP_TRY(status);
    if (s->x == NULL || s->exact_terms == NULL) return ULP_NO_MEMORY;
    ULP_TRY(ulp_arena_make(&s->arena, s->backend, carve, s));
    s->y = s->x + block;
    s->sum = s->y + block;
    s->exact_sum = s->exact_terms + block;
    s->magnitude = s->exact_sum + s->runs;
    for (size_t i = 0; i < BLOCK; i++) s->exact_terms[i] = 1;
    ULP_TRY(s->backend->upload(s->device.ones64, s->exact_terms, BLOCK * sizeof(double)));
    return ulp_tensor_fill(s->backend, s->device.ones, BLOCK, 1.0f);
}

static void sums_free(sums *s) {
    ulp_arena_release(&s->arena);
    free(s->x);
    free(s->exact_terms);
}

/* Draws binary32 factors n, n + 1, ... of every run to `to` (count,runs). Four factors share a random block. */
static void draw(const sums *s, float *to, const char *factor, size_t count) {
    const int both = s->data == SIGNED || s->data == DOT_SIGNED;
    for (size_t run = 0; run < s->runs; run++) {
        const ulp_stream stream = ulp_stream_named(s->settings->seed, "sum_growth %s %zu", factor, run);
        philox4x32_ctr_t block = ulp_random_block(stream.seed, stream.stream, s->n / 4);
        for (size_t i = 0; i < count; i++) {
            const uint64_t index = s->n + i; /* the index of ulp_random_uniform(), as a named stream begins at 0 */
            if (index % 4 == 0) block = ulp_random_block(stream.seed, stream.stream, index / 4);
            const double u = (double)block.v[index % 4] * 0x1p-32;
            to[i * s->runs + run] = (float)(both ? 2 * u - 1 : u);
        }
    }
}

/* Draws factors, uploads them, rounds them in backend memory, and downloads them to x (count,runs). */
static ulp_status fill_factors(const sums *s, float *x, float *device, const char *factor, size_t count) {
    const size_t all = count * s->runs;
    draw(s, x, factor, count);
    ULP_TRY(s->backend->upload(device, x, all * sizeof *x));
    ULP_TRY(ulp_backend_round(s->backend, device, device, all, (ulp_rounding){.format = s->format}));
    return s->backend->download(x, device, all * sizeof *x);
}

static ulp_status fill(sums *s, size_t count) {
    const size_t all = count * s->runs;
    const ulp_rule nearest = {0};
    if (s->data == HARMONIC) {
        for (size_t i = 0; i < count; i++) {
            const double term = 1 / (double)(s->n + i + 1), rounded = ulp_round(term, s->format, nearest, 0);
            for (size_t run = 0; run < s->runs; run++) {
                s->exact_terms[i * s->runs + run] = term;
                s->x[i * s->runs + run] = (float)rounded;
            }
        }
        return s->backend->upload(s->device.x, s->x, all * sizeof(float));
    }
    ULP_TRY(fill_factors(s, s->x, s->device.x, "x", count));
    if (is_dot(s->data)) ULP_TRY(fill_factors(s, s->y, s->device.y, "y", count));
    for (size_t i = 0; i < all; i++) s->exact_terms[i] = (double)s->x[i] * (is_dot(s->data) ? (double)s->y[i] : 1);
    return ULP_OK;
}

/* Adds the next `count` terms to all sums; count <= BLOCK. */
static ulp_status add(sums *s, size_t count) {
    const ulp_gemm_shape shape = {
        .m = 1, .n = s->runs, .k = count, .lda = count, .ldb = s->runs, .ldc = s->runs, .accumulate = 1};
    ULP_TRY(fill(s, count));
    for (size_t i = 0; i < count; i++)
        for (size_t run = 0; run < s->runs; run++) s->magnitude[run] += fabs(s->exact_terms[i * s->runs + run]);
    ULP_TRY(s->backend->upload(s->device.exact_terms, s->exact_terms, count * s->runs * sizeof(double)));
    ULP_TRY(ulp_backend_gemm64(s->backend, s->device.exact_sum, s->device.ones64, s->device.exact_terms, &shape,
                               (ulp_summation){.datapath = &s->exact}));
    for (size_t m = 0; m < s->modes; m++) {
        const float *terms = s->device.x;
        if (is_dot(s->data)) {
            terms = s->device.terms;
            ULP_TRY(ulp_backend_map(s->backend, s->device.terms,
                                    (ulp_array_op){ULP_MUL, s->device.x, s->device.y, NULL}, count * s->runs,
                                    (ulp_rounding){s->format, s->mode[m].rule, s->words[m], NULL}));
            s->words[m].first += count * s->runs;
        }
        ULP_TRY(ulp_backend_gemm(s->backend, s->device.sum + m * s->runs, s->device.ones, terms, &shape,
                                 (ulp_summation){&s->serial[m], s->words[m]}));
        s->words[m].first += count * s->runs;
    }
    s->n += count;
    return ULP_OK;
}

/* Downloads the present sums. */
static ulp_status download_sums(const sums *s) {
    ULP_TRY(s->backend->download(s->sum, s->device.sum, s->modes * s->runs * sizeof(float)));
    return s->backend->download(s->exact_sum, s->device.exact_sum, s->runs * sizeof(double));
}

/* The bounds for a sum of n terms; ULP_NO_NUMBER if a bound does not exist. */
typedef struct bounds {
    double gamma, linear, likely, lambda;
} bounds;

static bounds bounds_of(const sums *s, size_t m) {
    enum { NEAREST = 1 << ULP_RNE | 1 << ULP_RNA | 1 << ULP_RNU | 1 << ULP_RNZ | 1 << ULP_RND };
    const int nearest = (int)ulp_mode_in(s->mode[m].rule.mode, NEAREST);
    const double n = (double)s->n, u = ldexp(nearest ? 0.5 : 1, 1 - (int)s->format->prec);
    const double delta = s->settings->delta;
    bounds b = {.gamma = ULP_NO_NUMBER, .linear = ULP_NO_NUMBER, .likely = ULP_NO_NUMBER};
    double least = s->magnitude[0];
    for (size_t i = 1; i < s->runs; i++) least = fmin(least, s->magnitude[i]);
    const double tiny = is_dot(s->data) ? n * s->format->min_positive / least : 0;
    if (n * u < 1) b.gamma = n * u / (1 - n * u) + tiny / (1 - n * u);
    if (nearest) b.linear = n * u + tiny;
    b.lambda = sqrt(2 * ulp_log(2 * n / delta));
    if (s->mode[m].rule.mode == ULP_RNE || growth_is_unbiased(s->mode[m].rule))
        b.likely = ulp_exp((b.lambda * sqrt(n) * u + n * u * u) / (1 - u)) - 1;
    return b;
}

/* Puts a row with the errors of mode m over all runs, after n terms. The error of a sum that left the format's range is
 * Inf. error (runs) is workspace. */
static void put_row(const ulp_task *task, const sums *s, size_t m, double *error) {
    const bounds b = bounds_of(s, m);
    double squares = 0, least = INFINITY, most = -INFINITY;
    int64_t within = 0;
    row r;
    for (size_t i = 0; i < s->runs; i++) {
        const double sum = (double)s->sum[m * s->runs + i];
        error[i] = isfinite(sum) ? fabs(sum - s->exact_sum[i]) / s->magnitude[i] : INFINITY;
        squares += error[i] * error[i];
        within += error[i] <= b.likely;
        least = isnan(sum) ? -INFINITY : fmin(least, sum);
        most = isnan(sum) ? INFINITY : fmax(most, sum);
    }
    ulp_sort_numbers(error, s->runs);
    ulp_row_clear(task->rows, &r);
    r.format = s->format->name;
    r.data = s->data;
    r.mode = s->mode[m].name;
    r.n = (int64_t)s->n;
    r.least_error = error[0];
    r.median = (error[(s->runs - 1) / 2] + error[s->runs / 2]) / 2;
    r.rms = sqrt(squares / (double)s->runs);
    r.most_error = error[s->runs - 1];
    r.gamma = b.gamma;
    r.linear = b.linear;
    r.likely = b.likely;
    r.lambda = b.lambda;
    if (!ulp_is_no_number(b.likely)) r.within = within;
    r.least = least;
    r.most = most;
    r.exact = s->exact_sum[0];
    ulp_row_put(task->rows, &r);
}

static ulp_status compute(const ulp_task *task) {
    const settings *set = task->settings;
    const point *p = task->point;
    sums s = {.settings = set, .backend = set->backend, .format = p->format, .data = p->data};
    s.mode = set->modes.at;
    s.modes = set->modes.count;
    s.runs = (size_t)set->runs;
    double *error = malloc(s.runs * sizeof *error);
    ulp_status status = sums_new(&s);
    if (error == NULL) status = ULP_NO_MEMORY;
    const size_t longest = growth_length(growth_quarters(set));
    int stopped = 0;
    for (int q = 4; q <= growth_quarters(set) && status == ULP_OK && !stopped; q++) {
        for (const size_t n = growth_length(q); s.n < n && status == ULP_OK && !stopped;) {
            status = add(&s, n - s.n < BLOCK ? n - s.n : BLOCK);
            stopped = ulp_task_progress(task, (double)s.n / (double)longest);
        }
        if (status == ULP_OK) status = download_sums(&s);
        for (size_t m = 0; m < s.modes && status == ULP_OK; m++) put_row(task, &s, m, error);
    }
    free(error);
    sums_free(&s);
    return status;
}

const ulp_experiment experiment = {
    .name = "sum_growth",
    .question = "how do errors of long sums grow with length, to nearest and stochastic, compared with the bounds?",
    ULP_EXPERIMENT_OF(settings, point, row),
};
