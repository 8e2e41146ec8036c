// average.cu - average pooling: means of windows and their gradient.
#include "device.h"
#include "operations.h"
#include "kernels/functions/average.h"

namespace {

/* A thread for each window. */
__global__ void __launch_bounds__(ULP_CUDA_THREADS) average_kernel(double *y, const float *x, ulp_windows s, size_t n) {
    const size_t oh = s.h / s.K, ow = s.w / s.K;
    for (size_t i = ulp_cuda_thread(); i < n; i += ulp_cuda_threads()) {
        const size_t q = i % ow, row = i / ow, p = row % oh, image = row / oh;
        y[i] = ulp_average_value(x + (image * s.h + p * s.K) * s.w + q * s.K, s.w, s.K);
    }
}

/* A thread for each element of dx. */
__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    average_slope_kernel(double *dx, const float *dy, ulp_windows s, size_t n) {
    const size_t oh = s.h / s.K, ow = s.w / s.K;
    for (size_t i = ulp_cuda_thread(); i < n; i += ulp_cuda_threads()) {
        const size_t q = i % s.w / s.K, p = i / s.w % s.h / s.K, image = i / s.w / s.h;
        dx[i] = p < oh && q < ow ? ulp_average_slope(dy[(image * oh + p) * ow + q], s.K) : 0.0;
    }
}

} // namespace

ulp_status ulp_cuda_average(double *y, const float *x, const ulp_windows *windows) {
    ulp_status status = ulp_cuda_open();
    const size_t n = status != ULP_OK ? 0 : windows->images * (windows->h / windows->K) * (windows->w / windows->K);
    if (status != ULP_OK || n == 0) return status;
    return ulp_cuda_launch("average", average_kernel, ulp_cuda_blocks(n), ULP_CUDA_THREADS, y, x, *windows, n);
}

ulp_status ulp_cuda_average_slope(double *dx, const float *dy, const ulp_windows *windows) {
    ulp_status status = ulp_cuda_open();
    const size_t n = status != ULP_OK ? 0 : windows->images * windows->h * windows->w;
    if (status != ULP_OK || n == 0) return status;
    return ulp_cuda_launch("average_slope", average_slope_kernel, ulp_cuda_blocks(n), ULP_CUDA_THREADS, dx, dy,
                           *windows, n);
}
