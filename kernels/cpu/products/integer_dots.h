/* integer_dots.h - sums of products of integers of up to 16 bits: packing, and the loop over a tile of outputs.
 *
 * A sum is cut into runs of `length` products. A word holds the next products of a row or a column: two 16-bit
 * integers, or four 8-bit integers where the processor has VNNI or Arm's dot products. VNNI has an unsigned operand: A
 * plus 128. All arithmetic is modulo 2^32: a run is exact if its sum fits 32 bits. With zero points and the offset of
 * A, where a' is the packed number, sum (a - za)(b - zb) = sum a' b - (za + offset) sum b - zb sum (a - za), so that a
 * run starts at a number of its column plus a number of its row. Zeros replace the missing products of a word: their a'
 * and their b are zero.
 */
#ifndef ULP_CPU_INTEGER_DOTS_H
#define ULP_CPU_INTEGER_DOTS_H

#include "gemm.h"

#include <string.h>

enum { PAIRS = 2, QUADS = 4 };                             /* the products of a word */
enum { SWAPPED = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ }; /* the first number of a pair is the lower half */

/* The 32-bit words of a vector, the vectors of a panel, and the columns of a panel. */
enum { WORDS = ULP_VECTOR_BYTES / 4, VECTORS = ULP_VECTOR_BYTES == 64 ? 4 : 2, WIDE = VECTORS * WORDS };

typedef uint32_t vword __attribute__((vector_size(ULP_VECTOR_BYTES)));
typedef int32_t vint __attribute__((vector_size(ULP_VECTOR_BYTES)));

/* ---- the loop ---- */

/* Whether a word may hold four products, and what is added to the numbers of A then. */
#if defined(ULP_ARM)
enum { QUAD_OFFSET = 0 };
#else
enum { QUAD_OFFSET = 128 };
#endif
static inline int quads_offered(void) {
#if defined(__AVX512BW__)
    return __builtin_cpu_supports("avx512vnni") != 0;
#elif defined(ULP_ARM)
    return arm_has_dots();
#else
    return 0;
#endif
}

/* For each pair the sum of its two products. */
ULP_INLINE vword pair_products(vword a, vword b) {
#if defined(MM_HAS_SSE2)
    return (vword)MM(madd_epi16)((MM_INTS)a, (MM_INTS)b);
#else
    const vint low = ((vint)(a << 16) >> 16) * ((vint)(b << 16) >> 16), high = ((vint)a >> 16) * ((vint)b >> 16);
    return (vword)low + (vword)high;
#endif
}

/* sum + the products of words a and b. vpdpbusd multiplies unsigned bytes of a by signed bytes of b and does not
 * saturate; the compiler has no name for it in functions for every processor with AVX-512. */
ULP_INLINE vword add_products(vword sum, vword a, vword b, int per) {
#if defined(__AVX512BW__)
    if (per == QUADS) {
        __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
        return sum;
    }
#elif defined(ULP_ARM)
    if (per == QUADS) return (vword)arm_dot((arm_ints)sum, (arm_ints)a, (arm_ints)b);
#endif
    (void)per;
    return sum + pair_products(a, b);
}

/* sum (rows, vectors) += the products of `words` words of `rows` rows of A, which are `row` words apart, and of vectors
 * of a panel of B. `rows`, `vectors` and `per` are constants. */
ULP_INLINE void add_run(vword *restrict sum, const uint32_t *a, size_t row, const vword *b, size_t words, int rows,
                        int vectors, int per) {
    for (size_t p = 0; p < words; p++) ALL_UNROLLED for (int r = 0; r < rows; r++) {
            const vword x = (vword){0} + a[(size_t)r * row + p];
            ALL_UNROLLED for (int v = 0; v < vectors; v++) sum[r * vectors + v] =
                add_products(sum[r * vectors + v], x, b[p * VECTORS + (size_t)v], per);
        }
}

/* ---- packing ---- */

/* Whether the values of a format are integers of 8 bits times 2^qmin. */
static inline int fits_byte(const ulp_format *f) {
    return f->is_signed && !f->is_fixed && !f->has_inf && f->nan_codes == ULP_NAN_NONE &&
           ulp_scale(f->max, -f->qmin) <= 127.0;
}

