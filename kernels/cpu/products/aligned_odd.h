/* aligned_odd.h - sums of products that are rounded to odd, as the draft of RISC-V forms them, for a block of outputs:
 * the integer definition of kernels/products/fused.h in vectors.
 */
#ifndef ULP_ALIGNED_ODD_H
#define ULP_ALIGNED_ODD_H

#include "aligned.h"

/* x rounded to odd with 24 bits. */
ULP_INLINE vfloat odd_single(vint x) {
#if defined(__AVX512F__)
    const __m512i down = (__m512i)_mm512_cvt_roundepi32_ps((__m512i)x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC),
                  up = (__m512i)_mm512_cvt_roundepi32_ps((__m512i)x, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    return (vfloat)_mm512_mask_mov_epi32(up, _mm512_test_epi32_mask(down, _mm512_set1_epi32(1)), down);
#else
    const vint sign = x >> 31, size = (x ^ sign) - sign;
    const vint cut = (vint) __builtin_convertvector(size & ~(size >> 24), vfloat); /* rounds down without this bit */
    const vint lost = __builtin_convertvector((vfloat)cut, vint) != size;
    return (vfloat)((cut | (lost & 1)) | (sign & INT32_MIN));
#endif
}

/* A sum below 2^33 in size: the sum of floors in units of 4, and the sum modulo 2^32. The floors lose at most 3 of each
 * summand, so that the two together are the sum. */
typedef struct long_sum {
    vint fours;
    vuint low;
} long_sum;

ULP_INLINE long_sum long_plus(long_sum sum, vint x) { return (long_sum){sum.fours + (x >> 2), sum.low + (vuint)x}; }

/* The sum of at most four integers rounded to odd with 24 bits. From 2^30 on, the units of 4 hold more than 24 bits,
 * and bits below them only make the sum inexact. */
ULP_INLINE vfloat odd_long_single(long_sum sum) {
    const vuint rest = sum.low - ((vuint)sum.fours << 2); /* what the floors have lost, at most 12 */
    const vint fours = sum.fours + (vint)(rest >> 2);
    const vint sign = fours >> 31, fits = (fours ^ sign) < (1 << 28), odd = fours | ((vint)((sum.low & 3u) != 0) & 1);
    const vint x = (odd & ~fits) | ((vint)sum.low & fits);
    return odd_single(x) * (vfloat)((0x3f800000 & fits) | (0x40800000 & ~fits)); /* times 1 or 4 */
}

/* One sum of the products of a step for ROWS x WIDTH outputs, added to c and rounded to odd. nearest, more, and the
 * result: fuse of aligned_fused.h. */
ULP_INLINE int fuse_odd(vfloat c[ROWS][HALVES], vbytes nearest[PAIRS], const operands *o, const plan *p, way w,
                        int more) {
    const int ahead = more ? length_of(p, w) : 0, together = w.size == FITS_FOUR ? 4 : length_of(p, w);
    vint e[ROWS][HALVES], power[ROWS][HALVES];
    watch seen = {{0}, {0}, {0}};
    UNROLLED for (int r = 0; r < ROWS; r++) fields_of_row(e[r], nearest, r, &seen, o, p, w);
    if (!is_bounded(w)) {
        UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++)
            look_at(&seen, c[r][h], larger_ints(e[r][h], int_of(c[r][h]) & 0x7f800000), p);
        if (out_of_range(seen.below, seen.most, seen.c_below) != 0) return 0;
    }
    UNROLLED for (int i = 0; i < PAIRS; i++) nearest[i] = start_of(o, p, w);
    vint sum[ROWS][HALVES];
    long_sum all[ROWS][HALVES];
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++) {
        power[r][h] = scale_to(p, e[r][h], w);
        all[r][h] = (long_sum){{0}, {0}};
    }
    for (int first = 0; first < length_of(p, w); first += together) {
        UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++) sum[r][h] = (vint){0};
        for (int k = first; k < first + together; k++) add_product(sum, power, nearest, o, k, ahead, w);
        UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++) all[r][h] =
            long_plus(all[r][h], sum[r][h]);
    }
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++) {
        const vfloat odd = w.size == FITS_FOUR ? odd_long_single(all[r][h]) : odd_single(sum[r][h]);
        c[r][h] = odd_float_sum(c[r][h], odd * float_of(inverse(power[r][h], w)));
    }
    return 1;
}

#endif
