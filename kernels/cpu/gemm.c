/* gemm.c - matrix products and column sums under a datapath, each output's sum in ascending k.
 *
 * Columns of the result are the vector's lanes: a panel of B is packed to (k, LANES), the sums of a row
 * block stay in registers or first-level cache while k runs. The blocking decides speed, never a bit.
 */
#include "cpu.h"
#include "exact_step.h"
#include "formats/rng.h"

#include <stdlib.h>
#include <string.h>

enum { LANES = 64, ROWS = 6, WIDE = 32 };

typedef struct work {
    float *c;
    const float *a, *b;
    ulp_gemm_shape s;
    const ulp_datapath *datapath;
    ulp_core core;
    int is_fp32;     /* the binary32 chain */
    int vector;      /* the core decides; else the scalar definition */
    ulp_stream stream;
    float *packed;   /* B as panels of (k, WIDE or LANES), zero-padded */
    float *rows;     /* fp32 with a fused instruction: A as blocks of (k, ROWS), zero-padded */
    size_t lanes;
} work;

static float a_at(const work *w, size_t i, size_t k) { return w->s.a_trans ? w->a[k * w->s.lda + i] : w->a[i * w->s.lda + k]; }

/* The sign and payload of a NaN depend on the instruction set; results hold the one quiet NaN. */
static float canonical(float x) { return x == x ? x : ulp_from_bits32(0x7fc00000u); }

static void pack_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t lanes = w->lanes;
    for (size_t panel = begin; panel < end; panel++) {
        float *to = w->packed + panel * w->s.k * lanes;
        const size_t j0 = panel * lanes, width = w->s.n - j0 < lanes ? w->s.n - j0 : lanes;
        memset(to, 0, w->s.k * lanes * sizeof *to);
        for (size_t k = 0; k < w->s.k; k++)
            for (size_t j = 0; j < width; j++)
                to[k * lanes + j] = w->s.b_trans ? w->b[(j0 + j) * w->s.ldb + k] : w->b[k * w->s.ldb + j0 + j];
    }
}

/* ---- fp32: a chain of fused multiply-adds ---- */

#if defined(__FMA__)
/* ROWS x WIDE sums over k; `a` is packed (k, ROWS). */
static void fma_block(float *restrict sums, const float *restrict a, const float *restrict b, size_t k) {
    float acc[ROWS][WIDE];
    for (int r = 0; r < ROWS; r++)
        for (int j = 0; j < WIDE; j++) acc[r][j] = sums[r * WIDE + j];
    for (size_t i = 0; i < k; i++)
        for (int r = 0; r < ROWS; r++)
            for (int j = 0; j < WIDE; j++) acc[r][j] = __builtin_fmaf(a[i * ROWS + (size_t)r], b[i * WIDE + (size_t)j], acc[r][j]);
    for (int r = 0; r < ROWS; r++)
        for (int j = 0; j < WIDE; j++) sums[r * WIDE + j] = acc[r][j];
}
#endif

/* ---- any accumulator: exact step, then the core, in binary64 lanes ---- */

ULP_INLINE void serial_run(double *restrict acc, double a, const float *restrict b, const ulp_core *core,
                           const uint32_t *restrict words, uint32_t mode) {
    const ulp_core c = *core;
    for (size_t j = 0; j < LANES; j++)
        acc[j] = ulp_core_round64(odd_sum(a * (double)b[j], acc[j], mode), &c, mode, words == NULL ? 0u : words[j]);
}

/* The binary32 chain without a fused instruction: the conversion to float is the rounding. */
static void float_step(double *restrict acc, double a, const float *restrict b) {
    for (size_t j = 0; j < LANES; j++) acc[j] = (double)(float)odd_sum(a * (double)b[j], acc[j], ULP_RNE);
}

static void serial_step(double *acc, double a, const float *b, const ulp_core *core, const uint32_t *words) {
    switch (core->mode) {
#define CASE(id, name, meaning)                                                                      \
    case id: serial_run(acc, a, b, core, ulp_mode_is_stochastic(id) ? words : NULL, id); break;
        ULP_MODES(CASE)
#undef CASE
    default: break;
    }
}

