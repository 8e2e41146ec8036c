/* pool_strided.c - pooling by windows with a stride and a frame: maxima and their gradient. */
#include "kernels/cpu/cpu.h"

/* The arrays and the geometry of an operation. */
typedef struct work {
    float *y, *place_to;
    double *dx;
    const float *from; /* x or dy */
    const float *place;
    ulp_strided_windows s;
    size_t oh, ow;
} work;

static void pool_part(void *context, size_t begin, size_t end) {
    const work *t = context;
    const ulp_strided_windows s = t->s;
    for (size_t i = begin * t->oh; i < end * t->oh; i++) {
        const float *image = t->from + i / t->oh * s.h * s.w;
        const ulp_cover rows = ulp_strided_cover(i % t->oh, s.h, &s);
        float *y = t->y + i * t->ow, *place = t->place_to + i * t->ow;
        for (size_t q = 0; q < t->ow; q++)
            y[q] = ulp_strided_most(&place[q], image, s.w, s.K, rows, ulp_strided_cover(q, s.w, &s));
    }
}

static void slope_part(void *context, size_t begin, size_t end) {
    const work *t = context;
    const size_t K = t->s.K, w = t->s.w, stride = t->s.stride, pad = t->s.pad, area = t->s.h * w;
    for (size_t i = begin * area; i < end * area; i++) t->dx[i] = 0.0;
    for (size_t i = begin * t->oh; i < end * t->oh; i++) {
        double *image = t->dx + i / t->oh * area;
        for (size_t q = 0; q < t->ow; q++) {
            const size_t at = (size_t)t->place[i * t->ow + q];
            double *dx = image + (i % t->oh * stride + at / K - pad) * w + q * stride + at % K - pad;
            *dx = ulp_strided_slope(*dx, t->from[i * t->ow + q]);
        }
    }
}

static ulp_status run(work t, const ulp_strided_windows *s, void (*part)(void *context, size_t begin, size_t end)) {
    t.s = *s;
    t.oh = ulp_strided_count(s->h, s);
    t.ow = ulp_strided_count(s->w, s);
    ulp_parallel_for(s->images, ULP_GRAIN / (s->h * s->w + 1) + 1, part, &t);
    return ULP_OK;
}

ulp_status ULP_CPU(ulp_cpu_pool_strided)(float *y, float *place, const float *x, const ulp_strided_windows *windows) {
    return run((work){.y = y, .place_to = place, .from = x}, windows, pool_part);
}

ulp_status ULP_CPU(ulp_cpu_pool_strided_slope)(double *dx, const float *dy, const float *place,
                                               const ulp_strided_windows *windows) {
    return run((work){.dx = dx, .from = dy, .place = place}, windows, slope_part);
}
