/* doubles.h - vectors of binary64 numbers: a fused multiply-add in a direction, maximum and minimum, and the watch over
 * the range of results.
 */
#ifndef ULP_CPU_DOUBLES_H
#define ULP_CPU_DOUBLES_H

#include <string.h>

#include "cpu.h"

enum { DOUBLES = ULP_VECTOR_BYTES / 8 }; /* the numbers of a vector */

typedef double vdouble __attribute__((vector_size(ULP_VECTOR_BYTES)));
typedef uint64_t vbits __attribute__((vector_size(ULP_VECTOR_BYTES)));
typedef int64_t vsigned __attribute__((vector_size(ULP_VECTOR_BYTES)));
typedef uint32_t vhalf __attribute__((vector_size(ULP_VECTOR_BYTES))); /* two to a number */

ULP_INLINE vdouble all_doubles(double x) { return x - (vdouble){0}; } /* the sign of a zero stays */
ULP_INLINE vbits all_bits(uint64_t x) { return (vbits){0} + x; }

/* DOUBLES binary32 numbers, or words of memory, as the lanes of a vector. gcc would convert in two halves. */
typedef float vfloats __attribute__((vector_size(ULP_VECTOR_BYTES / 2)));
typedef uint32_t vwords __attribute__((vector_size(ULP_VECTOR_BYTES / 2)));

ULP_INLINE vdouble wide_floats(vfloats x) {
#if defined(__AVX512F__)
    return (vdouble)_mm512_cvtps_pd((__m256)x);
#elif defined(__AVX2__)
    return (vdouble)_mm256_cvtps_pd((__m128)x);
#else
    return __builtin_convertvector(x, vdouble);
#endif
}

ULP_INLINE vbits wide_words(const uint32_t *from) {
    vwords words;
    memcpy(&words, from, sizeof words);
#if defined(__AVX512F__)
    return (vbits)_mm512_cvtepu32_epi64((__m256i)words);
#elif defined(__AVX2__)
    return (vbits)_mm256_cvtepu32_epi64((__m128i)words);
#else
    return __builtin_convertvector(words, vbits);
#endif
}

/* a > b ? a : b and a < b ? a : b, so that a NaN in b stays. */
ULP_INLINE vdouble larger(vdouble a, vdouble b) {
#if defined(__SSE2__)
    return (vdouble)MM(max_pd)((MM_DOUBLES)a, (MM_DOUBLES)b);
#else
    const vbits yes = (vbits)(a > b);
    return (vdouble)(((vbits)a & yes) | ((vbits)b & ~yes));
#endif
}

ULP_INLINE vdouble smaller(vdouble a, vdouble b) {
#if defined(__SSE2__)
    return (vdouble)MM(min_pd)((MM_DOUBLES)a, (MM_DOUBLES)b);
#else
    const vbits yes = (vbits)(a < b);
    return (vdouble)(((vbits)a & yes) | ((vbits)b & ~yes));
#endif
}

/* The larger and the smaller of two 32-bit words. */
ULP_INLINE vhalf larger_words(vhalf a, vhalf b) {
#if defined(MM_HAS_AVX2)
    return (vhalf)MM(max_epu32)((MM_INTS)a, (MM_INTS)b);
#else
    const vhalf yes = (vhalf)(a > b);
    return (a & yes) | (b & ~yes);
#endif
}

/* The larger of two words whose sign and significand are zero, in the units for integers if they have such an
 * instruction. */
ULP_INLINE vbits larger_exponents(vbits a, vbits b) {
#if defined(MM_HAS_AVX2)
    return (vbits)larger_words((vhalf)a, (vhalf)b);
#else
    return (vbits)larger((vdouble)a, (vdouble)b);
#endif
}

ULP_INLINE vhalf smaller_words(vhalf a, vhalf b) {
#if defined(MM_HAS_AVX2)
    return (vhalf)MM(min_epu32)((MM_INTS)a, (MM_INTS)b);
#else
    const vhalf yes = (vhalf)(a < b);
    return (a & yes) | (b & ~yes);
#endif
}

/* a b + c, rounded once to nearest. Without such an instruction the product must be exact, as that of binary32 values
 * is. */
ULP_INLINE vdouble fused(vdouble a, vdouble b, vdouble c) {
#if defined(MM_HAS_FMA)
    return (vdouble)MM(fmadd_pd)((MM_DOUBLES)a, (MM_DOUBLES)b, (MM_DOUBLES)c);
#else
    return a * b + c;
#endif
}

