/* floats.h - vectors of binary32 numbers: sums in a direction, maxima, the upper halves and the exponents of words.
 */
#ifndef ULP_CPU_FLOATS_H
#define ULP_CPU_FLOATS_H

#include <string.h>

#include "cpu.h"

enum { FLOATS = ULP_VECTOR_BYTES / 4 }; /* the numbers of a vector */

typedef float vfloat __attribute__((vector_size(ULP_VECTOR_BYTES)));
typedef uint32_t vuint __attribute__((vector_size(ULP_VECTOR_BYTES)));
typedef int32_t vint __attribute__((vector_size(ULP_VECTOR_BYTES)));
typedef uint16_t vshort __attribute__((vector_size(ULP_VECTOR_BYTES)));
typedef uint8_t vbytes __attribute__((vector_size(ULP_VECTOR_BYTES)));

ULP_INLINE vuint all_uints(uint32_t x) { return (vuint){0} + x; }

/* The larger of two words below 2^31. */
ULP_INLINE vuint larger_uints(vuint a, vuint b) {
#if defined(MM_HAS_AVX2)
    return (vuint)MM(max_epu32)((MM_INTS)a, (MM_INTS)b);
#else
    const vuint yes = (vuint)((vint)a > (vint)b);
    return (a & yes) | (b & ~yes);
#endif
}

/* The smaller of two words below 2^31. */
ULP_INLINE vuint smaller_uints(vuint a, vuint b) {
#if defined(MM_HAS_AVX2)
    return (vuint)MM(min_epu32)((MM_INTS)a, (MM_INTS)b);
#else
    const vuint yes = (vuint)((vint)a < (vint)b);
    return (a & yes) | (b & ~yes);
#endif
}

/* The larger and the smaller of two integers. */
ULP_INLINE vint larger_ints(vint a, vint b) {
#if defined(MM_HAS_AVX2)
    return (vint)MM(max_epi32)((MM_INTS)a, (MM_INTS)b);
#else
    const vint yes = (vint)(a > b);
    return (a & yes) | (b & ~yes);
#endif
}

ULP_INLINE vint smaller_ints(vint a, vint b) {
#if defined(__AVX2__)
    return (vint)MM(min_epi32)((MM_INTS)a, (MM_INTS)b);
#else
    const vint yes = (vint)(a < b);
    return (a & yes) | (b & ~yes);
#endif
}

/* The least word of a vector. */
ULP_INLINE uint32_t least_uint(vuint x) {
    uint32_t each[FLOATS], least = UINT32_MAX;
    memcpy(each, &x, sizeof each);
    for (int i = 0; i < FLOATS; i++) least = each[i] < least ? each[i] : least;
    return least;
}

#if defined(MM_HAS_AVX2)
/* Whether a word is above or below a limit. */
ULP_INLINE int any_uint_above(vuint x, uint32_t limit) {
#if defined(ULP_ARM)
    return arm_most_u32((arm_ints)x) > limit;
#elif defined(__AVX512F__)
    return _mm512_cmpgt_epu32_mask((__m512i)x, (__m512i)all_uints(limit)) != 0;
#else
    const __m256i all = (__m256i)all_uints(limit);
    return _mm256_movemask_epi8(_mm256_cmpeq_epi32(_mm256_max_epu32((__m256i)x, all), all)) != -1;
#endif
}

ULP_INLINE int any_uint_below(vuint x, uint32_t limit) {
#if defined(ULP_ARM)
    return arm_least_u32((arm_ints)x) < limit;
#elif defined(__AVX512F__)
    return _mm512_cmplt_epu32_mask((__m512i)x, (__m512i)all_uints(limit)) != 0;
#else
    const __m256i all = (__m256i)all_uints(limit);
    return _mm256_movemask_epi8(_mm256_cmpeq_epi32(_mm256_min_epu32((__m256i)x, all), all)) != -1;
#endif
}
#endif

/* The same for words of binary32 numbers that are not NaN. */
ULP_INLINE vuint larger_numbers(vuint a, vuint b) {
#if defined(__SSE2__)
    return (vuint)MM(max_ps)((MM_FLOATS)a, (MM_FLOATS)b);
#else
    return larger_uints(a, b);
#endif
}

/* The same, in the units for integers if they have such an instruction. */
ULP_INLINE vuint larger_fields(vuint a, vuint b) {
#if defined(MM_HAS_AVX2)
    return larger_uints(a, b);
#else
    return larger_numbers(a, b);
#endif
}

/* x + 1 where u has the bit. */
ULP_INLINE vuint one_more_where(vuint u, vuint bit, vuint x) {
#if defined(__AVX512F__)
    const __mmask16 more = _mm512_test_epi32_mask((__m512i)u, (__m512i)bit);
    return (vuint)_mm512_mask_sub_epi32((__m512i)x, more, (__m512i)x, _mm512_set1_epi32(-1));
#else
    return x - (vuint)((u & bit) == bit);
#endif
}

