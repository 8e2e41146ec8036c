// pool.cu - pooling: maxima of windows and their gradient.
#include "device.h"
#include "operations.h"

namespace {

/* A thread for each window. */
__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    pool_kernel(float *y, float *place, const float *x, ulp_windows s, size_t n) {
    const size_t oh = s.h / s.K, ow = s.w / s.K;
    for (size_t i = ulp_cuda_thread(); i < n; i += ulp_cuda_threads()) {
        const size_t q = i % ow, row = i / ow, p = row % oh, image = row / oh;
        float at;
        y[i] = ulp_pool_most(&at, x + (image * s.h + p * s.K) * s.w + q * s.K, s.w, s.K);
        place[i] = at;
    }
}

/* A thread for each element of dx. The element is the dy of its window if it is the window's maximum, else +0. */
__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    pool_slope_kernel(float *dx, const float *dy, const float *place, ulp_windows s, size_t n) {
    const size_t oh = s.h / s.K, ow = s.w / s.K;
    for (size_t i = ulp_cuda_thread(); i < n; i += ulp_cuda_threads()) {
        const size_t column = i % s.w, line = i / s.w % s.h, image = i / s.w / s.h, q = column / s.K, p = line / s.K;
        const size_t window = (image * oh + p) * ow + q, at = line % s.K * s.K + column % s.K;
        dx[i] = p < oh && q < ow && (size_t)place[window] == at ? dy[window] : 0.0f;
    }
}

} // namespace

ulp_status ulp_cuda_pool(float *y, float *place, const float *x, const ulp_windows *windows) {
    ulp_status status = ulp_cuda_open();
    const size_t n = status != ULP_OK ? 0 : windows->images * (windows->h / windows->K) * (windows->w / windows->K);
    if (status != ULP_OK || n == 0) return status;
    return ulp_cuda_launch("pool", pool_kernel, ulp_cuda_blocks(n), ULP_CUDA_THREADS, y, place, x, *windows, n);
}

ulp_status ulp_cuda_pool_slope(float *dx, const float *dy, const float *place, const ulp_windows *windows) {
    ulp_status status = ulp_cuda_open();
    const size_t n = status != ULP_OK ? 0 : windows->images * windows->h * windows->w;
    if (status != ULP_OK || n == 0) return status;
    return ulp_cuda_launch("pool_slope", pool_slope_kernel, ulp_cuda_blocks(n), ULP_CUDA_THREADS, dx, dy, place,
                           *windows, n);
}
