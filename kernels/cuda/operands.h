/* operands.h - operands of wgmma and tcgen05 in shared memory: stages of a chain of instructions, asynchronous copies.
 *
 * A chain of instructions over ascending k has its operands in ULP_STAGES stages. While the instructions of one stage
 * run, those of the next one wait, and the operands of the two stages after it are on their way.
 */
#ifndef ULP_CUDA_OPERANDS_H
#define ULP_CUDA_OPERANDS_H

#include "fragments.h"

#include <cuda_runtime.h>

/* ---- shared memory and copies to it ---- */

#if defined(ULP_EMULATED_DEVICE)
static inline unsigned char *ulp_dynamic_shared(void) { return ulp_emulated_dynamic_shared(); }
static inline uint32_t ulp_shared_address(const void *p) { return ulp_emulated_shared_address(p); }
static inline void ulp_copy_begin(void *to, const void *from, bool inside) { ulp_emulated_copy(to, from, inside); }
static inline void ulp_copy_commit(void) { ulp_emulated_copy_commit(); }
template <int LEFT> static inline void ulp_copy_wait(void) { ulp_emulated_copy_wait(LEFT); }
static inline void ulp_proxy_fence(void) { ulp_emulated_proxy_fence(); }
#else
/* The dynamic shared memory of the block, aligned to 128 bytes. */
static __device__ inline unsigned char *ulp_dynamic_shared(void) {
    extern __shared__ __align__(128) unsigned char ulp_dynamic[];
    return ulp_dynamic;
}
static __device__ inline uint32_t ulp_shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
/* Begins a copy of 16 bytes from global to shared memory, or writes 16 zeros if not `inside`. Eight neighbouring
 * threads write at once if their bytes lie in different banks. */
static __device__ inline void ulp_copy_begin(void *to, const void *from, bool inside) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(ulp_shared_address(to)), "l"(from),
                 "r"(inside ? 16 : 0)
                 : "memory");
}
/* Ends a group of copies of this thread; a group may be empty. */
static __device__ inline void ulp_copy_commit(void) { asm volatile("cp.async.commit_group;" ::: "memory"); }
/* Waits until all groups of copies of this thread but the latest LEFT are done. */
template <int LEFT> static __device__ inline void ulp_copy_wait(void) {
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}
/* Makes this thread's writes to shared memory visible to wgmma and tcgen05, together with a barrier. */
static __device__ inline void ulp_proxy_fence(void) { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
#endif

/* ---- stages ---- */

/* Instructions and bytes of k of a stage, and the number of stages. */
enum {
    ULP_STAGE_STEPS = 2,
    ULP_STAGE_BYTES = ULP_STAGE_STEPS * ULP_OPERAND_BYTES,
    ULP_STAGES = 4,
    ULP_STAGES_AHEAD = 2
};
static_assert(ULP_STAGES == ULP_STAGES_AHEAD + 2, "one stage is read by instructions that run, one by those that wait");

/* The operands of a stage. Each instruction has a slab of 32 bytes of k. */
template <int ROWS, int COLUMNS> struct ulp_stage {
    unsigned char a[ULP_STAGE_STEPS][ROWS * ULP_OPERAND_BYTES], b[ULP_STAGE_STEPS][COLUMNS * ULP_OPERAND_BYTES];
};

/* Begins the copy of a matrix of ROWS rows from memory to a stage, 16 bytes at a time. Bytes past the end of k are 0.
 * Eight neighbouring threads have eight neighbouring rows: they fill a core matrix, 128 bytes in all 32 banks. The four
 * groups of a warp have the whole of these rows, so that each row is read as 64 bytes. */
template <int ROWS, int THREADS>
static __device__ inline void ulp_stage_copy(unsigned char (*to)[ROWS * ULP_OPERAND_BYTES], const unsigned char *from,
                                             size_t row, size_t k, size_t depth) {
    enum { ACROSS = ULP_STAGE_BYTES / 16, PIECES = ROWS * ACROSS };
#pragma unroll
    for (uint32_t first = 0; first < PIECES; first += THREADS) {
        const uint32_t p = first + threadIdx.x, r = p / (8 * ACROSS) * 8 + p % 8, byte = p / 8 % ACROSS * 16;
        if (p >= PIECES) break;
        const bool inside = k + byte < depth;
        ulp_copy_begin(&to[byte / ULP_OPERAND_BYTES][ulp_operand_place(r, byte % ULP_OPERAND_BYTES)],
                       from + (row + r) * depth + (inside ? k + byte : 0), inside);
    }
}

#endif
