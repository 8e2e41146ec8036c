/* move.c - operations that only move numbers: what a kernel lies on, and blocks that change places. */
#include "cpu.h"
#include "kernels/arguments.h"
#include "kernels/functions/im2col.h"

#include <string.h>

typedef struct work {
    float *y;
    const float *x;
    ulp_places p;
    size_t a, b, n; /* of permute */
} work;

/* n / stride, rounded up. */
ULP_INLINE size_t up(ptrdiff_t n, size_t stride) { return stride == 1 ? (size_t)n : ((size_t)n + stride - 1) / stride; }

/* One row of positions: to (ow) from a row of x (w), the kernel's column lying `shift` behind the position's. */
ULP_INLINE void place_row(float *to, const float *from, const ulp_places *p, ptrdiff_t shift) {
    const size_t stride = p->stride;
    if (p->dilate == 1) {
        size_t begin = shift < 0 ? up(-shift, stride) : 0;
        size_t end = shift < (ptrdiff_t)p->w ? up((ptrdiff_t)p->w - shift, stride) : 0;
        if (begin > p->ow) begin = p->ow;
        if (end > p->ow) end = p->ow;
        if (end < begin) end = begin;
        if (stride == 1 && begin == 0 && end == p->ow) {
            memcpy(to, from + shift, p->ow * sizeof *to);
            return;
        }
        for (size_t q = 0; q < begin; q++) to[q] = 0.0f;
        if (stride == 1)
            for (size_t q = begin; q < end; q++) to[q] = from[(ptrdiff_t)q + shift];
        else
            for (size_t q = begin; q < end; q++) to[q] = from[(ptrdiff_t)(q * stride) + shift];
        for (size_t q = end; q < p->ow; q++) to[q] = 0.0f;
        return;
    }
    for (size_t q = 0; q < p->ow; q++) {
        size_t at;
        to[q] = ulp_place_source(&at, (ptrdiff_t)(q * stride) + shift, p->dilate, p->w) ? from[at] : 0.0f;
    }
}

/* Piece (row of y, sample). */
static void patches_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_places *p = &w->p;
    const size_t K = p->kernel, positions = p->oh * p->ow;
    for (size_t piece = begin; piece < end; piece++) {
        const size_t row = piece / p->B, b = piece % p->B, c = row / (K * K);
        size_t i = row / K % K, j = row % K, at;
        if (p->flip) i = K - 1 - i, j = K - 1 - j;
        const float *image = w->x + (b * p->c + c) * p->h * p->w;
        float *to = w->y + piece * positions;
        for (size_t r = 0; r < p->oh; r++, to += p->ow)
            if (ulp_place_source(&at, (ptrdiff_t)(r * p->stride + i) - (ptrdiff_t)p->pad, p->dilate, p->h))
                place_row(to, image + at * p->w, p, (ptrdiff_t)j - (ptrdiff_t)p->pad);
            else memset(to, 0, p->ow * sizeof *to);
    }
}

ulp_status ULP_CPU(ulp_cpu_patches)(float *y, const float *x, const ulp_places *places) {
    ulp_status status = ulp_asked_patches(y, x, places);
    if (status != ULP_OK || ulp_places_size(places) == 0) return status;
    const size_t rows = places->c * places->kernel * places->kernel, positions = places->oh * places->ow;
    work w = {.y = y, .x = x, .p = *places};
    ulp_parallel_for(rows * places->B, ULP_GRAIN / positions + 1, patches_part, &w);
    return ULP_OK;
}

/* Row (k, j) of y. */
static void permute_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    for (size_t row = begin; row < end; row++) {
        const size_t k = row / w->b, j = row % w->b;
        const float *from = w->x + (k * w->a * w->b + j) * w->n;
        float *to = w->y + row * w->a * w->n;
        if (w->n == 1)
            for (size_t i = 0; i < w->a; i++) to[i] = from[i * w->b];
        else
            for (size_t i = 0; i < w->a; i++) memcpy(to + i * w->n, from + i * w->b * w->n, w->n * sizeof *to);
    }
}

ulp_status ULP_CPU(ulp_cpu_permute)(float *y, const float *x, size_t count, size_t a, size_t b, size_t n) {
    ulp_status status = ulp_asked_permute(y, x, count, a, b, n);
    if (status != ULP_OK || count * a * b * n == 0) return status;
    work w = {.y = y, .x = x, .a = a, .b = b, .n = n};
    ulp_parallel_for(count * b, ULP_GRAIN / (a * n) + 1, permute_part, &w);
    return ULP_OK;
}
