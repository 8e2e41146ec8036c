/* pool.c - pooling: maxima of windows and their gradient. */
#include "kernels/cpu/cpu.h"

/* The arrays and the geometry of an operation. */
typedef struct work {
    float *to;         /* y or dx */
    const float *from; /* x or dy */
    float *place_to;
    const float *place;
    ulp_windows s;
    size_t oh, ow;
} work;

/* One row of windows; K is a constant. */
ULP_INLINE void pool_row(float *restrict y, float *restrict place, const float *restrict x, size_t w, size_t windows,
                         size_t K) {
    for (size_t q = 0; q < windows; q++) y[q] = ulp_pool_most(&place[q], x + q * K, w, K);
}

static void pool_part(void *context, size_t begin, size_t end) {
    const work *t = context;
    const size_t K = t->s.K, w = t->s.w, first = begin * t->oh * t->ow;
    float *y = t->to + first, *place = t->place_to + first;
    for (size_t i = begin * t->oh; i < end * t->oh; i++) {
        const float *row = t->from + (i / t->oh * t->s.h + i % t->oh * K) * w;
        if (K == 2) pool_row(y, place, row, w, t->ow, 2);
        else if (K == 3) pool_row(y, place, row, w, t->ow, 3);
        else pool_row(y, place, row, w, t->ow, K);
        y += t->ow;
        place += t->ow;
    }
}

static void slope_part(void *context, size_t begin, size_t end) {
    const work *t = context;
    const size_t K = t->s.K, w = t->s.w, first = begin * t->oh * t->ow, area = t->s.h * w;
    const float *dy = t->from + first, *place = t->place + first;
    for (size_t i = begin * area; i < end * area; i++) t->to[i] = 0.0f;
    for (size_t i = begin * t->oh; i < end * t->oh; i++) {
        float *row = t->to + (i / t->oh * t->s.h + i % t->oh * K) * w;
        for (size_t q = 0; q < t->ow; q++, row += K) {
            const size_t at = (size_t)*place++;
            row[at / K * w + at % K] = *dy++;
        }
    }
}

static void run(work *t, const ulp_windows *s, void (*part)(void *context, size_t begin, size_t end)) {
    t->s = *s;
    t->oh = s->h / s->K;
    t->ow = s->w / s->K;
    ulp_parallel_for(s->images, ULP_GRAIN / (s->h * s->w + 1) + 1, part, t);
}

ulp_status ULP_CPU(ulp_cpu_pool)(float *y, float *place, const float *x, const ulp_windows *windows) {
    work t = {.to = y, .place_to = place, .from = x};
    run(&t, windows, pool_part);
    return ULP_OK;
}

ulp_status ULP_CPU(ulp_cpu_pool_slope)(float *dx, const float *dy, const float *place, const ulp_windows *windows) {
    work t = {.to = dx, .from = dy, .place = place};
    run(&t, windows, slope_part);
    return ULP_OK;
}
