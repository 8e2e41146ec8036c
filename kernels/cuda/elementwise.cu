// elementwise.cu - activation functions, dropout and softmax with their gradients, products with a factor, and
// conversion to binary32.
#include "device.h"
#include "operations.h"
#include "formats/rng.h"

namespace {

/* ---- dropout: a thread computes four neighbours, whose random words are one Philox block ---- */

enum { NEIGHBOURS = 4 };

/* The first `skip` elements of the first group lie before the array. */
__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    dropout_kernel(double *y, const float *x, size_t n, const __grid_constant__ ulp_dropout how, uint32_t skip) {
    const uint32_t least = ulp_dropout_least(how.percent);
    for (size_t g = ulp_cuda_thread(); g < (skip + n + NEIGHBOURS - 1) / NEIGHBOURS; g += ulp_cuda_threads()) {
        const uint64_t index = how.stream.first + g * NEIGHBOURS; /* of a word of the block; 0 follows the last index */
        const philox4x32_ctr_t words = ulp_random_block(how.stream.seed, how.stream.stream, index / NEIGHBOURS);
#pragma unroll
        for (int e = 0; e < NEIGHBOURS; e++) {
            const size_t i = g * NEIGHBOURS + e - skip; /* indices before the array wrap to above n */
            if (i < n) y[i] = ulp_dropout_value(x[i], words.v[e], least, how.percent);
        }
    }
}

/* ---- softmax ---- */

/* A warp handles a row. Its lanes share the work of the exponentials and the quotients. Every lane computes the largest
 * element and the sum, in the order of the columns, for itself: all lanes read equal addresses at one time, and no lane
 * waits. */
enum { LANES = 32 };

__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    softmax_kernel(double *p, double *loss, const float *z, const __grid_constant__ ulp_labels labels) {
    const size_t C = labels.C;
    const size_t lane = threadIdx.x % LANES, warps = ulp_cuda_threads() / LANES;
    for (size_t b = ulp_cuda_thread() / LANES; b < labels.B; b += warps) {
        const float *row = z + b * C;
        double *to = p + b * C;
        const double largest = ulp_softmax_largest(row, C);
        for (size_t c = lane; c < C; c += LANES) to[c] = ulp_exp((double)row[c] - largest);
        __syncwarp();
        const double sum = ulp_softmax_sum(to, C);
        __syncwarp();
        for (size_t c = lane; c < C; c += LANES) to[c] = ulp_quieted(to[c] / sum);
        if (lane == 0) loss[b] = ulp_softmax_loss(row, labels.label[b], C, largest, sum);
    }
}

} // namespace

ulp_status ulp_cuda_narrow(float *y, const double *x, size_t n) {
    return ulp_cuda_each(n, "narrow", [=] __device__(size_t i) { y[i] = ulp_narrowed(x[i]); });
}

ulp_status ulp_cuda_scale(double *y, const double *x, size_t n, double factor) {
    return ulp_cuda_each(n, "scale", [=] __device__(size_t i) { y[i] = ulp_quieted(factor * x[i]); });
}

ulp_status ulp_cuda_relu(float *y, const float *x, size_t n) {
    return ulp_cuda_each(n, "relu", [=] __device__(size_t i) { y[i] = ulp_relu(x[i]); });
}

ulp_status ulp_cuda_relu_slope(float *dx, const float *dy, const float *y, size_t n) {
    return ulp_cuda_each(n, "relu_slope", [=] __device__(size_t i) { dx[i] = ulp_relu_slope(dy[i], y[i]); });
}

ulp_status ulp_cuda_activate(double *y, const float *x, size_t n, ulp_activation f) {
    const double a = f.a;
    switch (f.kind) {
#define CASE(id, name, value, slope)                                                                                   \
    case id:                                                                                                           \
        return ulp_cuda_each(n, "activate",                                                                            \
                             [=] __device__(size_t i) { y[i] = ulp_activation_value(id, a, (double)x[i]); });
        ULP_ACTIVATIONS(CASE)
#undef CASE
    default: return ULP_BAD_ARGUMENT;
    }
}

ulp_status ulp_cuda_activate_slope(double *dx, const float *dy, const float *at, size_t n, ulp_activation f) {
    const double a = f.a;
    switch (f.kind) {
#define CASE(id, name, value, slope)                                                                                   \
    case id:                                                                                                           \
        return ulp_cuda_each(n, "activate_slope", [=] __device__(size_t i) {                                           \
            dx[i] = ulp_activation_slope(id, a, (double)dy[i], (double)at[i]);                                         \
        });
        ULP_ACTIVATIONS(CASE)
#undef CASE
    default: return ULP_BAD_ARGUMENT;
    }
}

ulp_status ulp_cuda_dropout(double *y, const float *x, size_t n, ulp_dropout how) {
    const uint32_t skip = (uint32_t)(how.stream.first % NEIGHBOURS);
    const size_t groups = n == 0 ? 0 : (skip + n + NEIGHBOURS - 1) / NEIGHBOURS;
    return ulp_cuda_over(groups, "dropout", dropout_kernel, y, x, n, how, skip);
}

ulp_status ulp_cuda_softmax(double *p, double *loss, const float *z, ulp_labels labels) {
    return ulp_cuda_over(labels.B * LANES, "softmax", softmax_kernel, p, loss, z, labels);
}

ulp_status ulp_cuda_softmax_slope(double *dz, const float *p, ulp_labels labels, double scale) {
    return ulp_cuda_each(labels.B * labels.C, "softmax_slope", [=] __device__(size_t i) {
        dz[i] = ulp_softmax_slope(p[i], (uint32_t)(i % labels.C == labels.label[i / labels.C]), scale, labels.B);
    });
}
