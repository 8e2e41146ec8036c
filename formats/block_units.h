/* block_units.h - the steps of a matrix in a block-scaled format, for host and device: the numbers that are converted
 * together, and where their results go. See block_cast.h.
 */
#ifndef ULP_BLOCK_UNITS_H
#define ULP_BLOCK_UNITS_H

#include "block_cast.h"
#include "block_steps.h"
#if !defined(__wasm__)
#include "rng.h"
#endif

ULP_C_BEGIN

/* The results of a matrix (rows,columns); an array that is NULL is not written. A sum is a row, or a column for blocks
 * along columns, and has `length` numbers. */
typedef struct ulp_block_results {
    float *values;   /* (rows,columns) */
    float *elements; /* (sums,length) values of the element format */
    float *scales;   /* (sums,ceil(length / size)) values of the scale format */
} ulp_block_results;

/* Random word i; wasm32 has no stochastic casts (ulp_element_check). */
ULP_FN uint32_t ulp_block_word(ulp_stream stream, uint64_t i) {
#if defined(__wasm__)
    (void)stream, (void)i;
    return 0;
#else
    return ulp_random_word(stream, i);
#endif
}

/* A matrix and its conversion. */
typedef struct ulp_block_matrix {
    const float *x;
    size_t rows, columns, unit; /* unit: numbers of a unit along the sum, a block or a group with one correction */
    ulp_block_cast cast;
    float tensor_scale;
    ulp_block_results to;
} ulp_block_matrix;

ULP_FN ulp_block_matrix ulp_block_matrix_of(const float *x, size_t rows, size_t columns, const ulp_block_cast *cast,
                                            float tensor_scale, ulp_block_results to) {
    const ulp_block_matrix m = {x,     rows,         columns, cast->eden > 0 ? cast->eden : cast->block.size,
                                *cast, tensor_scale, to};
    return m;
}

/* The rows of a unit, and its columns. */
ULP_FN size_t ulp_block_unit_rows(const ulp_block_matrix *m) {
    return m->cast.tiles || m->cast.along == ULP_ALONG_COLUMNS ? m->unit : 1;
}
ULP_FN size_t ulp_block_unit_columns(const ulp_block_matrix *m) {
    return m->cast.tiles || m->cast.along == ULP_ALONG_ROWS ? m->unit : 1;
}

/* The number of units, and unit `number`: rows of units follow each other. */
ULP_FN size_t ulp_block_units(const ulp_block_matrix *m) {
    const size_t high = ulp_block_unit_rows(m), wide = ulp_block_unit_columns(m);
    return (m->rows / high + (m->rows % high != 0)) * (m->columns / wide + (m->columns % wide != 0));
}

ULP_FN ulp_block_part ulp_block_unit_part(const ulp_block_matrix *m, size_t number) {
    const size_t high = ulp_block_unit_rows(m), wide = ulp_block_unit_columns(m),
                 across = m->columns / wide + (m->columns % wide != 0), i = number / across * high,
                 j = number % across * wide, rows = m->rows - i, columns = m->columns - j;
    const ulp_block_part part = {
        i * m->columns + j, {1, rows < high ? rows : high, columns < wide ? columns : wide}, {0, m->columns}};
    return part;
}

/* Writes element e of number i, under its scale. */
ULP_FN void ulp_block_put(const ulp_block_matrix *m, size_t i, double e, double scale) {
    const size_t row = i / m->columns, column = i % m->columns, size = m->cast.block.size;
    const int is_row = m->cast.along == ULP_ALONG_ROWS;
    const size_t sum = is_row ? row : column, at = is_row ? column : row, length = is_row ? m->columns : m->rows;
    if (m->to.values != NULL) m->to.values[i] = ulp_block_value_step(e, scale * (double)m->tensor_scale);
    if (m->to.elements != NULL) m->to.elements[sum * length + at] = (float)e;
    if (m->to.scales != NULL && at % size == 0)
        m->to.scales[sum * (length / size + (length % size != 0)) + at / size] = (float)scale;
}

/* The element of number i under a factor. */
ULP_FN double ulp_block_unit_element(const ulp_block_numbers *n, size_t i, double factor, const ulp_block_cast *c) {
    const ulp_format *const f = &c->block.element;
    const uint32_t word = ulp_mode_is_stochastic(c->rule.mode) ? ulp_block_word(c->stream, i) : 0;
    const int wraps = c->rule.overflow == ULP_OVERFLOW_WRAP && factor != 0.0;
    const ulp_exact quotient = wraps ? ulp_exact_div_wrapped(ulp_block_number(n, i), ulp_exact_of(factor), f->qmin - 40)
                                     : ulp_block_quotient(n, i, factor);
    return ulp_block_element_step(quotient, f, c->rule, word);
}