/* The packed operands of a product. Numbers times their factor are integers. */
typedef struct dots {
    const ulp_job *job;
    int per, pairs_only;        /* products of a word; 1: integers of 16 bits, which are never four */
    size_t length, runs, words; /* products of a run, runs of a sum, words of a run */
    double a_factor, b_factor;
    int32_t a_less, b_less; /* subtracted from these integers: 128 for integers of 8 bits without a sign */
    int32_t zero_a, zero_b;
    uint32_t *a, *b;             /* A (m rounded up to `rows`, runs words), B as panels of (runs words, WIDE) */
    uint32_t *a_start, *b_start; /* the start of a run: (m rounded up, runs), and panels of (runs, WIDE) */
    size_t rows;                 /* rows of a tile */
    size_t step; /* the runs are a multiple of this number, at least 1; zeros replace the missing runs */
} dots;

ULP_INLINE size_t dots_panels(const dots *d) { return (d->job->s.n + WIDE - 1) / WIDE; }
ULP_INLINE size_t dots_blocks(const dots *d) { return (d->job->s.m + d->rows - 1) / d->rows; }
ULP_INLINE size_t dots_width(const dots *d, size_t panel) {
    return d->job->s.n - panel * WIDE < WIDE ? d->job->s.n - panel * WIDE : WIDE;
}

/* The words of a row, and the places of a run in a row of A, in a panel, and in the starts of a panel. */
ULP_INLINE size_t dots_row(const dots *d) { return d->runs * d->words; }
ULP_INLINE const uint32_t *dots_a(const dots *d, size_t i, size_t run) {
    return d->a + i * dots_row(d) + run * d->words;
}
ULP_INLINE const vword *dots_b(const dots *d, size_t panel, size_t run) {
    return (const vword *)(const void *)(d->b + (panel * dots_row(d) + run * d->words) * WIDE);
}
ULP_INLINE const vword *dots_b_start(const dots *d, size_t panel, size_t run) {
    return (const vword *)(const void *)(d->b_start + (panel * d->runs + run) * WIDE);
}

/* to (n) = integers that the n elements at, at + stride, ... of an array are, times the factor, minus `less` */
static inline void integers_of(int32_t *restrict to, const ulp_job *job, const void *array, size_t at, size_t stride,
                               size_t n, double factor, int32_t less) {
    if (job->wide && stride == 1)
        for (size_t i = 0; i < n; i++) to[i] = (int32_t)(((const double *)array)[at + i] * factor) - less;
    else if (stride == 1)
        for (size_t i = 0; i < n; i++) to[i] = (int32_t)(((const float *)array)[at + i] * (float)factor) - less;
    else
        for (size_t i = 0; i < n; i++) to[i] = (int32_t)(job_at(job, array, at + i * stride) * factor) - less;
}

/* Packs run `run` of a panel of B. */
static inline void dots_pack_panel_run(const dots *d, size_t panel, size_t run) {
    const ulp_job *job = d->job;
    const size_t width = dots_width(d, panel), first = run * d->length, all = job->s.k;
    const size_t end = all < first               ? first
                       : all - first < d->length ? all
                                                 : first + d->length,
                 stride = b_index(job, 0, 1) - b_index(job, 0, 0);
    const uint32_t offset = (uint32_t)d->zero_a + (d->per == QUADS ? QUAD_OFFSET : 0);
    uint32_t *to = d->b + (panel * dots_row(d) + run * d->words) * WIDE,
             *start = d->b_start + (panel * d->runs + run) * WIDE;
    int32_t x[QUADS][WIDE] = {{0}};
    uint32_t sum[WIDE] = {0};
    for (size_t k = first; k < first + d->words * (size_t)d->per; k += (size_t)d->per, to += WIDE) {
        for (size_t i = 0; i < (size_t)d->per; i++)
            if (k + i < end)
                integers_of(x[i], job, job->b, b_index(job, k + i, panel * WIDE), stride, width, d->b_factor,
                            d->b_less);
            else memset(x[i], 0, sizeof x[i]);
        if (d->per == QUADS)
            for (int j = 0; j < WIDE; j++)
                to[j] = ((uint32_t)x[0][j] & 0xffu) | ((uint32_t)x[1][j] & 0xffu) << 8 |
                        ((uint32_t)x[2][j] & 0xffu) << 16 | (uint32_t)x[3][j] << 24;
        else
            for (int j = 0; j < WIDE; j++) to[j] = ((uint32_t)x[0][j] & 0xffffu) | (uint32_t)x[1][j] << 16;
        for (int j = 0; j < WIDE; j++) sum[j] += (uint32_t)(x[0][j] + x[1][j] + x[2][j] + x[3][j]);
    }
    for (int j = 0; j < WIDE; j++) start[j] = 0u - offset * sum[j];
}

