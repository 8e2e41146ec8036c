/* dots.c - the instructions of AVX512_BF16, AVX10.2, AVX512_VNNI and F16C. */
#include "native.h"

#if defined(__x86_64__) && defined(__linux__)
#include <immintrin.h>

/* A word of `a` is used by all 16 results, and each result has its word of b. Both are loaded as integers. */
#define DOT(name, needs, type, from, step, to)                                                                         \
    __attribute__((target(needs))) void name(uint32_t *c, const uint32_t *a, const uint32_t *b, size_t words) {        \
        type sum = from(_mm512_loadu_si512(c));                                                                        \
        for (size_t i = 0; i < words; i++) {                                                                           \
            const __m512i x = _mm512_set1_epi32((int)a[i]), y = _mm512_loadu_si512(b + ULP_NATIVE_LANES * i);          \
            sum = step(sum, x, y);                                                                                     \
        }                                                                                                              \
        _mm512_storeu_si512(c, to(sum));                                                                               \
    }

/* The pairs of bfloat16 numbers in 16 words. clang 16 and 17 crash if they see that all words are equal. */
__attribute__((target("avx512f,avx512bf16"))) static inline __m512bh pairs_of(__m512i words) {
#if defined(__clang__) && (__clang_major__ == 16 || __clang_major__ == 17)
    __asm__("" : "+v"(words));
#endif
    return (__m512bh)words;
}

#define PLAIN(x) (x)
#define BF16_STEP(sum, x, y) _mm512_dpbf16_ps(sum, pairs_of(x), pairs_of(y))

DOT(ulp_dot_avx512_bf16, "avx512f,avx512bf16", __m512, _mm512_castsi512_ps, BF16_STEP, _mm512_castps_si512)
DOT(ulp_dot_vnni_int8, "avx512f,avx512vnni", __m512i, PLAIN, _mm512_dpbusd_epi32, PLAIN)
DOT(ulp_dot_vnni_int8_sat, "avx512f,avx512vnni", __m512i, PLAIN, _mm512_dpbusds_epi32, PLAIN)
DOT(ulp_dot_vnni_int16, "avx512f,avx512vnni", __m512i, PLAIN, _mm512_dpwssd_epi32, PLAIN)
DOT(ulp_dot_vnni_int16_sat, "avx512f,avx512vnni", __m512i, PLAIN, _mm512_dpwssds_epi32, PLAIN)

/* Words of four codes, 8 results at a time: the sums of two products clamp to 16 bits, their sums are added. */
__attribute__((target("avx2"))) void ulp_dot_maddubs_int8(uint32_t *c, const uint32_t *a, const uint32_t *b,
                                                          size_t words) {
    const __m256i ones = _mm256_set1_epi16(1);
    for (size_t j = 0; j < ULP_NATIVE_LANES; j += 8) {
        __m256i sum = _mm256_loadu_si256((const __m256i *)(const void *)(c + j));
        for (size_t i = 0; i < words; i++) {
            const __m256i y = _mm256_loadu_si256((const __m256i *)(const void *)(b + ULP_NATIVE_LANES * i + j));
            const __m256i two = _mm256_maddubs_epi16(_mm256_set1_epi32((int)a[i]), y);
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(two, ones));
        }
        _mm256_storeu_si256((__m256i *)(void *)(c + j), sum);
    }
}

/* VDPPHPS zmm0, zmm1, zmm2, for compilers that do not know it. */
__attribute__((target("avx512f"))) void ulp_dot_avx512_fp16(uint32_t *c, const uint32_t *a, const uint32_t *b,
                                                            size_t words) {
    typedef struct sixteen {
        uint32_t word[ULP_NATIVE_LANES];
    } sixteen;
    for (size_t i = 0; i < words; i++)
        __asm__ volatile("vmovdqu32 %0, %%zmm0\n\t"
                         "vpbroadcastd %1, %%zmm1\n\t"
                         "vmovdqu32 %2, %%zmm2\n\t"
                         ".byte 0x62, 0xf2, 0x74, 0x48, 0x52, 0xc2\n\t"
                         "vmovdqu32 %%zmm0, %0"
                         : "+m"(*(sixteen *)c)
                         : "m"(a[i]), "m"(*(const sixteen *)(b + ULP_NATIVE_LANES * i))
                         : "xmm0", "xmm1", "xmm2");
}

/* ---- conversions ---- */

/* The immediate operand is part of the instruction. */
#define NARROW(name, rounding)                                                                                         \
    __attribute__((target("avx,f16c"))) static void name(uint16_t *code, const float *x, size_t n) {                   \
        for (size_t i = 0; i < n; i += 8)                                                                              \
            _mm_storeu_si128((__m128i *)(void *)(code + i), _mm256_cvtps_ph(_mm256_loadu_ps(x + i), rounding));        \
    }

NARROW(narrow_rne, 0)
NARROW(narrow_rd, 1)
NARROW(narrow_ru, 2)
NARROW(narrow_rz, 3)
NARROW(narrow_mxcsr, 4)

void ulp_cpu_f16c_narrow(uint16_t *code, const float *x, size_t n, ulp_f16c_rounding rounding) {
    switch (rounding) {
    case ULP_F16C_RNE: narrow_rne(code, x, n); break;
    case ULP_F16C_RD: narrow_rd(code, x, n); break;
    case ULP_F16C_RU: narrow_ru(code, x, n); break;
    case ULP_F16C_RZ: narrow_rz(code, x, n); break;
    case ULP_F16C_MXCSR: narrow_mxcsr(code, x, n); break;
    }
}

__attribute__((target("avx,f16c"))) void ulp_cpu_f16c_widen(float *x, const uint16_t *code, size_t n) {
    for (size_t i = 0; i < n; i += 8)
        _mm256_storeu_ps(x + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(code + i))));
}

__attribute__((target("avx512f,avx512bf16"))) void ulp_cpu_bf16_narrow(uint16_t *code, const float *x, size_t n) {
    for (size_t i = 0; i < n; i += 16)
        _mm256_storeu_si256((__m256i *)(void *)(code + i), (__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(x + i)));
}

#else

/* Never called: ulp_cpu_f16c_lacks() says what is missing. */
void ulp_cpu_f16c_narrow(uint16_t *code, const float *x, size_t n, ulp_f16c_rounding rounding) {
    (void)code, (void)x, (void)n, (void)rounding;
}
void ulp_cpu_f16c_widen(float *x, const uint16_t *code, size_t n) { (void)x, (void)code, (void)n; }
void ulp_cpu_bf16_narrow(uint16_t *code, const float *x, size_t n) { (void)code, (void)x, (void)n; }

#endif
