/* tcgen05.h - tcgen05 of Blackwell (sm_100a): D = A B + D of a block, with operands in shared memory, D in tensor
 * memory.
 *
 * fragments.h gives the places of elements and the descriptors. One thread begins instructions and copies of scales;
 * they end in an order of their own, except that an instruction follows the instructions and copies before it (PTX ISA
 * 9.0, section 9.7.16.6.2). A barrier in shared memory counts their end. Between a thread's use of tensor memory and
 * another thread's, there is ulp_tensor_before, a barrier, ulp_tensor_after; a wait for instructions ends with
 * ulp_tensor_after, too. Other architectures do not offer tcgen05, and there nothing below may be called.
 */
#ifndef ULP_CUDA_TCGEN05_H
#define ULP_CUDA_TCGEN05_H

#include "native_rows.h"
#include "operands.h"

#if defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(ULP_EMULATED_DEVICE)
static constexpr bool ULP_TCGEN05_OFFERED = true;
#else
static constexpr bool ULP_TCGEN05_OFFERED = false;
#endif

/* Columns of tensor memory that a load or store of a thread takes from its lane. */
enum { ULP_TENSOR_WORDS = 16 };

#if defined(ULP_EMULATED_DEVICE)
static inline void ulp_tensor_alloc(uint32_t *to, uint32_t columns) { ulp_emulated_tensor_alloc(to, columns); }
static inline void ulp_tensor_free(uint32_t base, uint32_t columns) { ulp_emulated_tensor_free(base, columns); }
static inline void ulp_tensor_before(void) { ulp_emulated_tensor_before(); }
static inline void ulp_tensor_after(void) { ulp_emulated_tensor_after(); }
static inline void ulp_tensor_store(uint32_t address, const uint32_t (&d)[ULP_TENSOR_WORDS]) {
    ulp_emulated_tensor_store(address, d, ULP_TENSOR_WORDS);
}
static inline void ulp_tensor_store_wait(void) { ulp_emulated_tensor_store_wait(); }
static inline void ulp_tensor_load(uint32_t (&d)[ULP_TENSOR_WORDS], uint32_t address) {
    ulp_emulated_tensor_load(d, address, ULP_TENSOR_WORDS);
}
static inline void ulp_tensor_load_wait(uint32_t (&)[ULP_TENSOR_WORDS]) { ulp_emulated_tensor_load_wait(); }
static inline void ulp_tensor_copy_scales(uint32_t to, uint64_t from) {
    ulp_emulated_tensor_copy("32x128b.warpx4", to, from);
}
static inline void ulp_instructions_commit(uint64_t *barrier) { ulp_emulated_tcgen05_commit(barrier); }
#else
/* A warp takes `columns` columns of tensor memory, a power of two from 32 to 512, and writes the address of lane 0 and
 * the first column to shared memory. It waits while other blocks have the columns. No warp takes columns later. */
static __device__ inline void ulp_tensor_alloc(uint32_t *to, uint32_t columns) {
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(ulp_shared_address(to)),
                 "r"(columns)
                 : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
}
/* The warp gives them back. */
static __device__ inline void ulp_tensor_free(uint32_t base, uint32_t columns) {
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(base), "r"(columns));
}
static __device__ inline void ulp_tensor_before(void) {
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}
static __device__ inline void ulp_tensor_after(void) { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }

#define ULP_TENSOR_LIST(c)                                                                                             \
    c(d[0]), c(d[1]), c(d[2]), c(d[3]), c(d[4]), c(d[5]), c(d[6]), c(d[7]), c(d[8]), c(d[9]), c(d[10]), c(d[11]),      \
        c(d[12]), c(d[13]), c(d[14]), c(d[15])
#define ULP_TENSOR_IN(x) "r"(x)
#define ULP_TENSOR_OUT(x) "=r"(x)
#define ULP_TENSOR_HOLD(x) "+r"(x)
/* Begins to write d to 16 columns, from `address` on, of the lane `address` + the thread's number in the warp. */
static __device__ inline void ulp_tensor_store(uint32_t address, const uint32_t (&d)[ULP_TENSOR_WORDS]) {
    asm volatile(
        "tcgen05.st.sync.aligned.32x32b.x16.b32 [%16], "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15};" ::ULP_TENSOR_LIST(ULP_TENSOR_IN),
        "r"(address)
        : "memory");
}
static __device__ inline void ulp_tensor_store_wait(void) {
    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
}
/* Begins to read d from 16 columns of the same lane. d may be used after the wait. */
static __device__ inline void ulp_tensor_load(uint32_t (&d)[ULP_TENSOR_WORDS], uint32_t address) {
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x16.b32 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, [%16];"
                 : ULP_TENSOR_LIST(ULP_TENSOR_OUT)
                 : "r"(address)
                 : "memory");
}
static __device__ inline void ulp_tensor_load_wait(uint32_t (&d)[ULP_TENSOR_WORDS]) {
    asm volatile("tcgen05.wait::ld.sync.aligned;" : ULP_TENSOR_LIST(ULP_TENSOR_HOLD)::"memory");
}
/* Begins the copy of a group of scales to four columns, from `to` on. */
static __device__ inline void ulp_tensor_copy_scales(uint32_t to, uint64_t from) {
    asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(to), "l"(from) : "memory");
}

/* The barrier gets an arrival when all instructions and copies of scales that this thread began are done. */
static __device__ inline void ulp_instructions_commit(uint64_t *barrier) {
    asm volatile(
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(ulp_shared_address(barrier))
        : "memory");
}
#endif

/* ---- the kinds ---- */

/* The operands of an instruction: addresses in tensor memory, matrix descriptors, the instruction descriptor; keep = 0:
 * D counts as zeros. */
struct ulp_tcgen05_operands {
    uint32_t d;
    uint64_t a, b;
    uint32_t instruction, a_scales, b_scales, keep;
};

#if defined(ULP_EMULATED_DEVICE)
#define ULP_TCGEN05_RUN(text, scales)                                                                                  \
    ulp_emulated_tcgen05(text, o.d, o.a, o.b, o.instruction, (scales) ? o.a_scales : 0, (scales) ? o.b_scales : 0,     \
                         o.keep)
#else
#define ULP_TCGEN05_RUN(text, scales)                                                                                  \
    if constexpr (scales)                                                                                              \
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.cta_group::1.kind::" text                   \
                     " [%0], %1, %2, %3, [%5], [%6], p;\n}\n" ::"r"(o.d),                                              \
                     "l"(o.a), "l"(o.b), "r"(o.instruction), "r"(o.keep), "r"(o.a_scales), "r"(o.b_scales)             \
                     : "memory");                                                                                      \
    else                                                                                                               \
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.cta_group::1.kind::" text                   \
                     " [%0], %1, %2, %3, p;\n}\n" ::"r"(o.d),                                                          \
                     "l"(o.a), "l"(o.b), "r"(o.instruction), "r"(o.keep)                                               \
                     : "memory")
#endif

/* struct ulp_tcgen05_KIND_F16 and so on. SCALES: scales of a row in an instruction. */
#define ULP_TCGEN05_STRUCT(KIND, text, products, scale, block)                                                         \
    struct ulp_tcgen05_##KIND {                                                                                        \
        enum { SCALES = (block) == 0 ? 0 : (products) / ((block) == 0 ? 1 : (block)) };                                \
        static __device__ inline void run(const ulp_tcgen05_operands &o) { ULP_TCGEN05_RUN(text, (block) != 0); }      \
    };
ULP_TCGEN05_KINDS(ULP_TCGEN05_STRUCT)
#undef ULP_TCGEN05_STRUCT

#endif