/* x + 1 where a >= b. */
ULP_INLINE vint one_more_from(vint x, vint a, vint b) {
#if defined(__AVX512F__)
    const __mmask16 more = _mm512_cmpge_epi32_mask((__m512i)a, (__m512i)b);
    return (vint)_mm512_mask_sub_epi32((__m512i)x, more, (__m512i)x, _mm512_set1_epi32(-1));
#else
    return x - (vint)(a >= b);
#endif
}

#if defined(__AVX512F__)
/* The bits of a where the mask has ones, else the bits of b. */
ULP_INLINE vuint bits_by(vuint mask, vuint a, vuint b) {
    return (vuint)_mm512_ternarylogic_epi32((__m512i)mask, (__m512i)a, (__m512i)b, 0xca);
}
#endif

/* The upper halves of two vectors, in any order. */
ULP_INLINE vshort upper_shorts(vfloat a, vfloat b) {
#if defined(__AVX512BW__)
    return (vshort)bits_by(all_uints(0xffff0000u), (vuint)b, (vuint)a >> 16);
#elif defined(__AVX2__)
    return (vshort)_mm256_blend_epi16(_mm256_srli_epi32((__m256i)a, 16), (__m256i)b, 0xaa);
#else
    return (vshort)(((vuint)a >> 16) | ((vuint)b & 0xffff0000u));
#endif
}

/* The exponent fields of four vectors from their upper_shorts, in any order. */
ULP_INLINE vbytes exponents_of(vshort a, vshort b) {
    const vshort low = a >> 7, high = b + b;
#if defined(__AVX512BW__)
    return (vbytes)bits_by(all_uints(0xff00ff00u), (vuint)high, (vuint)low);
#else
    return (vbytes)((low & 0xffu) | (high & 0xff00u));
#endif
}

ULP_INLINE vbytes larger_bytes(vbytes a, vbytes b) {
#if defined(MM_HAS_SSE2)
    return (vbytes)MM(max_epu8)((MM_INTS)a, (MM_INTS)b);
#else
    const vbytes yes = (vbytes)(a > b);
    return (a & yes) | (b & ~yes);
#endif
}

/* A bit for each byte that is zero. */
ULP_INLINE uint64_t zero_bytes(vbytes x) {
#if defined(__AVX512BW__)
    return _mm512_testn_epi8_mask((__m512i)x, (__m512i)x);
#elif defined(__AVX2__)
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8((__m256i)x, _mm256_setzero_si256()));
#elif defined(__SSE2__)
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8((__m128i)x, _mm_setzero_si128()));
#elif defined(ULP_ARM)
    return arm_zero_bytes((arm_ints)x);
#else
    uint64_t zero = 0;
    for (int i = 0; i < ULP_VECTOR_BYTES; i++) zero |= (uint64_t)(x[i] == 0) << i;
    return zero;
#endif
}

/* A bit for each byte below `limit`, where 0 < limit. */
ULP_INLINE uint64_t bytes_below(vbytes x, uint32_t limit) {
    const vbytes most = (vbytes){0} + (uint8_t)(limit - 1);
#if defined(__AVX512BW__)
    return _mm512_cmple_epu8_mask((__m512i)x, (__m512i)most);
#else
    return zero_bytes(larger_bytes(x, most) ^ most);
#endif
}

/* Whether a byte is above a limit. */
ULP_INLINE int any_byte_above(vbytes x, uint32_t limit) {
    const vbytes all = (vbytes){0} + (uint8_t)limit;
    return zero_bytes(larger_bytes(x, all) ^ all) != ~0ull >> (64 - ULP_VECTOR_BYTES);
}

ULP_INLINE int32_t bits_of(uint64_t x) {
#if defined(__GNUC__)
    return __builtin_popcountll(x);
#else
    int32_t bits = 0;
    for (; x != 0; x &= x - 1) bits++;
    return bits;
#endif
}

/* The number of zeros. */
ULP_INLINE int32_t zeros_of(vfloat x) {
#if defined(__AVX512F__)
    return bits_of(_mm512_cmp_ps_mask((__m512)x, _mm512_setzero_ps(), _CMP_EQ_OQ));
#elif defined(__AVX2__)
    return bits_of((uint32_t)_mm256_movemask_ps(_mm256_cmp_ps((__m256)x, _mm256_setzero_ps(), _CMP_EQ_OQ)));
#elif defined(__SSE2__)
    return bits_of((uint32_t)_mm_movemask_ps(_mm_cmpeq_ps((__m128)x, _mm_setzero_ps())));
#elif defined(ULP_ARM)
    return arm_zeros((arm_floats)x);
#else
    int32_t zeros = 0;
    for (int i = 0; i < FLOATS; i++) zeros += x[i] == 0.0f;
    return zeros;
#endif
}

ULP_INLINE int any_bit(vuint x) {
#if defined(ULP_ARM)
    return arm_most_u32((arm_ints)x) != 0;
#else
    uint32_t each[FLOATS], any = 0;
    memcpy(each, &x, sizeof each);
    for (int i = 0; i < FLOATS; i++) any |= each[i];
    return any != 0;
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
#elif defined(ULP_ARM)
    return arm_most_s32((arm_ints)x) > limit;
#else
    int32_t any = 0;
    for (int i = 0; i < FLOATS; i++) any |= x[i] > limit;
    return any;
#endif
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
    return (vfloat)ULP_TOWARD(mode, _mm512_add_round_ps, (__m512)a, (__m512)b);
#else
    (void)mode;
    return a + b;
#endif
}

