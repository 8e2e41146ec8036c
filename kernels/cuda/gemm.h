/* gemm.h - declarations that the kinds of matrix products on the device share: the job and its elements.
 *
 * kernels/products/sum.h defines a result element by element. The tiles change the speed and never a bit. Each kind of
 * product is a source that computes a job or returns ULP_UNSUPPORTED; then the next kind is tried. The last kind,
 * gemm_any.cu, computes every job.
 */
#ifndef ULP_CUDA_GEMM_H
#define ULP_CUDA_GEMM_H

#include "device.h"
#include "kernels/products/sum.h"

/* Arrays in device memory. `*_row` is the distance between neighbouring rows in numbers, `*_column` the distance
 * between neighbouring columns. T is float or double. */
template <typename T> struct ulp_cuda_job {
    T *c;
    const T *a, *b;
    size_t m, n, k;
    size_t a_row, a_column, b_row, b_column, c_row, c_column;
    bool accumulate;
    const float *a_scales, *b_scales; /* (m, blocks), (n, blocks); NULL: all scales are 1 */
    size_t blocks;
    uint64_t words; /* random words of one output */
    ulp_stream stream;
};

template <typename T> static __host__ __device__ inline T *ulp_cuda_c(const ulp_cuda_job<T> &w, size_t i, size_t j) {
    return w.c + i * w.c_row + j * w.c_column;
}

/* All NaN results become one quiet NaN. */
static __device__ inline float ulp_cuda_canonical(float x) { return x == x ? x : ulp_from_bits32(0x7fc00000u); }
static __device__ inline double ulp_cuda_canonical(double x) { return x == x ? x : ulp_quiet_nan(); }

/* The stream of element (i,j): its words begin at index 0. */
template <typename T>
static __device__ inline ulp_stream ulp_cuda_stream_of(const ulp_cuda_job<T> &w, size_t i, size_t j) {
    ulp_stream s = w.stream;
    s.first += ((uint64_t)i * w.n + j) * w.words;
    return s;
}

ulp_status ulp_cuda_gemm_fp32(const ulp_cuda_job<float> &job, const ulp_datapath &datapath);
ulp_status ulp_cuda_gemm_lanes(const ulp_cuda_job<float> &job, const ulp_datapath &datapath);
ulp_status ulp_cuda_gemm_aligned(const ulp_cuda_job<float> &job, const ulp_datapath &datapath);
ulp_status ulp_cuda_gemm_groups(const ulp_cuda_job<float> &job, const ulp_datapath &datapath);
ulp_status ulp_cuda_gemm_int8(const ulp_cuda_job<double> &job, const ulp_datapath &datapath);
ulp_status ulp_cuda_gemm_any(const ulp_cuda_job<float> &job, const ulp_datapath &datapath);
ulp_status ulp_cuda_gemm_any(const ulp_cuda_job<double> &job, const ulp_datapath &datapath);

#endif
