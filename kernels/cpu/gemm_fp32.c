/* gemm_fp32.c - the product as a chain of fused multiply-adds in binary32, k ascending, in register blocks. */
#include "gemm.h"

#include <stdlib.h>
#include <string.h>

static int is_fp32_chain(const ulp_job *w) {
    const ulp_datapath *d = w->datapath;
    const ulp_format *f = &d->accumulator;
    return !w->wide && d->kind == ULP_SERIAL && d->length == 1 && d->promote == 0 && !d->has_inputs && f->prec == 24 &&
           f->emin == -126 && f->emax == 127 && f->has_subnormals && f->has_inf && d->rule.mode == ULP_RNE &&
           ulp_overflow_of(f, (ulp_overflow)d->rule.overflow) == ULP_OVERFLOW_INF;
}

#if defined(__FMA__)

#include <immintrin.h>

/* A block of ROWS rows and two vectors of columns has 12 registers of sums. DEPTH products of a panel fit the
 * second-level cache. */
enum { ROWS = 6, VECTORS = 2, WIDE = VECTORS * ULP_VECTOR_BYTES / 4, DEPTH = 1024 };

typedef float vfloat __attribute__((vector_size(ULP_VECTOR_BYTES)));

/* a b + c, rounded once */
ULP_INLINE vfloat fused(vfloat a, vfloat b, vfloat c) {
#if defined(__AVX512F__)
    return (vfloat)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#else
    return (vfloat)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#endif
}

typedef struct work {
    const ulp_job *job;
    float *packed; /* B as panels of (k, WIDE), zero-padded; in a wide product each run of panels has one panel */
    float *rows;   /* A as blocks of (k, ROWS), zero-padded */
    size_t run;    /* panels in a run */
} work;

enum { SQUARE = 16 }; /* numbers of a column of B that are copied together */

static void pack_panel(const ulp_job *job, float *to, size_t panel) {
    const ulp_gemm_shape *s = &job->s;
    const size_t j0 = panel * WIDE, width = s->n - j0 < WIDE ? s->n - j0 : WIDE;
    const float *b = (const float *)job->b + (s->b_trans ? j0 * s->ldb : j0);
    if (width < WIDE) memset(to, 0, s->k * WIDE * sizeof *to);
    for (size_t k = 0; k < s->k && !s->b_trans && width == WIDE; k++)
        memcpy(to + k * WIDE, b + k * s->ldb, WIDE * sizeof *to);
    for (size_t k = 0; k < s->k && !s->b_trans && width < WIDE; k++)
        memcpy(to + k * WIDE, b + k * s->ldb, width * sizeof *to);
    for (size_t k0 = 0; k0 < s->k && s->b_trans; k0 += SQUARE)
        for (size_t j = 0; j < width; j++)
            for (size_t k = k0; k < s->k && k < k0 + SQUARE; k++) to[k * WIDE + j] = b[j * s->ldb + k];
}

static void pack_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    for (size_t panel = begin; panel < end; panel++) pack_panel(w->job, w->packed + panel * w->job->s.k * WIDE, panel);
}

/* sums (ROWS, WIDE) over k. `a` is packed (k, ROWS), b (k, WIDE) is aligned. */
static void block(float *restrict sums, const float *restrict a, const float *restrict b, size_t k) {
    const vfloat *row = (const vfloat *)(const void *)b;
    vfloat acc[ROWS][VECTORS];
    memcpy(acc, sums, sizeof acc);
    for (size_t i = 0; i < k; i++, row += VECTORS)
        for (int r = 0; r < ROWS; r++) {
            const vfloat x = a[i * ROWS + (size_t)r] - (vfloat){0}; /* the sign of a zero stays */
            for (int v = 0; v < VECTORS; v++) acc[r][v] = fused(x, row[v], acc[r][v]);
        }
    memcpy(sums, acc, sizeof acc);
}

static void pack_rows(const work *w, size_t at) {
    const ulp_gemm_shape *s = &w->job->s;
    float *a = w->rows + at * s->k * ROWS;
    for (size_t k = 0; k < s->k; k++)
        for (size_t r = 0; r < ROWS; r++)
            a[k * ROWS + r] = at * ROWS + r < s->m ? a_at(w->job, at * ROWS + r, k) : 0.0f;
}

/* Adds products k0 .. k1 - 1 of a block of rows and a packed panel of B. C holds the sums between two calls. */
static void advance(const work *w, size_t at, size_t panel, const float *packed, size_t k0, size_t k1) {
    const ulp_gemm_shape *s = &w->job->s;
    const size_t i0 = at * ROWS, rows = s->m - i0 < ROWS ? s->m - i0 : ROWS;
    const size_t j0 = panel * WIDE, width = s->n - j0 < WIDE ? s->n - j0 : WIDE;
    float sums[ROWS * WIDE] = {0}, *c = (float *)w->job->c + i0 * s->ldc + j0;
    for (size_t r = 0; r < rows && (s->accumulate || k0 > 0); r++)
        memcpy(sums + r * WIDE, c + r * s->ldc, width * sizeof *sums);
    block(sums, w->rows + (at * s->k + k0) * ROWS, packed + k0 * WIDE, k1 - k0);
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < width; j++) c[r * s->ldc + j] = canonical(sums[r * WIDE + j]);
}

