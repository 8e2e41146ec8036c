/* floats.h - vectors of binary32 numbers: sums in a direction, maxima, the upper halves of words, counts.
 */
#ifndef ULP_CPU_FLOATS_H
#define ULP_CPU_FLOATS_H

#include <string.h>

#include "cpu.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

enum { FLOATS = ULP_VECTOR_BYTES / 4 }; /* the numbers of a vector */

typedef float vfloat __attribute__((vector_size(ULP_VECTOR_BYTES)));
typedef uint32_t vuint __attribute__((vector_size(ULP_VECTOR_BYTES)));
typedef int32_t vint __attribute__((vector_size(ULP_VECTOR_BYTES)));
typedef int16_t vshort __attribute__((vector_size(ULP_VECTOR_BYTES)));

ULP_INLINE vuint all_uints(uint32_t x) { return (vuint){0} + x; }
ULP_INLINE vint all_ints(int32_t x) { return (vint){0} + x; }
ULP_INLINE vshort all_shorts(int x) { return (vshort){0} + (int16_t)x; }

/* The larger of two words below 2^31. */
ULP_INLINE vuint larger_uints(vuint a, vuint b) {
#if defined(__AVX512F__)
    return (vuint)_mm512_max_epu32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (vuint)_mm256_max_epu32((__m256i)a, (__m256i)b);
#else
    const vuint yes = (vuint)((vint)a > (vint)b);
    return (a & yes) | (b & ~yes);
#endif
}

/* The same for words of binary32 numbers that are not NaN. */
ULP_INLINE vuint larger_numbers(vuint a, vuint b) {
#if defined(__SSE2__) && !defined(__AVX2__)
    return (vuint)_mm_max_ps((__m128)a, (__m128)b);
#else
    return larger_uints(a, b);
#endif
}

ULP_INLINE vshort larger_shorts(vshort a, vshort b) {
#if defined(__AVX512BW__)
    return (vshort)_mm512_max_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (vshort)_mm256_max_epi16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
    return (vshort)_mm_max_epi16((__m128i)a, (__m128i)b);
#else
    const vshort yes = a > b;
    return (a & yes) | (b & ~yes);
#endif
}

/* The upper halves of the magnitudes of two vectors, in any order. */
ULP_INLINE vshort upper_shorts(vfloat a, vfloat b) {
#if defined(__AVX512BW__)
    const __m512i low = _mm512_srli_epi32((__m512i)a, 16);
    return (vshort)_mm512_mask_blend_epi16(0xaaaaaaaau, low, (__m512i)b) & (int16_t)0x7fff;
#elif defined(__AVX2__)
    return (vshort)_mm256_blend_epi16(_mm256_srli_epi32((__m256i)a, 16), (__m256i)b, 0xaa) & (int16_t)0x7fff;
#else
    return (vshort)(((vuint)a >> 16) | ((vuint)b & 0xffff0000u)) & (int16_t)0x7fff;
#endif
}

/* counts + 1 where x < limit. */
ULP_INLINE vshort count_below(vshort counts, vshort x, vshort limit) {
#if defined(__AVX512BW__)
    const __mmask32 below = _mm512_cmplt_epi16_mask((__m512i)x, (__m512i)limit);
    return (vshort)_mm512_mask_add_epi16((__m512i)counts, below, (__m512i)counts, _mm512_set1_epi16(1));
#else
    return counts - (x < limit);
#endif
}

/* counts + 1 where x = 0. */
ULP_INLINE vint count_zeros(vint counts, vfloat x) {
#if defined(__AVX512F__)
    const __mmask16 zero = _mm512_cmp_ps_mask((__m512)x, _mm512_setzero_ps(), _CMP_EQ_OQ);
    return (vint)_mm512_mask_add_epi32((__m512i)counts, zero, (__m512i)counts, _mm512_set1_epi32(1));
#else
    return counts - (x == 0.0f);
#endif
}

/* Whether a number is above a limit. */
ULP_INLINE int any_above(vint x, int32_t limit) {
#if defined(__AVX512F__)
    return _mm512_cmpgt_epi32_mask((__m512i)x, _mm512_set1_epi32(limit)) != 0;
#elif defined(__AVX2__)
    return _mm256_movemask_epi8(_mm256_cmpgt_epi32((__m256i)x, _mm256_set1_epi32(limit))) != 0;
#elif defined(__SSE2__)
    return _mm_movemask_epi8(_mm_cmpgt_epi32((__m128i)x, _mm_set1_epi32(limit))) != 0;
#else
    int32_t any = 0;
    for (int i = 0; i < FLOATS; i++) any |= x[i] > limit;
    return any;
#endif
}

