/* gemm_int8.c - the product of 8-bit integers into 32-bit integers that wrap or clamp.
 *
 * Up to 64 products of numbers below 2^9 are exact in an int32_t. The datapath says how their sum is added to the
 * accumulator: modulo 2^32, or clamped after every `length` products. Arrays hold the integers as binary64 numbers.
 */
#include "gemm.h"

#include <stdlib.h>
#include <string.h>

enum { WIDE = 64 };

typedef struct work {
    const ulp_job *job;
    int16_t *a, *b; /* A (m, k) and B as panels of (k, WIDE), minus the zero points */
    int clamps;
} work;

static void pack_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_gemm_shape *s = &w->job->s;
    for (size_t panel = begin; panel < end; panel++) {
        int16_t *to = w->b + panel * s->k * WIDE;
        const size_t j0 = panel * WIDE, width = s->n - j0 < WIDE ? s->n - j0 : WIDE;
        memset(to, 0, s->k * WIDE * sizeof *to);
        for (size_t k = 0; k < s->k; k++)
            for (size_t j = 0; j < width; j++)
                to[k * WIDE + j] =
                    (int16_t)(job_at(w->job, w->job->b, b_index(w->job, k, j0 + j)) - w->job->datapath->zero_b);
    }
}

/* sums (WIDE) = a (n) b (n, WIDE) */
static void add_products(int32_t *restrict sums, const int16_t *restrict a, const int16_t *restrict b, size_t n) {
    int32_t part[WIDE] = {0};
    for (size_t k = 0; k < n; k++)
        for (size_t j = 0; j < WIDE; j++) part[j] += a[k] * b[k * WIDE + j];
    for (size_t j = 0; j < WIDE; j++) sums[j] = part[j];
}

static void add_part(int64_t *restrict acc, const int32_t *restrict part, int clamps) {
    for (size_t j = 0; j < WIDE; j++) {
        const int64_t sum = acc[j] + part[j], high = sum > INT32_MAX ? INT32_MAX : sum;
        acc[j] = clamps ? (high < INT32_MIN ? INT32_MIN : high) : sum;
    }
}

/* The value of a 32-bit two's complement word. */
static double wrapped(int64_t sum) {
    const uint32_t u = (uint32_t)(uint64_t)sum;
    return u < 0x80000000u ? (double)u : (double)u - 0x1p32;
}

static void rows_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_job *job = w->job;
    const ulp_gemm_shape *s = &job->s;
    const size_t length = w->clamps ? job->datapath->length : ULP_STEP_MAX;
    for (size_t i = begin; i < end; i++) {
        int16_t *a = w->a + i * s->k;
        for (size_t k = 0; k < s->k; k++)
            a[k] = (int16_t)(job_at(job, job->a, a_index(job, i, k)) - job->datapath->zero_a);
        for (size_t j0 = 0; j0 < s->n; j0 += WIDE) {
            const size_t width = s->n - j0 < WIDE ? s->n - j0 : WIDE;
            const int16_t *b = w->b + j0 * s->k;
            double *c = (double *)job->c + i * s->ldc + j0;
            int64_t acc[WIDE] = {0};
            int32_t part[WIDE];
            for (size_t j = 0; j < width && s->accumulate; j++) acc[j] = (int64_t)c[j];
            for (size_t k = 0; k < s->k; k += length) {
                add_products(part, a + k, b + k * WIDE, s->k - k < length ? s->k - k : length);
                add_part(acc, part, w->clamps);
            }
            for (size_t j = 0; j < width; j++) c[j] = w->clamps ? (double)acc[j] : wrapped(acc[j]);
        }
    }
}

ulp_status ULP_CPU(ulp_gemm_int8)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    const ulp_format *f = &d->accumulator;
    const ulp_overflow policy = ulp_overflow_of(f, (ulp_overflow)d->rule.overflow);
    if (!job->wide || d->kind != ULP_SERIAL || d->promote != 0 || !d->has_inputs || !d->a.is_fixed || !d->b.is_fixed ||
        d->a.bits > 8 || d->b.bits > 8 || d->a.frac_bits + d->b.frac_bits != 0 || !f->is_fixed || f->bits != 32 ||
        f->frac_bits != 0)
        return ULP_UNSUPPORTED;
    work w = {.job = job, .clamps = policy == ULP_OVERFLOW_SAT};
    if (!w.clamps && policy != ULP_OVERFLOW_WRAP) return ULP_UNSUPPORTED;
    const size_t panels = (job->s.n + WIDE - 1) / WIDE;
    w.b = ULP_CPU(ulp_gemm_room)(panels * job->s.k * WIDE, sizeof *w.b);
    w.a = ULP_CPU(ulp_gemm_room)(job->s.m * job->s.k, sizeof *w.a);
    const int enough = w.a != NULL && w.b != NULL;
    if (enough) {
        ulp_parallel_for(panels, 1, pack_part, &w);
        ulp_parallel_for(job->s.m, 1, rows_part, &w);
    }
    free(w.a);
    free(w.b);
    return enough ? ULP_OK : ULP_NO_MEMORY;
}
