// squares.cu - sums of squares of chunks of an array; see kernels/functions/squares.h.
//
// A warp forms the sum of a chunk. Its lanes are the lanes of the definition and load neighbouring numbers.
#include "device.h"
#include "operations.h"

namespace {

enum { LANES = ULP_SQUARES_LANES, WARPS = ULP_CUDA_THREADS / LANES };
static_assert(LANES == 32, "a warp is the lanes of a chunk");

__global__ void __launch_bounds__(ULP_CUDA_THREADS) squares_kernel(double *y, const float *x, size_t n, size_t chunks) {
    __shared__ double tile[WARPS][LANES];
    const size_t chunk = ULP_SQUARES_CHUNK, lane = threadIdx.x % LANES, warps = ulp_cuda_threads() / LANES;
    double *const own = tile[threadIdx.x / LANES];
    for (size_t c = ulp_cuda_thread() / LANES; c < chunks; c += warps) {
        const size_t first = c * chunk, left = n - first, end = first + (left < chunk ? left : chunk);
        double sum = 0.0;
#pragma unroll 4
        for (size_t i = first + lane; i < end; i += LANES) sum += (double)x[i] * (double)x[i];
        own[lane] = sum;
        for (size_t h = LANES / 2; h > 0; h /= 2) {
            __syncwarp();
            if (lane < h) own[lane] += own[lane + h];
        }
        if (lane == 0) y[c] = ulp_quieted(own[0]);
        __syncwarp();
    }
}

} // namespace

ulp_status ulp_cuda_squares(double *y, const float *x, size_t n) {
    const size_t chunks = ulp_squares_chunks(n);
    ULP_TRY(ulp_cuda_open());
    if (n == 0) return ULP_OK;
    return ulp_cuda_launch("squares", squares_kernel, ulp_cuda_blocks(chunks * LANES), ULP_CUDA_THREADS, y, x, n,
                           chunks);
}
