/* tokens.c - the backend "mpfr": rows of numbers. Their normalisation, mean, rotation, and rows of a table.
 *
 * Their results are fixed by an order of operations, the head comments of kernels/functions/tokens.h. This file has the
 * order; MPFR rounds every operation: in binary64, or in the format of the moments of a row.
 */
#include "operations.h"
#include "steps.h"
#include "words.h"

#include <math.h>

/* The arrays of an operation; each operation uses those that it needs. */
typedef struct work {
    double *to;
    const float *x, *dy, *table;
    double factor;
    size_t n;
    int divide;
    ulp_token_shape shape;
    const ulp_row_moments *how;
    const ulp_row_norm *norm;
    const ulp_rotation *turn;
} work;

enum { GRAIN = 512 };

static ulp_status run(work w, size_t n, size_t grain, void (*body)(const void *arrays, ulp_reference *ref, size_t i)) {
    return ulp_mpfr_each(n, grain, &ulp_binary64, &w, body);
}

/* ---- products with a factor ---- */

static void scaled(const void *arrays, ulp_reference *ref, size_t i) {
    const work *w = arrays;
    w->to[i] = ulp_mpfr_times(ref, w->factor, (double)w->x[i]);
}

ulp_status ulp_mpfr_scaled(double *y, const float *x, size_t n, double factor) {
    return run((work){.to = y, .x = x, .factor = factor}, n, GRAIN, scaled);
}

static void row_scaled(const void *arrays, ulp_reference *ref, size_t i) {
    const work *w = arrays;
    w->to[i] = ulp_mpfr_step(ref, w->divide ? ULP_DIV : ULP_MUL, (double)w->x[i], (double)w->table[i / w->n]);
}

ulp_status ulp_mpfr_row_scale(double *y, const float *x, const float *factor, size_t rows, size_t n, int divide) {
    return run((work){.to = y, .x = x, .table = factor, .n = n, .divide = divide}, rows * n, GRAIN, row_scaled);
}

static void row_dot(const void *arrays, ulp_reference *ref, size_t r) {
    const work *w = arrays;
    double sum = 0.0;
    for (size_t i = r * w->n; i < (r + 1) * w->n; i++)
        sum = ulp_mpfr_plus(ref, sum, ulp_mpfr_times(ref, (double)w->x[i], (double)w->dy[i]));
    w->to[r] = sum;
}

ulp_status ulp_mpfr_row_dots(double *to, const float *a, const float *b, size_t rows, size_t n) {
    return run((work){.to = to, .x = a, .dy = b, .n = n}, rows, 1, row_dot);
}

/* ---- rows of a table ---- */

/* Whether row i is row `place` of the table. */
static int is_row(const ulp_row_table *t, size_t i, size_t place) {
    return t->index == NULL ? i % t->entries == place : (double)t->index[i] == (double)place && place < 16777216;
}

ulp_status ulp_mpfr_gather(float *y, const float *table, const ulp_row_table *by) {
    for (size_t i = 0; i < by->rows; i++)
        for (size_t j = 0; j < by->width; j++) {
            float number = NAN;
            for (size_t place = 0; place < by->entries; place++)
                if (is_row(by, i, place)) number = table[place * by->width + j];
            y[i * by->width + j] = number;
        }
    return ULP_OK;
}

ulp_status ulp_mpfr_one_hot(float *y, const ulp_row_table *by) {
    for (size_t i = 0; i < by->rows; i++)
        for (size_t place = 0; place < by->entries; place++)
            y[i * by->entries + place] = is_row(by, i, place) ? 1.0f : 0.0f;
    return ULP_OK;
}

/* ---- means over tokens ---- */

static void token_mean(const void *arrays, ulp_reference *ref, size_t i) {
    const work *w = arrays;
    const size_t n = w->shape.n, b = i / n, j = i % n;
    double sum = 0.0;
    for (size_t t = 0; t < w->shape.T; t++) sum = ulp_mpfr_plus(ref, sum, (double)w->x[(b * w->shape.T + t) * n + j]);
    w->to[i] = ulp_mpfr_over(ref, sum, (double)w->shape.T);
}

ulp_status ulp_mpfr_token_mean(double *y, const float *x, ulp_token_shape shape) {
    return run((work){.to = y, .x = x, .shape = shape}, shape.B * shape.n, 16, token_mean);
}

static void token_mean_slope(const void *arrays, ulp_reference *ref, size_t i) {
    const work *w = arrays;
    const size_t n = w->shape.n, T = w->shape.T, b = i / (T * n), j = i % n;
    w->to[i] = ulp_mpfr_over(ref, (double)w->dy[b * n + j], (double)T);
}

