/* tokens.h - rows of numbers, as tokens of a text: their normalisation, mean, rotation, and rows of a table.
 *
 * One definition for every backend. A token is a row of n features. Sums run over the features of a row, or over rows,
 * in ascending order from +0. Where nothing else is said, every operation rounds to nearest even in binary64, and the
 * callers round the results.
 *
 * Layer normalisation (Ba, Kiros and Hinton 2016, arXiv:1607.06450) of a row x (n):
 *
 *   z = (x - mean) inverse, y = gamma z + beta, inverse = 1 / sqrt(variance + eps)
 *   g = dy gamma, a = sum g / n, b = sum g z / n, dx = inverse ((g - a) - z b)
 *
 * Root mean square normalisation (Zhang and Sennrich 2019, arXiv:1910.07467): `variance` is the mean of x^2, z =
 * x inverse, y = gamma z, dx = inverse (g - z b). In both, dgamma = sum dy z and dbeta = sum dy run over the rows.
 */
#ifndef ULP_TOKENS_H
#define ULP_TOKENS_H

#include "elementary.h"
#include "formats/rng.h"

#include <math.h>

ULP_C_BEGIN

/* ---- mean and variance of a row ---- */

/* How the mean and the variance are formed. In the methods after the first, every operation is rounded by the format
 * and rule of ulp_row_moments; r() is this rounding:
 *   - wide: sums in binary64; variance = sum (x - mean)^2 / n
 *   - one-pass: variance = r(r(sum r(x x) / n) - r(mean mean)), both sums in one pass
 *   - two-pass: variance = r(sum r(d d) / n), d = r(x - mean)
 *   - welford: for element k = 1 .. n: d = r(x - mean), mean <- r(mean + r(d / k)), M <- r(M + r(d r(x - mean)));
 *     variance = r(M / n). Welford 1962, doi:10.1080/00401706.1962.10490022
 * Without a mean, the methods but `wide` are one: the rounded sum of r(x x), divided by n. */
#define ULP_MOMENTS(X)                                                                                                 \
    X(ULP_MOMENTS_WIDE, "wide")                                                                                        \
    X(ULP_MOMENTS_ONE_PASS, "one-pass")                                                                                \
    X(ULP_MOMENTS_TWO_PASS, "two-pass")                                                                                \
    X(ULP_MOMENTS_WELFORD, "welford")

typedef enum ulp_moments_method {
#define ULP_MOMENTS_ID(id, name) id,
    ULP_MOMENTS(ULP_MOMENTS_ID)
#undef ULP_MOMENTS_ID
        ULP_MOMENTS_COUNT
} ulp_moments_method;

typedef struct ulp_row_moments {
    size_t rows, n;    /* n at least 1 */
    uint8_t method;    /* ulp_moments_method */
    uint8_t no_mean;   /* 1: the mean is 0 and not computed, and the variance is the mean of x^2 */
    ulp_format format; /* of every operation, for the methods but `wide` */
    ulp_rule rule;
    ulp_stream stream; /* row i takes the words from stream.first + i ulp_moments_words(n) on, in the order of r() */
} ulp_row_moments;

enum { ULP_MOMENTS_WORDS = 6 }; /* of each element at most */

ULP_CORE uint64_t ulp_moments_words(size_t n) { return ULP_MOMENTS_WORDS * (uint64_t)n + 4; }

/* The roundings of one row, in their order. */
typedef struct ulp_rounded_steps {
    const ulp_format *format;
    ulp_rule rule;
    ulp_stream stream;
    uint64_t at; /* the index of the next word */
} ulp_rounded_steps;

/* op(a, b) rounded once. */
ULP_FN double ulp_rounded_step(ulp_rounded_steps *s, ulp_op op, double a, double b) {
    const uint64_t index = s->at++;
    const uint32_t word = ulp_mode_is_stochastic(s->rule.mode) ? ulp_random_word(s->stream, index) : 0;
    const ulp_scalar_op of = {op, a, b, 0.0};
    return ulp_round_exact(ulp_exact_op(of), s->format, s->rule, word);
}

ULP_FN void ulp_moments_wide(double *mean, double *variance, const float *x, size_t n, int no_mean) {
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < n && !no_mean; i++) sum += (double)x[i];
    *mean = no_mean ? 0.0 : ulp_quieted(sum / (double)n);
    for (size_t i = 0; i < n; i++) {
        const double d = (double)x[i] - *mean;
        squares += d * d;
    }
    *variance = ulp_quieted(squares / (double)n);
}

ULP_FN void ulp_moments_of_passes(double *mean, double *variance, const float *x, const ulp_row_moments *how,
                                  ulp_rounded_steps *s) {
    const int one = how->method == ULP_MOMENTS_ONE_PASS || how->no_mean;
    const double n = (double)how->n;
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < how->n; i++) {
        if (!how->no_mean) sum = ulp_rounded_step(s, ULP_ADD, sum, (double)x[i]);
        if (one)
            squares = ulp_rounded_step(s, ULP_ADD, squares, ulp_rounded_step(s, ULP_MUL, (double)x[i], (double)x[i]));
    }
    *mean = how->no_mean ? 0.0 : ulp_rounded_step(s, ULP_DIV, sum, n);
    for (size_t i = 0; i < how->n && !one; i++) {
        const double d = ulp_rounded_step(s, ULP_SUB, (double)x[i], *mean);
        squares = ulp_rounded_step(s, ULP_ADD, squares, ulp_rounded_step(s, ULP_MUL, d, d));
    }
    *variance = ulp_rounded_step(s, ULP_DIV, squares, n);
    if (!one || how->no_mean) return;
    const double square = ulp_rounded_step(s, ULP_MUL, *mean, *mean);
    *variance = ulp_rounded_step(s, ULP_SUB, *variance, square);
}

