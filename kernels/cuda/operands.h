/* operands.h - operands of wgmma and tcgen05 in shared memory: stages of a chain of instructions.
 *
 * A chain of instructions over ascending k has its operands in stages. The codes of an operand are slabs in memory
 * (fragments.h), so that the rows of a tile in a slab are one copy. One thread begins all copies of a stage.
 */
#ifndef ULP_CUDA_OPERANDS_H
#define ULP_CUDA_OPERANDS_H

#include "barriers.h"
#include "fragments.h"
#include "native.h"

/* The operands of a stage of STEPS instructions. Each instruction has a slab of 32 bytes of k. */
template <int ROWS, int COLUMNS, int STEPS> struct ulp_stage {
    unsigned char a[STEPS][ROWS * ULP_OPERAND_BYTES], b[STEPS][COLUMNS * ULP_OPERAND_BYTES];
};

/* The instructions of stage `number` of a chain over `slabs` slabs. */
template <int STEPS> static __device__ inline uint32_t ulp_stage_steps(size_t slabs, size_t number) {
    const size_t left = slabs - number * STEPS;
    return left < STEPS ? (uint32_t)left : (uint32_t)STEPS;
}

/* Begins the copies of a stage, and announces them and `more` bytes at the barrier. The stage has the rows of the tile
 * in `steps` slabs of A and of B, from slab `first` on. */
template <int ROWS, int COLUMNS, int STEPS>
static __device__ inline void ulp_stage_copy(ulp_stage<ROWS, COLUMNS, STEPS> *to, uint64_t *barrier,
                                             const ulp_native_job &w, const ulp_native_origin &tile, size_t first,
                                             uint32_t steps, uint32_t more) {
    ulp_barrier_expect(barrier, steps * (uint32_t)sizeof *to / STEPS + more);
#pragma unroll 1
    for (uint32_t step = 0; step < steps; step++) {
        const size_t a = (first + step) * w.m + tile.row, b = (first + step) * w.n + tile.column;
        ulp_copy_begin(to->a[step], w.a + a * ULP_OPERAND_BYTES, sizeof to->a[0], barrier);
        ulp_copy_begin(to->b[step], w.b + b * ULP_OPERAND_BYTES, sizeof to->b[0], barrier);
    }
}

#endif
