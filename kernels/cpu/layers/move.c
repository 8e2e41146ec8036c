/* move.c - operations that copy numbers: im2col and permute. */
#include "kernels/cpu/cpu.h"
#include "kernels/functions/im2col.h"

#include <string.h>

typedef struct work {
    float *y;
    const float *x;
    ulp_im2col p;
    ulp_permute_shape s;
} work;

/* n / stride, rounded up. */
ULP_INLINE size_t divide_up(ptrdiff_t n, size_t stride) {
    return stride == 1 ? (size_t)n : ((size_t)n + stride - 1) / stride;
}

/* to (n) = from (n). Rows are short: a call of memcpy takes longer than the copy. The last vector overlaps the one
 * before. */
ULP_INLINE void copy_row(float *to, const float *from, size_t n) {
    enum { EIGHT = 8, FOUR = 4 };
    if (n >= EIGHT) {
        for (size_t q = 0; q + EIGHT <= n; q += EIGHT) memcpy(to + q, from + q, EIGHT * sizeof *to);
        memcpy(to + n - EIGHT, from + n - EIGHT, EIGHT * sizeof *to);
    } else if (n >= FOUR) {
        memcpy(to, from, FOUR * sizeof *to);
        memcpy(to + n - FOUR, from + n - FOUR, FOUR * sizeof *to);
    } else {
        for (size_t q = 0; q < n; q++) to[q] = from[q];
    }
}

ULP_INLINE void clear_row(float *to, size_t n) {
    static const float zeros[8];
    for (; n > 8; n -= 8, to += 8) copy_row(to, zeros, 8);
    copy_row(to, zeros, n);
}

/* Fills one row of positions `to` (ow) from a row `from` (w) of x. `shift` is the column of the kernel minus the
 * padding. */
ULP_INLINE void place_row(float *to, const float *from, const ulp_im2col *p, ptrdiff_t shift) {
    const size_t stride = p->stride;
    if (p->dilate == 1) {
        size_t begin = shift < 0 ? divide_up(-shift, stride) : 0;
        size_t end = shift < (ptrdiff_t)p->w ? divide_up((ptrdiff_t)p->w - shift, stride) : 0;
        if (begin > p->ow) begin = p->ow;
        if (end > p->ow) end = p->ow;
        if (end < begin) end = begin;
        clear_row(to, begin);
        if (stride == 1 && begin < end) copy_row(to + begin, from + ((ptrdiff_t)begin + shift), end - begin);
        else
            for (size_t q = begin; q < end; q++) to[q] = from[(ptrdiff_t)(q * stride) + shift];
        clear_row(to + end, p->ow - end);
        return;
    }
    for (size_t q = 0; q < p->ow; q++) {
        size_t at;
        to[q] = ulp_im2col_source(&at, (ptrdiff_t)(q * stride) + shift, p->dilate, p->w) ? from[at] : 0.0f;
    }
}

/* A piece is a pair (row of y, sample). */
static void im2col_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_im2col *p = &w->p;
    const size_t K = p->kernel, positions = p->oh * p->ow;
    for (size_t piece = begin; piece < end; piece++) {
        const size_t row = piece / p->B, b = piece % p->B, c = row / (K * K);
        size_t i = row / K % K, j = row % K, at;
        if (p->flip) i = K - 1 - i, j = K - 1 - j;
        const float *image = w->x + (b * p->c + c) * p->h * p->w;
        float *to = w->y + piece * positions;
        for (size_t r = 0; r < p->oh; r++, to += p->ow)
            if (ulp_im2col_source(&at, (ptrdiff_t)(r * p->stride + i) - (ptrdiff_t)p->pad, p->dilate, p->h))
                place_row(to, image + at * p->w, p, (ptrdiff_t)j - (ptrdiff_t)p->pad);
            else clear_row(to, p->ow);
    }
}

ulp_status ULP_CPU(ulp_cpu_im2col)(float *y, const float *x, const ulp_im2col *p) {
    if (ulp_im2col_size(p) == 0) return ULP_OK;
    const size_t rows = p->c * p->kernel * p->kernel, positions = p->oh * p->ow;
    work w = {.y = y, .x = x, .p = *p};
    ulp_parallel_for(rows * p->B, ULP_GRAIN / positions + 1, im2col_part, &w);
    return ULP_OK;
}

/* Row (k, j) of y. */
static void permute_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t a = w->s.a, b = w->s.b, n = w->s.n;
    for (size_t row = begin; row < end; row++) {
        const size_t k = row / b, j = row % b;
        const float *from = w->x + (k * a * b + j) * n;
        float *to = w->y + row * a * n;
        if (n == 1)
            for (size_t i = 0; i < a; i++) to[i] = from[i * b];
        else
            for (size_t i = 0; i < a; i++) memcpy(to + i * n, from + i * b * n, n * sizeof *to);
    }
}

ulp_status ULP_CPU(ulp_cpu_permute)(float *y, const float *x, ulp_permute_shape s) {
    if (s.count * s.a * s.b * s.n == 0) return ULP_OK;
    work w = {.y = y, .x = x, .s = s};
    ulp_parallel_for(s.count * s.b, ULP_GRAIN / (s.a * s.n) + 1, permute_part, &w);
    return ULP_OK;
}
