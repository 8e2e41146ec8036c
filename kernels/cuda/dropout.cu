// dropout.cu - dropout. A thread computes four neighbours, whose random words are one Philox block.
#include "device.h"
#include "operations.h"
#include "formats/rng.h"

namespace {

enum { GROUP = 4 };

/* The first `skip` elements of the first group lie before the array. */
__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    dropout_kernel(double *y, const float *x, size_t n, const __grid_constant__ ulp_dropout how, uint32_t skip) {
    const uint32_t least = ulp_dropout_least(how.percent);
    for (size_t g = ulp_cuda_thread(); g < (skip + n + GROUP - 1) / GROUP; g += ulp_cuda_threads()) {
        const uint64_t index = how.stream.first + g * GROUP; /* of a word of the block; 0 follows the last index */
        const philox4x32_ctr_t words = ulp_random_block(how.stream.seed, how.stream.stream, index / GROUP);
#pragma unroll
        for (int e = 0; e < GROUP; e++) {
            const size_t i = g * GROUP + e - skip; /* indices before the array wrap to above n */
            if (i < n) y[i] = ulp_dropout_value(x[i], words.v[e], least, how.percent);
        }
    }
}

} // namespace

ulp_status ulp_cuda_dropout(double *y, const float *x, size_t n, ulp_dropout how) {
    ulp_status status = ulp_cuda_open();
    if (status != ULP_OK || n == 0) return status;
    const uint32_t skip = (uint32_t)(how.stream.first % GROUP);
    return ulp_cuda_launch("dropout", dropout_kernel, ulp_cuda_blocks((skip + n + GROUP - 1) / GROUP), ULP_CUDA_THREADS,
                           y, x, n, how, skip);
}
