/* low_bit.c - the backend "mpfr": matrices as numbers of one or two bits and scales, and sums times scales, by the
 * definitions of functions/low_bit.h.
 */
#include "operations.h"
#include "steps.h"
#include "words.h"

#include <math.h>

/* The arrays of an operation; each operation uses those that it needs. */
typedef struct matrix {
    float *y, *scale;
    const float *x;
    size_t rows, columns;
    const ulp_low_bit *how;
} matrix;

/* A number of binary64 as one of binary32. */
static float narrow(double x) { return isnan(x) ? NAN : (float)x; }

static double sum_of(ulp_reference *wide, const float *x, size_t n, size_t step) {
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum = ulp_mpfr_plus(wide, sum, fabs((double)x[i * step]));
    return sum;
}

/* ---- signs ---- */

static float sign_of(const matrix *m, size_t i) {
    const double x = (double)m->x[i];
    if (isnan(x)) return NAN;
    if (!m->how->stochastic) return x >= 0.0 ? 1.0f : -1.0f;
    /* 2^32 (x + 1) > 2 word + 1, in halves that no operation rounds */
    const double word = (double)ulp_mpfr_word(m->how->stream, i), least = (word - 0x1p31 + 0.5) * 0x1p-31;
    return x > least ? 1.0f : -1.0f;
}

static void sign(const void *arrays, ulp_reference *wide, size_t i) {
    const matrix *m = arrays;
    (void)wide;
    m->y[i] = sign_of(m, i);
}

static void with_mean(const void *arrays, ulp_reference *wide, size_t k) {
    const matrix *m = arrays;
    const int is_row = m->how->along == ULP_ALONG_ROWS;
    const size_t n = is_row ? m->columns : m->rows, step = is_row ? 1 : m->columns, first = is_row ? k * m->columns : k;
    const float mean = narrow(ulp_mpfr_over(wide, sum_of(wide, m->x + first, n, step), (double)n));
    m->scale[k] = mean;
    for (size_t i = first; i < first + n * step; i += step)
        m->y[i] = narrow((double)sign_of(m, i) * (m->how->values ? (double)mean : 1.0));
}

/* ---- ternary numbers ---- */

/* The sum of the magnitudes above d, row after row, and their number. */
static double sum_above(ulp_reference *wide, const matrix *m, double d, size_t *count) {
    double all = 0.0;
    for (size_t i = *count = 0; i < m->rows; i++) {
        double row = 0.0;
        for (size_t j = 0; j < m->columns; j++) {
            const double size = fabs((double)m->x[i * m->columns + j]);
            if (size <= d) continue;
            row = ulp_mpfr_plus(wide, row, size);
            ++*count;
        }
        all = ulp_mpfr_plus(wide, all, row);
    }
    return all;
}

static void ternary(const void *arrays, ulp_reference *wide, size_t only) {
    const matrix *m = arrays;
    const size_t n = m->rows * m->columns;
    size_t count;
    (void)only;
    const double all = sum_above(wide, m, -1.0, &count);
    const float mean = narrow(ulp_mpfr_over(wide, all, (double)n));
    const double d = (double)narrow(ulp_mpfr_times(wide, m->how->threshold, (double)mean));
    const double above = sum_above(wide, m, d, &count);
    m->scale[0] = count == 0 ? 0.0f : narrow(ulp_mpfr_over(wide, above, (double)count));
    for (size_t i = 0; i < n; i++) {
        const double size = fabs((double)m->x[i]), factor = m->how->values ? (double)m->scale[0] : 1.0;
        m->y[i] = narrow((size <= d ? 0.0 : (double)sign_of(m, i)) * factor);
    }
}

ulp_status ulp_mpfr_low_bit(float *y, float *scale, double *work, const float *x, size_t rows, size_t columns,
                            const ulp_low_bit *how) {
    const matrix m = {y, scale, x, rows, columns, how};
    (void)work;
    if (rows * columns == 0) return ULP_OK;
    if (how->kind == ULP_LOW_TERNARY) return ulp_mpfr_each(1, 1, &ulp_binary64, &m, ternary);
    if (how->kind == ULP_LOW_XNOR)
        return ulp_mpfr_each(how->along == ULP_ALONG_ROWS ? rows : columns, 1, &ulp_binary64, &m, with_mean);
    scale[0] = 1.0f;
    return ulp_mpfr_each(rows * columns, 512, &ulp_binary64, &m, sign);
}

/* ---- sums times scales ---- */

typedef struct scaling {
    float *c;
    const float *sums;
    const ulp_sum_scales *by;
} scaling;

static double scale_at(const float *scales, int is_one, size_t i) {
    return scales == NULL ? 1.0 : (double)scales[is_one ? 0 : i];
}

static void scale_sum(const void *arrays, ulp_reference *narrow32, size_t k) {
    const scaling *s = arrays;
    const ulp_sum_scales *by = s->by;
    const size_t i = k / by->n, j = k % by->n, at = by->c_trans ? j * by->ldc + i : i * by->ldc + j;
    const double both = ulp_mpfr_times(narrow32, scale_at(by->row, by->row_is_one, i),
                                       scale_at(by->column, by->column_is_one, j)),
                 scale = ulp_mpfr_times(narrow32, both, (double)by->factor),
                 start = by->accumulate ? (double)s->c[at] : 0.0;
    const ulp_scalar_op fused = {ULP_FUSED, (double)s->sums[k], scale, start};
    s->c[at] = narrow(ulp_reference_arith(narrow32, fused, (ulp_rule){0}, 0));
}

ulp_status ulp_mpfr_scaled_sums(float *c, const float *sums, const ulp_sum_scales *by) {
    const scaling s = {c, sums, by};
    return ulp_mpfr_each(by->m * by->n, 512, &ulp_binary32, &s, scale_sum);
}
