/* layers.c - the backend "mpfr": batch normalisation, gradients of windows, products with a factor and dropout.
 *
 * Their results are fixed by an order of binary64 operations (norm.h, windows.h and elementwise.h in
 * kernels/functions). This file has the order; MPFR rounds every operation. The sums of up-sampling are GMP integers.
 */
#include "exact_sum.h"
#include "operations.h"
#include "steps.h"
#include "words.h"

#include <math.h>

/* The arrays of an operation; each operation uses those that it needs. */
typedef struct work {
    double *to;
    const double *sums;
    const double *wide;
    const float *x, *dy, *place;
    double factor;
    ulp_norm by;
    ulp_windows s;
    ulp_strided_windows strided;
    ulp_dropout how;
} work;

static ulp_status run(work w, size_t n, size_t grain, void (*body)(const void *arrays, ulp_reference *ref, size_t i)) {
    return ulp_mpfr_each(n, grain, &ulp_binary64, &w, body);
}

/* ---- batch normalisation ---- */

/* The number of elements of a channel, and the index of the i-th of them in the array. */
static size_t count_of(const ulp_channels *s) { return s->B * s->n; }
static size_t place(const ulp_channels *s, size_t c, size_t i) { return (i / s->n * s->c + c) * s->n + i % s->n; }

static void statistics(const void *arrays, ulp_reference *ref, size_t c) {
    const work *w = arrays;
    const ulp_channels *s = &w->by.shape;
    const size_t M = count_of(s);
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < M; i++) sum = ulp_mpfr_plus(ref, sum, (double)w->x[place(s, c, i)]);
    const double mean = ulp_mpfr_over(ref, sum, (double)M);
    for (size_t i = 0; i < M; i++) {
        const double off = ulp_mpfr_minus(ref, (double)w->x[place(s, c, i)], mean);
        squares = ulp_mpfr_plus(ref, squares, ulp_mpfr_times(ref, off, off));
    }
    w->to[c] = mean;
    w->to[s->c + c] = ulp_mpfr_over(ref, squares, (double)M);
}

static double inverse_of(const work *w, ulp_reference *ref, size_t c) {
    const double variance = (double)w->by.statistics[w->by.shape.c + c];
    return ulp_mpfr_over(ref, 1.0, ulp_mpfr_step(ref, ULP_SQRT, ulp_mpfr_plus(ref, variance, 1e-5), 0.0));
}

static double z_of(const work *w, ulp_reference *ref, size_t c, size_t at, double inverse) {
    return ulp_mpfr_times(ref, ulp_mpfr_minus(ref, (double)w->x[at], (double)w->by.statistics[c]), inverse);
}

static void values(const void *arrays, ulp_reference *ref, size_t c) {
    const work *w = arrays;
    const ulp_channels *s = &w->by.shape;
    const double inverse = inverse_of(w, ref, c), gamma = (double)w->by.w[c], beta = (double)w->by.w[s->c + c];
    for (size_t i = 0; i < count_of(s); i++) {
        const size_t at = place(s, c, i);
        w->to[at] = ulp_mpfr_plus(ref, ulp_mpfr_times(ref, gamma, z_of(w, ref, c, at, inverse)), beta);
    }
}

static void sums(const void *arrays, ulp_reference *ref, size_t c) {
    const work *w = arrays;
    const ulp_channels *s = &w->by.shape;
    const double inverse = inverse_of(w, ref, c);
    double dgamma = 0.0, dbeta = 0.0;
    for (size_t i = 0; i < count_of(s); i++) {
        const size_t at = place(s, c, i);
        dgamma = ulp_mpfr_plus(ref, dgamma, ulp_mpfr_times(ref, (double)w->dy[at], z_of(w, ref, c, at, inverse)));
        dbeta = ulp_mpfr_plus(ref, dbeta, (double)w->dy[at]);
    }
    w->to[c] = dgamma;
    w->to[s->c + c] = dbeta;
}

