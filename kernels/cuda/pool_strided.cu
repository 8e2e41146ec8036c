// pool_strided.cu - pooling by windows with a stride and a frame: maxima and their gradient.
#include "device.h"
#include "operations.h"

namespace {

/* A thread for each window. */
__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    pool_strided_kernel(float *y, float *place, const float *x, const __grid_constant__ ulp_strided_windows s,
                        size_t oh, size_t ow, size_t n) {
    for (size_t i = ulp_cuda_thread(); i < n; i += ulp_cuda_threads()) {
        const size_t q = i % ow, row = i / ow, p = row % oh, image = row / oh;
        float at;
        y[i] = ulp_strided_most(&at, x + image * s.h * s.w, s.w, s.K, ulp_strided_cover(p, s.h, &s),
                                ulp_strided_cover(q, s.w, &s));
        place[i] = at;
    }
}

/* The first window that covers pixel `at` of a column or a row; `at` is counted from the frame. */
__device__ size_t first_window(size_t at, const ulp_strided_windows &s) {
    return at < s.K ? 0 : (at - s.K) / s.stride + 1;
}

/* A thread for each element of dx. It looks at the windows that cover the pixel, in their order. */
__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    pool_strided_slope_kernel(double *dx, const float *dy, const float *place,
                              const __grid_constant__ ulp_strided_windows s, size_t oh, size_t ow, size_t n) {
    for (size_t i = ulp_cuda_thread(); i < n; i += ulp_cuda_threads()) {
        const size_t line = i / s.w % s.h + s.pad, column = i % s.w + s.pad, image = i / s.w / s.h;
        double sum = 0.0;
        for (size_t p = first_window(line, s); p < oh && p * s.stride <= line; p++)
            for (size_t q = first_window(column, s); q < ow && q * s.stride <= column; q++) {
                const size_t window = (image * oh + p) * ow + q;
                const size_t at = (line - p * s.stride) * s.K + column - q * s.stride;
                if ((size_t)place[window] == at) sum = ulp_strided_slope(sum, dy[window]);
            }
        dx[i] = sum;
    }
}

} // namespace

ulp_status ulp_cuda_pool_strided(float *y, float *place, const float *x, const ulp_strided_windows *windows) {
    const size_t oh = ulp_strided_count(windows->h, windows), ow = ulp_strided_count(windows->w, windows),
                 n = windows->images * oh * ow;
    ulp_status status = ulp_cuda_open();
    if (status != ULP_OK || n == 0) return status;
    return ulp_cuda_launch("pool_strided", pool_strided_kernel, ulp_cuda_blocks(n), ULP_CUDA_THREADS, y, place, x,
                           *windows, oh, ow, n);
}

ulp_status ulp_cuda_pool_strided_slope(double *dx, const float *dy, const float *place,
                                       const ulp_strided_windows *windows) {
    const size_t oh = ulp_strided_count(windows->h, windows), ow = ulp_strided_count(windows->w, windows),
                 n = windows->images * windows->h * windows->w;
    ulp_status status = ulp_cuda_open();
    if (status != ULP_OK || n == 0) return status;
    return ulp_cuda_launch("pool_strided_slope", pool_strided_slope_kernel, ulp_cuda_blocks(n), ULP_CUDA_THREADS, dx,
                           dy, place, *windows, oh, ow, n);
}
