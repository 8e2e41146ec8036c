/* arm.h - instructions of Arm by the names of MM(): NEON for vectors of 128 bits, SVE for vectors of 256 bits.
 *
 * A function has the name of the x86 instruction that gives the same bits, so that the loops of kernels/cpu have one
 * text. Arm Architecture Reference Manual for A-profile (DDI 0487), C7 and C8.
 */
#ifndef ULP_CPU_ARM_H
#define ULP_CPU_ARM_H

#include <arm_neon.h>
#include <stdint.h>
#include <string.h>
#if defined(__linux__)
#include <sys/auxv.h>
#endif

typedef int64_t arm_ints __attribute__((vector_size(ULP_ARM / 8)));
typedef float arm_floats __attribute__((vector_size(ULP_ARM / 8)));
typedef double arm_doubles __attribute__((vector_size(ULP_ARM / 8)));

/* The vectors of the intrinsics. ARM_TWO(NAME, OPERATION, TYPE): an instruction with two operands; ARM_SATURATES: the
 * same, but SVE has it without a mask. */
#if ULP_ARM == 256

#include <arm_sve.h>

#define ARM_VECTOR __attribute__((arm_sve_vector_bits(256)))
typedef svint8_t arm_s8 ARM_VECTOR;
typedef svuint8_t arm_u8 ARM_VECTOR;
typedef svuint16_t arm_u16 ARM_VECTOR;
typedef svint16_t arm_s16 ARM_VECTOR;
typedef svuint32_t arm_u32 ARM_VECTOR;
typedef svint32_t arm_s32 ARM_VECTOR;
typedef svuint64_t arm_u64 ARM_VECTOR;
typedef svfloat32_t arm_f32 ARM_VECTOR;
typedef svfloat64_t arm_f64 ARM_VECTOR;
typedef svbool_t arm_bool ARM_VECTOR;

#define ARM_TWO(name, operation, type)                                                                                 \
    ULP_INLINE arm_ints arm_##name(arm_ints a, arm_ints b) {                                                           \
        return (arm_ints)(arm_##type)sv##operation##_##type##_x(svptrue_b8(), (arm_##type)a, (arm_##type)b);           \
    }
#define ARM_SATURATES(name, operation, type)                                                                           \
    ULP_INLINE arm_ints arm_##name(arm_ints a, arm_ints b) {                                                           \
        return (arm_ints)(arm_##type)sv##operation##_##type((arm_##type)a, (arm_##type)b);                             \
    }

#else

typedef uint8x16_t arm_u8;
typedef uint16x8_t arm_u16;
typedef int16x8_t arm_s16;
typedef uint32x4_t arm_u32;
typedef int32x4_t arm_s32;
typedef uint64x2_t arm_u64;
typedef float32x4_t arm_f32;
typedef float64x2_t arm_f64;

#define ARM_TWO(name, operation, type)                                                                                 \
    ULP_INLINE arm_ints arm_##name(arm_ints a, arm_ints b) {                                                           \
        return (arm_ints)v##operation##q_##type((arm_##type)a, (arm_##type)b);                                         \
    }
#define ARM_SATURATES ARM_TWO

#endif

ARM_TWO(max_epu8, max, u8)
ARM_TWO(min_epu8, min, u8)
ARM_TWO(max_epi16, max, s16)
ARM_TWO(max_epi32, max, s32)
ARM_TWO(max_epu32, max, u32)
ARM_TWO(min_epu32, min, u32)
ARM_SATURATES(adds_epu8, qadd, u8)
ARM_SATURATES(subs_epu16, qsub, u16)

/* a b + c, rounded once. */
ULP_INLINE arm_floats arm_fmadd_ps(arm_floats a, arm_floats b, arm_floats c) {
#if ULP_ARM == 256
    return (arm_floats)(arm_f32)svmla_f32_x(svptrue_b32(), (arm_f32)c, (arm_f32)a, (arm_f32)b);
#else
    return (arm_floats)vfmaq_f32((arm_f32)c, (arm_f32)a, (arm_f32)b);
#endif
}

