/* aligned_vectors.h - vectors of aligned.h: distances as bytes, 16-bit and 32-bit integers, their shifts, and their
 * conversion to binary32 and back.
 */
#ifndef ULP_CPU_ALIGNED_VECTORS_H
#define ULP_CPU_ALIGNED_VECTORS_H

#include "kernels/cpu/floats.h"

typedef int16_t vint16 __attribute__((vector_size(ULP_VECTOR_BYTES)));

/* The smaller of two distances. */
ULP_INLINE vbytes min8(vbytes a, vbytes b) {
#if defined(MM_HAS_SSE2)
    return (vbytes)MM(min_epu8)((MM_INTS)a, (MM_INTS)b);
#else
    const vbytes yes = (vbytes)(a < b);
    return (a & yes) | (b & ~yes);
#endif
}

/* The sum of two distances, at most 255. */
ULP_INLINE vbytes add8(vbytes a, vbytes b) {
#if defined(MM_HAS_SSE2)
    return (vbytes)MM(adds_epu8)((MM_INTS)a, (MM_INTS)b);
#else
    const vbytes sum = a + b;
    return sum | (vbytes)(sum < a);
#endif
}

/* The larger of two numbers. */
ULP_INLINE vint16 max16(vint16 a, vint16 b) {
#if defined(MM_HAS_SSE2)
    return (vint16)MM(max_epi16)((MM_INTS)a, (MM_INTS)b);
#else
    const vint16 yes = (vint16)(a > b);
    return (a & yes) | (b & ~yes);
#endif
}

/* The smaller of two numbers. */
ULP_INLINE vfloat smaller_floats(vfloat a, vfloat b) {
#if defined(__SSE2__)
    return (vfloat)MM(min_ps)((MM_FLOATS)a, (MM_FLOATS)b);
#else
    const vint yes = (vint)(a < b);
    return (vfloat)(((vint)a & yes) | ((vint)b & ~yes));
#endif
}

ULP_INLINE vint int_of(vfloat x) { return (vint)x; }
ULP_INLINE vfloat float_of(vint u) { return (vfloat)u; }

/* v rounded toward zero to 24 bits; |v| < 2^31. */
ULP_INLINE vfloat toward_zero(vint v) {
#if defined(__AVX512F__)
    return (vfloat)_mm512_cvt_roundepi32_ps((__m512i)v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#else
    /* Where |v| >= 2^24, |v| >> 24 has its first one at the first bit of |v| that binary32 loses. Without this bit the
     * conversion to nearest rounds down. */
    const vint sign = v >> 31, size = (v ^ sign) - sign;
    const vfloat x = __builtin_convertvector(size & ~(size >> 24), vfloat);
    return float_of(int_of(x) | (sign & INT32_MIN));
#endif
}

enum { LARGER_SIZE = 11 }; /* of two numbers, without its sign: for the instruction vrangeps */

/* The larger of t and `least` where c is not zero, else t. clang would form a masked maximum by two instructions. */
ULP_INLINE vint at_least(vint t, int32_t least, vfloat c) {
#if defined(__AVX512DQ__)
    const __mmask16 counts = _mm512_test_epi32_mask((__m512i)c, _mm512_set1_epi32(0x7f800000));
    return (vint)_mm512_mask_range_ps((__m512)t, counts, (__m512)t, (__m512)_mm512_set1_epi32(least), LARGER_SIZE);
#else
    return larger_ints(t, (vint)((int_of(c) & 0x7f800000) != 0) & least);
#endif
}

/* v as a number that rounds to nearest in binary16 as v does; |v| < 2^31. Rounding to 24 bits toward zero loses at most
 * 7 bits. If they are not zero, they set some of the last 7 bits of the significand; all 7 are below half of the last
 * bit of binary16. */
ULP_INLINE vfloat with_lost_bits(vint v) {
    const vfloat x = toward_zero(v);
    return float_of(int_of(x) | ((v - __builtin_convertvector(x, vint)) & 0x7f));
}

/* One half of each 32-bit word, times 2^16, as a 32-bit integer. Half 0 is the lower half. */
ULP_INLINE vint half_of(vint16 x, int h) { return (vint)(h == 0 ? (vuint)x << 16 : (vuint)x & 0xffff0000u); }

/* x rounded to an odd integer, unless it is an integer; |x| < 2^31. Of the integers around x, n and n + 1, the one
 * below with a last bit of 1 is odd, for both signs. */
ULP_INLINE vint odd_ints(vfloat x) {
#if defined(__AVX512F__)
    const __m512i down = _mm512_cvt_roundps_epi32((__m512)x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC),
                  up = _mm512_cvt_roundps_epi32((__m512)x, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    /* down | ((down ^ up) & 1) */
    return (vint)_mm512_ternarylogic_epi32(down, up, _mm512_set1_epi32(1), 0xf8);
#elif defined(__AVX2__)
    const __m256 floor = _mm256_floor_ps((__m256)x);
    const vint lost = (vint)_mm256_cmp_ps(floor, (__m256)x, _CMP_NEQ_UQ);
    return (vint)_mm256_cvttps_epi32(floor) | (lost & 1);
#elif defined(ULP_ARM)
    return (vint)arm_floor_epi32(x) | ((vint)arm_ceil_epi32(x) & 1);
#else
    const vint sign = (vint)x >> 31, size = __builtin_convertvector((vfloat)((vint)x & INT32_MAX), vint);
    const vint lost = __builtin_convertvector(size, vfloat) != (vfloat)((vint)x & INT32_MAX);
    return ((size | (lost & 1)) ^ sign) - sign;
#endif
}

/* ---- shifts by a number for each word; from 32 places on, no bit of x is left but its sign ---- */

/* floor(x 2^-n) */
ULP_INLINE vint shift_down(vint x, vuint n) {
#if defined(MM_HAS_AVX2)
    return (vint)MM(srav_epi32)((MM_INTS)x, (MM_INTS)n);
#else
    return x >> (vint)smaller_uints(n, all_uints(31));
#endif
}

/* x 2^n modulo 2^32 */
ULP_INLINE vuint shift_up(vuint x, vuint n) {
#if defined(MM_HAS_AVX2)
    return (vuint)MM(sllv_epi32)((MM_INTS)x, (MM_INTS)n);
#else
    return (x << (n & 31u)) & (vuint)(n < 32u);
#endif
}

/* a - b, or 0 where b is larger; both are below 2^15. */
ULP_INLINE vuint less(vuint a, vuint b) {
#if defined(MM_HAS_SSE2)
    return (vuint)MM(subs_epu16)((MM_INTS)a, (MM_INTS)b);
#else
    return (a - b) & (vuint)(a > b);
#endif
}

#endif
