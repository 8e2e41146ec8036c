/* tokens.c - rows of numbers: normalisation, means over tokens, rotations, rows of a table. */
#include "kernels/cpu/cpu.h"

#include <string.h>

/* The arrays of an operation; each operation uses those that it needs. */
typedef struct work {
    double *to;
    float *y;
    const float *x, *dy, *table;
    double factor;
    size_t n;
    int divide;
    const ulp_row_table *by;
    const ulp_row_moments *how;
    const ulp_rotation *turn;
    ulp_row_norm norm;
    ulp_token_shape shape;
} work;

static ulp_status run(work w, size_t n, size_t grain, void (*part)(void *context, size_t begin, size_t end)) {
    ulp_parallel_for(n, grain, part, &w);
    return ULP_OK;
}

/* The number of rows of n numbers in a piece. */
static size_t rows_of(size_t n) { return 4 * ULP_PIECE / (n + 1) + 1; }

/* ---- products with a factor ---- */

static void scaled_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    for (size_t i = begin; i < end; i++) w->to[i] = ulp_quieted(w->factor * (double)w->x[i]);
}

ulp_status ULP_CPU(ulp_cpu_scaled)(double *y, const float *x, size_t n, double factor) {
    return run((work){.to = y, .x = x, .factor = factor}, n, ULP_GRAIN, scaled_part);
}

static void row_scale_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    for (size_t r = begin; r < end; r++) {
        const double factor = (double)w->table[r];
        const float *x = w->x + r * w->n;
        double *y = w->to + r * w->n;
        if (w->divide)
            for (size_t i = 0; i < w->n; i++) y[i] = ulp_quieted((double)x[i] / factor);
        else
            for (size_t i = 0; i < w->n; i++) y[i] = ulp_quieted((double)x[i] * factor);
    }
}

ulp_status ULP_CPU(ulp_cpu_row_scale)(double *y, const float *x, const float *factor, size_t rows, size_t n,
                                      int divide) {
    return run((work){.to = y, .x = x, .table = factor, .n = n, .divide = divide}, rows, rows_of(n), row_scale_part);
}

static void row_dots_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    for (size_t r = begin; r < end; r++)
        w->to[r] = ulp_quieted(ulp_scores_dot(w->x + r * w->n, w->dy + r * w->n, w->n));
}

ulp_status ULP_CPU(ulp_cpu_row_dots)(double *to, const float *a, const float *b, size_t rows, size_t n) {
    return run((work){.to = to, .x = a, .dy = b, .n = n}, rows, rows_of(n), row_dots_part);
}

/* ---- rows of a table ---- */

static void gather_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_row_table *t = w->by;
    for (size_t i = begin; i < end; i++) {
        const size_t place = ulp_row_table_place(t, i);
        float *y = w->y + i * t->width;
        if (place < t->entries) memcpy(y, w->table + place * t->width, t->width * sizeof *y);
        else
            for (size_t j = 0; j < t->width; j++) y[j] = ulp_from_bits32(0x7fc00000u);
    }
}

ulp_status ULP_CPU(ulp_cpu_gather)(float *y, const float *table, const ulp_row_table *by) {
    return run((work){.y = y, .table = table, .by = by}, by->rows, rows_of(by->width), gather_part);
}

static void one_hot_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t entries = w->by->entries;
    memset(w->y + begin * entries, 0, (end - begin) * entries * sizeof *w->y);
    for (size_t i = begin; i < end; i++) {
        const size_t place = ulp_row_table_place(w->by, i);
        if (place < entries) w->y[i * entries + place] = 1.0f;
    }
}

ulp_status ULP_CPU(ulp_cpu_one_hot)(float *y, const ulp_row_table *by) {
    return run((work){.y = y, .by = by}, by->rows, rows_of(by->entries), one_hot_part);
}

/* ---- means over tokens ---- */

static void token_mean_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t T = w->shape.T, n = w->shape.n;
    for (size_t b = begin; b < end; b++) {
        double *y = w->to + b * n;
        for (size_t j = 0; j < n; j++) y[j] = 0.0;
        for (size_t t = 0; t < T; t++)
            for (size_t j = 0; j < n; j++) y[j] += (double)w->x[(b * T + t) * n + j];
        for (size_t j = 0; j < n; j++) y[j] = ulp_quieted(y[j] / (double)T);
    }
}

ulp_status ULP_CPU(ulp_cpu_token_mean)(double *y, const float *x, ulp_token_shape shape) {
    return run((work){.to = y, .x = x, .shape = shape}, shape.B, rows_of(shape.T * shape.n), token_mean_part);
}

static void token_mean_slope_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t T = w->shape.T, n = w->shape.n;
    for (size_t r = begin; r < end; r++)
        for (size_t j = 0; j < n; j++) w->to[r * n + j] = ulp_quieted((double)w->dy[r / T * n + j] / (double)T);
}

