/* vectors.h - vectors of words for the loops over codes: from bytes and halves of words and back, shifts, choices.
 */
#ifndef ULP_CPU_CODE_VECTORS_H
#define ULP_CPU_CODE_VECTORS_H

#include "kernels/cpu/floats.h"

typedef uint8_t few_bytes __attribute__((vector_size(FLOATS)));
typedef uint16_t few_shorts __attribute__((vector_size(2 * FLOATS)));

/* Words shifted by a count, which all lanes hold: with AVX2 faster than by one number. */
ULP_INLINE vuint shifted_right(vuint u, vuint counts) {
#if defined(__AVX2__)
    return (vuint)MM(srlv_epi32)((MM_INTS)u, (MM_INTS)counts);
#else
    return u >> counts[0];
#endif
}

ULP_INLINE vuint shifted_left(vuint u, vuint counts) {
#if defined(__AVX2__)
    return (vuint)MM(sllv_epi32)((MM_INTS)u, (MM_INTS)counts);
#else
    return u << counts[0];
#endif
}

/* The largest word of a vector. */
ULP_INLINE uint32_t largest_uint(vuint x) {
    uint32_t each[FLOATS], most = 0;
    memcpy(each, &x, sizeof each);
    for (int i = 0; i < FLOATS; i++) most = each[i] > most ? each[i] : most;
    return most;
}

/* The smaller of two positive numbers, as words. */
ULP_INLINE vuint smaller_numbers(vuint a, vuint b) {
#if defined(__SSE2__)
    return (vuint)MM(min_ps)((MM_FLOATS)a, (MM_FLOATS)b);
#else
    return smaller_uints(a, b);
#endif
}

/* A number, or the end of a range that it is beyond; of NaN any number. */
ULP_INLINE vfloat clamped(vfloat x, vfloat low, vfloat high) {
#if defined(__SSE2__)
    return (vfloat)MM(min_ps)(MM(max_ps)((MM_FLOATS)x, (MM_FLOATS)low), (MM_FLOATS)high);
#else
    const vuint above = (vuint)(x > low), inside = ((vuint)x & above) | ((vuint)low & ~above);
    const vuint below = (vuint)((vfloat)inside < high);
    return (vfloat)((inside & below) | ((vuint)high & ~below));
#endif
}

/* `these` where a = b, or where a > b as integers, and else `others`. */
ULP_INLINE vuint where_equal(vuint a, vuint b, vuint these, vuint others) {
#if defined(__AVX512F__)
    const __mmask16 yes = _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b);
    return (vuint)_mm512_mask_mov_epi32((__m512i)others, yes, (__m512i)these);
#else
    const vuint yes = (vuint)(a == b);
    return (these & yes) | (others & ~yes);
#endif
}

ULP_INLINE vuint where_above(vuint a, vuint b, vuint these, vuint others) {
#if defined(__AVX512F__)
    const __mmask16 yes = _mm512_cmpgt_epi32_mask((__m512i)a, (__m512i)b);
    return (vuint)_mm512_mask_mov_epi32((__m512i)others, yes, (__m512i)these);
#else
    const vuint yes = (vuint)((vint)a > (vint)b);
    return (these & yes) | (others & ~yes);
#endif
}

#if defined(__AVX512F__)
typedef __m256i half_ints;
#elif defined(__AVX2__)
typedef __m128i half_ints;
#endif

/* The bytes, or halves of words, at `from`. */
ULP_INLINE vuint words_of_bytes(const uint8_t *from) {
    few_bytes v;
    memcpy(&v, from, sizeof v);
#if defined(__AVX512F__)
    return (vuint)_mm512_cvtepu8_epi32((__m128i)v);
#elif defined(__AVX2__)
    return (vuint)_mm256_cvtepu8_epi32(_mm_set1_epi64x((int64_t)v));
#elif defined(__SSE2__)
    const __m128i zero = {0};
    return (vuint)_mm_unpacklo_epi16(_mm_unpacklo_epi8(_mm_cvtsi32_si128((int32_t)v), zero), zero);
#else
    return __builtin_convertvector(v, vuint);
#endif
}

