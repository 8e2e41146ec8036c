/* odd.h - sums with every partial sum rounded to a format, in vectors of binary32.
 *
 * The processor rounds acc + a b to 24 bits in the direction of the mode, or to odd in modes rne and ro: down and up
 * have the odd one where they differ. Such a sum rounds to a format of at most 22 bits like the exact sum; to odd:
 * Boldo and Melquiond 2008, doi:10.1109/TC.2007.70819. An anchor is a number whose last place is the quantum. Its
 * addition rounds to the format. Products and sums are below 2^100, so that no anchor overflows.
 */
#ifndef ULP_CPU_ODD_H
#define ULP_CPU_ODD_H

#include "lanes.h"

#if defined(__AVX512F__)

enum { ROWS = 4, WORDS = ULP_VECTOR_BYTES / 4, VECTORS = LANES / WORDS };

typedef float vfloat __attribute__((vector_size(ULP_VECTOR_BYTES)));
typedef uint32_t vword __attribute__((vector_size(ULP_VECTOR_BYTES)));

/* What is known of the sums: none is too large; the same, and all are multiples of the least quantum (mode rne); large
 * sums are saturated (mode rne); the watch is to find out whether one is too large. */
enum { SMALL, MULTIPLES, SATURATED, WATCHED };

/* The constants of a format: the word of 2^emin, the word that turns a binade into its anchor, the sign bit if zeros
 * keep their sign, the largest value, and twice the word of the largest magnitude that the watch accepts. */
typedef struct narrow_format {
    uint32_t least, anchor, signs;
    float most;
    uint32_t limit;
} narrow_format;

/* Products of ROWS rows of A, (k) each, and a panel of B (k, LANES). */
typedef struct narrow_products {
    const float *a[ROWS], *b;
    size_t k;
} narrow_products;

typedef struct group_sums {
    _Alignas(ULP_VECTOR_BYTES) float at[ROWS][LANES];
} group_sums;

ULP_INLINE vword larger_words(vword a, vword b) { return (vword)_mm512_max_epu32((__m512i)a, (__m512i)b); }