ulp_status ulp_mpfr_token_mean_slope(double *dx, const float *dy, ulp_token_shape shape) {
    return run((work){.to = dx, .dy = dy, .shape = shape}, shape.B * shape.T * shape.n, GRAIN, token_mean_slope);
}

/* ---- mean and variance of a row ---- */

/* The roundings of a row: of binary64 to nearest, or of the format of the moments with a random word for each. */
typedef struct rounder {
    ulp_reference *ref;
    ulp_rule rule;
    ulp_stream stream;
    uint64_t word;
} rounder;

static double rounded(rounder *r, ulp_op op, double a, double b) {
    const uint32_t random = ulp_mode_is_stochastic(r->rule.mode) ? ulp_mpfr_word(r->stream, r->word) : 0;
    r->word++;
    return ulp_reference_arith(r->ref, (ulp_scalar_op){op, a, b, 0.0}, r->rule, random);
}

/* squares + d e, in two roundings */
static double with_product(rounder *r, double squares, double d, double e) {
    const double product = rounded(r, ULP_MUL, d, e);
    return rounded(r, ULP_ADD, squares, product);
}

static void moments(const void *arrays, ulp_reference *ref, size_t row) {
    const work *w = arrays;
    const ulp_row_moments *how = w->how;
    const float *x = w->x + row * how->n;
    const int is_wide = how->method == ULP_MOMENTS_WIDE;
    rounder r = {ref, is_wide ? (ulp_rule){0} : how->rule, how->stream, row * (6 * how->n + 4)};
    double mean = 0.0, squares = 0.0, variance, n = (double)how->n;
    if (how->method == ULP_MOMENTS_WELFORD && !how->no_mean) {
        for (size_t k = 1; k <= how->n; k++) {
            const double number = (double)x[k - 1], d = rounded(&r, ULP_SUB, number, mean);
            const double part = rounded(&r, ULP_DIV, d, (double)k);
            mean = rounded(&r, ULP_ADD, mean, part);
            squares = with_product(&r, squares, d, rounded(&r, ULP_SUB, number, mean));
        }
        variance = rounded(&r, ULP_DIV, squares, n);
    } else if (!is_wide && (how->method == ULP_MOMENTS_ONE_PASS || how->no_mean)) {
        for (size_t i = 0; i < how->n; i++) {
            if (!how->no_mean) mean = rounded(&r, ULP_ADD, mean, (double)x[i]);
            squares = with_product(&r, squares, (double)x[i], (double)x[i]);
        }
        if (!how->no_mean) mean = rounded(&r, ULP_DIV, mean, n);
        variance = rounded(&r, ULP_DIV, squares, n);
        if (!how->no_mean) {
            const double square = rounded(&r, ULP_MUL, mean, mean);
            variance = rounded(&r, ULP_SUB, variance, square);
        }
    } else {
        for (size_t i = 0; i < how->n && !how->no_mean; i++) mean = rounded(&r, ULP_ADD, mean, (double)x[i]);
        if (!how->no_mean) mean = rounded(&r, ULP_DIV, mean, n);
        for (size_t i = 0; i < how->n; i++) {
            const double d = rounded(&r, ULP_SUB, (double)x[i], mean);
            squares = with_product(&r, squares, d, d);
        }
        variance = rounded(&r, ULP_DIV, squares, n);
    }
    w->to[row] = mean;
    w->to[how->rows + row] = variance;
}

ulp_status ulp_mpfr_row_moments(double *to, const float *x, const ulp_row_moments *how) {
    const work w = {.to = to, .x = x, .how = how};
    const ulp_format *format = how->method == ULP_MOMENTS_WIDE ? &ulp_binary64 : &how->format;
    return ulp_mpfr_each(how->rows, 1, format, &w, moments);
}

/* ---- normalisation of rows ---- */

static double inverse_of(const ulp_row_norm *by, ulp_reference *ref, size_t row) {
    const double shifted = ulp_mpfr_plus(ref, (double)by->statistics[by->rows + row], 1e-5);
    return ulp_mpfr_over(ref, 1.0, ulp_mpfr_step(ref, ULP_SQRT, shifted, 0.0));
}

static double z_of(const work *w, ulp_reference *ref, size_t row, size_t j, double inverse) {
    const double x = (double)w->x[row * w->norm->n + j];
    return ulp_mpfr_times(ref, w->norm->no_mean ? x : ulp_mpfr_minus(ref, x, (double)w->norm->statistics[row]),
                          inverse);
}