/* Whether fused_toward rounds in the direction of its mode. If not, it rounds to nearest, and a b + c must be exact. */
#if defined(__AVX512F__)
enum { ROUNDS_TOWARD = 1 };
#else
enum { ROUNDS_TOWARD = 0 };
#endif

#if defined(__AVX512F__)
/* The odd one of two neighbours, or the number that is both. */
ULP_INLINE vdouble odd_between(vdouble down, vdouble up) {
    const __mmask8 odd = _mm512_test_epi64_mask((__m512i)down, _mm512_set1_epi64(1));
    return (vdouble)_mm512_mask_blend_pd(odd, (__m512d)up, (__m512d)down);
}
#endif

/* a b + c with 53 bits, in a form that rounds to a format like the exact number in modes rna, rz, ru, ro and sra:
 * rounded upward in ru and to odd in ro. The other modes look at bits that are kept, and the form is rounded toward
 * zero. */
ULP_INLINE vdouble fused_toward(vdouble a, vdouble b, vdouble c, uint32_t mode) {
#if defined(__AVX512F__)
    const __m512d x = (__m512d)a, y = (__m512d)b, z = (__m512d)c;
    if (mode != ULP_RO) return (vdouble)ULP_TOWARD(mode, _mm512_fmadd_round_pd, x, y, z);
    return odd_between((vdouble)ULP_TOWARD(ULP_RD, _mm512_fmadd_round_pd, x, y, z),
                       (vdouble)ULP_TOWARD(ULP_RU, _mm512_fmadd_round_pd, x, y, z));
#else
    (void)mode;
    return fused(a, b, c);
#endif
}

/* a + b rounded in the direction of mode rz, ru or rd; only if ROUNDS_TOWARD. */
ULP_INLINE vdouble sum_toward(vdouble a, vdouble b, uint32_t mode) {
#if defined(__AVX512F__)
    return (vdouble)ULP_TOWARD(mode, _mm512_add_round_pd, (__m512d)a, (__m512d)b);
#else
    (void)mode;
    return a + b;
#endif
}

/* ---- the watch ---- */

/* The least and the largest magnitude of results that are not zero, by twice the upper half of their words; the least
 * less one. */
typedef struct watch {
    vhalf least, most;
} watch;

ULP_INLINE watch watch_begin(void) { return (watch){~(vhalf){0}, (vhalf){0}}; }

/* The upper halves of the numbers of two vectors, in any order. */
ULP_INLINE vhalf upper_halves(vdouble a, vdouble b) {
#if defined(MM_HAS_AVX2)
    return (vhalf)MM(shuffle_ps)((MM_FLOATS)a, (MM_FLOATS)b, 0xdd);
#else
    return (vhalf)(((vbits)a >> 32) | ((vbits)b & 0xffffffff00000000u));
#endif
}

ULP_INLINE watch watch_most(watch w, vdouble a, vdouble b) {
    const vhalf u = upper_halves(a, b);
    w.most = larger_words(w.most, u + u);
    return w;
}

ULP_INLINE watch watch_least(watch w, vdouble a, vdouble b) {
    const vhalf u = upper_halves(a, b);
    w.least = smaller_words(w.least, u + u - 1); /* zero becomes the largest number */
    return w;
}

ULP_INLINE watch watch_both(watch w, vdouble a, vdouble b) {
    const vhalf u = upper_halves(a, b), twice = u + u;
    w.most = larger_words(w.most, twice);
    w.least = smaller_words(w.least, twice - 1); /* zero becomes the largest number */
    return w;
}

/* The range of a watch: twice the upper half of the word of a magnitude. */
ULP_INLINE uint32_t watch_limit(uint64_t magnitude) { return (uint32_t)(magnitude >> 32) * 2u; }

/* Whether all results are zero or in the range from `least` to `most`. */
ULP_INLINE int watch_is_within(watch w, uint32_t least, uint32_t most) {
    uint32_t low[ULP_VECTOR_BYTES / 4], high[ULP_VECTOR_BYTES / 4], beyond = 0;
    memcpy(low, &w.least, sizeof low);
    memcpy(high, &w.most, sizeof high);
    for (int i = 0; i < ULP_VECTOR_BYTES / 4; i++)
        beyond |= (uint32_t)(high[i] > most) | ((uint32_t)(low[i] < least - 1u) & (uint32_t)(least != 0));
    return beyond == 0;
}

#endif