static void slopes(const void *arrays, ulp_reference *ref, size_t c) {
    const work *w = arrays;
    const ulp_channels *s = &w->by.shape;
    const double inverse = inverse_of(w, ref, c), M = (double)count_of(s),
                 scale = ulp_mpfr_times(ref, (double)w->by.w[c], inverse);
    const double dgamma = ulp_mpfr_over(ref, w->sums[c], M), dbeta = ulp_mpfr_over(ref, w->sums[s->c + c], M);
    for (size_t i = 0; i < count_of(s); i++) {
        const size_t at = place(s, c, i);
        const double centred = ulp_mpfr_minus(ref, (double)w->dy[at], dbeta);
        w->to[at] = ulp_mpfr_times(
            ref, scale, ulp_mpfr_minus(ref, centred, ulp_mpfr_times(ref, z_of(w, ref, c, at, inverse), dgamma)));
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
static void running(const void *arrays, ulp_reference *ref, size_t i) {
    const work *w = arrays;
    const ulp_channels *s = &w->by.shape;
    const double M = (double)count_of(s),
                 unbiased = i >= s->c && M >= 2.0 ? ulp_mpfr_over(ref, M, ulp_mpfr_minus(ref, M, 1.0)) : 1.0;
    const double old = ulp_mpfr_times(ref, 0.9, (double)w->x[i]),
                 batch = ulp_mpfr_times(ref, (double)w->dy[i], unbiased);
    w->to[i] = ulp_mpfr_plus(ref, old, ulp_mpfr_times(ref, 0.1, batch));
}

ulp_status ulp_mpfr_norm_running(double *to, const float *before, const float *batch, ulp_channels shape) {
    const work w = {.to = to, .x = before, .dy = batch, .by = {.shape = shape}};
    return run(w, 2 * channels_of(&shape), 1, running);
}

/* ---- average pooling ---- */

enum { GRAIN = 512 };

static void average(const void *arrays, ulp_reference *ref, size_t i) {
    const work *w = arrays;
    const ulp_windows *s = &w->s;
    const size_t rows = s->h / s->K, columns = s->w / s->K, area = s->K * s->K;
    const size_t image = i / (rows * columns), row = i / columns % rows, column = i % columns;
    const float *window = w->x + (image * s->h + row * s->K) * s->w + column * s->K;
    double sum = 0.0;
    for (size_t j = 0; j < area; j++) sum = ulp_mpfr_plus(ref, sum, (double)window[j / s->K * s->w + j % s->K]);
    w->to[i] = ulp_mpfr_over(ref, sum, (double)area);
}

static void average_gradient(const void *arrays, ulp_reference *ref, size_t i) {
    const work *w = arrays;
    const ulp_windows *s = &w->s;
    const size_t rows = s->h / s->K, columns = s->w / s->K;
    const size_t image = i / (s->h * s->w), row = i / s->w % s->h / s->K, column = i % s->w / s->K;
    w->to[i] = 0.0;
    if (row < rows && column < columns)
        w->to[i] = ulp_mpfr_over(ref, (double)w->dy[(image * rows + row) * columns + column], (double)(s->K * s->K));
}

ulp_status ulp_mpfr_average(double *y, const float *x, const ulp_windows *s) {
    return run((work){.to = y, .x = x, .s = *s}, s->images * (s->h / s->K) * (s->w / s->K), GRAIN, average);
}

ulp_status ulp_mpfr_average_slope(double *dx, const float *dy, const ulp_windows *s) {
    return run((work){.to = dx, .dy = dy, .s = *s}, s->images * s->h * s->w, GRAIN, average_gradient);
}

/* ---- other windows ---- */

/* The gradient of image i. */
static void strided_gradient(const void *arrays, ulp_reference *ref, size_t i) {
    const work *w = arrays;
    const ulp_strided_windows *s = &w->strided;
    const size_t rows = s->h + 2 * s->pad < s->K ? 0 : (s->h + 2 * s->pad - s->K) / s->stride + 1,
                 columns = s->w + 2 * s->pad < s->K ? 0 : (s->w + 2 * s->pad - s->K) / s->stride + 1;
    double *image = w->to + i * s->h * s->w;
    for (size_t j = 0; j < s->h * s->w; j++) image[j] = 0.0;
    for (size_t j = 0; j < rows * columns; j++) {
        const size_t window = i * rows * columns + j, at = (size_t)w->place[window];
        const size_t row = j / columns * s->stride + at / s->K, column = j % columns * s->stride + at % s->K;
        double *dx = &image[(row - s->pad) * s->w + column - s->pad];
        *dx = ulp_mpfr_plus(ref, *dx, (double)w->dy[window]);
    }
}

static void window_sum(const void *arrays, ulp_reference *ref, size_t i) {
    const work *w = arrays;
    const ulp_windows *s = &w->s;
    const size_t rows = s->h / s->K, columns = s->w / s->K;
    const size_t image = i / (rows * columns), row = i / columns % rows, column = i % columns;
    const float *window = w->dy + (image * s->h + row * s->K) * s->w + column * s->K;
    ulp_mpfr_sum sum;
    ulp_mpfr_sum_open(&sum);
    for (size_t j = 0; j < s->K * s->K; j++) ulp_mpfr_sum_add(&sum, (double)window[j / s->K * s->w + j % s->K], 1.0);
    w->to[i] = ulp_mpfr_sum_round(&sum, ref, (ulp_rule){.mode = ULP_RO}, 0);
    ulp_mpfr_sum_close(&sum);
}

static void scaled(const void *arrays, ulp_reference *ref, size_t i) {
    const work *w = arrays;
    w->to[i] = ulp_mpfr_times(ref, w->factor, w->wide[i]);
}

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
static void dropout(const void *arrays, ulp_reference *ref, size_t i) {
    const work *w = arrays;
    const uint64_t percent = w->how.percent, word = ulp_mpfr_word(w->how.stream, i);
    w->to[i] = 0.0;
    if (100 * word >= percent << 32)
        w->to[i] = ulp_mpfr_over(ref, ulp_mpfr_times(ref, (double)w->x[i], 100.0), (double)(100 - percent));
}

ulp_status ulp_mpfr_dropout(double *y, const float *x, size_t n, ulp_dropout how) {
    return run((work){.to = y, .x = x, .how = how}, n, GRAIN, dropout);
}
