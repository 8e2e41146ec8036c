/* layers.c - the backend "mpfr": batch normalisation, gradients of windows, products with a factor and dropout.
 *
 * Their results are fixed by an order of binary64 operations (norm.h, windows.h and elementwise.h in
 * kernels/functions). This file has the order; MPFR rounds every operation. The sums of up-sampling are GMP integers.
 */
#include "exact_sum.h"
#include "operations.h"
#include "reference.h"
#include "words.h"

#include <math.h>

struct part;

/* The arrays of an operation; each operation uses those that it needs. */
typedef struct work {
    void (*body)(const struct part *p, size_t i);
    double *to;
    const double *sums;
    const double *wide;
    const float *x, *dy, *place;
    double factor;
    ulp_norm by;
    ulp_windows s;
    ulp_strided_windows strided;
    ulp_dropout how;
    ulp_status status; /* of all threads */
} work;

/* A part of an operation, with a context of its own for binary64. */
typedef struct part {
    const work *w;
    ulp_reference *ref;
} part;

static double rounded(const part *p, ulp_op op, double a, double b) {
    return ulp_reference_arith(p->ref, (ulp_scalar_op){op, a, b, 0.0}, (ulp_rule){0}, 0);
}

static double plus(const part *p, double a, double b) { return rounded(p, ULP_ADD, a, b); }
static double minus(const part *p, double a, double b) { return rounded(p, ULP_SUB, a, b); }
static double times(const part *p, double a, double b) { return rounded(p, ULP_MUL, a, b); }
static double over(const part *p, double a, double b) { return rounded(p, ULP_DIV, a, b); }

static void run_part(void *context, size_t begin, size_t end) {
    work *w = context;
    const part p = {w, ulp_reference_new(&ulp_binary64)};
    if (p.ref == NULL) __atomic_store_n((int *)&w->status, ULP_NO_MEMORY, __ATOMIC_RELAXED);
    for (size_t i = begin; p.ref != NULL && i < end; i++) w->body(&p, i);
    ulp_reference_free(p.ref);
}

/* body(part, i) for i < n, in pieces of `grain`. */
static ulp_status run(work w, size_t n, size_t grain, void (*body)(const part *p, size_t i)) {
    w.body = body;
    ulp_parallel_for(n, grain, run_part, &w);
    return w.status;
}

/* ---- batch normalisation ---- */

/* The number of elements of a channel, and the index of the i-th of them in the array. */
static size_t count_of(const ulp_channels *s) { return s->B * s->n; }
static size_t place(const ulp_channels *s, size_t c, size_t i) { return (i / s->n * s->c + c) * s->n + i % s->n; }

static void statistics(const part *p, size_t c) {
    const ulp_channels *s = &p->w->by.shape;
    const size_t M = count_of(s);
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < M; i++) sum = plus(p, sum, (double)p->w->x[place(s, c, i)]);
    const double mean = over(p, sum, (double)M);
    for (size_t i = 0; i < M; i++) {
        const double off = minus(p, (double)p->w->x[place(s, c, i)], mean);
        squares = plus(p, squares, times(p, off, off));
    }
    p->w->to[c] = mean;
    p->w->to[s->c + c] = over(p, squares, (double)M);
}

static double inverse_of(const part *p, size_t c) {
    const double variance = (double)p->w->by.statistics[p->w->by.shape.c + c];
    return over(p, 1.0, rounded(p, ULP_SQRT, plus(p, variance, 1e-5), 0.0));
}

static double z_of(const part *p, size_t c, size_t at, double inverse) {
    return times(p, minus(p, (double)p->w->x[at], (double)p->w->by.statistics[c]), inverse);
}

static void values(const part *p, size_t c) {
    const ulp_channels *s = &p->w->by.shape;
    const double inverse = inverse_of(p, c), gamma = (double)p->w->by.w[c], beta = (double)p->w->by.w[s->c + c];
    for (size_t i = 0; i < count_of(s); i++) {
        const size_t at = place(s, c, i);
        p->w->to[at] = plus(p, times(p, gamma, z_of(p, c, at, inverse)), beta);
    }
}

