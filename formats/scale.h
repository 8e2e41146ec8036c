/* scale.h - plain scaling: one factor per tensor, row or column takes the largest magnitude to the format's max.
 *
 * An array x is stored as elements e = round(x s) of a format: the exact product is rounded once. An element stands for
 * the value e t, where t is 1 / s rounded to nearest in binary32. e t is rounded to nearest again when it becomes a
 * float. s = max / amax, as in Micikevicius et al. 2022, arXiv:2209.05433. Arrays are binary32, contiguous, row-major.
 */
#ifndef ULP_SCALE_H
#define ULP_SCALE_H

#include "round.h"

ULP_C_BEGIN

/* The largest finite magnitude among x[0], x[stride], ..., x[(n - 1) stride]. 0 if no element is finite. NaN and Inf do
 * not count, so that their neighbours keep a useful scale. The rule decides the results of NaN and Inf. */
float ulp_amax(const float *x, size_t n, size_t stride);

/* The kinds of s: how the exact quotient max / amax is rounded once. */
typedef enum ulp_scaling_kind {
    ULP_SCALING_BINARY32, /* to nearest in binary32, at most its largest finite number; amax s can just exceed max */
    ULP_SCALING_POWER2,   /* toward zero to a power of two in 2^-127 .. 2^127: t = 1 / s exactly, amax s <= max */
    ULP_SCALING_COUNT
} ulp_scaling_kind;

/* The part of x (m,n) that shares a factor. */
typedef enum ulp_axis { ULP_PER_TENSOR, ULP_PER_ROW, ULP_PER_COLUMN, ULP_AXIS_COUNT } ulp_axis;

typedef struct ulp_scaling {
    float scale, inverse; /* s and t */
} ulp_scaling;

/* The factors for values up to `amax`. {1, 1} where amax is 0, NaN or infinite. */
ulp_scaling ulp_scaling_of(float amax, const ulp_format *format, ulp_scaling_kind kind);

/* The number of factors of an array (m,n): 1, m or n. */
size_t ulp_scaling_count(size_t m, size_t n, ulp_axis axis);

/* An array (m,n) under plain scaling: its parts, the format of its elements, and the factors of the parts. */
typedef struct ulp_scaled_array {
    size_t m, n;
    ulp_axis axis;
    const ulp_format *format;
    ulp_scaling *factors; /* (ulp_scaling_count) */
} ulp_scaled_array;

/* Computes array.factors from the amax of each part of x (m,n). Returns ULP_BAD_ARGUMENT for a null pointer and for an
 * axis or a kind out of range. */
ulp_status ulp_scaling_find(ulp_scaled_array array, const float *x, ulp_scaling_kind kind);

/* y (m,n) = the values of x (m,n) under array.factors. y may be x. `rule` rounds the elements; its default overflow
 * policy is the format's policy. The random word of element (i,j) has index stream.first + i n + j. A value e t beyond
 * the range of binary32 becomes infinite. Errors: the errors of ulp_element_check; ULP_BAD_ARGUMENT for a null pointer
 * and for an axis out of range. */
ulp_status ulp_scaling_round(float *y, const float *x, ulp_scaled_array array, ulp_rule rule, ulp_stream stream);

/* Whether arrays can be rounded to `format` by `rule`: the status of ulp_rule_check, and ULP_UNSUPPORTED for the
 * stochastic modes on wasm32, a target that Random123 does not support. */
ulp_status ulp_element_check(const ulp_format *format, ulp_rule rule);

/* The random word of element i. 0 in the deterministic modes, which use no random words. */
uint32_t ulp_element_word(ulp_rule rule, ulp_stream stream, uint64_t i);

ULP_C_END
#endif
