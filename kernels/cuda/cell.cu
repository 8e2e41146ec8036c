// cell.cu - the stages of the cells of recurrent layers, with a thread for each unit of a sample.
#include "device.h"
#include "operations.h"

namespace {

/* The result and the operands of a unit. The loop over the operands has a constant number of turns, and no address of
 * an operand is kept in memory. */
template <ulp_cell_stage STAGE>
__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    cell_kernel(double *to, const __grid_constant__ ulp_cell_arrays arrays) {
    const ulp_cell_widths widths = ulp_cell_widths_of(STAGE);
    const size_t N = arrays.N;
    for (size_t i = ulp_cuda_thread(); i < arrays.B * N; i += ulp_cuda_threads()) {
        const size_t b = i / N, j = i % N;
        const float *in[ULP_CELL_OPERANDS];
        for (int k = 0; k < ULP_CELL_OPERANDS; k++) in[k] = arrays.in[k] + b * widths.in[k] * N + j;
        double *const unit = to + b * widths.to * N + j;
        switch (STAGE) {
#define CASE(id, function, result, a, b, c, d, e)                                                                      \
    case id: function(unit, in, N); break;
            ULP_CELL_STAGES(CASE)
#undef CASE
        default: break;
        }
    }
}

} // namespace

ulp_status ulp_cuda_cell(double *to, const ulp_cell_arrays *arrays, ulp_cell_stage stage) {
    ulp_status status = ulp_cuda_open();
    if (status != ULP_OK || arrays->B == 0 || arrays->N == 0) return status;
    const unsigned blocks = ulp_cuda_blocks(arrays->B * arrays->N);
    switch (stage) {
#define CASE(id, function, result, a, b, c, d, e)                                                                      \
    case id: return ulp_cuda_launch("cell", cell_kernel<id>, blocks, ULP_CUDA_THREADS, to, *arrays);
        ULP_CELL_STAGES(CASE)
#undef CASE
    default: return ULP_BAD_ARGUMENT;
    }
}
