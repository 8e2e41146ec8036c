/* scale.c - plain scaling: amax, the factors of a tensor or of its rows or columns, and rounding under the factors. */
#include "scale.h"

#if !defined(__wasm__)
#include "rng.h"
#endif

ulp_status ulp_element_check(const ulp_format *format, ulp_rule rule) {
    ulp_status status = ulp_rule_check(format, rule);
#if defined(__wasm__)
    if (status == ULP_OK && ulp_mode_is_stochastic(rule.mode)) status = ULP_UNSUPPORTED;
#endif
    return status;
}

uint32_t ulp_element_word(ulp_rule rule, ulp_stream stream, uint64_t i) {
#if defined(__wasm__)
    (void)rule, (void)stream, (void)i;
    return 0;
#else
    return ulp_mode_is_stochastic(rule.mode) ? ulp_random_word(stream, i) : 0;
#endif
}

float ulp_amax(const float *x, size_t n, size_t stride) {
    uint32_t most = 0; /* a larger magnitude has larger bits */
    for (size_t i = 0; i < n; i++) {
        uint32_t magnitude = ulp_bits32(x[i * stride]) & 0x7fffffffu;
        if (magnitude > most && magnitude < 0x7f800000u) most = magnitude;
    }
    return ulp_from_bits32(most);
}

ulp_scaling ulp_scaling_of(float amax, const ulp_format *format, ulp_scaling_kind kind) {
    static const char *const names[] = {"binary32", "e8m0"};
    static const ulp_rule rules[] = {{ULP_RNE, ULP_OVERFLOW_SAT, 0}, {ULP_RZ, ULP_OVERFLOW_SAT, 0}};
    ulp_scaling s = {1.0f, 1.0f};
    ulp_format binary32, target;
    if (!(amax > 0.0f) || ulp_bits32(amax) == 0x7f800000u) return s;
    if ((unsigned)kind >= ULP_SCALING_COUNT || ulp_format_parse(&target, names[kind]) != ULP_OK) return s;
    if (ulp_format_parse(&binary32, names[ULP_SCALING_BINARY32]) != ULP_OK) return s;
    s.scale = (float)ulp_arith((ulp_scalar_op){ULP_DIV, format->max, amax, 0}, &target, rules[kind], 0);
    s.inverse = (float)ulp_arith((ulp_scalar_op){ULP_DIV, 1.0, s.scale, 0}, &binary32, rules[ULP_SCALING_BINARY32], 0);
    return s;
}

size_t ulp_scaling_count(size_t m, size_t n, ulp_axis axis) {
    return axis == ULP_PER_ROW ? m : axis == ULP_PER_COLUMN ? n : 1;
}

/* The factor of element (i,j). */
static const ulp_scaling *factor_at(const ulp_scaled_array *a, size_t i, size_t j) {
    return &a->factors[a->axis == ULP_PER_ROW ? i : a->axis == ULP_PER_COLUMN ? j : 0];
}

static ulp_status check(const ulp_scaled_array *a, const float *x) {
    if (a->factors == NULL || x == NULL || a->format == NULL) return ULP_BAD_ARGUMENT;
    return (unsigned)a->axis < ULP_AXIS_COUNT ? ULP_OK : ULP_BAD_ARGUMENT;
}

ulp_status ulp_scaling_find(ulp_scaled_array array, const float *x, ulp_scaling_kind kind) {
    const size_t m = array.m, n = array.n, count = ulp_scaling_count(m, n, array.axis);
    const size_t length = array.axis == ULP_PER_ROW ? n : array.axis == ULP_PER_COLUMN ? m : m * n;
    const ulp_status status = check(&array, x);
    if (status != ULP_OK || (unsigned)kind >= ULP_SCALING_COUNT) return ULP_BAD_ARGUMENT;
    for (size_t i = 0; i < count; i++) {
        const float *part = array.axis == ULP_PER_ROW ? x + i * n : x + i;
        const float amax = ulp_amax(part, length, array.axis == ULP_PER_COLUMN ? n : 1);
        array.factors[i] = ulp_scaling_of(amax, array.format, kind);
    }
    return ULP_OK;
}

ulp_status ulp_scaling_round(float *y, const float *x, ulp_scaled_array array, ulp_rule rule, ulp_stream stream) {
    ulp_status status = y != NULL ? check(&array, x) : ULP_BAD_ARGUMENT;
    if (status == ULP_OK) status = ulp_element_check(array.format, rule);
    if (status != ULP_OK) return status;
    for (size_t i = 0; i < array.m; i++) {
        for (size_t j = 0; j < array.n; j++) {
            const size_t at = i * array.n + j;
            const ulp_scaling *f = factor_at(&array, i, j);
            /* a product of two 24-bit numbers is exact in binary64 */
            double e = ulp_round((double)x[at] * f->scale, array.format, rule, ulp_element_word(rule, stream, at));
            double product, error = ulp_two_prod(e, f->inverse, &product);
            y[at] = (float)ulp_to_odd(product, error);
        }
    }
    return ULP_OK;
}