/* Packs panels begin .. end - 1, for ulp_parallel_for. */
static inline void dots_pack_panels(void *context, size_t begin, size_t end) {
    const dots *d = context;
    for (size_t panel = begin; panel < end; panel++)
        for (size_t run = 0; run < d->runs; run++) dots_pack_panel_run(d, panel, run);
}

/* to (n, in words) = x (n) as numbers of A */
static inline void words_of(uint32_t *to, const int32_t *x, size_t n, int per) {
    uint8_t *bytes = (uint8_t *)to;
    int16_t *halves = (int16_t *)(void *)to;
    if (per == QUADS)
        for (size_t i = 0; i < n; i++) bytes[i] = (uint8_t)(x[i] + QUAD_OFFSET);
    else
        for (size_t i = 0; i < n; i++) halves[i ^ SWAPPED] = (int16_t)x[i];
}

/* Packs row i of A; zeros if there is no such row. */
static inline void dots_pack_row(const dots *d, size_t i) {
    enum { PART = 512 };
    const ulp_job *job = d->job;
    const size_t all = i < job->s.m ? job->s.k : 0, stride = a_index(job, 0, 1) - a_index(job, 0, 0);
    int32_t x[PART];
    memset(d->a + i * dots_row(d), 0, dots_row(d) * sizeof *d->a);
    for (size_t run = 0; run < d->runs; run++) {
        const size_t first = run * d->length, end = all < first               ? first
                                                    : all - first < d->length ? all
                                                                              : first + d->length;
        uint32_t *to = d->a + i * dots_row(d) + run * d->words, sum = 0;
        for (size_t k = first; k < end; k += PART) {
            const size_t n = end - k < PART ? end - k : PART;
            integers_of(x, job, job->a, a_index(job, i, k), stride, n, d->a_factor, d->a_less);
            words_of(to + (k - first) / (size_t)d->per, x, n, d->per);
            for (size_t t = 0; t < n && d->zero_b != 0; t++) sum += (uint32_t)(x[t] - d->zero_a);
        }
        d->a_start[i * d->runs + run] = 0u - (uint32_t)d->zero_b * sum;
    }
}

/* Packs the rows of blocks begin .. end - 1. */
static inline void dots_pack_blocks(const dots *d, size_t begin, size_t end) {
    for (size_t i = begin * d->rows; i < end * d->rows; i++) dots_pack_row(d, i);
}

/* ---- memory ---- */

/* Allocates the operands of a sum in runs of d->length products and packs B, if there is memory. */
static inline void dots_begin(dots *d, rooms *r) {
    d->per = quads_offered() && !d->pairs_only ? QUADS : PAIRS;
    const size_t products = d->length * d->step;
    d->runs = d->job->s.k == 0 ? 0 : (d->job->s.k + products - 1) / products * d->step;
    d->words = (d->length + (size_t)d->per - 1) / (size_t)d->per;
    const size_t panels = dots_panels(d) * WIDE, rows = dots_blocks(d) * d->rows;
    d->a = rooms_take(r, rows * dots_row(d), sizeof *d->a);
    d->b = rooms_take(r, panels * dots_row(d), sizeof *d->b);
    d->a_start = rooms_take(r, rows * d->runs, sizeof *d->a_start);
    d->b_start = rooms_take(r, panels * d->runs, sizeof *d->b_start);
    if (!r->failed) ulp_parallel_for(dots_panels(d), 1, dots_pack_panels, d);
}

#endif