/* Multiplies the blocks begin .. end - 1 of rows by a panel. */
static void panel_part(const work *w, size_t begin, size_t end, size_t panel, const float *packed) {
    const size_t k = w->job->s.k;
    size_t k0 = 0;
    do {
        const size_t k1 = k - k0 < DEPTH ? k : k0 + DEPTH;
        for (size_t at = begin; at < end; at++) advance(w, at, panel, packed, k0, k1);
        k0 = k1;
    } while (k0 < k);
}

static size_t panels_of(const ulp_job *job) { return (job->s.n + WIDE - 1) / WIDE; }
static size_t blocks_of(const ulp_job *job) { return (job->s.m + ROWS - 1) / ROWS; }

static void pack_rows_part(void *context, size_t begin, size_t end) {
    for (size_t at = begin; at < end; at++) pack_rows(context, at);
}

static void rows_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    pack_rows_part(context, begin, end);
    for (size_t panel = 0; panel < panels_of(w->job); panel++)
        panel_part(w, begin, end, panel, w->packed + panel * w->job->s.k * WIDE);
}

/* The order of a wide product: a panel is packed just before its use, so that it is in the cache. */
static void columns_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    float *packed = w->packed + begin / w->run * w->job->s.k * WIDE;
    for (size_t panel = begin; panel < end; panel++) {
        pack_panel(w->job, packed, panel);
        panel_part(w, 0, blocks_of(w->job), panel, packed);
    }
}

ulp_status ULP_CPU(ulp_gemm_fp32)(const ulp_job *job) {
    if (!is_fp32_chain(job)) return ULP_UNSUPPORTED;
    const size_t panels = panels_of(job), blocks = blocks_of(job);
    const int wide = panels * WIDE > 128 * blocks;
    work w = {.job = job, .run = wide ? row_grain(panels) : 1};
    w.packed = ULP_CPU(ulp_gemm_room)((panels + w.run - 1) / w.run * job->s.k * WIDE, sizeof *w.packed);
    w.rows = ULP_CPU(ulp_gemm_room)(blocks * job->s.k * ROWS, sizeof *w.rows);
    const int enough = w.packed != NULL && w.rows != NULL;
    if (enough) {
        ulp_parallel_for(wide ? blocks : panels, 1, wide ? pack_rows_part : pack_part, &w);
        if (wide) ulp_parallel_for(panels, w.run, columns_part, &w);
        else ulp_parallel_for(blocks, row_grain(blocks), rows_part, &w);
    }
    free(w.rows);
    free(w.packed);
    return enough ? ULP_OK : ULP_NO_MEMORY;
}

#else

/* Without a fused multiply-add instruction the chain runs in binary64. A product is exact in binary64, and so is the
 * error of one binary64 addition. The only rounding is the conversion to binary32 of the sum rounded to odd. */

#include "kernels/products/exact_step.h"

enum { LANES = 64 };

static void float_step(double *restrict acc, double a, const float *restrict b) {
    for (size_t j = 0; j < LANES; j++) acc[j] = (double)(float)ulp_odd_sum(a * (double)b[j], acc[j], ULP_RNE);
}

static void rows_part(void *context, size_t begin, size_t end) {
    const ulp_job *job = context;
    const ulp_gemm_shape *s = &job->s;
    for (size_t i = begin; i < end; i++)
        for (size_t j0 = 0; j0 < s->n; j0 += LANES) {
            const size_t width = s->n - j0 < LANES ? s->n - j0 : LANES;
            float *c = (float *)job->c + i * s->ldc + j0, b[LANES] = {0};
            double acc[LANES] = {0};
            for (size_t j = 0; j < width && s->accumulate; j++) acc[j] = (double)c[j];
            for (size_t k = 0; k < s->k; k++) {
                for (size_t j = 0; j < width; j++) b[j] = b_at(job, k, j0 + j);
                float_step(acc, (double)a_at(job, i, k), b);
            }
            for (size_t j = 0; j < width; j++) c[j] = canonical((float)acc[j]);
        }
}

ulp_status ULP_CPU(ulp_gemm_fp32)(const ulp_job *job) {
    if (!is_fp32_chain(job)) return ULP_UNSUPPORTED;
    ulp_job copy = *job;
    ulp_parallel_for(job->s.m, 1, rows_part, &copy);
    return ULP_OK;
}

#endif
