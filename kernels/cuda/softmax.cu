// softmax.cu - softmax with cross-entropy, and its gradient.
//
// A warp handles a row. Its lanes share the work of the exponentials and the quotients. Every lane computes the largest
// element and the sum, in the order of the columns, for itself: all lanes read equal addresses at one time, and no lane
// waits.
#include "device.h"
#include "operations.h"
#include "kernels/functions/softmax.h"

namespace {

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

__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    softmax_slope_kernel(double *dz, const float *p, const __grid_constant__ ulp_labels labels, double scale) {
    for (size_t i = ulp_cuda_thread(); i < labels.B * labels.C; i += ulp_cuda_threads())
        dz[i] = ulp_softmax_slope(p[i], (uint32_t)(i % labels.C == labels.label[i / labels.C]), scale, labels.B);
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