static void sums(const part *p, size_t c) {
    const ulp_channels *s = &p->w->by.shape;
    const double inverse = inverse_of(p, c);
    double dgamma = 0.0, dbeta = 0.0;
    for (size_t i = 0; i < count_of(s); i++) {
        const size_t at = place(s, c, i);
        dgamma = plus(p, dgamma, times(p, (double)p->w->dy[at], z_of(p, c, at, inverse)));
        dbeta = plus(p, dbeta, (double)p->w->dy[at]);
    }
    p->w->to[c] = dgamma;
    p->w->to[s->c + c] = dbeta;
}

static void slopes(const part *p, size_t c) {
    const ulp_channels *s = &p->w->by.shape;
    const double inverse = inverse_of(p, c), M = (double)count_of(s), scale = times(p, (double)p->w->by.w[c], inverse);
    const double dgamma = over(p, p->w->sums[c], M), dbeta = over(p, p->w->sums[s->c + c], M);
    for (size_t i = 0; i < count_of(s); i++) {
        const size_t at = place(s, c, i);
        const double centred = minus(p, (double)p->w->dy[at], dbeta);
        p->w->to[at] = times(p, scale, minus(p, centred, times(p, z_of(p, c, at, inverse), dgamma)));
    }
}

static size_t channels_of(const ulp_channels *s) { return count_of(s) > 0 ? s->c : 0; }

ulp_status ulp_mpfr_norm_statistics(double *to, const float *x, ulp_channels shape) {
    return run((work){.to = to, .x = x, .by = {.shape = shape}}, channels_of(&shape), 1, statistics);
}

ulp_status ulp_mpfr_norm(double *y, const float *x, ulp_norm by) {
    return run((work){.to = y, .x = x, .by = by}, channels_of(&by.shape), 1, values);
}

ulp_status ulp_mpfr_norm_sums(double *to, const float *dy, const float *x, ulp_norm by) {
    return run((work){.to = to, .dy = dy, .x = x, .by = by}, channels_of(&by.shape), 1, sums);
}

ulp_status ulp_mpfr_norm_slope(double *dx, const float *dy, const float *x, const double *of, ulp_norm by) {
    return run((work){.to = dx, .dy = dy, .x = x, .sums = of, .by = by}, channels_of(&by.shape), 1, slopes);
}

/* dy is the statistics of the batch, x the running statistics. */
static void running(const part *p, size_t i) {
    const ulp_channels *s = &p->w->by.shape;
    const double M = (double)count_of(s), unbiased = i >= s->c && M >= 2.0 ? over(p, M, minus(p, M, 1.0)) : 1.0;
    const double old = times(p, 0.9, (double)p->w->x[i]), batch = times(p, (double)p->w->dy[i], unbiased);
    p->w->to[i] = plus(p, old, times(p, 0.1, batch));
}

ulp_status ulp_mpfr_norm_running(double *to, const float *before, const float *batch, ulp_channels shape) {
    const work w = {.to = to, .x = before, .dy = batch, .by = {.shape = shape}};
    return run(w, 2 * channels_of(&shape), 1, running);
}

/* ---- average pooling ---- */

enum { GRAIN = 512 };

static void average(const part *p, size_t i) {
    const ulp_windows *s = &p->w->s;
    const size_t rows = s->h / s->K, columns = s->w / s->K, area = s->K * s->K;
    const size_t image = i / (rows * columns), row = i / columns % rows, column = i % columns;
    const float *window = p->w->x + (image * s->h + row * s->K) * s->w + column * s->K;
    double sum = 0.0;
    for (size_t j = 0; j < area; j++) sum = plus(p, sum, (double)window[j / s->K * s->w + j % s->K]);
    p->w->to[i] = over(p, sum, (double)area);
}

static void average_gradient(const part *p, size_t i) {
    const ulp_windows *s = &p->w->s;
    const size_t rows = s->h / s->K, columns = s->w / s->K;
    const size_t image = i / (s->h * s->w), row = i / s->w % s->h / s->K, column = i % s->w / s->K;
    p->w->to[i] = 0.0;
    if (row < rows && column < columns)
        p->w->to[i] = over(p, (double)p->w->dy[(image * rows + row) * columns + column], (double)(s->K * s->K));
}