/* The words of step k of columns j0 .. j0 + width - 1 of row i: index (i n + j) K + k. */
static void step_words(uint32_t *words, const work *w, size_t i, size_t j0, size_t width, size_t k) {
    for (size_t j = 0; j < width; j++) words[j] = ulp_random_word(w->stream, ((uint64_t)i * w->s.n + j0 + j) * w->s.k + k);
}

static void serial_row(const work *w, size_t i, size_t panel) {
    const size_t j0 = panel * LANES, width = w->s.n - j0 < LANES ? w->s.n - j0 : LANES;
    const float *b = w->packed + panel * w->s.k * LANES;
    float *c = w->c + i * w->s.ldc + j0;
    double acc[LANES] = {0};
    uint32_t words[LANES] = {0};
    const int stochastic = ulp_mode_is_stochastic(w->datapath->rule.mode);
    for (size_t j = 0; j < width && w->s.accumulate; j++) acc[j] = (double)c[j];
    for (size_t k = 0; k < w->s.k; k++) {
        double a = (double)a_at(w, i, k);
        if (stochastic) step_words(words, w, i, j0, width, k);
        if (w->is_fp32) {
            float_step(acc, a, b + k * LANES);
        } else if (w->vector) {
            serial_step(acc, a, b + k * LANES, &w->core, words);
        } else {
            for (size_t j = 0; j < width; j++)
                acc[j] = ulp_datapath_step(w->datapath, acc[j], a, (double)b[k * LANES + j], words[j]);
        }
    }
    for (size_t j = 0; j < width; j++) c[j] = canonical((float)acc[j]);
}

static void serial_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t panels = (w->s.n + LANES - 1) / LANES;
    for (size_t i = begin; i < end; i++)
        for (size_t panel = 0; panel < panels; panel++) serial_row(w, i, panel);
}

#if defined(__FMA__)
static void fma_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t panels = (w->s.n + WIDE - 1) / WIDE, k = w->s.k;
    float sums[ROWS * WIDE];
    for (size_t block = begin; block < end; block++) {
        float *a = w->rows + block * k * ROWS;
        const size_t i0 = block * ROWS, rows = w->s.m - i0 < ROWS ? w->s.m - i0 : ROWS;
        for (size_t i = 0; i < k; i++)
            for (size_t r = 0; r < ROWS; r++) a[i * ROWS + r] = r < rows ? a_at(w, i0 + r, i) : 0.0f;
        for (size_t panel = 0; panel < panels; panel++) {
            const size_t j0 = panel * WIDE, width = w->s.n - j0 < WIDE ? w->s.n - j0 : WIDE;
            memset(sums, 0, sizeof sums);
            for (size_t r = 0; r < rows && w->s.accumulate; r++)
                memcpy(sums + r * WIDE, w->c + (i0 + r) * w->s.ldc + j0, width * sizeof *sums);
            fma_block(sums, a, w->packed + panel * k * WIDE, k);
            for (size_t r = 0; r < rows; r++) {
                float *c = w->c + (i0 + r) * w->s.ldc + j0;
                for (size_t j = 0; j < width; j++) c[j] = canonical(sums[r * WIDE + j]);
            }
        }
    }
}
#endif

static int is_fp32_chain(const ulp_datapath *d) {
    return d->accumulator.prec == 24 && d->accumulator.emin == -126 && d->accumulator.emax == 127 && d->accumulator.has_subnormals &&
           d->accumulator.has_inf && d->rule.mode == ULP_RNE &&
           ulp_overflow_of(&d->accumulator, (ulp_overflow)d->rule.overflow) == ULP_OVERFLOW_INF;
}

static ulp_status check(const float *c, const float *a, const float *b, const ulp_gemm_shape *s, const ulp_datapath *d) {
    if (s == NULL || d == NULL) return ULP_BAD_ARGUMENT;
    if (s->m == 0 || s->n == 0) return ULP_OK;
    if (c == NULL || s->ldc < s->n) return ULP_BAD_ARGUMENT;
    if (s->k > 0 && (a == NULL || b == NULL || s->lda < (s->a_trans ? s->m : s->k) || s->ldb < (s->b_trans ? s->k : s->n)))
        return ULP_BAD_ARGUMENT;
    return d->accumulator.fits_binary32 ? ulp_rule_check(&d->accumulator, d->rule) : ULP_UNSUPPORTED;
}

