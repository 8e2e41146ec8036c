// activation.cu - activation functions, their gradients, and the way from binary64 to binary32.
#include "device.h"
#include "operations.h"
#include "kernels/arguments.h"

namespace {

__global__ void __launch_bounds__(ULP_CUDA_THREADS) narrow_kernel(float *y, const double *x, size_t n) {
    for (size_t i = ulp_cuda_thread(); i < n; i += ulp_cuda_threads()) y[i] = ulp_narrowed(x[i]);
}

__global__ void __launch_bounds__(ULP_CUDA_THREADS) relu_kernel(float *y, const float *x, size_t n) {
    for (size_t i = ulp_cuda_thread(); i < n; i += ulp_cuda_threads()) y[i] = ulp_relu(x[i]);
}

__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    relu_slope_kernel(float *dx, const float *dy, const float *y, size_t n) {
    for (size_t i = ulp_cuda_thread(); i < n; i += ulp_cuda_threads()) dx[i] = ulp_relu_slope(dy[i], y[i]);
}

template <ulp_curve_kind KIND>
__global__ void __launch_bounds__(ULP_CUDA_THREADS) curve_kernel(double a, double *y, const float *x, size_t n) {
    for (size_t i = ulp_cuda_thread(); i < n; i += ulp_cuda_threads()) y[i] = ulp_curve_value(KIND, a, (double)x[i]);
}

template <ulp_curve_kind KIND>
__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    slope_kernel(double a, double *dx, const float *dy, const float *at, size_t n) {
    for (size_t i = ulp_cuda_thread(); i < n; i += ulp_cuda_threads())
        dx[i] = ulp_curve_slope(KIND, a, (double)dy[i], (double)at[i]);
}

/* What was asked for is right: on arrays of n elements, a thread for each of them and for those a grid behind. */
template <typename... Expected, typename... Given>
ulp_status over(ulp_status asked, size_t n, const char *name, void (*kernel)(Expected...), Given &&...given) {
    ulp_status status = asked == ULP_OK ? ulp_cuda_open() : asked;
    if (status != ULP_OK || n == 0) return status;
    return ulp_cuda_launch(name, kernel, ulp_cuda_blocks(n), ULP_CUDA_THREADS, static_cast<Given &&>(given)...);
}

} // namespace

ulp_status ulp_cuda_narrow(float *y, const double *x, size_t n) {
    return over(ulp_asked_narrow(y, x, n), n, "narrow", narrow_kernel, y, x, n);
}

ulp_status ulp_cuda_relu(float *y, const float *x, size_t n) {
    return over(ulp_asked_relu(y, x, n), n, "relu", relu_kernel, y, x, n);
}

ulp_status ulp_cuda_relu_slope(float *dx, const float *dy, const float *y, size_t n) {
    return over(ulp_asked_relu_slope(dx, dy, y, n), n, "relu_slope", relu_slope_kernel, dx, dy, y, n);
}

ulp_status ulp_cuda_curve(ulp_curve f, double *y, const float *x, size_t n) {
    const ulp_status asked = ulp_asked_curve(f, y, x, n);
    switch (f.kind) {
#define CASE(id, name, value, slope)                                                                                   \
    case id: return over(asked, n, "curve", curve_kernel<id>, f.a, y, x, n);
        ULP_CURVES(CASE)
#undef CASE
    default: return asked;
    }
}

ulp_status ulp_cuda_slope(ulp_curve f, double *dx, const float *dy, const float *at, size_t n) {
    const ulp_status asked = ulp_asked_slope(f, dx, dy, at, n);
    switch (f.kind) {
#define CASE(id, name, value, slope)                                                                                   \
    case id: return over(asked, n, "slope", slope_kernel<id>, f.a, dx, dy, at, n);
        ULP_CURVES(CASE)
#undef CASE
    default: return asked;
    }
}