#if defined(__AVX512F__)
/* The same for a b + c. */
ULP_INLINE vfloat float_fused_toward(vfloat a, vfloat b, vfloat c, uint32_t mode) {
    return (vfloat)ULP_TOWARD(mode, _mm512_fmadd_round_ps, (__m512)a, (__m512)b, (__m512)c);
}
#endif

/* a b + c, where a b is exact. */
ULP_INLINE vfloat float_fused(vfloat a, vfloat b, vfloat c) {
#if defined(MM_HAS_FMA)
    return (vfloat)MM(fmadd_ps)((MM_FLOATS)a, (MM_FLOATS)b, (MM_FLOATS)c);
#else
    return a * b + c;
#endif
}

/* Whether the instruction set has add_fractions. */
#if defined(__AVX2__)
enum { ADDS_FRACTIONS = 1 };
#else
enum { ADDS_FRACTIONS = 0 };
#endif

/* Where `down` counts units and `at`, 0 <= at < 2^32, is part of a unit times 2^32: `down`, and one more if
 * floor(at) + word is at least 2^32. Only if FLOATS_ROUND_TOWARD. */
ULP_INLINE vuint carry_fractions(vuint down, vfloat at, vuint word) {
#if defined(__AVX512F__)
    const vuint all = (vuint)_mm512_cvttps_epu32((__m512)at) + word;
    const __mmask16 carry = _mm512_cmplt_epu32_mask((__m512i)all, (__m512i)word);
    return (vuint)_mm512_mask_sub_epi32((__m512i)down, carry, (__m512i)down, _mm512_set1_epi32(-1));
#else
    (void)at, (void)word;
    return down;
#endif
}

/* `sum` + floor(rest + word 2^-32), where `sum` counts units and `rest`, -1/2 <= rest <= 1/2, is part of a unit; `at`
 * is rest 2^32. A negative `at` is an integer. Only if ADDS_FRACTIONS and not FLOATS_ROUND_TOWARD. */
ULP_INLINE vuint add_fractions(vuint sum, vfloat at, vuint word) {
#if defined(__AVX2__) && !defined(__AVX512F__)
    const vint negative = (vint)at >> 31;
    const vuint fraction = (vuint)_mm256_cvttps_epi32((__m256)at), all = fraction + word; /* 2^31 becomes -2^31 */
    const vint whole = (vint)_mm256_max_epu32((__m256i)all, (__m256i)word) == (vint)all;  /* no carry */
    return sum + (vuint)negative + (vuint)whole + 1u;
#else
    (void)at, (void)word;
    return sum;
#endif
}

/* -1 where x is a number other than zero. */
ULP_INLINE vint differs_from_zero(vfloat x) {
#if defined(__AVX2__) && !defined(__AVX512F__)
    return (vint)_mm256_cmp_ps((__m256)x, _mm256_setzero_ps(), _CMP_NEQ_OQ);
#else
    return (vint)(x < 0.0f) | (vint)(x > 0.0f);
#endif
}

/* The sum s with its error `error`, rounded to odd: the word of the number toward zero with a last bit of 1. */
ULP_INLINE vfloat odd_float_of(vfloat s, vfloat error) {
    const vint inexact = differs_from_zero(error),
               beyond = ((vint)error ^ (vint)s) >> 31; /* -1: s is not toward zero */
    return (vfloat)(((vint)s + (beyond & inexact)) | (inexact & 1));
}

#if defined(__AVX512F__)
/* The odd one of two neighbours, or the number that is both. */
ULP_INLINE vfloat odd_float_between(vfloat down, vfloat up) {
    const __mmask16 odd = _mm512_test_epi32_mask((__m512i)down, _mm512_set1_epi32(1));
    return (vfloat)_mm512_mask_blend_ps(odd, (__m512)up, (__m512)down);
}
#endif

/* x + y rounded to odd, where the sum does not overflow. */
ULP_INLINE vfloat odd_float_sum(vfloat x, vfloat y) {
#if defined(__AVX512F__)
    return odd_float_between(float_sum_toward(x, y, ULP_RD), float_sum_toward(x, y, ULP_RU));
#else
    const vfloat s = x + y, t = s - x;
    return odd_float_of(s, (x - (s - t)) + (y - t));
#endif
}

/* The same for a b + x, where a b is exact. */
ULP_INLINE vfloat odd_float_fused(vfloat a, vfloat b, vfloat x) {
#if defined(__AVX512F__)
    return odd_float_between(float_fused_toward(a, b, x, ULP_RD), float_fused_toward(a, b, x, ULP_RU));
#else
    const vfloat s = float_fused(a, b, x), t = s - x;
    return odd_float_of(s, (x - (s - t)) + float_fused(a, b, -t));
#endif
}

#endif