/* a b + acc in a direction: mode rz, ru or rd. */
ULP_INLINE vfloat fused_word(vfloat a, vfloat b, vfloat acc, uint32_t mode) {
    const __m512 x = (__m512)a, y = (__m512)b, z = (__m512)acc;
    if (mode == ULP_RU) return (vfloat)_mm512_fmadd_round_ps(x, y, z, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    if (mode == ULP_RD) return (vfloat)_mm512_fmadd_round_ps(x, y, z, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    return (vfloat)_mm512_fmadd_round_ps(x, y, z, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}

/* x + y in a direction: mode rne, rz, ru or rd. */
ULP_INLINE vfloat add_word(vfloat x, vfloat y, uint32_t mode) {
    const __m512 a = (__m512)x, b = (__m512)y;
    if (mode == ULP_RU) return (vfloat)_mm512_add_round_ps(a, b, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    if (mode == ULP_RD) return (vfloat)_mm512_add_round_ps(a, b, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    if (mode == ULP_RZ) return (vfloat)_mm512_add_round_ps(a, b, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    return x + y;
}

/* a b + acc with 24 bits, which rounds to the format like the exact sum. */
ULP_INLINE vfloat word_sum(vfloat a, vfloat b, vfloat acc, uint32_t mode) {
    if (mode != ULP_RNE && mode != ULP_RO) return fused_word(a, b, acc, mode);
    const __m512 down = (__m512)fused_word(a, b, acc, ULP_RD), up = (__m512)fused_word(a, b, acc, ULP_RU);
    const __mmask16 odd = _mm512_test_epi32_mask(_mm512_castps_si512(down), _mm512_set1_epi32(1));
    return (vfloat)_mm512_mask_blend_ps(odd, up, down); /* an exact sum is both */
}

/* x rounded to the format; `mode` and `range` are constants. */
ULP_INLINE vfloat round_word(vfloat x, const narrow_format *f, uint32_t mode, int range) {
    vword binade = (vword)x & 0x7f800000u;
    if (range != MULTIPLES) binade = larger_words(binade, (vword){0} + f->least);
    vword anchor = binade + f->anchor;
    if (mode == ULP_RZ) anchor |= (vword)x & 0x80000000u;
    vword sum = (vword)add_word(x, (vfloat)anchor, mode == ULP_RO ? (uint32_t)ULP_RD : mode);
    if (mode == ULP_RO) /* a word of the sum counts quanta: the odd one of the sums down and up */
        sum |= (vword)add_word(x, (vfloat)anchor, ULP_RU) & 1u;
    vfloat y = (vfloat)sum - (vfloat)anchor;
    if (range == MULTIPLES) return y;
    y = (vfloat)((vword)y | ((vword)x & f->signs));
    if (range != SATURATED) return y;
    return (vfloat)_mm512_range_ps((__m512)y, _mm512_set1_ps(f->most), 2); /* the smaller magnitude, the sign of y */
}

/* Adds products to the sums of a group. Returns 0 if a sum was too large; then the sums are of no use. `mode` and
 * `range` are constants. */
ULP_INLINE int run(group_sums *sums, const narrow_products *of, const narrow_format *format, uint32_t mode, int range) {
    const narrow_format f = *format;
    vfloat acc[ROWS][VECTORS];
    vword most = {0};
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int v = 0; v < VECTORS; v++) acc[r][v] =
        *(const vfloat *)(const void *)(sums->at[r] + v * WORDS);
    for (size_t k = 0; k < of->k; k++) {
        const vfloat *b = (const vfloat *)(const void *)(of->b + k * LANES);
        UNROLLED for (int r = 0; r < ROWS; r++) {
            const vfloat a = of->a[r][k] - (vfloat){0}; /* the sign of a zero stays */
            UNROLLED for (int v = 0; v < VECTORS; v++) {
                acc[r][v] = round_word(word_sum(a, b[v], acc[r][v], mode), &f, mode, range);
                if (range == WATCHED) most = larger_words(most, (vword)acc[r][v] + (vword)acc[r][v]);
            }
        }
    }
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int v = 0; v < VECTORS; v++) *
        (vfloat *)(void *)(sums->at[r] + v * WORDS) = acc[r][v];
    uint32_t all = 0;
    for (int i = 0; i < WORDS; i++) all = most[i] > all ? most[i] : all;
    return all <= f.limit;
}

typedef int (*run_function)(group_sums *sums, const narrow_products *of, const narrow_format *format);

/* X(name, mode, range) */
#define RUNS(X)                                                                                                        \
    X(rne_small, ULP_RNE, SMALL)                                                                                       \
    X(rne_multiples, ULP_RNE, MULTIPLES)                                                                               \
    X(rne_saturated, ULP_RNE, SATURATED)                                                                               \
    X(rne_watched, ULP_RNE, WATCHED)                                                                                   \
    X(rz_small, ULP_RZ, SMALL)                                                                                         \
    X(rz_watched, ULP_RZ, WATCHED)                                                                                     \
    X(ru_small, ULP_RU, SMALL)                                                                                         \
    X(ru_watched, ULP_RU, WATCHED)                                                                                     \
    X(rd_small, ULP_RD, SMALL)                                                                                         \
    X(rd_watched, ULP_RD, WATCHED)                                                                                     \
    X(ro_small, ULP_RO, SMALL)                                                                                         \
    X(ro_watched, ULP_RO, WATCHED)
#define RUN(name, mode, range)                                                                                         \
    static int name(group_sums *sums, const narrow_products *of, const narrow_format *f) {                             \
        return run(sums, of, f, mode, range);                                                                          \
    }
RUNS(RUN)

#endif

#endif