ULP_INLINE arm_doubles arm_fmadd_pd(arm_doubles a, arm_doubles b, arm_doubles c) {
#if ULP_ARM == 256
    return (arm_doubles)(arm_f64)svmla_f64_x(svptrue_b64(), (arm_f64)c, (arm_f64)a, (arm_f64)b);
#else
    return (arm_doubles)vfmaq_f64((arm_f64)c, (arm_f64)a, (arm_f64)b);
#endif
}

/* The products of the lower halves of 64-bit lanes. */
ULP_INLINE arm_ints arm_mul_epu32(arm_ints a, arm_ints b) {
#if ULP_ARM == 256
    return (arm_ints)(arm_u64)svmul_u64_x(svptrue_b64(), svextw_u64_x(svptrue_b64(), (arm_u64)a),
                                          svextw_u64_x(svptrue_b64(), (arm_u64)b));
#else
    return (arm_ints)vmull_u32(vmovn_u64((arm_u64)a), vmovn_u64((arm_u64)b));
#endif
}

/* The sums of two products of signed 16-bit numbers each. */
ULP_INLINE arm_ints arm_madd_epi16(arm_ints a, arm_ints b) {
#if ULP_ARM == 256
    const arm_s32 low =
        svmul_s32_x(svptrue_b32(), svexth_s32_x(svptrue_b32(), (arm_s32)a), svexth_s32_x(svptrue_b32(), (arm_s32)b));
    return (arm_ints)(arm_s32)svmla_s32_x(svptrue_b32(), low, svasr_n_s32_x(svptrue_b32(), (arm_s32)a, 16),
                                          svasr_n_s32_x(svptrue_b32(), (arm_s32)b, 16));
#else
    return (arm_ints)vpaddq_s32(vmull_s16(vget_low_s16((arm_s16)a), vget_low_s16((arm_s16)b)),
                                vmull_high_s16((arm_s16)a, (arm_s16)b));
#endif
}

/* Whether the processor has arm_dot: always with SVE, else from Armv8.4 on, and in many processors before. */
static inline int arm_has_dots(void) {
#if ULP_ARM == 256 || defined(__ARM_FEATURE_DOTPROD)
    return 1;
#elif defined(__linux__)
    return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
#else
    return 0;
#endif
}

