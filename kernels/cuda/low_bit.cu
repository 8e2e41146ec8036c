// low_bit.cu - matrices as numbers of one or two bits and scales, and sums times scales: a thread forms the sum of a
// group in its order.
#include "device.h"
#include "operations.h"
#include "kernels/functions/low_bit_steps.h"

namespace {

/* The matrix of an operation, by value. */
struct matrix {
    float *y, *scale;
    double *work; /* sums of rows, the threshold, counts of rows */
    const float *x;
    size_t rows, columns;
    ulp_low_bit how;
};

/* The sum of the magnitudes of a group of n numbers. */
__device__ double sum_of(const float *x, size_t n, size_t step) {
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += (double)ulp_low_magnitude(x[i * step]);
    return sum;
}

__device__ double total(const double *x, size_t n) {
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    return sum;
}

ulp_status signs(const matrix &m) {
    return ulp_cuda_each(m.rows * m.columns, "low_bit", [=] __device__(size_t i) {
        if (i == 0) m.scale[0] = 1.0f;
        m.y[i] = m.how.stochastic ? ulp_low_sign_by(m.x[i], ulp_random_word(m.how.stream, i)) : ulp_low_sign(m.x[i]);
    });
}

ulp_status with_means(const matrix &m) {
    const bool is_row = m.how.along == ULP_ALONG_ROWS;
    const size_t n = is_row ? m.columns : m.rows, step = is_row ? 1 : m.columns;
    return ulp_cuda_each(is_row ? m.rows : m.columns, "low_bit", [=] __device__(size_t k) {
        const size_t first = is_row ? k * m.columns : k;
        const float mean = ulp_low_mean(sum_of(m.x + first, n, step), (double)n);
        m.scale[k] = mean;
        for (size_t i = first; i < first + n * step; i += step)
            m.y[i] = ulp_low_value(ulp_low_sign(m.x[i]), m.how.values ? mean : 1.0f);
    });
}

ulp_status ternary(const matrix &m) {
    ULP_TRY(ulp_cuda_each(m.rows, "low_bit",
                          [=] __device__(size_t r) { m.work[r] = sum_of(m.x + r * m.columns, m.columns, 1); }));
    ULP_TRY(ulp_cuda_each(1, "low_bit", [=] __device__(size_t) {
        m.work[m.rows] =
            (double)ulp_low_threshold(total(m.work, m.rows), (double)(m.rows * m.columns), m.how.threshold);
    }));
    ULP_TRY(ulp_cuda_each(m.rows, "low_bit", [=] __device__(size_t r) {
        const float d = (float)m.work[m.rows];
        double sum = 0.0, count = 0.0;
        for (size_t i = r * m.columns; i < (r + 1) * m.columns; i++) {
            sum += ulp_low_above(m.x[i], d);
            count += ulp_low_is_above(m.x[i], d);
        }
        m.work[r] = sum;
        m.work[m.rows + 1 + r] = count;
    }));
    ULP_TRY(ulp_cuda_each(1, "low_bit", [=] __device__(size_t) {
        m.scale[0] = ulp_low_mean(total(m.work, m.rows), total(m.work + m.rows + 1, m.rows));
    }));
    return ulp_cuda_each(m.rows * m.columns, "low_bit", [=] __device__(size_t i) {
        m.y[i] = ulp_low_value(ulp_low_ternary(m.x[i], (float)m.work[m.rows]), m.how.values ? m.scale[0] : 1.0f);
    });
}

} // namespace

ulp_status ulp_cuda_low_bit(float *y, float *scale, double *work, const float *x, size_t rows, size_t columns,
                            const ulp_low_bit *how) {
    const matrix m = {y, scale, work, x, rows, columns, *how};
    ULP_TRY(ulp_cuda_open());
    if (rows * columns == 0) return ULP_OK;
    if (how->kind == ULP_LOW_TERNARY) return ternary(m);
    return how->kind == ULP_LOW_SIGN ? signs(m) : with_means(m);
}

ulp_status ulp_cuda_scaled_sums(float *c, const float *sums, const ulp_sum_scales *scales) {
    const ulp_sum_scales by = *scales;
    return ulp_cuda_each(by.m * by.n, "scaled_sums", [=] __device__(size_t k) {
        const size_t i = k / by.n, j = k % by.n, at = by.c_trans ? j * by.ldc + i : i * by.ldc + j;
        c[at] = ulp_scaled_sum(by.accumulate ? c[at] : 0.0f, sums[k], ulp_sum_scale_at(by.row, by.row_is_one, i),
                               ulp_sum_scale_at(by.column, by.column_is_one, j), by.factor);
    });
}
