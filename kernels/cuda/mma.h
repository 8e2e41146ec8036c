/* mma.h - mma.sync, one instruction for each row of ULP_NATIVE_MMA: D = A B + D on a warp's registers.
 *
 * Operands are codes; fragments.h gives their registers. The emulated device reads the names of the instructions and
 * computes with the models of kernels/products/datapath_rows.c. `offered` is false for an instruction that the
 * architecture lacks; such an instruction may not be run.
 */
#ifndef ULP_CUDA_MMA_H
#define ULP_CUDA_MMA_H

#include "fragments.h"
#include "native_rows.h"

#include <cuda_runtime.h>

/* The architecture of this compilation pass, __CUDA_ARCH__. Host passes and the emulated device offer all
 * instructions. */
#if defined(__CUDA_ARCH__)
static constexpr int ULP_CUDA_PASS = __CUDA_ARCH__;
#else
static constexpr int ULP_CUDA_PASS = 9999;
#endif

/* ---- the forms: they use d (D registers), a (A registers) and b ---- */

#if defined(ULP_EMULATED_DEVICE)
#define ULP_MMA_F32_WIDE(instruction) ulp_emulated_mma(instruction, d, a, b)
#define ULP_MMA_F32_SLIM(instruction) ulp_emulated_mma(instruction, d, a, b)
#define ULP_MMA_F16_WIDE(instruction) ulp_emulated_mma(instruction, d, a, b)
#define ULP_MMA_S32_WIDE(instruction) ulp_emulated_mma(instruction, d, a, b)
#else
#define ULP_MMA_F32_BEGIN                                                                                              \
    float f0 = ulp_from_bits32(d[0]), f1 = ulp_from_bits32(d[1]), f2 = ulp_from_bits32(d[2]), f3 = ulp_from_bits32(d[3])
#define ULP_MMA_F32_END                                                                                                \
    d[0] = ulp_bits32(f0);                                                                                             \
    d[1] = ulp_bits32(f1);                                                                                             \
    d[2] = ulp_bits32(f2);                                                                                             \
    d[3] = ulp_bits32(f3)
#define ULP_MMA_F32_WIDE(instruction)                                                                                  \
    ULP_MMA_F32_BEGIN;                                                                                                 \
    asm volatile("mma.sync.aligned." instruction " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"    \
                 : "+f"(f0), "+f"(f1), "+f"(f2), "+f"(f3)                                                              \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                                  \
    ULP_MMA_F32_END
#define ULP_MMA_F32_SLIM(instruction)                                                                                  \
    ULP_MMA_F32_BEGIN;                                                                                                 \
    asm volatile("mma.sync.aligned." instruction " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"                \
                 : "+f"(f0), "+f"(f1), "+f"(f2), "+f"(f3)                                                              \
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]));                                                                   \
    ULP_MMA_F32_END
#define ULP_MMA_F16_WIDE(instruction)                                                                                  \
    asm volatile("mma.sync.aligned." instruction " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"                    \
                 : "+r"(d[0]), "+r"(d[1])                                                                              \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#define ULP_MMA_S32_WIDE(instruction)                                                                                  \
    asm volatile("mma.sync.aligned." instruction " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"    \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                                      \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#endif

/* struct ulp_mma_FP16 and so on. A and B hold 8 A bytes of k. */
#define ULP_MMA_STRUCT(ROW, name, a_type, b_type, result, model, unit, instruction, form, a_registers, d_registers,    \
                       least)                                                                                          \
    struct ulp_mma_##ROW {                                                                                             \
        enum { A = a_registers, B = a_registers / 2, D = d_registers, BYTES = 8 * a_registers };                       \
        static constexpr bool offered = ULP_CUDA_PASS >= least;                                                        \
        static __device__ inline void run(uint32_t *d, const uint32_t *a, const uint32_t *b) {                         \
            ULP_MMA_##form(instruction);                                                                               \
        }                                                                                                              \
    };
ULP_NATIVE_MMA(ULP_MMA_STRUCT)
#undef ULP_MMA_STRUCT

/* mma.sync m8n8k4 of binary64. */
static __device__ inline void ulp_mma_fp64(double *d, double a, double b) {
#if defined(ULP_EMULATED_DEVICE)
    ulp_emulated_mma64(ULP_MMA64_INSTRUCTION, d, a, b);
#else
    asm volatile("mma.sync.aligned." ULP_MMA64_INSTRUCTION " {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(d[0]), "+d"(d[1])
                 : "d"(a), "d"(b));
#endif
}

#endif