ULP_FN void ulp_moments_of_welford(double *mean, double *variance, const float *x, size_t n, ulp_rounded_steps *s) {
    double m = 0.0, squares = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double d = ulp_rounded_step(s, ULP_SUB, (double)x[i], m);
        m = ulp_rounded_step(s, ULP_ADD, m, ulp_rounded_step(s, ULP_DIV, d, (double)(i + 1)));
        const double after = ulp_rounded_step(s, ULP_SUB, (double)x[i], m);
        squares = ulp_rounded_step(s, ULP_ADD, squares, ulp_rounded_step(s, ULP_MUL, d, after));
    }
    *mean = m;
    *variance = ulp_rounded_step(s, ULP_DIV, squares, (double)n);
}

/* The mean and the variance of row `row`, x (n). */
ULP_FN void ulp_moments_of(double *mean, double *variance, const float *x, const ulp_row_moments *how, size_t row) {
    ulp_rounded_steps s = {&how->format, how->rule, how->stream, (uint64_t)row * ulp_moments_words(how->n)};
    if (how->method == ULP_MOMENTS_WIDE) ulp_moments_wide(mean, variance, x, how->n, how->no_mean);
    else if (how->method == ULP_MOMENTS_WELFORD && !how->no_mean) ulp_moments_of_welford(mean, variance, x, how->n, &s);
    else ulp_moments_of_passes(mean, variance, x, how, &s);
}

/* ---- normalisation of rows ---- */

#define ULP_ROW_NORM_EPS 1e-5

/* A normalisation of an array (rows,n). The arrays are the backend's memory. */
typedef struct ulp_row_norm {
    size_t rows, n;
    uint8_t no_mean;         /* 1: root mean square normalisation, without mean and beta */
    const float *statistics; /* (2,rows): means, variances */
    const float *w;          /* gamma (n), then beta (n) unless no_mean; not used for the sums */
} ulp_row_norm;

ULP_CORE double ulp_row_inverse(float variance) { return 1.0 / sqrt((double)variance + ULP_ROW_NORM_EPS); }

ULP_CORE double ulp_row_z(float x, double mean, double inverse) { return ((double)x - mean) * inverse; }

/* The sums a and b of the head, for a row. a is 0 without a mean. */
typedef struct ulp_row_shares {
    double a, b;
} ulp_row_shares;

ULP_CORE ulp_row_shares ulp_row_shares_of(const float *dy, const float *x, const ulp_row_norm *by, double mean,
                                          double inverse) {
    ulp_row_shares s = {0.0, 0.0};
    for (size_t i = 0; i < by->n; i++) {
        const double g = (double)dy[i] * (double)by->w[i];
        s.a += g;
        s.b += g * ulp_row_z(x[i], mean, inverse);
    }
    s.a = by->no_mean ? 0.0 : s.a / (double)by->n;
    s.b /= (double)by->n;
    return s;
}

ULP_CORE double ulp_row_slope(float dy, float gamma, double z, double inverse, ulp_row_shares s) {
    return ulp_quieted(inverse * (((double)dy * (double)gamma - s.a) - z * s.b));
}

/* ---- rows of a table ---- */

/* Rows of `width` numbers from a table of `entries` rows. Row i is row index[i] of the table, for an index that is a
 * whole number from 0 on; without an index, row i mod entries. */
typedef struct ulp_row_table {
    size_t rows, width, entries;
    const float *index; /* (rows), backend memory; or NULL */
} ulp_row_table;

/* The row of the table that row i takes; `entries` if the index names none. */
ULP_CORE size_t ulp_row_table_place(const ulp_row_table *t, size_t i) {
    if (t->index == NULL) return i % t->entries;
    const float at = t->index[i];
    const int is_row = at >= 0.0f && at < 16777216.0f && (double)at < (double)t->entries;
    const size_t place = is_row ? (size_t)at : t->entries;
    return is_row && (float)place == at ? place : t->entries;
}

/* ---- tokens of a sample, rotations ---- */

/* B samples of T tokens of n features. */
typedef struct ulp_token_shape {
    size_t B, T, n;
} ulp_token_shape;

/* Rotary positions (Su et al. 2021, arXiv:2104.09864) in rows of `width` numbers: the columns from, ..., from + heads
 * size - 1 are `heads` vectors of `size` numbers. In each, numbers i and i + size/2 are turned by the angle of the
 * position, which is the row mod T:
 *
 *   y[i] = c x[i] - s x[i + size/2], y[i + size/2] = c x[i + size/2] + s x[i]
 *
 * c and s are numbers 2 i and 2 i + 1 of row `position` of the table (T,size). `back` turns by the negative angle, as
 * gradients do. Other columns stay. */
typedef struct ulp_rotation {
    size_t rows, T, width, from, heads, size;
    uint8_t back;
} ulp_rotation;

/* Element j of row i of the result; x is the row (width). */
ULP_CORE double ulp_rotated(const float *x, const float *table, const ulp_rotation *r, size_t i, size_t j) {
    if (j < r->from || j >= r->from + r->heads * r->size) return (double)x[j];
    const size_t half = r->size / 2, place = (j - r->from) % r->size, pair = place % half;
    const float *turn = table + i % r->T * r->size + 2 * pair;
    const double c = (double)turn[0], s = r->back ? -(double)turn[1] : (double)turn[1];
    const double mine = c * (double)x[j];
    return ulp_quieted(place < half ? mine - s * (double)x[j + half] : mine + s * (double)x[j - half]);
}

ULP_C_END
#endif