ulp_status ulp_mpfr_average(double *y, const float *x, const ulp_windows *s) {
    return run((work){.to = y, .x = x, .s = *s}, s->images * (s->h / s->K) * (s->w / s->K), GRAIN, average);
}

ulp_status ulp_mpfr_average_slope(double *dx, const float *dy, const ulp_windows *s) {
    return run((work){.to = dx, .dy = dy, .s = *s}, s->images * s->h * s->w, GRAIN, average_gradient);
}

/* ---- other windows ---- */

/* The gradient of image i. */
static void strided_gradient(const part *p, size_t i) {
    const ulp_strided_windows *s = &p->w->strided;
    const size_t rows = s->h + 2 * s->pad < s->K ? 0 : (s->h + 2 * s->pad - s->K) / s->stride + 1,
                 columns = s->w + 2 * s->pad < s->K ? 0 : (s->w + 2 * s->pad - s->K) / s->stride + 1;
    double *image = p->w->to + i * s->h * s->w;
    for (size_t j = 0; j < s->h * s->w; j++) image[j] = 0.0;
    for (size_t j = 0; j < rows * columns; j++) {
        const size_t window = i * rows * columns + j, at = (size_t)p->w->place[window];
        const size_t row = j / columns * s->stride + at / s->K, column = j % columns * s->stride + at % s->K;
        double *dx = &image[(row - s->pad) * s->w + column - s->pad];
        *dx = plus(p, *dx, (double)p->w->dy[window]);
    }
}

static void window_sum(const part *p, size_t i) {
    const ulp_windows *s = &p->w->s;
    const size_t rows = s->h / s->K, columns = s->w / s->K;
    const size_t image = i / (rows * columns), row = i / columns % rows, column = i % columns;
    const float *window = p->w->dy + (image * s->h + row * s->K) * s->w + column * s->K;
    ulp_mpfr_sum sum;
    ulp_mpfr_sum_open(&sum);
    for (size_t j = 0; j < s->K * s->K; j++) ulp_mpfr_sum_add(&sum, (double)window[j / s->K * s->w + j % s->K], 1.0);
    p->w->to[i] = ulp_mpfr_sum_round(&sum, p->ref, (ulp_rule){.mode = ULP_RO}, 0);
    ulp_mpfr_sum_close(&sum);
}

static void scaled(const part *p, size_t i) { p->w->to[i] = times(p, p->w->factor, p->w->wide[i]); }

ulp_status ulp_mpfr_pool_strided_slope(double *dx, const float *dy, const float *place, const ulp_strided_windows *s) {
    return run((work){.to = dx, .dy = dy, .place = place, .strided = *s}, s->images, 1, strided_gradient);
}

ulp_status ulp_mpfr_upsample_slope(double *dx, const float *dy, const ulp_windows *s) {
    return run((work){.to = dx, .dy = dy, .s = *s}, s->images * (s->h / s->K) * (s->w / s->K), GRAIN, window_sum);
}

ulp_status ulp_mpfr_scale(double *y, const double *x, size_t n, double factor) {
    return run((work){.to = y, .wide = x, .factor = factor}, n, GRAIN, scaled);
}

/* ---- dropout ---- */

/* A word R lets an element stay if 100 R is at least percent 2^32. */
static void dropout(const part *p, size_t i) {
    const uint64_t percent = p->w->how.percent, word = ulp_mpfr_word(p->w->how.stream, i);
    p->w->to[i] = 0.0;
    if (100 * word >= percent << 32)
        p->w->to[i] = over(p, times(p, (double)p->w->x[i], 100.0), (double)(100 - percent));
}

ulp_status ulp_mpfr_dropout(double *y, const float *x, size_t n, ulp_dropout how) {
    return run((work){.to = y, .x = x, .how = how}, n, GRAIN, dropout);
}
