// activation.cu - activation functions, their gradients, products with a factor, and conversion to binary32.
#include "device.h"
#include "operations.h"

namespace {

__global__ void __launch_bounds__(ULP_CUDA_THREADS) narrow_kernel(float *y, const double *x, size_t n) {
    for (size_t i = ulp_cuda_thread(); i < n; i += ulp_cuda_threads()) y[i] = ulp_narrowed(x[i]);
}

__global__ void __launch_bounds__(ULP_CUDA_THREADS) scale_kernel(double *y, const double *x, size_t n, double factor) {
    for (size_t i = ulp_cuda_thread(); i < n; i += ulp_cuda_threads()) y[i] = ulp_quieted(factor * x[i]);
}

__global__ void __launch_bounds__(ULP_CUDA_THREADS) relu_kernel(float *y, const float *x, size_t n) {
    for (size_t i = ulp_cuda_thread(); i < n; i += ulp_cuda_threads()) y[i] = ulp_relu(x[i]);
}

__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    relu_slope_kernel(float *dx, const float *dy, const float *y, size_t n) {
    for (size_t i = ulp_cuda_thread(); i < n; i += ulp_cuda_threads()) dx[i] = ulp_relu_slope(dy[i], y[i]);
}

template <ulp_activation_kind KIND>
__global__ void __launch_bounds__(ULP_CUDA_THREADS) activate_kernel(double a, double *y, const float *x, size_t n) {
    for (size_t i = ulp_cuda_thread(); i < n; i += ulp_cuda_threads())
        y[i] = ulp_activation_value(KIND, a, (double)x[i]);
}

template <ulp_activation_kind KIND>
__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    activate_slope_kernel(double a, double *dx, const float *dy, const float *at, size_t n) {
    for (size_t i = ulp_cuda_thread(); i < n; i += ulp_cuda_threads())
        dx[i] = ulp_activation_slope(KIND, a, (double)dy[i], (double)at[i]);
}

/* On arrays of n elements: a thread handles its element and the elements at multiples of the grid size behind it. */
template <typename... Expected, typename... Given>
ulp_status over(size_t n, const char *name, void (*kernel)(Expected...), Given &&...given) {
    ulp_status status = ulp_cuda_open();
    if (status != ULP_OK || n == 0) return status;
    return ulp_cuda_launch(name, kernel, ulp_cuda_blocks(n), ULP_CUDA_THREADS, static_cast<Given &&>(given)...);
}

} // namespace

ulp_status ulp_cuda_narrow(float *y, const double *x, size_t n) { return over(n, "narrow", narrow_kernel, y, x, n); }

ulp_status ulp_cuda_scale(double *y, const double *x, size_t n, double factor) {
    return over(n, "scale", scale_kernel, y, x, n, factor);
}

ulp_status ulp_cuda_relu(float *y, const float *x, size_t n) { return over(n, "relu", relu_kernel, y, x, n); }

ulp_status ulp_cuda_relu_slope(float *dx, const float *dy, const float *y, size_t n) {
    return over(n, "relu_slope", relu_slope_kernel, dx, dy, y, n);
}

ulp_status ulp_cuda_activate(double *y, const float *x, size_t n, ulp_activation f) {
    switch (f.kind) {
#define CASE(id, name, value, slope)                                                                                   \
    case id: return over(n, "activate", activate_kernel<id>, f.a, y, x, n);
        ULP_ACTIVATIONS(CASE)
#undef CASE
    default: return ULP_BAD_ARGUMENT;
    }
}

ulp_status ulp_cuda_activate_slope(double *dx, const float *dy, const float *at, size_t n, ulp_activation f) {
    switch (f.kind) {
#define CASE(id, name, value, slope)                                                                                   \
    case id: return over(n, "activate_slope", activate_slope_kernel<id>, f.a, dx, dy, at, n);
        ULP_ACTIVATIONS(CASE)
#undef CASE
    default: return ULP_BAD_ARGUMENT;
    }
}
