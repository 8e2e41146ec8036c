/* upsample.c - up-sampling: copies of pixels, and sums of their gradients. */
#include "kernels/cpu/cpu.h"
#include "kernels/functions/upsample.h"

typedef struct work {
    float *y;
    double *dx;
    const float *from; /* x or dy */
    ulp_windows s;
    size_t rows, columns; /* of windows in an image */
    ulp_format binary64;
} work;

static void upsample_part(void *context, size_t begin, size_t end) {
    const work *t = context;
    const size_t K = t->s.K, h = t->s.h, w = t->s.w;
    for (size_t i = begin * h; i < end * h; i++) {
        float *y = t->y + i * w;
        const size_t row = i % h / K, filled = row < t->rows ? t->columns : 0;
        const float *x = t->from + (i / h * t->rows + row) * t->columns;
        for (size_t q = 0; q < filled; q++)
            for (size_t j = 0; j < K; j++) y[q * K + j] = x[q];
        for (size_t j = filled * K; j < w; j++) y[j] = 0.0f;
    }
}

static void slope_part(void *context, size_t begin, size_t end) {
    const work *t = context;
    const size_t K = t->s.K, w = t->s.w;
    for (size_t i = begin * t->rows; i < end * t->rows; i++) {
        const float *row = t->from + (i / t->rows * t->s.h + i % t->rows * K) * w;
        for (size_t q = 0; q < t->columns; q++)
            t->dx[i * t->columns + q] = ulp_upsample_slope(row + q * K, w, K, &t->binary64);
    }
}

static ulp_status run(work t, void (*part)(void *context, size_t begin, size_t end)) {
    const ulp_status status = ulp_format_parse(&t.binary64, "binary64");
    t.rows = t.s.h / t.s.K;
    t.columns = t.s.w / t.s.K;
    if (status == ULP_OK) ulp_parallel_for(t.s.images, ULP_GRAIN / (t.s.h * t.s.w + 1) + 1, part, &t);
    return status;
}

ulp_status ULP_CPU(ulp_cpu_upsample)(float *y, const float *x, const ulp_windows *windows) {
    return run((work){.y = y, .from = x, .s = *windows}, upsample_part);
}

ulp_status ULP_CPU(ulp_cpu_upsample_slope)(double *dx, const float *dy, const ulp_windows *windows) {
    return run((work){.dx = dx, .from = dy, .s = *windows}, slope_part);
}