ULP_INLINE int any_short_above(vshort x, int limit) {
#if defined(__AVX512BW__)
    return _mm512_cmpgt_epi16_mask((__m512i)x, _mm512_set1_epi16((int16_t)limit)) != 0;
#elif defined(__AVX2__)
    return _mm256_movemask_epi8(_mm256_cmpgt_epi16((__m256i)x, _mm256_set1_epi16((int16_t)limit))) != 0;
#elif defined(__SSE2__)
    return _mm_movemask_epi8(_mm_cmpgt_epi16((__m128i)x, _mm_set1_epi16((int16_t)limit))) != 0;
#else
    int any = 0;
    for (int i = 0; i < 2 * FLOATS; i++) any |= x[i] > limit;
    return any;
#endif
}

/* The sum of counts up to 255. */
ULP_INLINE int32_t sum_of_counts(vshort counts) {
    uint64_t part[ULP_VECTOR_BYTES / 8], sum = 0;
#if defined(__AVX512BW__)
    const __m512i parts = _mm512_sad_epu8((__m512i)counts, _mm512_setzero_si512());
    return (int32_t)_mm512_reduce_add_epi64(parts);
#elif defined(__AVX2__)
    const __m256i parts = _mm256_sad_epu8((__m256i)counts, _mm256_setzero_si256());
#elif defined(__SSE2__)
    const __m128i parts = _mm_sad_epu8((__m128i)counts, _mm_setzero_si128());
#else
    const vshort parts = counts;
    int16_t each[2 * FLOATS];
    memcpy(each, &parts, sizeof each);
    for (int i = 0; i < 2 * FLOATS; i++) sum += (uint64_t)each[i];
    return (int32_t)sum;
#endif
    memcpy(part, &parts, sizeof part);
    for (int i = 0; i < ULP_VECTOR_BYTES / 8; i++) sum += part[i];
    return (int32_t)sum;
}

/* Whether float_sum_toward rounds in the direction of its mode. */
#if defined(__AVX512F__)
enum { FLOATS_ROUND_TOWARD = 1 };
#else
enum { FLOATS_ROUND_TOWARD = 0 };
#endif

/* a + b rounded in the direction of mode rz, ru or rd; only if FLOATS_ROUND_TOWARD. */
ULP_INLINE vfloat float_sum_toward(vfloat a, vfloat b, uint32_t mode) {
#if defined(__AVX512F__)
    const __m512 x = (__m512)a, y = (__m512)b;
    if (mode == ULP_RU) return (vfloat)_mm512_add_round_ps(x, y, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    if (mode == ULP_RD) return (vfloat)_mm512_add_round_ps(x, y, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    return (vfloat)_mm512_add_round_ps(x, y, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#else
    (void)mode;
    return a + b;
#endif
}

/* Whether the instruction set has add_fractions. */
#if defined(__AVX2__)
enum { ADDS_FRACTIONS = 1 };
#else
enum { ADDS_FRACTIONS = 0 };
#endif

/* `sum` + floor(rest + word 2^-32), where `sum` counts units and `rest`, -1/2 <= rest <= 1/2, is part of a unit; `at`
 * is rest 2^32. A negative `at` is an integer. */
ULP_INLINE vuint add_fractions(vuint sum, vfloat at, vuint word) {
#if defined(__AVX2__)
    const vint negative = (vint)at >> 31;
#if defined(__AVX512F__)
    const vuint fraction = (vuint)_mm512_cvttps_epi32((__m512)at); /* modulo 2^32; 2^31 becomes -2^31 */
    const __mmask16 carry = _mm512_cmplt_epu32_mask((__m512i)(fraction + word), (__m512i)word);
    const vuint down = sum + (vuint)negative;
    return (vuint)_mm512_mask_sub_epi32((__m512i)down, carry, (__m512i)down, _mm512_set1_epi32(-1));
#else
    const vuint fraction = (vuint)_mm256_cvttps_epi32((__m256)at), all = fraction + word;
    const vint whole = (vint)_mm256_max_epu32((__m256i)all, (__m256i)word) == (vint)all; /* no carry */
    return sum + (vuint)negative + (vuint)whole + 1u;
#endif
#else
    (void)at, (void)word;
    return sum;
#endif
}

#endif