#if ULP_ARM == 128
/* Whether the processor has arm_matrix_dot: from Armv8.6 on. */
static inline int arm_has_matrices(void) {
#if defined(__ARM_FEATURE_MATMUL_INT8)
    return 1;
#elif defined(__linux__)
    return (getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0;
#else
    return 0;
#endif
}

/* sum (2,2) + the products of a (2,8) and the transpose of b (2,8), signed 8-bit numbers. */
ULP_INLINE arm_ints arm_matrix_dot(arm_ints sum, arm_ints a, arm_ints b) {
    __asm__(".arch armv8.2-a+i8mm\n\tsmmla %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(a), "w"(b));
    return sum;
}
#endif

/* sum + the sums of four products of signed 8-bit numbers each. */
ULP_INLINE arm_ints arm_dot(arm_ints sum, arm_ints a, arm_ints b) {
#if ULP_ARM == 256
    return (arm_ints)(arm_s32)svdot_s32((arm_s32)sum, (arm_s8)a, (arm_s8)b);
#else
    /* the compiler has no name for the instruction in functions for every processor */
    __asm__(".arch armv8.2-a+dotprod\n\tsdot %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(a), "w"(b));
    return sum;
#endif
}

/* Shifts by a number for each 32-bit word, below 2^31: from 32 places on, no bit of a is left but its sign. */
ULP_INLINE arm_ints arm_srav_epi32(arm_ints a, arm_ints n) {
#if ULP_ARM == 256
    return (arm_ints)(arm_s32)svasr_s32_x(svptrue_b32(), (arm_s32)a, (arm_u32)n);
#else
    return (arm_ints)vshlq_s32((arm_s32)a, vnegq_s32((arm_s32)vminq_u32((arm_u32)n, vdupq_n_u32(31))));
#endif
}

ULP_INLINE arm_ints arm_sllv_epi32(arm_ints a, arm_ints n) {
#if ULP_ARM == 256
    return (arm_ints)(arm_u32)svlsl_u32_x(svptrue_b32(), (arm_u32)a, (arm_u32)n);
#else
    return (arm_ints)vshlq_u32((arm_u32)a, (arm_s32)vminq_u32((arm_u32)n, vdupq_n_u32(32)));
#endif
}

/* The upper halves of 64-bit lanes, those of a before those of b; `which` is the shuffle 0xdd. */
ULP_INLINE arm_floats arm_shuffle_ps(arm_floats a, arm_floats b, int which) {
    (void)which;
#if ULP_ARM == 256
    return (arm_floats)(arm_f32)svuzp2_f32((arm_f32)a, (arm_f32)b);
#else
    return (arm_floats)vuzp2q_f32((arm_f32)a, (arm_f32)b);
#endif
}

/* x rounded down and up to 32-bit integers. */
ULP_INLINE arm_ints arm_floor_epi32(arm_floats x) {
#if ULP_ARM == 256
    return (arm_ints)(arm_s32)svcvt_s32_f32_x(svptrue_b32(), svrintm_f32_x(svptrue_b32(), (arm_f32)x));
#else
    return (arm_ints)vcvtmq_s32_f32((arm_f32)x);
#endif
}

ULP_INLINE arm_ints arm_ceil_epi32(arm_floats x) {
#if ULP_ARM == 256
    return (arm_ints)(arm_s32)svcvt_s32_f32_x(svptrue_b32(), svrintp_f32_x(svptrue_b32(), (arm_f32)x));
#else
    return (arm_ints)vcvtpq_s32_f32((arm_f32)x);
#endif
}

/* The largest and the least 32-bit word, without and with a sign. */
ULP_INLINE uint32_t arm_most_u32(arm_ints x) {
#if ULP_ARM == 256
    return svmaxv_u32(svptrue_b32(), (arm_u32)x);
#else
    return vmaxvq_u32((arm_u32)x);
#endif
}

ULP_INLINE uint32_t arm_least_u32(arm_ints x) {
#if ULP_ARM == 256
    return svminv_u32(svptrue_b32(), (arm_u32)x);
#else
    return vminvq_u32((arm_u32)x);
#endif
}

ULP_INLINE int32_t arm_most_s32(arm_ints x) {
#if ULP_ARM == 256
    return svmaxv_s32(svptrue_b32(), (arm_s32)x);
#else
    return vmaxvq_s32((arm_s32)x);
#endif
}

/* A bit for each byte that is zero. */
ULP_INLINE uint64_t arm_zero_bytes(arm_ints x) {
#if ULP_ARM == 256
    const arm_bool zero = svcmpeq_n_u8(svptrue_b8(), (arm_u8)x, 0);
    uint32_t bits;
    memcpy(&bits, &zero, sizeof bits);
    return bits;
#else
    static const uint8_t places[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const arm_u8 each = vandq_u8(vceqzq_u8((arm_u8)x), vld1q_u8(places));
    return vaddv_u8(vget_low_u8(each)) | (uint64_t)vaddv_u8(vget_high_u8(each)) << 8;
#endif
}

/* The number of zeros. */
ULP_INLINE int32_t arm_zeros(arm_floats x) {
#if ULP_ARM == 256
    return (int32_t)svcntp_b32(svptrue_b32(), svcmpeq_n_f32(svptrue_b32(), (arm_f32)x, 0.0f));
#else
    return -vaddvq_s32((arm_s32)vceqzq_f32((arm_f32)x));
#endif
}

#endif
