// move.cu - operations that copy numbers: im2col and permute.
#include "device.h"
#include "operations.h"
#include "kernels/functions/im2col.h"

namespace {

enum { SIDE = 32, ROWS = 8 };

/* Transposes squares through shared memory, so that memory is read and written in rows. A block handles squares at a
 * distance of the grid size, in all matrices. */
__global__ void __launch_bounds__(SIDE *ROWS)
    transpose_kernel(float *y, const float *x, const __grid_constant__ ulp_permute_shape shape) {
    __shared__ float square[SIDE][SIDE + 1];
    const size_t a = shape.a, b = shape.b, across = (b + SIDE - 1) / SIDE, down = (a + SIDE - 1) / SIDE;
    const size_t all = shape.count * across * down;
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

/* A thread for each element of y (c K K, B oh ow). */
ulp_status ulp_cuda_im2col(float *y, const float *x, const ulp_im2col *geometry) {
    const ulp_im2col p = *geometry;
    return ulp_cuda_each(ulp_im2col_size(geometry), "im2col", [=] __device__(size_t e) {
        const size_t K = p.kernel;
        const size_t q = e % p.ow, r = e / p.ow % p.oh, piece = e / (p.ow * p.oh), b = piece % p.B, row = piece / p.B;
        const size_t c = row / (K * K);
        size_t i = row / K % K, j = row % K, h, w;
        if (p.flip) {
            i = K - 1 - i;
            j = K - 1 - j;
        }
        const bool inside = ulp_im2col_source(&h, (ptrdiff_t)(r * p.stride + i) - (ptrdiff_t)p.pad, p.dilate, p.h) &&
                            ulp_im2col_source(&w, (ptrdiff_t)(q * p.stride + j) - (ptrdiff_t)p.pad, p.dilate, p.w);
        y[e] = inside ? x[((b * p.c + c) * p.h + h) * p.w + w] : 0.0f;
    });
}

ulp_status ulp_cuda_permute(float *y, const float *x, ulp_permute_shape s) {
    const size_t all = s.count * s.a * s.b * s.n;
    if (s.n != 1 || all == 0)
        return ulp_cuda_each(all, "permute", [=] __device__(size_t e) {
            const size_t l = e % s.n, i = e / s.n % s.a, j = e / s.n / s.a % s.b, k = e / s.n / s.a / s.b;
            y[e] = x[((k * s.a + i) * s.b + j) * s.n + l];
        });
    ULP_TRY(ulp_cuda_open());
    const size_t squares = s.count * ((s.a + SIDE - 1) / SIDE) * ((s.b + SIDE - 1) / SIDE);
    return ulp_cuda_launch("transpose", transpose_kernel, ulp_cuda_blocks(squares * ULP_CUDA_THREADS), dim3(SIDE, ROWS),
                           y, x, s);
}
