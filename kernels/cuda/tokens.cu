// tokens.cu - rows of numbers: normalisation, means over tokens, rotations, rows of a table.
//
// A warp handles a row where a sum runs over it. The moments whose every operation is rounded are a chain, and have a
// thread for each row. The sums over rows have a lane for each feature.
#define ULP_CALLS /* an operation of the moments is rounded in many places */
#include "operations.h"
#include "rows.h"

namespace {

enum { LANES = ULP_CUDA_LANES, WARPS = ULP_CUDA_WARPS, TILE = ULP_CUDA_TILE };

__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    dots_kernel(double *to, const float *a, const float *b, size_t rows, size_t n) {
    __shared__ double tile[WARPS][1][TILE];
    for (size_t r = ulp_cuda_warp(); r < rows; r += ulp_cuda_warps()) {
        const float *x = a + r * n, *y = b + r * n;
        double sum[1];
        ulp_cuda_add_row<1>(sum, tile[threadIdx.x / LANES], n,
                            [=](double *term, size_t i) { term[0] = (double)x[i] * (double)y[i]; });
        if (ulp_cuda_lane() == 0) to[r] = ulp_quieted(sum[0]);
    }
}

/* ---- mean and variance of a row ---- */

__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    wide_moments_kernel(double *to, const float *x, size_t rows, size_t n, int no_mean) {
    __shared__ double tile[WARPS][1][TILE];
    for (size_t r = ulp_cuda_warp(); r < rows; r += ulp_cuda_warps()) {
        const float *row = x + r * n;
        double sum[1] = {0.0}, mean = 0.0;
        if (!no_mean) {
            ulp_cuda_add_row<1>(sum, tile[threadIdx.x / LANES], n,
                                [=](double *term, size_t i) { term[0] = (double)row[i]; });
            mean = ulp_quieted(sum[0] / (double)n);
        }
        ulp_cuda_add_row<1>(sum, tile[threadIdx.x / LANES], n, [=](double *term, size_t i) {
            const double d = (double)row[i] - mean;
            term[0] = d * d;
        });
        if (ulp_cuda_lane() != 0) continue;
        to[r] = mean;
        to[rows + r] = ulp_quieted(sum[0] / (double)n);
    }
}

__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    moments_kernel(double *to, const float *x, const __grid_constant__ ulp_row_moments how) {
    for (size_t r = ulp_cuda_thread(); r < how.rows; r += ulp_cuda_threads())
        ulp_moments_of(&to[r], &to[how.rows + r], x + r * how.n, &how, r);
}

/* ---- normalisation of rows ---- */

__device__ double mean_of(const ulp_row_norm &by, size_t r) { return by.no_mean ? 0.0 : (double)by.statistics[r]; }

__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    values_kernel(double *y, const float *x, const __grid_constant__ ulp_row_norm by) {
    for (size_t r = ulp_cuda_warp(); r < by.rows; r += ulp_cuda_warps()) {
        const double mean = mean_of(by, r), inverse = ulp_row_inverse(by.statistics[by.rows + r]);
        for (size_t i = ulp_cuda_lane(); i < by.n; i += LANES) {
            const double scaled = (double)by.w[i] * ulp_row_z(x[r * by.n + i], mean, inverse);
            y[r * by.n + i] = ulp_quieted(by.no_mean ? scaled : scaled + (double)by.w[by.n + i]);
        }
    }
}

/* A block is a warp. Its lanes compute the factors of as many rows, and then go through these rows with a feature each.
 */
__global__ void __launch_bounds__(LANES)
    sums_kernel(double *sums, const float *dy, const float *x, const __grid_constant__ ulp_row_norm by) {
    __shared__ double mean[LANES], inverse[LANES];
    const size_t most = LANES;
    for (size_t first = (size_t)blockIdx.x * LANES; first < by.n; first += (size_t)gridDim.x * LANES) {
        const size_t i = first + threadIdx.x;
        double dgamma = 0.0, dbeta = 0.0;
        for (size_t from = 0; from < by.rows; from += LANES) {
            const size_t own = from + threadIdx.x, count = by.rows - from < most ? by.rows - from : most;
            __syncwarp();
            if (own < by.rows) {
                mean[threadIdx.x] = mean_of(by, own);
                inverse[threadIdx.x] = ulp_row_inverse(by.statistics[by.rows + own]);
            }
            __syncwarp();
            if (i >= by.n) continue;
#pragma unroll 8
            for (size_t k = 0; k < count; k++) {
                const size_t at = (from + k) * by.n + i;
                dgamma += (double)dy[at] * ulp_row_z(x[at], mean[k], inverse[k]);
                dbeta += (double)dy[at];
            }
        }
        if (i >= by.n) continue;
        sums[i] = ulp_quieted(dgamma);
        if (!by.no_mean) sums[by.n + i] = ulp_quieted(dbeta);
    }
}

__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    slopes_kernel(double *dx, const float *dy, const float *x, const __grid_constant__ ulp_row_norm by) {
    __shared__ double tile[WARPS][2][TILE];
    const float *const gamma = by.w;
    for (size_t r = ulp_cuda_warp(); r < by.rows; r += ulp_cuda_warps()) {
        const double mean = mean_of(by, r), inverse = ulp_row_inverse(by.statistics[by.rows + r]);
        const float *own = x + r * by.n, *slope = dy + r * by.n;
        double sum[2];
        ulp_cuda_add_row<2>(sum, tile[threadIdx.x / LANES], by.n, [=](double *term, size_t i) {
            const double g = (double)slope[i] * (double)gamma[i];
            term[0] = g;
            term[1] = g * ulp_row_z(own[i], mean, inverse);
        });
        const ulp_row_shares shares = {by.no_mean ? 0.0 : sum[0] / (double)by.n, sum[1] / (double)by.n};
        for (size_t i = ulp_cuda_lane(); i < by.n; i += LANES)
            dx[r * by.n + i] = ulp_row_slope(slope[i], gamma[i], ulp_row_z(own[i], mean, inverse), inverse, shares);
    }
}

} // namespace

