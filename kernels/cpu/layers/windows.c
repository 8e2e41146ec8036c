/* windows.c - maxima and means of windows, up-sampling, and their gradients. */
#include "kernels/cpu/cpu.h"

/* The arrays and the geometry of an operation. */
typedef struct work {
    float *to, *place_to;
    double *wide;      /* a result in binary64 */
    const float *from; /* x or dy */
    const float *place;
    ulp_strided_windows s; /* adjacent windows have the stride K and no frame */
    size_t oh, ow;         /* windows in a column and in a row of an image */
} work;

static ulp_status run_strided(work t, void (*part)(void *context, size_t begin, size_t end)) {
    t.oh = ulp_strided_count(t.s.h, &t.s);
    t.ow = ulp_strided_count(t.s.w, &t.s);
    ulp_parallel_for(t.s.images, ULP_GRAIN / (t.s.h * t.s.w + 1) + 1, part, &t);
    return ULP_OK;
}

static ulp_status run(work t, const ulp_windows *s, void (*part)(void *context, size_t begin, size_t end)) {
    t.s = (ulp_strided_windows){s->images, s->h, s->w, s->K, s->K, 0};
    return run_strided(t, part);
}

/* The index of the first pixel of row i of adjacent windows; rows of windows are counted over all images. */
ULP_INLINE size_t row_at(const work *t, size_t i) { return (i / t->oh * t->s.h + i % t->oh * t->s.K) * t->s.w; }

/* ---- maxima of adjacent windows ---- */

/* One row of windows; K is a constant. */
ULP_INLINE void pool_row(float *restrict y, float *restrict place, const float *restrict x, size_t w, size_t windows,
                         size_t K) {
    for (size_t q = 0; q < windows; q++) y[q] = ulp_pool_most(&place[q], x + q * K, w, K);
}

static void pool_part(void *context, size_t begin, size_t end) {
    const work *t = context;
    const size_t K = t->s.K, w = t->s.w;
    for (size_t i = begin * t->oh; i < end * t->oh; i++) {
        const float *row = t->from + row_at(t, i);
        float *y = t->to + i * t->ow, *place = t->place_to + i * t->ow;
        if (K == 2) pool_row(y, place, row, w, t->ow, 2);
        else if (K == 3) pool_row(y, place, row, w, t->ow, 3);
        else pool_row(y, place, row, w, t->ow, K);
    }
}

static void pool_slope_part(void *context, size_t begin, size_t end) {
    const work *t = context;
    const size_t K = t->s.K, w = t->s.w, first = begin * t->oh * t->ow, area = t->s.h * w;
    const float *dy = t->from + first, *place = t->place + first;
    for (size_t i = begin * area; i < end * area; i++) t->to[i] = 0.0f;
    for (size_t i = begin * t->oh; i < end * t->oh; i++) {
        float *row = t->to + row_at(t, i);
        for (size_t q = 0; q < t->ow; q++, row += K) {
            const size_t at = (size_t)*place++;
            row[at / K * w + at % K] = *dy++;
        }
    }
}

ulp_status ULP_CPU(ulp_cpu_pool)(float *y, float *place, const float *x, const ulp_windows *windows) {
    return run((work){.to = y, .place_to = place, .from = x}, windows, pool_part);
}

ulp_status ULP_CPU(ulp_cpu_pool_slope)(float *dx, const float *dy, const float *place, const ulp_windows *windows) {
    return run((work){.to = dx, .from = dy, .place = place}, windows, pool_slope_part);
}

/* ---- maxima of windows with a stride and a frame ---- */

static void strided_part(void *context, size_t begin, size_t end) {
    const work *t = context;
    const ulp_strided_windows s = t->s;
    for (size_t i = begin * t->oh; i < end * t->oh; i++) {
        const float *image = t->from + i / t->oh * s.h * s.w;
        const ulp_cover rows = ulp_strided_cover(i % t->oh, s.h, &s);
        float *y = t->to + i * t->ow, *place = t->place_to + i * t->ow;
        for (size_t q = 0; q < t->ow; q++)
            y[q] = ulp_strided_most(&place[q], image, s.w, s.K, rows, ulp_strided_cover(q, s.w, &s));
    }
}

