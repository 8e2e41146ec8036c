/* serial_floats.h - sums with every partial sum rounded to a format, in vectors of binary32.
 *
 * The processor rounds acc + a b to 24 bits in the direction of the mode, or to odd in modes rne and ro: of the sums
 * down and up the odd one where they differ. Such a sum rounds to a format of at most 22 bits like the exact sum; to
 * odd: Boldo and Melquiond 2008, doi:10.1109/TC.2007.70819. float_rounding.h rounds it. Products and sums are below
 * 2^100, so that no anchor overflows.
 */
#ifndef ULP_CPU_SERIAL_FLOATS_H
#define ULP_CPU_SERIAL_FLOATS_H

#include "kernels/cpu/rounding/float_rounding.h"
#include "lanes.h"

enum { ROWS = 4, VECTORS = LANES / FLOATS };

/* Knowledge of the sums: none is too large; the same, and all are multiples of the least quantum (mode rne); large
 * sums are saturated (mode rne); the watch is to find out whether one is too large. */
enum { SMALL, MULTIPLES, SATURATED, WATCHED };

/* The constants of a format: those of its rounding, the largest value, and the word of the largest magnitude that the
 * watch accepts. */
typedef struct odd_format {
    float_format rounding;
    float most;
    uint32_t limit;
} odd_format;

/* Products of ROWS rows of A, (k) each, and a panel of B (k, LANES). */
typedef struct odd_products {
    const float *a[ROWS], *b;
    size_t k;
} odd_products;

typedef struct group_sums {
    _Alignas(ULP_VECTOR_BYTES) float at[ROWS][LANES];
} group_sums;

/* Adds products to the sums of a group. Returns 0 if a sum was too large; then the sums are of no use. */
typedef int (*run_function)(group_sums *sums, const odd_products *of, const odd_format *format);

#if defined(__AVX512F__)

/* a b + acc with 24 bits, which rounds to the format like the exact sum. In mode rna the bits that are lost below them
 * do not decide. */
ULP_INLINE vfloat float_sum(vfloat a, vfloat b, vfloat acc, uint32_t mode) {
    if (mode == ULP_RNE || mode == ULP_RO) return odd_float_fused(a, b, acc);
    return float_fused_toward(a, b, acc, mode == ULP_RNA ? (uint32_t)ULP_RZ : mode);
}

/* x rounded to the format; `mode` and `range` are constants. */
ULP_INLINE vfloat round_sum(vfloat x, const odd_format *f, uint32_t mode, int range) {
    if (range == MULTIPLES) { /* subnormal results are exact, and no negative number becomes zero */
        const vfloat anchor = (vfloat)(fields_of(x) + f->rounding.anchor);
        return float_anchor_round(x, anchor, 0, ULP_RNE);
    }
    const vfloat y = round_float(x, fields_of(x), &f->rounding, mode, (vuint){0});
    if (range != SATURATED) return y;
    return (vfloat)_mm512_range_ps((__m512)y, _mm512_set1_ps(f->most), 2); /* the smaller magnitude, the sign of y */
}

/* A run_function; `mode` and `range` are constants. */
ULP_INLINE int run(group_sums *sums, const odd_products *of, const odd_format *format, uint32_t mode, int range) {
    const odd_format f = *format;
    vfloat acc[ROWS][VECTORS];
    vuint most = {0};
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int v = 0; v < VECTORS; v++) acc[r][v] =
        *(const vfloat *)(const void *)(sums->at[r] + v * FLOATS);
    for (size_t k = 0; k < of->k; k++) {
        const vfloat *b = (const vfloat *)(const void *)(of->b + k * LANES);
        UNROLLED for (int r = 0; r < ROWS; r++) {
            const vfloat a = of->a[r][k] - (vfloat){0}; /* the sign of a zero stays */
            UNROLLED for (int v = 0; v < VECTORS; v++) {
                acc[r][v] = round_sum(float_sum(a, b[v], acc[r][v], mode), &f, mode, range);
                if (range == WATCHED) most = larger_uints(most, (vuint)acc[r][v] & 0x7fffffffu);
            }
        }
    }
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int v = 0; v < VECTORS; v++) *
        (vfloat *)(void *)(sums->at[r] + v * FLOATS) = acc[r][v];
    uint32_t all = 0;
    for (int i = 0; i < FLOATS; i++) all = most[i] > all ? most[i] : all;
    return all <= f.limit;
}

/* X(name, mode, range) */
#define RUNS(X)                                                                                                        \
    X(rne_small, ULP_RNE, SMALL)                                                                                       \
    X(rne_multiples, ULP_RNE, MULTIPLES)                                                                               \
    X(rne_saturated, ULP_RNE, SATURATED)                                                                               \
    X(rne_watched, ULP_RNE, WATCHED)                                                                                   \
    X(rna_small, ULP_RNA, SMALL)                                                                                       \
    X(rna_watched, ULP_RNA, WATCHED)                                                                                   \
    X(rz_small, ULP_RZ, SMALL)                                                                                         \
    X(rz_watched, ULP_RZ, WATCHED)                                                                                     \
    X(ru_small, ULP_RU, SMALL)                                                                                         \
    X(ru_watched, ULP_RU, WATCHED)                                                                                     \
    X(rd_small, ULP_RD, SMALL)                                                                                         \
    X(rd_watched, ULP_RD, WATCHED)                                                                                     \
    X(ro_small, ULP_RO, SMALL)                                                                                         \
    X(ro_watched, ULP_RO, WATCHED)
#define RUN(name, mode, range)                                                                                         \
    static int name(group_sums *sums, const odd_products *of, const odd_format *f) {                                   \
        return run(sums, of, f, mode, range);                                                                          \
    }
RUNS(RUN)

#endif

#endif
