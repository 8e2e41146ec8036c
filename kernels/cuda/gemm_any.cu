// gemm_any.cu - the product under any datapath by kernels/products/sum.h, with a thread for each output.
#define ULP_CALLS /* the kernel has every kind of sum */
#include "gemm.h"

#include <string.h>

namespace {

enum { ACROSS = 16, DOWN = 8, BLOCKS = 9 /* of a processor, at least */ };

/* An element of an array of floats, or of doubles if wide. */
__device__ double at(const void *array, size_t i, bool wide) {
    return wide ? static_cast<const double *>(array)[i] : (double)static_cast<const float *>(array)[i];
}

/* One kernel for floats and doubles, because no kernel takes longer to compile. The arrays are floats, or doubles if
 * wide. */
__global__ void __launch_bounds__(ACROSS *DOWN, BLOCKS)
    any_kernel(const __grid_constant__ ulp_cuda_job<float> w, bool wide, const __grid_constant__ ulp_datapath d) {
    const size_t per = d.scale_block != 0 ? d.scale_block : 1;
    for (size_t i = (size_t)blockIdx.y * DOWN + threadIdx.y; i < w.m; i += (size_t)gridDim.y * DOWN)
        for (size_t j = (size_t)blockIdx.x * ACROSS + threadIdx.x; j < w.n; j += (size_t)gridDim.x * ACROSS) {
            const ulp_stream stream = ulp_cuda_stream_of(w, i, j);
            const size_t place = i * w.c_row + j * w.c_column;
            double a[ULP_STEP_MAX], b[ULP_STEP_MAX], sa[ULP_STEP_MAX], sb[ULP_STEP_MAX];
            ulp_sum sum;
            ulp_sum_start(&sum, &d, w.accumulate ? at(w.c, place, wide) : 0.0, 0);
            for (size_t k = 0; k < w.k; k += d.step) {
                const uint32_t left = (uint32_t)(w.k - k < d.step ? w.k - k : d.step),
                               groups = (uint32_t)((left + per - 1) / per);
                for (uint32_t e = 0; e < left; e++) {
                    a[e] = at(w.a, i * w.a_row + (k + e) * w.a_column, wide);
                    b[e] = at(w.b, (k + e) * w.b_row + j * w.b_column, wide);
                }
                for (uint32_t g = 0; d.scale_block != 0 && g < groups; g++) {
                    sa[g] = w.a_scales == NULL ? 1.0 : (double)w.a_scales[i * w.blocks + k / per + g];
                    sb[g] = w.b_scales == NULL ? 1.0 : (double)w.b_scales[j * w.blocks + k / per + g];
                }
                const ulp_products next = {a, b, left, d.scale_block != 0 ? sa : NULL, d.scale_block != 0 ? sb : NULL};
                ulp_sum_step(&sum, &d, &next, stream);
            }
            const double y = ulp_sum_end(&sum, &d, stream);
            if (wide) reinterpret_cast<double *>(w.c)[place] = ulp_cuda_canonical(y);
            else w.c[place] = ulp_cuda_canonical((float)y);
        }
}

ulp_status run(const ulp_cuda_job<float> &job, bool wide, const ulp_datapath &datapath) {
    const size_t across = (job.n + ACROSS - 1) / ACROSS, down = (job.m + DOWN - 1) / DOWN;
    const dim3 grid((unsigned)(across < 1u << 30 ? across : 1u << 30), (unsigned)(down < 65535 ? down : 65535));
    return ulp_cuda_launch("gemm of any datapath", any_kernel, grid, dim3(ACROSS, DOWN), job, wide, datapath);
}

} // namespace

ulp_status ulp_cuda_gemm_any(const ulp_cuda_job<float> &job, const ulp_datapath &datapath) {
    return run(job, false, datapath);
}

ulp_status ulp_cuda_gemm_any(const ulp_cuda_job<double> &job, const ulp_datapath &datapath) {
    ulp_cuda_job<float> same; /* the types differ in what the pointers point to */
    static_assert(sizeof same == sizeof job, "the jobs have the same fields");
    memcpy(static_cast<void *>(&same), &job, sizeof same);
    return run(same, true, datapath);
}
