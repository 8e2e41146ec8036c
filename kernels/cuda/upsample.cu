// upsample.cu - up-sampling: copies of pixels, and sums of their gradients.
#include "device.h"
#include "operations.h"
#include "kernels/functions/upsample.h"

namespace {

/* A thread for each element of y. */
__global__ void __launch_bounds__(ULP_CUDA_THREADS) upsample_kernel(float *y, const float *x, ulp_windows s, size_t n) {
    const size_t rows = s.h / s.K, columns = s.w / s.K;
    for (size_t i = ulp_cuda_thread(); i < n; i += ulp_cuda_threads()) {
        const size_t q = i % s.w / s.K, p = i / s.w % s.h / s.K, image = i / s.w / s.h;
        y[i] = p < rows && q < columns ? x[(image * rows + p) * columns + q] : 0.0f;
    }
}

/* A thread for each window. */
__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    upsample_slope_kernel(double *dx, const float *dy, ulp_windows s, size_t n,
                          const __grid_constant__ ulp_format binary64) {
    const size_t rows = s.h / s.K, columns = s.w / s.K;
    for (size_t i = ulp_cuda_thread(); i < n; i += ulp_cuda_threads()) {
        const size_t q = i % columns, row = i / columns, p = row % rows, image = row / rows;
        dx[i] = ulp_upsample_slope(dy + (image * s.h + p * s.K) * s.w + q * s.K, s.w, s.K, &binary64);
    }
}

} // namespace

ulp_status ulp_cuda_upsample(float *y, const float *x, const ulp_windows *windows) {
    const size_t n = windows->images * windows->h * windows->w;
    ulp_status status = ulp_cuda_open();
    if (status != ULP_OK || n == 0) return status;
    return ulp_cuda_launch("upsample", upsample_kernel, ulp_cuda_blocks(n), ULP_CUDA_THREADS, y, x, *windows, n);
}

ulp_status ulp_cuda_upsample_slope(double *dx, const float *dy, const ulp_windows *windows) {
    const size_t n = windows->images * (windows->h / windows->K) * (windows->w / windows->K);
    ulp_format binary64;
    ulp_status status = ulp_cuda_open();
    if (status == ULP_OK) status = ulp_format_parse(&binary64, "binary64");
    if (status != ULP_OK || n == 0) return status;
    return ulp_cuda_launch("upsample_slope", upsample_slope_kernel, ulp_cuda_blocks(n), ULP_CUDA_THREADS, dx, dy,
                           *windows, n, binary64);
}