ulp_status ulp_cuda_scaled(double *y, const float *x, size_t n, double factor) {
    return ulp_cuda_each(n, "scaled", [=] __device__(size_t i) { y[i] = ulp_quieted(factor * (double)x[i]); });
}

ulp_status ulp_cuda_row_scale(double *y, const float *x, const float *factor, size_t rows, size_t n, int divide) {
    return ulp_cuda_each(rows * n, "row_scale", [=] __device__(size_t i) {
        const double a = (double)x[i], b = (double)factor[i / n];
        y[i] = ulp_quieted(divide ? a / b : a * b);
    });
}

ulp_status ulp_cuda_row_dots(double *to, const float *a, const float *b, size_t rows, size_t n) {
    return ulp_cuda_over_rows(rows, "row_dots", dots_kernel, to, a, b, rows, n);
}

ulp_status ulp_cuda_gather(float *y, const float *table, const ulp_row_table *by) {
    const ulp_row_table t = *by;
    return ulp_cuda_each(t.rows * t.width, "gather", [=] __device__(size_t e) {
        const size_t place = ulp_row_table_place(&t, e / t.width);
        y[e] = place < t.entries ? table[place * t.width + e % t.width] : ulp_from_bits32(0x7fc00000u);
    });
}

ulp_status ulp_cuda_one_hot(float *y, const ulp_row_table *by) {
    const ulp_row_table t = *by;
    return ulp_cuda_each(t.rows * t.entries, "one_hot", [=] __device__(size_t e) {
        y[e] = ulp_row_table_place(&t, e / t.entries) == e % t.entries ? 1.0f : 0.0f;
    });
}

ulp_status ulp_cuda_token_mean(double *y, const float *x, ulp_token_shape s) {
    return ulp_cuda_each(s.B * s.n, "token_mean", [=] __device__(size_t e) {
        const float *from = x + e / s.n * s.T * s.n + e % s.n;
        double sum = 0.0;
        for (size_t t = 0; t < s.T; t++) sum += (double)from[t * s.n];
        y[e] = ulp_quieted(sum / (double)s.T);
    });
}

ulp_status ulp_cuda_token_mean_slope(double *dx, const float *dy, ulp_token_shape s) {
    return ulp_cuda_each(s.B * s.T * s.n, "token_mean_slope", [=] __device__(size_t e) {
        dx[e] = ulp_quieted((double)dy[e / (s.T * s.n) * s.n + e % s.n] / (double)s.T);
    });
}

ulp_status ulp_cuda_row_moments(double *to, const float *x, const ulp_row_moments *how) {
    if (how->method == ULP_MOMENTS_WIDE)
        return ulp_cuda_over_rows(how->rows, "row_moments", wide_moments_kernel, to, x, how->rows, how->n,
                                  (int)how->no_mean);
    return ulp_cuda_over(how->rows, "row_moments", moments_kernel, to, x, *how);
}

ulp_status ulp_cuda_row_norm(double *y, const float *x, ulp_row_norm by) {
    return ulp_cuda_over_rows(by.n == 0 ? 0 : by.rows, "row_norm", values_kernel, y, x, by);
}

ulp_status ulp_cuda_row_norm_sums(double *sums, const float *dy, const float *x, ulp_row_norm by) {
    ULP_TRY(ulp_cuda_open());
    if (by.rows == 0 || by.n == 0) return ULP_OK;
    const size_t blocks = (by.n + LANES - 1) / LANES;
    return ulp_cuda_launch("row_norm_sums", sums_kernel, (unsigned)(blocks < 65535 ? blocks : 65535), LANES, sums, dy,
                           x, by);
}

ulp_status ulp_cuda_row_norm_slope(double *dx, const float *dy, const float *x, ulp_row_norm by) {
    return ulp_cuda_over_rows(by.n == 0 ? 0 : by.rows, "row_norm_slope", slopes_kernel, dx, dy, x, by);
}

ulp_status ulp_cuda_rotate(double *y, const float *x, const float *table, const ulp_rotation *by) {
    const ulp_rotation turn = *by;
    return ulp_cuda_each(turn.rows * turn.width, "rotate", [=] __device__(size_t e) {
        const size_t i = e / turn.width;
        y[e] = ulp_rotated(x + i * turn.width, table, &turn, i, e % turn.width);
    });
}