static void strided_slope_part(void *context, size_t begin, size_t end) {
    const work *t = context;
    const size_t K = t->s.K, w = t->s.w, stride = t->s.stride, pad = t->s.pad, area = t->s.h * w;
    for (size_t i = begin * area; i < end * area; i++) t->wide[i] = 0.0;
    for (size_t i = begin * t->oh; i < end * t->oh; i++) {
        double *image = t->wide + i / t->oh * area;
        for (size_t q = 0; q < t->ow; q++) {
            const size_t at = (size_t)t->place[i * t->ow + q];
            double *dx = image + (i % t->oh * stride + at / K - pad) * w + q * stride + at % K - pad;
            *dx = ulp_strided_slope(*dx, t->from[i * t->ow + q]);
        }
    }
}

ulp_status ULP_CPU(ulp_cpu_pool_strided)(float *y, float *place, const float *x, const ulp_strided_windows *windows) {
    return run_strided((work){.to = y, .place_to = place, .from = x, .s = *windows}, strided_part);
}

ulp_status ULP_CPU(ulp_cpu_pool_strided_slope)(double *dx, const float *dy, const float *place,
                                               const ulp_strided_windows *windows) {
    return run_strided((work){.wide = dx, .from = dy, .place = place, .s = *windows}, strided_slope_part);
}

/* ---- means ---- */

static void average_part(void *context, size_t begin, size_t end) {
    const work *t = context;
    for (size_t i = begin * t->oh; i < end * t->oh; i++) {
        const float *row = t->from + row_at(t, i);
        for (size_t q = 0; q < t->ow; q++) t->wide[i * t->ow + q] = ulp_average_value(row + q * t->s.K, t->s.w, t->s.K);
    }
}

static void average_slope_part(void *context, size_t begin, size_t end) {
    const work *t = context;
    const size_t K = t->s.K, w = t->s.w, area = t->s.h * w;
    for (size_t i = begin * area; i < end * area; i++) t->wide[i] = 0.0;
    for (size_t i = begin * t->oh; i < end * t->oh; i++) {
        double *row = t->wide + row_at(t, i);
        for (size_t q = 0; q < t->ow; q++, row += K) {
            const double dx = ulp_average_slope(t->from[i * t->ow + q], K);
            for (size_t j = 0; j < K; j++)
                for (size_t k = 0; k < K; k++) row[j * w + k] = dx;
        }
    }
}

ulp_status ULP_CPU(ulp_cpu_average)(double *y, const float *x, const ulp_windows *windows) {
    return run((work){.wide = y, .from = x}, windows, average_part);
}

ulp_status ULP_CPU(ulp_cpu_average_slope)(double *dx, const float *dy, const ulp_windows *windows) {
    return run((work){.wide = dx, .from = dy}, windows, average_slope_part);
}

/* ---- up-sampling ---- */

static void upsample_part(void *context, size_t begin, size_t end) {
    const work *t = context;
    const size_t K = t->s.K, h = t->s.h, w = t->s.w;
    for (size_t i = begin * h; i < end * h; i++) {
        float *y = t->to + i * w;
        const size_t row = i % h / K, filled = row < t->oh ? t->ow : 0;
        const float *x = t->from + (i / h * t->oh + row) * t->ow;
        for (size_t q = 0; q < filled; q++)
            for (size_t j = 0; j < K; j++) y[q * K + j] = x[q];
        for (size_t j = filled * K; j < w; j++) y[j] = 0.0f;
    }
}

static void upsample_slope_part(void *context, size_t begin, size_t end) {
    const work *t = context;
    const size_t K = t->s.K, w = t->s.w;
    for (size_t i = begin * t->oh; i < end * t->oh; i++) {
        const float *row = t->from + row_at(t, i);
        for (size_t q = 0; q < t->ow; q++)
            t->wide[i * t->ow + q] = ulp_upsample_slope(row + q * K, w, K, &ulp_binary64);
    }
}

ulp_status ULP_CPU(ulp_cpu_upsample)(float *y, const float *x, const ulp_windows *windows) {
    return run((work){.to = y, .from = x}, windows, upsample_part);
}

ulp_status ULP_CPU(ulp_cpu_upsample_slope)(double *dx, const float *dy, const ulp_windows *windows) {
    return run((work){.wide = dx, .from = dy}, windows, upsample_slope_part);
}