ULP_INLINE vuint words_of_halves(const uint16_t *from) {
    few_shorts v;
    memcpy(&v, from, sizeof v);
#if defined(__AVX2__)
    return (vuint)MM(cvtepu16_epi32)((half_ints)v);
#elif defined(__SSE2__)
    const __m128i zero = {0};
    return (vuint)_mm_unpacklo_epi16(_mm_set1_epi64x((int64_t)v), zero);
#else
    return __builtin_convertvector(v, vuint);
#endif
}

enum { NARROWED = 4 }; /* vectors at a time */

#if defined(__AVX2__) && !defined(__AVX512F__)

/* The low bytes of the words of each half of v, in word `at` of the half. */
ULP_INLINE __m256i bytes_at(vuint v, int at) {
    const int bytes = 0x0c080400, none = -1;
    const __m256i order = _mm256_setr_epi32(at == 0 ? bytes : none, at == 1 ? bytes : none, at == 2 ? bytes : none,
                                            at == 3 ? bytes : none, at == 0 ? bytes : none, at == 1 ? bytes : none,
                                            at == 2 ? bytes : none, at == 3 ? bytes : none);
    return _mm256_shuffle_epi8((__m256i)v, order);
}

ULP_INLINE void put_low_bytes(uint8_t *to, const vuint v[NARROWED]) {
    const __m256i all = _mm256_or_si256(_mm256_or_si256(bytes_at(v[0], 0), bytes_at(v[1], 1)),
                                        _mm256_or_si256(bytes_at(v[2], 2), bytes_at(v[3], 3)));
    const __m256i inorder = _mm256_permutevar8x32_epi32(all, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    _mm256_storeu_si256((__m256i *)(void *)to, inorder);
}

ULP_INLINE void put_low_halves(uint16_t *to, const vuint v[NARROWED]) {
    const __m256i low = _mm256_set1_epi32(0xffff);
    for (int i = 0; i < NARROWED; i += 2) {
        const __m256i both =
            _mm256_packus_epi32(_mm256_and_si256((__m256i)v[i], low), _mm256_and_si256((__m256i)v[i + 1], low));
        _mm256_storeu_si256((__m256i *)(void *)(to + i * FLOATS), _mm256_permute4x64_epi64(both, 0xd8));
    }
}

#elif defined(__SSE2__) && !defined(__AVX512F__)

ULP_INLINE void put_low_bytes(uint8_t *to, const vuint v[NARROWED]) {
    const __m128i low = _mm_set1_epi32(0xff);
    const __m128i first = _mm_packs_epi32(_mm_and_si128((__m128i)v[0], low), _mm_and_si128((__m128i)v[1], low));
    const __m128i second = _mm_packs_epi32(_mm_and_si128((__m128i)v[2], low), _mm_and_si128((__m128i)v[3], low));
    _mm_storeu_si128((__m128i *)(void *)to, _mm_packus_epi16(first, second));
}

/* As numbers with a sign, halves are not clamped. */
ULP_INLINE void put_low_halves(uint16_t *to, const vuint v[NARROWED]) {
    for (int i = 0; i < NARROWED; i += 2) {
        const __m128i both =
            _mm_packs_epi32((__m128i)((vint)(v[i] << 16) >> 16), (__m128i)((vint)(v[i + 1] << 16) >> 16));
        _mm_storeu_si128((__m128i *)(void *)(to + i * FLOATS), both);
    }
}

#else

ULP_INLINE void put_low_bytes(uint8_t *to, const vuint v[NARROWED]) {
    for (int i = 0; i < NARROWED; i++) {
        const few_bytes bytes = __builtin_convertvector(v[i], few_bytes);
        memcpy(to + i * FLOATS, &bytes, sizeof bytes);
    }
}

ULP_INLINE void put_low_halves(uint16_t *to, const vuint v[NARROWED]) {
    for (int i = 0; i < NARROWED; i++) {
        const few_shorts halves = __builtin_convertvector(v[i], few_shorts);
        memcpy(to + i * FLOATS, &halves, sizeof halves);
    }
}

#endif
#endif
