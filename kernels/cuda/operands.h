/* operands.h - operands of wgmma and tcgen05 in shared memory: stages of a chain of instructions.
 *
 * A chain of instructions over ascending k has its operands in stages. The codes of an operand are slabs in memory
 * (fragments.h), so that the rows of a tile in a slab are one copy. One thread begins all copies of a stage.
 */
#ifndef ULP_CUDA_OPERANDS_H
#define ULP_CUDA_OPERANDS_H

#include "barriers.h"
#include "fragments.h"

/* The operands of a stage of STEPS instructions. Each instruction has a slab of 32 bytes of k. */
template <int ROWS, int COLUMNS, int STEPS> struct ulp_stage {
    unsigned char a[STEPS][ROWS * ULP_OPERAND_BYTES], b[STEPS][COLUMNS * ULP_OPERAND_BYTES];
};

/* The instructions of stage `number` of a chain over `slabs` slabs. */
template <int STEPS> static __device__ inline uint32_t ulp_stage_steps(size_t slabs, size_t number) {
    const size_t left = slabs - number * STEPS;
    return left < STEPS ? (uint32_t)left : (uint32_t)STEPS;
}

/* Begins the copies of a stage, and announces them and `more` bytes at the barrier. The operand A has `m` rows, of
 * which the stage has those from `row` on; B has `n` rows, one for each column of the product. */
template <int ROWS, int COLUMNS, int STEPS>
static __device__ inline void ulp_stage_copy(ulp_stage<ROWS, COLUMNS, STEPS> *to, uint64_t *barrier,
                                             const unsigned char *a, size_t m, size_t row, const unsigned char *b,
                                             size_t n, size_t column, size_t first, uint32_t steps, uint32_t more) {
    ulp_barrier_expect(barrier, steps * (uint32_t)sizeof *to / STEPS + more);
#pragma unroll 1
    for (uint32_t step = 0; step < steps; step++) {
        ulp_copy_begin(to->a[step], a + ((first + step) * m + row) * ULP_OPERAND_BYTES, sizeof to->a[0], barrier);
        ulp_copy_begin(to->b[step], b + ((first + step) * n + column) * ULP_OPERAND_BYTES, sizeof to->b[0], barrier);
    }
}

#endif
