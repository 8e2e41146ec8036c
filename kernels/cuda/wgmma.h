/* wgmma.h - wgmma of Hopper (sm_90a): D = A B + D of a warpgroup, with operands in shared memory.
 *
 * The instructions have three widths, N = 8, 128 and 256; fragments.h gives the places of the elements. D is floats, or
 * words of two binary16 each. `run` begins an instruction: from wgmma_fence to wgmma_wait no thread may read or write
 * D or the operands. Other architectures do not offer wgmma, and there `run` may not be called.
 */
#ifndef ULP_CUDA_WGMMA_H
#define ULP_CUDA_WGMMA_H

#include "fragments.h"
#include "native_rows.h"

#include <cuda_runtime.h>

#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(ULP_EMULATED_DEVICE)
static constexpr bool ULP_WGMMA_OFFERED = true;
#else
static constexpr bool ULP_WGMMA_OFFERED = false;
#endif

/* ---- the instructions before and after wgmma ---- */

#if defined(ULP_EMULATED_DEVICE)
static inline uint32_t ulp_warpgroup(void) { return threadIdx.x / 128; }
static inline void ulp_wgmma_fence(void) { ulp_emulated_wgmma_fence(); }
static inline void ulp_wgmma_commit(void) { ulp_emulated_wgmma_commit(); }
template <int LEFT> static inline void ulp_wgmma_wait(void) { ulp_emulated_wgmma_wait(LEFT); }
#else
/* The number of this thread's warpgroup, in a form that the compiler knows to be equal in a warp: it waits for each
 * instruction that only some threads of a warp might reach. */
static __device__ inline uint32_t ulp_warpgroup(void) { return __shfl_sync(0xffffffffu, threadIdx.x / 128, 0); }
static __device__ inline void ulp_wgmma_fence(void) { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
static __device__ inline void ulp_wgmma_commit(void) { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/* Waits until all groups of instructions of this warpgroup but the latest LEFT are done. */
template <int LEFT> static __device__ inline void ulp_wgmma_wait(void) {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
}
#endif

/* Prevents the compiler from moving a use of D across this place. */
template <typename Word, int COUNT> static __device__ inline void ulp_wgmma_hold(Word (&d)[COUNT]) {
#if !defined(ULP_EMULATED_DEVICE)
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        if constexpr (Word(0.5f) != Word(0)) asm volatile("" : "+f"(d[i])::"memory");
        else asm volatile("" : "+r"(d[i])::"memory");
    }
#else
    (void)d;
#endif
}

/* ---- the forms: they use d, a, b (descriptors) and keep (0: D counts as zeros) ---- */

/* Lists of registers in instructions. */
#define ULP_LIST_32                                                                                                    \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                                           \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define ULP_LIST_64                                                                                                    \
    ULP_LIST_32 ", "                                                                                                   \
                "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "                     \
                "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define ULP_LIST_128                                                                                                   \
    ULP_LIST_64 ", "                                                                                                   \
                "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "                     \
                "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "                     \
                "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "         \
                "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define ULP_REGISTERS_4(c, i) "+" c(d[i]), "+" c(d[i + 1]), "+" c(d[i + 2]), "+" c(d[i + 3])
#define ULP_REGISTERS_16(c, i)                                                                                         \
    ULP_REGISTERS_4(c, i), ULP_REGISTERS_4(c, i + 4), ULP_REGISTERS_4(c, i + 8), ULP_REGISTERS_4(c, i + 12)
#define ULP_REGISTERS_32(c, i) ULP_REGISTERS_16(c, i), ULP_REGISTERS_16(c, i + 16)

/* An instruction: the list of the registers of D, the numbers of a, b and keep after them, and these registers. */
#if defined(ULP_EMULATED_DEVICE)
#define ULP_WGMMA(text, ...) ulp_emulated_wgmma(text, reinterpret_cast<uint32_t *>(d), a, b, keep)
#else
#define ULP_WGMMA(text, tail, list, of_a, of_b, of_keep, ...)                                                          \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" of_keep ", 0;\nwgmma.mma_async.sync.aligned." text " {" list     \
                 "}, %" of_a ", %" of_b ", p" tail ";\n}\n"                                                            \
                 : __VA_ARGS__                                                                                         \
                 : "l"(a), "l"(b), "r"(keep))
#endif
#define ULP_WGMMA_F32_8(text, tail) ULP_WGMMA(text, tail, "%0, %1, %2, %3", "4", "5", "6", ULP_REGISTERS_4("f", 0))
#define ULP_WGMMA_F16_8(text, tail) ULP_WGMMA(text, tail, "%0, %1", "2", "3", "4", "+r"(d[0]), "+r"(d[1]))
#define ULP_WGMMA_F32_128(text, tail)                                                                                  \
    ULP_WGMMA(text, tail, ULP_LIST_64, "64", "65", "66", ULP_REGISTERS_32("f", 0), ULP_REGISTERS_32("f", 32))
#define ULP_WGMMA_F16_128(text, tail) ULP_WGMMA(text, tail, ULP_LIST_32, "32", "33", "34", ULP_REGISTERS_32("r", 0))
#define ULP_WGMMA_F32_256(text, tail)                                                                                  \
    ULP_WGMMA(text, tail, ULP_LIST_128, "128", "129", "130", ULP_REGISTERS_32("f", 0), ULP_REGISTERS_32("f", 32),      \
              ULP_REGISTERS_32("f", 64), ULP_REGISTERS_32("f", 96))
#define ULP_WGMMA_F16_256(text, tail)                                                                                  \
    ULP_WGMMA(text, tail, ULP_LIST_64, "64", "65", "66", ULP_REGISTERS_32("r", 0), ULP_REGISTERS_32("r", 32))

struct ulp_wgmma_F32 {
    typedef float word;
    enum { PER_EIGHT = 4 };
};
struct ulp_wgmma_F16 {
    typedef uint32_t word;
    enum { PER_EIGHT = 2 };
};

/* struct ulp_wgmma_FP16_8, ulp_wgmma_FP16_128 and so on. */
#define ULP_WGMMA_STRUCT(ROW, types, form, tail, width)                                                                \
    struct ulp_wgmma_##ROW##_##width {                                                                                 \
        typedef ulp_wgmma_##form::word word;                                                                           \
        enum { N = width, D = ulp_wgmma_##form::PER_EIGHT * width / 8 };                                               \
        static __device__ inline void run(word *d, uint64_t a, uint64_t b, int keep) {                                 \
            ULP_WGMMA_##form##_##width("m64n" #width types, tail);                                                     \
        }                                                                                                              \
    };
#define ULP_WGMMA_STRUCTS(ROW, name, a_type, b_type, result, model, unit, types, form, tail)                           \
    ULP_WGMMA_STRUCT(ROW, types, form, tail, 8)                                                                        \
    ULP_WGMMA_STRUCT(ROW, types, form, tail, 128)                                                                      \
    ULP_WGMMA_STRUCT(ROW, types, form, tail, 256)
ULP_NATIVE_WGMMA(ULP_WGMMA_STRUCTS)
#undef ULP_WGMMA_STRUCTS
#undef ULP_WGMMA_STRUCT

#endif
