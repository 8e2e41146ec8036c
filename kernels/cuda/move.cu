// move.cu - operations that only move numbers: what a kernel lies on, and blocks that change places.
#include "device.h"
#include "operations.h"
#include "kernels/arguments.h"
#include "kernels/functions/im2col.h"

namespace {

/* A thread for each element of y (c K K, B oh ow). */
__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    patches_kernel(float *y, const float *x, const __grid_constant__ ulp_places p, size_t n) {
    const size_t K = p.kernel;
    for (size_t e = ulp_cuda_thread(); e < n; e += ulp_cuda_threads()) {
        const size_t q = e % p.ow, r = e / p.ow % p.oh, piece = e / (p.ow * p.oh), b = piece % p.B, row = piece / p.B;
        const size_t c = row / (K * K);
        size_t i = row / K % K, j = row % K, h, w;
        if (p.flip) {
            i = K - 1 - i;
            j = K - 1 - j;
        }
        const bool inside = ulp_place_source(&h, (ptrdiff_t)(r * p.stride + i) - (ptrdiff_t)p.pad, p.dilate, p.h) &&
                            ulp_place_source(&w, (ptrdiff_t)(q * p.stride + j) - (ptrdiff_t)p.pad, p.dilate, p.w);
        y[e] = inside ? x[((b * p.c + c) * p.h + h) * p.w + w] : 0.0f;
    }
}

/* y (count,b,a,n) from x (count,a,b,n), an element at a time. */
__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    permute_kernel(float *y, const float *x, size_t count, size_t a, size_t b, size_t n) {
    const size_t all = count * a * b * n;
    for (size_t e = ulp_cuda_thread(); e < all; e += ulp_cuda_threads()) {
        const size_t l = e % n, i = e / n % a, j = e / n / a % b, k = e / n / a / b;
        y[e] = x[((k * a + i) * b + j) * n + l];
    }
}

enum { SIDE = 32, ROWS = 8 };

/* Transposes by squares that pass through shared memory, so that rows are read and written whole; a block does the
 * squares of its column of squares, for every matrix in turn. */
__global__ void __launch_bounds__(SIDE *ROWS)
    transpose_kernel(float *y, const float *x, size_t count, size_t a, size_t b) {
    __shared__ float square[SIDE][SIDE + 1];
    const size_t across = (b + SIDE - 1) / SIDE, down = (a + SIDE - 1) / SIDE, all = count * across * down;
    for (size_t s = blockIdx.x; s < all; s += gridDim.x) {
        const size_t k = s / (across * down), i0 = s / across % down * SIDE, j0 = s % across * SIDE;
        const float *from = x + k * a * b;
        float *to = y + k * a * b;
        for (size_t r = threadIdx.y; r < SIDE; r += ROWS)
            if (i0 + r < a && j0 + threadIdx.x < b) square[r][threadIdx.x] = from[(i0 + r) * b + j0 + threadIdx.x];
        __syncthreads();
        for (size_t r = threadIdx.y; r < SIDE; r += ROWS)
            if (j0 + r < b && i0 + threadIdx.x < a) to[(j0 + r) * a + i0 + threadIdx.x] = square[threadIdx.x][r];
        __syncthreads();
    }
}

} // namespace

ulp_status ulp_cuda_patches(float *y, const float *x, const ulp_places *places) {
    ulp_status status = ulp_asked_patches(y, x, places);
    if (status == ULP_OK) status = ulp_cuda_open();
    const size_t n = status == ULP_OK ? ulp_places_size(places) : 0;
    return n == 0 ? status
                  : ulp_cuda_launch("patches", patches_kernel, ulp_cuda_blocks(n), ULP_CUDA_THREADS, y, x, *places, n);
}

ulp_status ulp_cuda_permute(float *y, const float *x, size_t count, size_t a, size_t b, size_t n) {
    const size_t all = count * a * b * n;
    ulp_status status = ulp_asked_permute(y, x, count, a, b, n);
    if (status == ULP_OK) status = ulp_cuda_open();
    if (status != ULP_OK || all == 0) return status;
    if (n != 1)
        return ulp_cuda_launch("permute", permute_kernel, ulp_cuda_blocks(all), ULP_CUDA_THREADS, y, x, count, a, b, n);
    const size_t squares = count * ((a + SIDE - 1) / SIDE) * ((b + SIDE - 1) / SIDE);
    return ulp_cuda_launch("transpose", transpose_kernel, ulp_cuda_blocks(squares * ULP_CUDA_THREADS), dim3(SIDE, ROWS),
                           y, x, count, a, b);
}
