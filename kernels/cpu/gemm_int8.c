/* gemm_int8.c - the product of 8-bit integers into 32-bit integers that wrap or clamp.
 *
 * Numbers minus their zero points are below 2^9 and are packed as pairs of 16-bit integers: one instruction multiplies
 * two pairs and adds the two products. Up to 64 products are exact in 32 bits. A sum that wraps is one run of products
 * modulo 2^32; a sum that clamps is a run for every `length` products of the datapath, and clamps after each run.
 */
#include "gemm.h"

#include <stdlib.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* A tile has ROWS rows and VECTORS vectors of columns. */
enum { ROWS = 4, VECTORS = ULP_VECTOR_BYTES == 64 ? 4 : 2, LANES = ULP_VECTOR_BYTES / 4, WIDE = VECTORS * LANES };

typedef uint32_t vpairs __attribute__((vector_size(ULP_VECTOR_BYTES))); /* pairs of 16-bit integers, or 32-bit sums */
typedef int32_t vint __attribute__((vector_size(ULP_VECTOR_BYTES)));

/* For each pair the sum of its two products. */
ULP_INLINE vpairs pair_products(vpairs a, vpairs b) {
#if defined(__AVX512BW__)
    return (vpairs)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (vpairs)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
    return (vpairs)_mm_madd_epi16((__m128i)a, (__m128i)b);
#else
    const vint low = ((vint)(a << 16) >> 16) * ((vint)(b << 16) >> 16), high = ((vint)a >> 16) * ((vint)b >> 16);
    return (vpairs)(low + high);
#endif
}

/* x + y, clamped to the range of 32-bit integers. */
ULP_INLINE vpairs clamped_sum(vpairs x, vpairs y) {
    const vpairs sum = x + y, over = (vpairs)((vint)((x ^ sum) & (y ^ sum)) >> 31);
    const vpairs end = (vpairs)((vint)x >> 31) ^ 0x7fffffffu;
    return (sum & ~over) | (end & over);
}

typedef struct work {
    const ulp_job *job;
    uint32_t *a, *b;    /* A (m rounded up to ROWS, pairs), B as panels of (pairs, WIDE) */
    size_t length;      /* products of a run */
    size_t runs, pairs; /* of a sum, of a run */
    int clamps;
} work;

static uint32_t half(double x, double zero) { return (uint32_t)(int32_t)(x - zero) & 0xffffu; }

/* The products of a pair: the numbers *k and *k + 1 of the sum; *k + 1 only if the result is 2, none if it is 0. */
static int pair_of(const work *w, size_t pair, size_t *k) {
    const size_t run = pair / w->pairs, at = 2 * (pair % w->pairs), all = w->job->s.k;
    *k = run * w->length + at;
    return *k >= all ? 0 : at + 1 < w->length && *k + 1 < all ? 2 : 1;
}

static void pack_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_job *job = w->job;
    const size_t all = w->runs * w->pairs;
    const double zero = job->datapath->zero_b;
    for (size_t panel = begin; panel < end; panel++)
        for (size_t pair = 0; pair < all; pair++) {
            uint32_t *to = w->b + (panel * all + pair) * WIDE;
            const size_t j0 = panel * WIDE, width = job->s.n - j0 < WIDE ? job->s.n - j0 : WIDE;
            size_t k;
            const int count = pair_of(w, pair, &k);
            memset(to, 0, WIDE * sizeof *to);
            for (size_t j = 0; j < width && count > 0; j++)
                to[j] = half(job_at(job, job->b, b_index(job, k, j0 + j)), zero);
            for (size_t j = 0; j < width && count > 1; j++)
                to[j] |= half(job_at(job, job->b, b_index(job, k + 1, j0 + j)), zero) << 16;
        }
}

static void pack_row(const work *w, size_t i) {
    const ulp_job *job = w->job;
    const size_t all = w->runs * w->pairs;
    const double zero = job->datapath->zero_a;
    for (size_t pair = 0; pair < all; pair++) {
        size_t k;
        const int count = i < job->s.m ? pair_of(w, pair, &k) : 0;
        const uint32_t low = count > 0 ? half(job_at(job, job->a, a_index(job, i, k)), zero) : 0;
        const uint32_t high = count > 1 ? half(job_at(job, job->a, a_index(job, i, k + 1)), zero) : 0;
        w->a[i * all + pair] = low | high << 16;
    }
}

