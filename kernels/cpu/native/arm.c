/* arm.c - the instructions of Armv8 and Armv9 that form sums of products, and whether the processor has them. */
#include "native.h"

#if defined(__aarch64__) && defined(__linux__)
#include <arm_neon.h>
#include <sys/auxv.h>

/* Bits of AT_HWCAP and AT_HWCAP2, linux/arch/arm64/include/uapi/asm/hwcap.h. */
enum { DOTPROD = 20, I8MM = 13, BF16 = 14, FPMR = 48, F8DP4 = 53 };
static int has(unsigned long word, int bit) { return (int)(getauxval(word) >> bit & 1u); }

const char *ulp_lacks_arm_bf16(void) {
    return has(AT_HWCAP2, BF16) ? "" : "this processor has no FEAT_BF16 (HWCAP2 bit 14)";
}

const char *ulp_lacks_arm_dotprod(void) {
    return has(AT_HWCAP, DOTPROD) ? "" : "this processor has no FEAT_DotProd (HWCAP bit 20)";
}

const char *ulp_lacks_arm_i8mm(void) {
    return has(AT_HWCAP2, I8MM) ? "" : "this processor has no FEAT_I8MM (HWCAP2 bit 13)";
}

const char *ulp_lacks_arm_fp8(void) {
    return has(AT_HWCAP2, FPMR) && has(AT_HWCAP2, F8DP4) ? ""
                                                         : "this processor has no FEAT_FP8DOT4 (HWCAP2 bits 48 and 53)";
}

/* sum (4) += the words of x times those of y. Compilers name the instructions in functions for processors that have
 * them alone; FDOT is known to few assemblers and stands as its code. */
#define STEP(name, text)                                                                                               \
    static inline uint32x4_t name(uint32x4_t sum, uint32x4_t x, uint32x4_t y) {                                        \
        __asm__ volatile(".arch armv8.2-a+dotprod+bf16+i8mm\n\t" text : "+w"(sum) : "w"(x), "w"(y));                   \
        return sum;                                                                                                    \
    }
STEP(bfdot, "bfdot %0.4s, %1.8h, %2.8h")
STEP(bfmmla, "bfmmla %0.4s, %1.8h, %2.8h")
STEP(sdot, "sdot %0.4s, %1.16b, %2.16b")
STEP(smmla, "smmla %0.4s, %1.16b, %2.16b")

static inline uint32x4_t fdot(uint32x4_t sum, uint32x4_t x, uint32x4_t y) {
    register uint32x4_t s __asm__("v0") = sum, a __asm__("v1") = x, b __asm__("v2") = y;
    __asm__ volatile(".inst 0x4e02fc20" /* fdot v0.4s, v1.16b, v2.16b */ : "+w"(s) : "w"(a), "w"(b));
    return s;
}

/* Sets FPMR: the formats of both operands, 0 for E5M2 and 1 for E4M3; no scale, overflow to infinity. */
static inline void set_formats(uint64_t format) {
    __asm__ volatile("msr s3_3_c4_c4_2, %0" : : "r"(format | format << 3));
}

/* A word of `a` is used by all 16 results, and each result has its word of b. */
#define DOT(name, step, before)                                                                                        \
    void name(uint32_t *c, const uint32_t *a, const uint32_t *b, size_t words) {                                       \
        before;                                                                                                        \
        for (size_t j = 0; j < ULP_NATIVE_LANES; j += 4) {                                                             \
            uint32x4_t sum = vld1q_u32(c + j);                                                                         \
            for (size_t i = 0; i < words; i++)                                                                         \
                sum = step(sum, vdupq_n_u32(a[i]), vld1q_u32(b + ULP_NATIVE_LANES * i + j));                           \
            vst1q_u32(c + j, sum);                                                                                     \
        }                                                                                                              \
    }

/* The instruction adds two words to each of 2 x 2 results. Both rows have the words of `a`, and row 0 counts. The
 * products of a missing word are -0, which changes no sum. */
#define MATRIX(name, step, missing)                                                                                    \
    void name(uint32_t *c, const uint32_t *a, const uint32_t *b, size_t words) {                                       \
        for (size_t i = 0; i < words; i += 2) {                                                                        \
            const uint32_t *y = b + ULP_NATIVE_LANES * i, last = i + 1 < words ? a[i + 1] : missing;                   \
            const uint32x4_t x = {a[i], last, a[i], last};                                                             \
            for (size_t j = 0; j < ULP_NATIVE_LANES; j += 2) {                                                         \
                const uint32_t *next = i + 1 < words ? y + ULP_NATIVE_LANES + j : (const uint32_t[2]){0, 0};           \
                const uint32x4_t sum = {c[j], c[j + 1], 0, 0}, z = {y[j], next[0], y[j + 1], next[1]};                 \
                const uint32x4_t to = step(sum, x, z);                                                                 \
                c[j] = to[0];                                                                                          \
                c[j + 1] = to[1];                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

DOT(ulp_dot_arm_bfdot, bfdot, (void)0)
DOT(ulp_dot_arm_sdot, sdot, (void)0)
DOT(ulp_dot_arm_fdot_e4m3, fdot, set_formats(1))
DOT(ulp_dot_arm_fdot_e5m2, fdot, set_formats(0))
MATRIX(ulp_dot_arm_bfmmla, bfmmla, 0x80008000u)
MATRIX(ulp_dot_arm_smmla, smmla, 0)

#endif
