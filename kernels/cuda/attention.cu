// attention.cu - the softmax of scores over keys, whole and in blocks of keys, and its slope.
//
// A warp handles a row of the whole softmax and of its slope. In blocks of keys the maxima and the rounded sums are
// chains and have a thread for each row; a weight has a thread.
#define ULP_CALLS /* an operation of the sums is rounded in several places */
#include "operations.h"
#include "rows.h"

namespace {

enum { LANES = ULP_CUDA_LANES, WARPS = ULP_CUDA_WARPS, TILE = ULP_CUDA_TILE };

/* Every lane computes the largest score and the sum, in the order of the keys, for itself: all lanes read equal
 * addresses at one time, and no lane waits. */
__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    softmax_kernel(double *p, const float *s, const __grid_constant__ ulp_scores by) {
    for (size_t r = ulp_cuda_warp(); r < by.rows; r += ulp_cuda_warps()) {
        const size_t seen = ulp_scores_seen(&by, r);
        const float *row = s + r * by.keys;
        double *to = p + r * by.keys;
        const double largest = ulp_scores_largest(-(double)INFINITY, row, 0, seen);
        for (size_t j = ulp_cuda_lane(); j < seen; j += LANES) to[j] = ulp_scores_f(&by, (double)row[j] - largest);
        __syncwarp();
        const double sum = ulp_softmax_sum(to, seen);
        __syncwarp();
        for (size_t j = ulp_cuda_lane(); j < by.keys; j += LANES) to[j] = j < seen ? ulp_quieted(to[j] / sum) : 0.0;
    }
}

__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    slope_kernel(double *ds, const float *p, const float *dp, const float *d, const __grid_constant__ ulp_scores by,
                 double scale) {
    __shared__ double tile[WARPS][1][TILE];
    for (size_t r = ulp_cuda_warp(); r < by.rows; r += ulp_cuda_warps()) {
        const float *weight = p + r * by.keys, *slope = dp + r * by.keys;
        double sum[1];
        if (d != NULL) sum[0] = (double)d[r];
        else
            ulp_cuda_add_row<1>(sum, tile[threadIdx.x / LANES], by.keys,
                                [=](double *term, size_t j) { term[0] = (double)weight[j] * (double)slope[j]; });
        for (size_t j = ulp_cuda_lane(); j < by.keys; j += LANES)
            ds[r * by.keys + j] = ulp_scores_slope(weight[j], slope[j], sum[0], scale);
    }
}

struct sums_rounding {
    ulp_format format;
    ulp_rule rule;
    ulp_stream stream;
};

__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    sums_kernel(float *sum, const float *p, const float *factor, const __grid_constant__ ulp_scores by,
                const __grid_constant__ sums_rounding how) {
    ulp_rounded_steps steps = {&how.format, how.rule, how.stream, 0};
    for (size_t r = ulp_cuda_thread(); r < by.rows; r += ulp_cuda_threads())
        sum[r] = (float)ulp_scores_sum(&by, (double)sum[r], (double)factor[r], p + r * (by.to - by.from), r, &steps);
}

} // namespace

ulp_status ulp_cuda_attention_softmax(double *p, const float *s, const ulp_scores *by) {
    return ulp_cuda_over_rows(by->rows, "attention_softmax", softmax_kernel, p, s, *by);
}

ulp_status ulp_cuda_attention_slope(double *ds, const float *p, const float *dp, const float *d, const ulp_scores *by,
                                    double scale) {
    return ulp_cuda_over_rows(by->rows, "attention_slope", slope_kernel, ds, p, dp, d, *by, scale);
}

ulp_status ulp_cuda_softmax_maxima(float *maximum, double *factor, const float *s, const ulp_scores *by) {
    const ulp_scores of = *by;
    return ulp_cuda_each(of.rows, "softmax_maxima", [=] __device__(size_t r) {
        const double before = (double)maximum[r], after = ulp_scores_maximum(&of, before, s + r * of.keys, r);
        factor[r] = ulp_scores_factor(&of, before, after);
        maximum[r] = (float)after;
    });
}

ulp_status ulp_cuda_softmax_block(double *p, const float *s, const float *maximum, const float *sum,
                                  const ulp_scores *by) {
    const ulp_scores of = *by;
    const size_t width = of.to - of.from;
    return ulp_cuda_each(of.rows * width, "softmax_block", [=] __device__(size_t e) {
        const size_t r = e / width, j = of.from + e % width;
        double weight = 0.0;
        if (j < ulp_scores_seen(&of, r)) {
            weight = ulp_scores_f(&of, (double)s[r * of.keys + j] - ulp_scores_shift(&of, (double)maximum[r]));
            if (sum != NULL) weight = weight / (double)sum[r];
        }
        p[e] = ulp_quieted(weight);
    });
}

ulp_status ulp_cuda_softmax_sums(float *sum, const float *p, const float *factor, const ulp_scores *by,
                                 ulp_rounding rounding) {
    const sums_rounding how = {*rounding.format, rounding.rule, rounding.stream};
    return ulp_cuda_over(by->rows, "softmax_sums", sums_kernel, sum, p, factor, *by, how);
}
