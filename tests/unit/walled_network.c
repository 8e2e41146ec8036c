/* walled_network.c - the operations of networks between products, as operations of the walled backend. */
#include "walled_inside.h"

/* The numbers of windows and of pixels of all images. */
static size_t windows_of(const ulp_windows *s) { return s->images * (s->h / s->K) * (s->w / s->K); }
#define pixels_of(s) ((s)->images * (s)->h * (s)->w)

WALLED(narrow, (float *y, const double *x, size_t n), (y, x, n), IN(y, n), IN(x, n))

WALLED(scale, (double *y, const double *x, size_t n, double factor), (y, x, n, factor), IN(y, n), IN(x, n))

WALLED(relu, (float *y, const float *x, size_t n), (y, x, n), IN(y, n), IN(x, n))

WALLED(relu_slope, (float *dx, const float *dy, const float *y, size_t n), (dx, dy, y, n), IN(dx, n), IN(dy, n),
       IN(y, n))

WALLED(activate, (double *y, const float *x, size_t n, ulp_activation f), (y, x, n, f), IN(y, n), IN(x, n))

WALLED(activate_slope, (double *dx, const float *dy, const float *at, size_t n, ulp_activation f), (dx, dy, at, n, f),
       IN(dx, n), IN(dy, n), IN(at, n))

WALLED(pool, (float *y, float *place, const float *x, const ulp_windows *s), (y, place, x, s), OUT(s),
       IN(y, windows_of(s)), IN(place, windows_of(s)), IN(x, pixels_of(s)))

WALLED(pool_slope, (float *dx, const float *dy, const float *place, const ulp_windows *s), (dx, dy, place, s), OUT(s),
       IN(dx, pixels_of(s)), IN(dy, windows_of(s)), IN(place, windows_of(s)))

/* The number of windows of all images. */
static size_t strided_windows(const ulp_strided_windows *s) {
    return s->images * ulp_strided_count(s->h, s) * ulp_strided_count(s->w, s);
}

WALLED(pool_strided, (float *y, float *place, const float *x, const ulp_strided_windows *s), (y, place, x, s), OUT(s),
       IN(y, strided_windows(s)), IN(place, strided_windows(s)), IN(x, pixels_of(s)))

WALLED(pool_strided_slope, (double *dx, const float *dy, const float *place, const ulp_strided_windows *s),
       (dx, dy, place, s), OUT(s), IN(dx, pixels_of(s)), IN(dy, strided_windows(s)), IN(place, strided_windows(s)))

WALLED(average, (double *y, const float *x, const ulp_windows *s), (y, x, s), OUT(s), IN(y, windows_of(s)),
       IN(x, pixels_of(s)))

WALLED(average_slope, (double *dx, const float *dy, const ulp_windows *s), (dx, dy, s), OUT(s), IN(dx, pixels_of(s)),
       IN(dy, windows_of(s)))

WALLED(upsample, (float *y, const float *x, const ulp_windows *s), (y, x, s), OUT(s), IN(y, pixels_of(s)),
       IN(x, windows_of(s)))

WALLED(upsample_slope, (double *dx, const float *dy, const ulp_windows *s), (dx, dy, s), OUT(s), IN(dx, windows_of(s)),
       IN(dy, pixels_of(s)))

static size_t numbers_of(ulp_channels s) { return s.B * s.c * s.n; }

WALLED(norm_statistics, (double *to, const float *x, ulp_channels s), (to, x, s), IN(to, 2 * s.c), IN(x, numbers_of(s)))

WALLED(norm_running, (double *to, const float *running, const float *batch, ulp_channels s), (to, running, batch, s),
       IN(to, 2 * s.c), IN(running, 2 * s.c), IN(batch, 2 * s.c))

WALLED(norm, (double *y, const float *x, ulp_norm by), (y, x, by), IN(y, numbers_of(by.shape)),
       IN(x, numbers_of(by.shape)), IN(by.statistics, 2 * by.shape.c), IN(by.w, 2 * by.shape.c))

WALLED(norm_sums, (double *sums, const float *dy, const float *x, ulp_norm by), (sums, dy, x, by),
       IN(sums, 2 * by.shape.c), IN(dy, numbers_of(by.shape)), IN(x, numbers_of(by.shape)),
       IN(by.statistics, 2 * by.shape.c))

WALLED(norm_slope, (double *dx, const float *dy, const float *x, const double *sums, ulp_norm by),
       (dx, dy, x, sums, by), IN(dx, numbers_of(by.shape)), IN(dy, numbers_of(by.shape)), IN(x, numbers_of(by.shape)),
       IN(sums, 2 * by.shape.c), IN(by.statistics, 2 * by.shape.c), IN(by.w, 2 * by.shape.c))

WALLED(dropout, (double *y, const float *x, size_t n, ulp_dropout how), (y, x, n, how), IN(y, n), IN(x, n))

static size_t outputs_of(ulp_labels of) { return of.B * of.C; }

WALLED(softmax, (double *p, double *loss, const float *z, ulp_labels of), (p, loss, z, of), IN(p, outputs_of(of)),
       IN(loss, of.B), IN(z, outputs_of(of)), IN(of.label, of.B))

WALLED(softmax_slope, (double *dz, const float *p, ulp_labels of, double scale), (dz, p, of, scale),
       IN(dz, outputs_of(of)), IN(p, outputs_of(of)), IN(of.label, of.B))

void walled_add_network(ulp_backend *table) {
    table->narrow = narrow;
    table->scale = scale;
    table->relu = relu;
    table->relu_slope = relu_slope;
    table->activate = activate;
    table->activate_slope = activate_slope;
    table->pool = pool;
    table->pool_slope = pool_slope;
    table->pool_strided = pool_strided;
    table->pool_strided_slope = pool_strided_slope;
    table->average = average;
    table->average_slope = average_slope;
    table->upsample = upsample;
    table->upsample_slope = upsample_slope;
    table->norm_statistics = norm_statistics;
    table->norm_running = norm_running;
    table->norm = norm;
    table->norm_sums = norm_sums;
    table->norm_slope = norm_slope;
    table->dropout = dropout;
    table->softmax = softmax;
    table->softmax_slope = softmax_slope;
}
