/* rows.h - a warp for each row: the loop over rows, and sums over a row in the order of its numbers. */
#ifndef ULP_CUDA_ROWS_H
#define ULP_CUDA_ROWS_H

#include "device.h"

enum { ULP_CUDA_LANES = 32, ULP_CUDA_WARPS = ULP_CUDA_THREADS / ULP_CUDA_LANES, ULP_CUDA_TILE = 4 * ULP_CUDA_LANES };

static __device__ inline size_t ulp_cuda_lane(void) { return threadIdx.x % ULP_CUDA_LANES; }
static __device__ inline size_t ulp_cuda_warp(void) { return ulp_cuda_thread() / ULP_CUDA_LANES; }
static __device__ inline size_t ulp_cuda_warps(void) { return ulp_cuda_threads() / ULP_CUDA_LANES; }

/* Launches a kernel with a warp for each of so many rows. */
template <typename... Expected, typename... Given>
static inline ulp_status ulp_cuda_over_rows(size_t rows, const char *name, void (*kernel)(Expected...),
                                            Given &&...given) {
    return ulp_cuda_over(rows * ULP_CUDA_LANES, name, kernel, static_cast<Given &&>(given)...);
}

/* sum[k] = the sums over i < n of term[k], which terms(term, i) writes, from +0 on in ascending order. The lanes of a
 * warp compute neighbouring terms and put them into a tile of shared memory. Then every lane adds the tile for itself;
 * all lanes read equal addresses at one time. `tile` belongs to the warp. */
template <int KINDS, typename Terms>
static __device__ inline void ulp_cuda_add_row(double *sum, double (*tile)[ULP_CUDA_TILE], size_t n,
                                               const Terms &terms) {
#pragma unroll
    for (int k = 0; k < KINDS; k++) sum[k] = 0.0;
    const size_t most = ULP_CUDA_TILE;
    for (size_t from = 0; from < n; from += most) {
        const size_t count = n - from < most ? n - from : most;
        __syncwarp();
        for (size_t j = ulp_cuda_lane(); j < count; j += ULP_CUDA_LANES) {
            double term[KINDS];
            terms(term, from + j);
#pragma unroll
            for (int k = 0; k < KINDS; k++) tile[k][j] = term[k];
        }
        __syncwarp();
#pragma unroll 16
        for (size_t j = 0; j < count; j++)
#pragma unroll
            for (int k = 0; k < KINDS; k++) sum[k] += tile[k][j];
    }
}

#endif
