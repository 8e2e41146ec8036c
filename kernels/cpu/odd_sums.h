/* odd_sums.h - integers rounded to odd and their sums in vectors, as the draft of RISC-V forms sums of products.
 */
#ifndef ULP_ODD_SUMS_H
#define ULP_ODD_SUMS_H

#include "floats.h"

/* x rounded to an odd integer, unless it is an integer; |x| < 2^31. The floor with a last bit of 1 is odd for both
 * signs. */
ULP_INLINE vint odd_ints(vfloat x) {
#if defined(__AVX512F__)
    const __m512i floor = _mm512_cvt_roundps_epi32((__m512)x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    const __mmask16 lost = _mm512_cmp_ps_mask(_mm512_cvtepi32_ps(floor), (__m512)x, _CMP_NEQ_UQ);
    return (vint)_mm512_mask_or_epi32(floor, lost, floor, _mm512_set1_epi32(1));
#elif defined(__AVX2__)
    const __m256 floor = _mm256_floor_ps((__m256)x);
    const vint lost = (vint)_mm256_cmp_ps(floor, (__m256)x, _CMP_NEQ_UQ);
    return (vint)_mm256_cvttps_epi32(floor) | (lost & 1);
#else
    const vint sign = (vint)x >> 31, size = __builtin_convertvector((vfloat)((vint)x & INT32_MAX), vint);
    const vint lost = __builtin_convertvector(size, vfloat) != (vfloat)((vint)x & INT32_MAX);
    return ((size | (lost & 1)) ^ sign) - sign;
#endif
}

/* x rounded to odd with 24 bits. */
ULP_INLINE vfloat odd_single(vint x) {
    const vint sign = x >> 31, size = (x ^ sign) - sign;
#if defined(__AVX512F__)
    const vint cut = (vint)_mm512_cvt_roundepi32_ps((__m512i)size, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#else
    const vint cut = (vint) __builtin_convertvector(size & ~(size >> 24), vfloat); /* rounds down without this bit */
#endif
    const vint lost = __builtin_convertvector((vfloat)cut, vint) != size;
    return (vfloat)((cut | (lost & 1)) | (sign & INT32_MIN));
}

/* An integer below 2^33 in size, as its floor in units of 4 and the sum modulo 2^32. */
typedef struct long_sum {
    vint fours;
    vuint low;
} long_sum;

/* The sum of four integers of 31 bits and a sign. */
ULP_INLINE long_sum long_sum_of(const vint *x) {
    const vuint low = (vuint)x[0] + (vuint)x[1] + (vuint)x[2] + (vuint)x[3];
    const vint rest = (x[0] & 3) + (x[1] & 3) + (x[2] & 3) + (x[3] & 3);
    return (long_sum){(x[0] >> 2) + (x[1] >> 2) + (x[2] >> 2) + (x[3] >> 2) + (rest >> 2), low};
}

/* The sum rounded to odd with 24 bits. From 2^30 on, the units of 4 hold more than 24 bits, and bits below them only
 * make the sum inexact. */
ULP_INLINE vfloat odd_long_single(long_sum sum) {
    const vint sign = sum.fours >> 31, fits = (sum.fours ^ sign) < (1 << 28), lost = (vint)(sum.low & 3u) != 0,
               odd = sum.fours | (lost & 1);
    const vint x = (odd & ~fits) | ((vint)sum.low & fits);
    return odd_single(x) * (vfloat)((0x3f800000 & fits) | (0x40800000 & ~fits)); /* times 1 or 4 */
}

#endif