/* acc += the products of a run, where b (pairs, VECTORS) */
ULP_INLINE void add_run(vpairs acc[ROWS][VECTORS], const uint32_t *a, size_t row, const vpairs *b, size_t pairs) {
    for (size_t p = 0; p < pairs; p++)
        for (int r = 0; r < ROWS; r++) {
            const vpairs x = (vpairs){0} + a[(size_t)r * row + p];
            for (int v = 0; v < VECTORS; v++) acc[r][v] += pair_products(x, b[p * VECTORS + (size_t)v]);
        }
}

/* acc (ROWS, WIDE) += the products of four rows of A and a panel of B */
static void add_tile(const work *w, uint32_t *acc, const uint32_t *a, const uint32_t *b, int clamps) {
    const size_t row = w->runs * w->pairs;
    vpairs sums[ROWS][VECTORS];
    memcpy(sums, acc, sizeof sums);
    for (size_t run = 0; run < w->runs; run++) {
        const size_t at = run * w->pairs;
        vpairs part[ROWS][VECTORS] = {{{0}}};
        add_run(part, a + at, row, (const vpairs *)(const void *)b + at * VECTORS, w->pairs);
        for (int r = 0; r < ROWS; r++)
            for (int v = 0; v < VECTORS; v++)
                sums[r][v] = clamps ? clamped_sum(sums[r][v], part[r][v]) : sums[r][v] + part[r][v];
    }
    memcpy(acc, sums, sizeof sums);
}

static void rows_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_job *job = w->job;
    const ulp_gemm_shape *s = &job->s;
    const size_t all = w->runs * w->pairs;
    for (size_t block = begin; block < end; block++) {
        const size_t i0 = block * ROWS, rows = s->m - i0 < ROWS ? s->m - i0 : ROWS;
        for (size_t r = 0; r < ROWS; r++) pack_row(w, i0 + r);
        for (size_t j0 = 0; j0 < s->n; j0 += WIDE) {
            const size_t width = s->n - j0 < WIDE ? s->n - j0 : WIDE;
            uint32_t acc[ROWS * WIDE] = {0};
            double *c = (double *)job->c + i0 * s->ldc + j0;
            for (size_t r = 0; r < rows && s->accumulate; r++)
                for (size_t j = 0; j < width; j++) acc[r * WIDE + j] = (uint32_t)(int64_t)c[r * s->ldc + j];
            add_tile(w, acc, w->a + i0 * all, w->b + j0 * all, w->clamps);
            for (size_t r = 0; r < rows; r++)
                for (size_t j = 0; j < width; j++) c[r * s->ldc + j] = (double)(int32_t)acc[r * WIDE + j];
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
    if (policy != ULP_OVERFLOW_SAT && policy != ULP_OVERFLOW_WRAP) return ULP_UNSUPPORTED;
    work w = {
        .job = job, .clamps = policy == ULP_OVERFLOW_SAT, .length = policy == ULP_OVERFLOW_SAT ? d->length : job->s.k};
    w.runs = job->s.k == 0 ? 0 : (job->s.k + w.length - 1) / w.length;
    w.pairs = (w.length + 1) / 2;
    const size_t panels = (job->s.n + WIDE - 1) / WIDE, blocks = (job->s.m + ROWS - 1) / ROWS;
    w.b = ULP_CPU(ulp_gemm_room)(panels * w.runs * w.pairs * WIDE, sizeof *w.b);
    w.a = ULP_CPU(ulp_gemm_room)(blocks * ROWS * w.runs * w.pairs, sizeof *w.a);
    const int enough = w.a != NULL && w.b != NULL;
    if (enough) {
        ulp_parallel_for(panels, 1, pack_part, &w);
        ulp_parallel_for(blocks, 1, rows_part, &w);
    }
    free(w.a);
    free(w.b);
    return enough ? ULP_OK : ULP_NO_MEMORY;
}