static void values(const void *arrays, ulp_reference *ref, size_t row) {
    const work *w = arrays;
    const size_t n = w->norm->n;
    const double inverse = inverse_of(w->norm, ref, row);
    for (size_t j = 0; j < n; j++) {
        const double y = ulp_mpfr_times(ref, (double)w->norm->w[j], z_of(w, ref, row, j, inverse));
        w->to[row * n + j] = w->norm->no_mean ? y : ulp_mpfr_plus(ref, y, (double)w->norm->w[n + j]);
    }
}

ulp_status ulp_mpfr_row_norm(double *y, const float *x, ulp_row_norm by) {
    return run((work){.to = y, .x = x, .norm = &by}, by.n > 0 ? by.rows : 0, 1, values);
}

static void sums(const void *arrays, ulp_reference *ref, size_t j) {
    const work *w = arrays;
    const ulp_row_norm *by = w->norm;
    double dgamma = 0.0, dbeta = 0.0;
    for (size_t row = 0; row < by->rows; row++) {
        const double dy = (double)w->dy[row * by->n + j], z = z_of(w, ref, row, j, inverse_of(by, ref, row));
        dgamma = ulp_mpfr_plus(ref, dgamma, ulp_mpfr_times(ref, dy, z));
        dbeta = ulp_mpfr_plus(ref, dbeta, dy);
    }
    w->to[j] = dgamma;
    if (!by->no_mean) w->to[by->n + j] = dbeta;
}

ulp_status ulp_mpfr_row_norm_sums(double *to, const float *dy, const float *x, ulp_row_norm by) {
    return run((work){.to = to, .dy = dy, .x = x, .norm = &by}, by.rows > 0 ? by.n : 0, 4, sums);
}

static void slopes(const void *arrays, ulp_reference *ref, size_t row) {
    const work *w = arrays;
    const ulp_row_norm *by = w->norm;
    const double inverse = inverse_of(by, ref, row), n = (double)by->n;
    double a = 0.0, b = 0.0;
    for (size_t j = 0; j < by->n; j++) {
        const double g = ulp_mpfr_times(ref, (double)w->dy[row * by->n + j], (double)by->w[j]);
        a = ulp_mpfr_plus(ref, a, g);
        b = ulp_mpfr_plus(ref, b, ulp_mpfr_times(ref, g, z_of(w, ref, row, j, inverse)));
    }
    a = ulp_mpfr_over(ref, a, n), b = ulp_mpfr_over(ref, b, n);
    for (size_t j = 0; j < by->n; j++) {
        const double g = ulp_mpfr_times(ref, (double)w->dy[row * by->n + j], (double)by->w[j]);
        const double centred = by->no_mean ? g : ulp_mpfr_minus(ref, g, a);
        const double part = ulp_mpfr_times(ref, z_of(w, ref, row, j, inverse), b);
        w->to[row * by->n + j] = ulp_mpfr_times(ref, inverse, ulp_mpfr_minus(ref, centred, part));
    }
}

ulp_status ulp_mpfr_row_norm_slope(double *dx, const float *dy, const float *x, ulp_row_norm by) {
    return run((work){.to = dx, .dy = dy, .x = x, .norm = &by}, by.n > 0 ? by.rows : 0, 1, slopes);
}

/* ---- rotations ---- */

/* One row: all of its numbers, then the pairs of each head. */
static void rotated(const void *arrays, ulp_reference *ref, size_t row) {
    const work *w = arrays;
    const ulp_rotation *r = w->turn;
    const float *x = w->x + row * r->width, *turn = w->table + row % r->T * r->size;
    double *y = w->to + row * r->width;
    for (size_t j = 0; j < r->width; j++) y[j] = isnan(x[j]) ? (double)NAN : (double)x[j];
    for (size_t head = 0; head < r->heads; head++)
        for (size_t i = 0; i < r->size / 2; i++) {
            const size_t first = r->from + head * r->size + i, second = first + r->size / 2;
            const double c = (double)turn[2 * i], s = (double)turn[2 * i + 1];
            const double a = (double)x[first], b = (double)x[second], sa = ulp_mpfr_times(ref, s, a),
                         sb = ulp_mpfr_times(ref, s, b);
            y[first] = ulp_mpfr_step(ref, r->back ? ULP_ADD : ULP_SUB, ulp_mpfr_times(ref, c, a), sb);
            y[second] = ulp_mpfr_step(ref, r->back ? ULP_SUB : ULP_ADD, ulp_mpfr_times(ref, c, b), sa);
        }
}

ulp_status ulp_mpfr_rotate(double *y, const float *x, const float *table, const ulp_rotation *by) {
    return run((work){.to = y, .x = x, .table = table, .turn = by}, by->rows, 1, rotated);
}
