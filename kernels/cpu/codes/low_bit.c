/* low_bit.c - matrices as numbers of one or two bits and scales, and sums times scales; see functions/low_bit.h. */
#include "kernels/cpu/cpu.h"
#include "kernels/functions/low_bit_steps.h"

/* The columns whose sums are formed together. */
enum { WIDE = 64 };

typedef struct job {
    float *y, *scale;
    double *work; /* sums of rows, the threshold, counts of rows */
    const float *x;
    size_t rows, columns;
    const ulp_low_bit *how;
} job;

static ulp_status over(size_t n, size_t each, void (*part)(void *context, size_t begin, size_t end), job *w) {
    ulp_parallel_for(n, ULP_GRAIN / (each + 1) + 1, part, w);
    return ULP_OK;
}

/* ---- signs ---- */

static void sign_part(void *context, size_t begin, size_t end) {
    const job *w = context;
    if (w->how->stochastic)
        for (size_t i = begin; i < end; i++) w->y[i] = ulp_low_sign_by(w->x[i], ulp_random_word(w->how->stream, i));
    else
        for (size_t i = begin; i < end; i++) w->y[i] = ulp_low_sign(w->x[i]);
}

/* ---- signs with a mean magnitude ---- */

static void put_row(float *y, const float *x, size_t n, float factor) {
    for (size_t j = 0; j < n; j++) y[j] = ulp_low_value(ulp_low_sign(x[j]), factor);
}

static double sum_of(const float *x, size_t n) {
    double sum = 0.0;
    for (size_t j = 0; j < n; j++) sum += (double)ulp_low_magnitude(x[j]);
    return sum;
}

static void rows_part(void *context, size_t begin, size_t end) {
    const job *w = context;
    for (size_t i = begin; i < end; i++) {
        const float *x = w->x + i * w->columns;
        w->scale[i] = ulp_low_mean(sum_of(x, w->columns), (double)w->columns);
        put_row(w->y + i * w->columns, x, w->columns, w->how->values ? w->scale[i] : 1.0f);
    }
}

static void columns_part(void *context, size_t begin, size_t end) {
    const job *w = context;
    for (size_t panel = begin; panel < end; panel++) {
        const size_t first = panel * WIDE, n = w->columns - first < WIDE ? w->columns - first : WIDE;
        double sum[WIDE] = {0.0};
        for (size_t i = 0; i < w->rows; i++)
            for (size_t j = 0; j < n; j++) sum[j] += (double)ulp_low_magnitude(w->x[i * w->columns + first + j]);
        for (size_t j = 0; j < n; j++) w->scale[first + j] = ulp_low_mean(sum[j], (double)w->rows);
        for (size_t i = 0; i < w->rows; i++)
            for (size_t j = 0; j < n; j++) {
                const size_t at = i * w->columns + first + j;
                w->y[at] = ulp_low_value(ulp_low_sign(w->x[at]), w->how->values ? w->scale[first + j] : 1.0f);
            }
    }
}

/* ---- ternary numbers ---- */

static void sums_part(void *context, size_t begin, size_t end) {
    const job *w = context;
    for (size_t i = begin; i < end; i++) w->work[i] = sum_of(w->x + i * w->columns, w->columns);
}

/* The sums and the number of the magnitudes above the threshold. */
static void above_part(void *context, size_t begin, size_t end) {
    const job *w = context;
    const float d = (float)w->work[w->rows];
    for (size_t i = begin; i < end; i++) {
        const float *x = w->x + i * w->columns;
        double sum = 0.0, count = 0.0;
        for (size_t j = 0; j < w->columns; j++) {
            sum += ulp_low_above(x[j], d);
            count += ulp_low_is_above(x[j], d);
        }
        w->work[i] = sum;
        w->work[w->rows + 1 + i] = count;
    }
}

static void ternary_part(void *context, size_t begin, size_t end) {
    const job *w = context;
    const float d = (float)w->work[w->rows], factor = w->how->values ? w->scale[0] : 1.0f;
    for (size_t i = begin; i < end; i++) w->y[i] = ulp_low_value(ulp_low_ternary(w->x[i], d), factor);
}

static double total(const double *x, size_t n) {
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    return sum;
}

static ulp_status ternary(job *w) {
    const size_t n = w->rows * w->columns;
    ULP_TRY(over(w->rows, w->columns, sums_part, w));
    w->work[w->rows] = (double)ulp_low_threshold(total(w->work, w->rows), (double)n, w->how->threshold);
    ULP_TRY(over(w->rows, w->columns, above_part, w));
    w->scale[0] = ulp_low_mean(total(w->work, w->rows), total(w->work + w->rows + 1, w->rows));
    return over(n, 0, ternary_part, w);
}

ulp_status ULP_CPU(ulp_cpu_low_bit)(float *y, float *scale, double *work, const float *x, size_t rows, size_t columns,
                                    const ulp_low_bit *how) {
    job w = {y, scale, work, x, rows, columns, how};
    if (rows * columns == 0) return ULP_OK;
    if (how->kind == ULP_LOW_TERNARY) return ternary(&w);
    if (how->kind == ULP_LOW_SIGN) return scale[0] = 1.0f, over(rows * columns, 0, sign_part, &w);
    if (how->along == ULP_ALONG_ROWS) return over(rows, columns, rows_part, &w);
    return over((columns + WIDE - 1) / WIDE, rows * WIDE, columns_part, &w);
}

/* ---- sums times scales ---- */

typedef struct scaling {
    float *c;
    const float *sums;
    const ulp_sum_scales *by;
} scaling;

static void scale_part(void *context, size_t begin, size_t end) {
    const scaling *w = context;
    const ulp_sum_scales *by = w->by;
    const size_t step = by->c_trans ? by->ldc : 1;
    for (size_t i = begin; i < end; i++) {
        const float row = ulp_sum_scale_at(by->row, by->row_is_one, i), *sums = w->sums + i * by->n;
        float *c = w->c + (by->c_trans ? i : i * by->ldc);
        for (size_t j = 0; j < by->n; j++)
            c[j * step] = ulp_scaled_sum(by->accumulate ? c[j * step] : 0.0f, sums[j], row,
                                         ulp_sum_scale_at(by->column, by->column_is_one, j), by->factor);
    }
}

ulp_status ULP_CPU(ulp_cpu_scaled_sums)(float *c, const float *sums, const ulp_sum_scales *by) {
    scaling w = {c, sums, by};
    ulp_parallel_for(by->m, ULP_GRAIN / (by->n + 1) + 1, scale_part, &w);
    return ULP_OK;
}
