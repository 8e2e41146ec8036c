/* average.c - average pooling: means of windows and their gradient. */
#include "kernels/cpu/cpu.h"
#include "kernels/functions/average.h"

typedef struct work {
    double *to;        /* y or dx */
    const float *from; /* x or dy */
    ulp_windows s;
    size_t oh, ow;
} work;

/* The index of the first pixel of row i of windows; rows of windows are counted over all images. */
ULP_INLINE size_t row_at(const work *t, size_t i) { return (i / t->oh * t->s.h + i % t->oh * t->s.K) * t->s.w; }

static void average_part(void *context, size_t begin, size_t end) {
    const work *t = context;
    for (size_t i = begin * t->oh; i < end * t->oh; i++) {
        const float *row = t->from + row_at(t, i);
        for (size_t q = 0; q < t->ow; q++) t->to[i * t->ow + q] = ulp_average_value(row + q * t->s.K, t->s.w, t->s.K);
    }
}

static void slope_part(void *context, size_t begin, size_t end) {
    const work *t = context;
    const size_t K = t->s.K, w = t->s.w, area = t->s.h * w;
    for (size_t i = begin * area; i < end * area; i++) t->to[i] = 0.0;
    for (size_t i = begin * t->oh; i < end * t->oh; i++) {
        double *row = t->to + row_at(t, i);
        for (size_t q = 0; q < t->ow; q++, row += K) {
            const double dx = ulp_average_slope(t->from[i * t->ow + q], K);
            for (size_t j = 0; j < K; j++)
                for (size_t k = 0; k < K; k++) row[j * w + k] = dx;
        }
    }
}

static ulp_status run(work t, void (*part)(void *context, size_t begin, size_t end)) {
    t.oh = t.s.h / t.s.K;
    t.ow = t.s.w / t.s.K;
    ulp_parallel_for(t.s.images, ULP_GRAIN / (t.s.h * t.s.w + 1) + 1, part, &t);
    return ULP_OK;
}

ulp_status ULP_CPU(ulp_cpu_average)(double *y, const float *x, const ulp_windows *windows) {
    return run((work){.to = y, .from = x, .s = *windows}, average_part);
}

ulp_status ULP_CPU(ulp_cpu_average_slope)(double *dx, const float *dy, const ulp_windows *windows) {
    return run((work){.to = dx, .from = dy, .s = *windows}, slope_part);
}
