// windows.cu - maxima and means of windows, up-sampling, and their gradients.
#include "device.h"
#include "operations.h"

namespace {

/* ---- maxima of adjacent windows ---- */

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

/* ---- maxima of windows with a stride and a frame ---- */

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

/* ---- means ---- */

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

/* ---- up-sampling ---- */

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

/* The numbers of pixels of all images and of adjacent windows. */
size_t pixels_of(const ulp_windows *s) { return s->images * s->h * s->w; }
size_t windows_of(const ulp_windows *s) { return s->images * (s->h / s->K) * (s->w / s->K); }

} // namespace

ulp_status ulp_cuda_pool(float *y, float *place, const float *x, const ulp_windows *windows) {
    const size_t n = windows_of(windows);
    return ulp_cuda_over(n, "pool", pool_kernel, y, place, x, *windows, n);
}

ulp_status ulp_cuda_pool_slope(float *dx, const float *dy, const float *place, const ulp_windows *windows) {
    const size_t n = pixels_of(windows);
    return ulp_cuda_over(n, "pool_slope", pool_slope_kernel, dx, dy, place, *windows, n);
}

ulp_status ulp_cuda_pool_strided(float *y, float *place, const float *x, const ulp_strided_windows *windows) {
    const size_t oh = ulp_strided_count(windows->h, windows), ow = ulp_strided_count(windows->w, windows),
                 n = windows->images * oh * ow;
    return ulp_cuda_over(n, "pool_strided", pool_strided_kernel, y, place, x, *windows, oh, ow, n);
}

ulp_status ulp_cuda_pool_strided_slope(double *dx, const float *dy, const float *place,
                                       const ulp_strided_windows *windows) {
    const size_t oh = ulp_strided_count(windows->h, windows), ow = ulp_strided_count(windows->w, windows),
                 n = windows->images * windows->h * windows->w;
    return ulp_cuda_over(n, "pool_strided_slope", pool_strided_slope_kernel, dx, dy, place, *windows, oh, ow, n);
}

ulp_status ulp_cuda_average(double *y, const float *x, const ulp_windows *windows) {
    const size_t n = windows_of(windows);
    return ulp_cuda_over(n, "average", average_kernel, y, x, *windows, n);
}

ulp_status ulp_cuda_average_slope(double *dx, const float *dy, const ulp_windows *windows) {
    const size_t n = pixels_of(windows);
    return ulp_cuda_over(n, "average_slope", average_slope_kernel, dx, dy, *windows, n);
}

ulp_status ulp_cuda_upsample(float *y, const float *x, const ulp_windows *windows) {
    const size_t n = pixels_of(windows);
    return ulp_cuda_over(n, "upsample", upsample_kernel, y, x, *windows, n);
}

ulp_status ulp_cuda_upsample_slope(double *dx, const float *dy, const ulp_windows *windows) {
    const size_t n = windows_of(windows);
    return ulp_cuda_over(n, "upsample_slope", upsample_slope_kernel, dx, dy, *windows, n, ulp_binary64);
}