ulp_status ULP_CPU(ulp_cpu_token_mean_slope)(double *dx, const float *dy, ulp_token_shape shape) {
    const work w = {.to = dx, .dy = dy, .shape = shape};
    return run(w, shape.B * shape.T, rows_of(shape.n), token_mean_slope_part);
}

/* ---- normalisation ---- */

static void row_moments_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_row_moments *how = w->how;
    for (size_t r = begin; r < end; r++) ulp_moments_of(&w->to[r], &w->to[how->rows + r], w->x + r * how->n, how, r);
}

ulp_status ULP_CPU(ulp_cpu_row_moments)(double *to, const float *x, const ulp_row_moments *how) {
    return run((work){.to = to, .x = x, .how = how}, how->rows, rows_of(how->n), row_moments_part);
}

static void row_norm_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_row_norm *by = &w->norm;
    for (size_t r = begin; r < end; r++) {
        const double mean = by->no_mean ? 0.0 : (double)by->statistics[r],
                     inverse = ulp_row_inverse(by->statistics[by->rows + r]);
        const float *x = w->x + r * by->n, *gamma = by->w, *beta = by->w + by->n;
        double *y = w->to + r * by->n;
        if (by->no_mean)
            for (size_t i = 0; i < by->n; i++) y[i] = ulp_quieted((double)gamma[i] * ulp_row_z(x[i], mean, inverse));
        else
            for (size_t i = 0; i < by->n; i++)
                y[i] = ulp_quieted((double)gamma[i] * ulp_row_z(x[i], mean, inverse) + (double)beta[i]);
    }
}

ulp_status ULP_CPU(ulp_cpu_row_norm)(double *y, const float *x, ulp_row_norm by) {
    return run((work){.to = y, .x = x, .norm = by}, by.n > 0 ? by.rows : 0, rows_of(by.n), row_norm_part);
}

/* The features of a piece. */
enum { COLUMNS = 32 };

static void row_norm_sums_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_row_norm *by = &w->norm;
    for (size_t from = begin; from < end; from += COLUMNS) {
        const size_t n = end - from < COLUMNS ? end - from : COLUMNS;
        double dgamma[COLUMNS] = {0.0}, dbeta[COLUMNS] = {0.0};
        for (size_t r = 0; r < by->rows; r++) {
            const double mean = by->no_mean ? 0.0 : (double)by->statistics[r],
                         inverse = ulp_row_inverse(by->statistics[by->rows + r]);
            const float *x = w->x + r * by->n + from, *dy = w->dy + r * by->n + from;
            for (size_t i = 0; i < n; i++) {
                dgamma[i] += (double)dy[i] * ulp_row_z(x[i], mean, inverse);
                dbeta[i] += (double)dy[i];
            }
        }
        for (size_t i = 0; i < n; i++) {
            w->to[from + i] = ulp_quieted(dgamma[i]);
            if (!by->no_mean) w->to[by->n + from + i] = ulp_quieted(dbeta[i]);
        }
    }
}

ulp_status ULP_CPU(ulp_cpu_row_norm_sums)(double *sums, const float *dy, const float *x, ulp_row_norm by) {
    return run((work){.to = sums, .dy = dy, .x = x, .norm = by}, by.rows > 0 ? by.n : 0, COLUMNS, row_norm_sums_part);
}

static void row_norm_slope_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_row_norm *by = &w->norm;
    for (size_t r = begin; r < end; r++) {
        const double mean = by->no_mean ? 0.0 : (double)by->statistics[r],
                     inverse = ulp_row_inverse(by->statistics[by->rows + r]);
        const float *x = w->x + r * by->n, *dy = w->dy + r * by->n;
        const ulp_row_shares shares = ulp_row_shares_of(dy, x, by, mean, inverse);
        for (size_t i = 0; i < by->n; i++)
            w->to[r * by->n + i] = ulp_row_slope(dy[i], by->w[i], ulp_row_z(x[i], mean, inverse), inverse, shares);
    }
}

ulp_status ULP_CPU(ulp_cpu_row_norm_slope)(double *dx, const float *dy, const float *x, ulp_row_norm by) {
    return run((work){.to = dx, .dy = dy, .x = x, .norm = by}, by.n > 0 ? by.rows : 0, rows_of(by.n),
               row_norm_slope_part);
}

/* ---- rotations ---- */

static void rotate_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_rotation *turn = w->turn;
    for (size_t r = begin; r < end; r++)
        for (size_t j = 0; j < turn->width; j++)
            w->to[r * turn->width + j] = ulp_rotated(w->x + r * turn->width, w->table, turn, r, j);
}

ulp_status ULP_CPU(ulp_cpu_rotate)(double *y, const float *x, const float *table, const ulp_rotation *by) {
    return run((work){.to = y, .x = x, .table = table, .turn = by}, by->rows, rows_of(by->width), rotate_part);
}