/* Converts the numbers of a block, whose elements are those under `scale` and stand for products with `written`. */
ULP_FN void ulp_block_convert(const ulp_block_matrix *m, const ulp_block_numbers *n, double scale, double written) {
    const double factor = scale * (double)m->tensor_scale;
    int is_nan = 0;
    ULP_BLOCK_EACH(&n->part, i) {
        const double e = ulp_block_unit_element(n, i, factor, &m->cast);
        is_nan |= e != e;
        ulp_block_put(m, i, e, written);
    }
    if (!is_nan || m->cast.block.element.nan_codes != ULP_NAN_NONE) return;
    ULP_BLOCK_EACH(&n->part, i) ulp_block_put(m, i, 0.0, ulp_quiet_nan());
}

/* ---- groups with a correction ---- */

/* The scale of a block before the correction: 1581/1600 amax / max, to nearest. */
ULP_FN double ulp_eden_scale(double amax, const ulp_block *b, float tensor_scale) {
    const ulp_rule nearest = {ULP_RNE, ULP_OVERFLOW_SAT, 0};
    return ulp_scale_quotient(ulp_exact_of(amax), 1581.0, 1600.0 * b->element.max * (double)tensor_scale, &b->scale,
                              nearest, b->scale.min_positive);
}

/* The correction <x,x> / <x,q> of a group with these sums. */
ULP_FN double ulp_eden_correction(const double sum[2]) {
    const double quotient = sum[0] / sum[1];
    return quotient > 0.0 && ulp_is_finite64(quotient) ? quotient : 1.0;
}

/* The scale that is written for a block whose first number has index i. */
ULP_FN double ulp_eden_written(double scale, double correction, const ulp_block_cast *c, size_t i) {
    const ulp_rule stochastic = {ULP_SRA, ULP_OVERFLOW_SAT, 0};
    return ulp_round_exact(ulp_exact_of(scale * correction), &c->block.scale, stochastic, ulp_block_word(c->stream, i));
}

/* Block number `at` of a group, a run of numbers along the sum. */
ULP_FN ulp_block_part ulp_eden_block(const ulp_block_part *group, size_t at, const ulp_block_cast *c) {
    const int is_row = c->along == ULP_ALONG_ROWS;
    const size_t size = c->block.size, first = at * size, all = is_row ? group->size[2] : group->size[1],
                 n = all - first < size ? all - first : size;
    ulp_block_part part = *group;
    part.first += is_row ? first : first * group->stride[1];
    part.size[is_row ? 2 : 1] = n;
    return part;
}

/* Adds x x and x q over a block, q the value of x under its scale. */
ULP_FN void ulp_eden_add(double sum[2], const ulp_block_matrix *m, const ulp_block_numbers *n, double scale) {
    const double factor = scale * (double)m->tensor_scale;
    ULP_BLOCK_EACH(&n->part, i) {
        const double x = (double)n->x[i], q = ulp_block_unit_element(n, i, factor, &m->cast) * factor;
        sum[0] += x * x;
        sum[1] += x * q;
    }
}

ULP_FN void ulp_eden_convert(const ulp_block_matrix *m, const ulp_block_part *group) {
    const ulp_block *const b = &m->cast.block;
    const size_t numbers = m->cast.along == ULP_ALONG_ROWS ? group->size[2] : group->size[1],
                 count = numbers / b->size + (numbers % b->size != 0);
    double sum[2] = {0.0, 0.0};
    for (size_t k = 0; k < count; k++) {
        const ulp_block_numbers n = {m->x, NULL, NULL, ulp_eden_block(group, k, &m->cast)};
        ulp_eden_add(sum, m, &n, ulp_eden_scale(ulp_block_amax(&n), b, m->tensor_scale));
    }
    const double correction = ulp_eden_correction(sum);
    for (size_t k = 0; k < count; k++) {
        const ulp_block_numbers n = {m->x, NULL, NULL, ulp_eden_block(group, k, &m->cast)};
        const double scale = ulp_eden_scale(ulp_block_amax(&n), b, m->tensor_scale);
        ulp_block_convert(m, &n, scale, ulp_eden_written(scale, correction, &m->cast, n.part.first));
    }
}

/* Converts a block under the scale of its rule. */
ULP_FN void ulp_block_convert_part(const ulp_block_matrix *m, const ulp_block_part *part) {
    const ulp_block_numbers n = {m->x, NULL, NULL, *part};
    const double scale = ulp_block_scale_step(&n, ulp_exact_of(ulp_block_amax(&n)), &m->cast.block, m->tensor_scale);
    ulp_block_convert(m, &n, scale, scale);
}

/* Converts unit `number`. */
ULP_FN void ulp_block_unit(const ulp_block_matrix *m, size_t number) {
    const ulp_block_part part = ulp_block_unit_part(m, number);
    if (m->cast.eden > 0) ulp_eden_convert(m, &part);
    else ulp_block_convert_part(m, &part);
}

ULP_C_END
#endif