ulp_status ULP_CPU(ulp_cpu_gemm)(float *c, const float *a, const float *b, const ulp_gemm_shape *shape,
                                 const ulp_datapath *datapath, ulp_stream stream) {
    ulp_status status = check(c, a, b, shape, datapath);
    if (status != ULP_OK || shape->m == 0 || shape->n == 0) return status;
    work w = {.c = c, .a = a, .b = b, .s = *shape, .datapath = datapath, .stream = stream, .lanes = LANES};
    w.vector = ulp_core_init(&w.core, &datapath->accumulator, datapath->rule) && ulp_core64_decides(&w.core);
    void (*part)(void *, size_t, size_t) = serial_part;
    size_t pieces = w.s.m;
    w.is_fp32 = is_fp32_chain(datapath);
#if defined(__FMA__)
    if (w.is_fp32) {
        part = fma_part;
        w.lanes = WIDE;
        pieces = (w.s.m + ROWS - 1) / ROWS;
    }
#endif
    const size_t panels = (w.s.n + w.lanes - 1) / w.lanes;
    w.packed = aligned_alloc(64, (panels * w.s.k * w.lanes * sizeof *w.packed + 63) / 64 * 64 + 64);
    if (part != serial_part) w.rows = malloc((pieces * w.s.k * ROWS + 1) * sizeof *w.rows);
    if (w.packed != NULL && (part == serial_part || w.rows != NULL)) {
        ulp_parallel_for(panels, 1, pack_part, &w);
        ulp_parallel_for(pieces, 1, part, &w);
    } else {
        status = ULP_NO_MEMORY;
    }
    free(w.rows);
    free(w.packed);
    return status;
}

/* ---- column sums: x (m,n), one lane a column; the product with 1 is exact ---- */

static void reduce_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t m = w->s.k, n = w->s.n;
    const int stochastic = ulp_mode_is_stochastic(w->datapath->rule.mode);
    for (size_t panel = begin; panel < end; panel++) {
        const size_t j0 = panel * LANES, width = n - j0 < LANES ? n - j0 : LANES;
        double acc[LANES] = {0};
        float row[LANES] = {0};
        uint32_t words[LANES] = {0};
        for (size_t i = 0; i < m; i++) {
            for (size_t j = 0; j < width; j++) row[j] = w->b[i * n + j0 + j];
            if (stochastic) step_words(words, w, 0, j0, width, i);
            if (w->is_fp32) {
                float_step(acc, 1.0, row);
            } else if (w->vector) {
                serial_step(acc, 1.0, row, &w->core, words);
            } else {
                for (size_t j = 0; j < width; j++)
                    acc[j] = ulp_datapath_step(w->datapath, acc[j], 1.0, (double)row[j], words[j]);
            }
        }
        for (size_t j = 0; j < width; j++) w->c[j0 + j] = canonical((float)acc[j]);
    }
}

ulp_status ULP_CPU(ulp_cpu_reduce)(float *y, const float *x, size_t m, size_t n, const ulp_datapath *datapath,
                                   ulp_stream stream) {
    if (datapath == NULL || (n > 0 && y == NULL) || (m > 0 && n > 0 && x == NULL)) return ULP_BAD_ARGUMENT;
    if (!datapath->accumulator.fits_binary32) return ULP_UNSUPPORTED;
    work w = {.c = y, .b = x, .s = {.m = 1, .n = n, .k = m}, .datapath = datapath, .stream = stream};
    ulp_status status = ulp_rule_check(&datapath->accumulator, datapath->rule);
    if (status != ULP_OK) return status;
    w.is_fp32 = is_fp32_chain(datapath);
    w.vector = ulp_core_init(&w.core, &datapath->accumulator, datapath->rule) && ulp_core64_decides(&w.core);
    ulp_parallel_for((n + LANES - 1) / LANES, 1, reduce_part, &w);
    return ULP_OK;
}
