// softmax.cu - softmax with cross-entropy, and its gradient.
//
// A warp takes a row: its lanes form the exponentials and the quotients. What all lanes need, the largest element and
// the sum, whose order is that of the columns, each of them forms for itself: they read the same addresses at the same
// time, and nobody waits.
#include "device.h"
#include "operations.h"
#include "kernels/functions/softmax.h"

namespace {

enum { LANES = 32 };

__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    softmax_kernel(double *p, double *loss, const float *z, const __grid_constant__ ulp_labels of) {
    const size_t C = of.C;
    const size_t lane = threadIdx.x % LANES, warps = ulp_cuda_threads() / LANES;
    for (size_t b = ulp_cuda_thread() / LANES; b < of.B; b += warps) {
        const float *row = z + b * C;
        double *to = p + b * C;
        const double largest = ulp_softmax_largest(row, C);
        for (size_t c = lane; c < C; c += LANES) to[c] = ulp_exp((double)row[c] - largest);
        __syncwarp();
        const double sum = ulp_softmax_sum(to, C);
        __syncwarp();
        for (size_t c = lane; c < C; c += LANES) to[c] = ulp_quieted(to[c] / sum);
        if (lane == 0) loss[b] = ulp_softmax_loss(row, of.label[b], C, largest, sum);
    }
}

__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    softmax_slope_kernel(double *dz, const float *p, const __grid_constant__ ulp_labels of, double scale) {
    for (size_t i = ulp_cuda_thread(); i < of.B * of.C; i += ulp_cuda_threads())
        dz[i] = ulp_softmax_slope(p[i], (uint32_t)(i % of.C == of.label[i / of.C]), scale, of.B);
}

} // namespace

ulp_status ulp_cuda_softmax(double *p, double *loss, const float *z, ulp_labels labels) {
    ulp_status status = ulp_cuda_open();
    if (status != ULP_OK || labels.B == 0) return status;
    return ulp_cuda_launch("softmax", softmax_kernel, ulp_cuda_blocks(labels.B * LANES), ULP_CUDA_THREADS, p, loss, z,
                           labels);
}

ulp_status ulp_cuda_softmax_slope(double *dz, const float *p, ulp_labels labels, double scale) {
    ulp_status status = ulp_cuda_open();
    if (status != ULP_OK || labels.B == 0) return status;
    return ulp_cuda_launch("softmax_slope", softmax_slope_kernel, ulp_cuda_blocks(labels.B * labels.C),
                           ULP_CUDA_THREADS, dz, p, labels, scale);
}
