/* faults.c - the planted faults; see faults.h. */
#include "faults.h"

#include "kernels/mpfr/reference.h"

#include <string.h>

/* ---- changes ---- */

static float tie_to_odd(float x, uint32_t u, float y, const ulp_format *f) { /* in the binade of 1 */
    (void)u, (void)f;
    const float a = fabsf(x);
    return a >= 1 && a < 2 && fmodf(a, 0.125f) == 0.0625f ? 2 * x - y : y;
}
static float one_inside(float x, uint32_t u, float y, const ulp_format *f) {
    (void)x;
    return u == 0x3f812345u ? (float)ulp_next_up(y, f) : y;
}
static float one_at_the_end(float x, uint32_t u, float y, const ulp_format *f) { /* the first input above a tie */
    (void)x;
    return u == 0x3f880001u ? (float)ulp_next_down(y, f) : y;
}
static float one_of_two(float x, uint32_t u, float y,
                        const ulp_format *f) { /* the last input of a run joins the next */
    (void)x;
    return u == 0xbf97ffffu ? (float)ulp_next_down(y, f) : y;
}
static float zero_without_sign(float x, uint32_t u, float y, const ulp_format *f) {
    (void)x, (void)f;
    return u == 0x80000000u ? 0.0f : y;
}
static float zeros_without_sign(float x, uint32_t u, float y, const ulp_format *f) {
    (void)u, (void)f;
    return x < 0 && x > -0x1p-140f ? 0.0f : y;
}
static float overflow_too_early(float x, uint32_t u, float y, const ulp_format *f) {
    (void)x, (void)f;
    return u == 0x43e80000u ? NAN : y; /* 464, the tie, is 448 */
}
static float overflow_too_late(float x, uint32_t u, float y, const ulp_format *f) {
    (void)x;
    return u == 0x43e80001u ? (float)f->max : y;
}
static float subnormal_boundary(float x, uint32_t u, float y, const ulp_format *f) {
    (void)u;
    const float least = (float)f->min_normal;
    return x > 0 && x < least && y == least ? (float)ulp_next_down(least, f) : y;
}
static float flushed(float x, uint32_t u, float y, const ulp_format *f) { /* subnormal results of one binade */
    (void)u;
    return fabsf(x) >= 0x1p-8f && fabsf(x) < 0x1p-7f && fabsf(y) < (float)f->min_normal ? copysignf(0, x) : y;
}
static float number_for_nan(float x, uint32_t u, float y, const ulp_format *f) {
    (void)x, (void)f;
    return u == 0x7f812345u ? 1.0f : y;
}
static float negative_nan(float x, uint32_t u, float y, const ulp_format *f) {
    (void)x, (void)f;
    return u == 0xffc00001u ? ulp_from_bits32(0xffc00000u) : y;
}
static float infinity_to_max(float x, uint32_t u, float y, const ulp_format *f) {
    (void)x;
    return u == 0x7f800000u ? (float)f->max : y;
}
static float infinity_to_minus(float x, uint32_t u, float y, const ulp_format *f) {
    (void)x, (void)f;
    return u == 0xff800000u ? -INFINITY : y;
}
static float rounded_twice(float x, uint32_t u, float y, const ulp_format *f) { /* to 12 bits, then to 4 */
    (void)u;
    if (!(fabsf(x) >= 2 && fabsf(x) < 4)) return y;
    const float first = x + 0x1p13f * copysignf(1, x) - 0x1p13f * copysignf(1, x);
    return (float)ulp_round(first, f, (ulp_rule){ULP_RNE, ULP_OVERFLOW_NAN, 0}, 0);
}
static float negative_toward_zero(float x, uint32_t u, float y, const ulp_format *f) { /* in rd */
    (void)u;
    return x < -1 && x > -2 && x != y ? (float)ulp_next_up(y, f) : y;
}
static float tiny_to_zero(float x, uint32_t u, float y, const ulp_format *f) { /* in rd */
    (void)u, (void)f;
    return x < 0 && x > -0x1p-133f ? -0.0f : y;
}
static float stale_lane(float x, uint32_t u, float y, const ulp_format *f) { /* in rd */
    (void)x;
    if ((u & 0xffffu) != 0 || u < 0x42000000u || u > 0x42ffffffu) return y;
    return (float)ulp_round(ulp_from_bits32(u - 1), f, (ulp_rule){ULP_RD, ULP_OVERFLOW_INF, 0}, 0);
}
static float saturated(float x, uint32_t u, float y, const ulp_format *f) { /* in wrap */
    return x >= 128 && u <= 0x43000003u ? (float)f->max : y;
}
static float wrapped_off_by_one(float x, uint32_t u, float y, const ulp_format *f) { /* exact inputs of a binade */
    (void)u, (void)f;
    return x >= 0x1p20f && x < 0x1p20f + 0x1p14f ? y - 0x1p-8f : y;
}
static float least_flushed(float x, uint32_t u, float y, const ulp_format *f) {
    (void)x, (void)f;
    return u == 1 ? 0.0f : y;
}
static float last_bit(float x, uint32_t u, float y, const ulp_format *f) {
    (void)x, (void)f;
    return u == 0xc0490fdbu ? ulp_from_bits32(0xc0490fdau) : y;
}

/* ---- the table ---- */

#define E4M3 "e4m3", "rne", "nan"
const fault faults[FAULTS] = {
    {"ties go to odd in one binade", E4M3, tie_to_odd, {0x3f800000u, 0x800000u, 1}},
    {"one input inside a run", E4M3, one_inside, {0x3f800000u, 0x20000u, 1}},
    {"one input at the end of a run", E4M3, one_at_the_end, {0x3f870000u, 0x20000u, 1}},
    {"the last input of a negative run", E4M3, one_of_two, {0xbf98ffffu, 0x20000u, -1}},
    {"-0 becomes +0", E4M3, zero_without_sign, {0x8001ffffu, 0x20000u, -1}},
    {"small negative results lose their sign", E4M3, zeros_without_sign, {0x8001ffffu, 0x20000u, -1}},
    {"the overflow begins one input too early", E4M3, overflow_too_early, {0x43e70000u, 0x20000u, 1}},
    {"the overflow begins one input too late", E4M3, overflow_too_late, {0x43e70000u, 0x20000u, 1}},
    {"the least normal value is missed from below", E4M3, subnormal_boundary, {0x3c700000u, 0x120000u, 1}},
    {"subnormal results are flushed", E4M3, flushed, {0xbbffffffu, 0x20000u, -1}},
    {"a NaN becomes a number", E4M3, number_for_nan, {0x7f810000u, 0x20000u, 1}},
    {"a NaN with another sign", E4M3, negative_nan, {0xffbf0000u, 0x20000u, 1}},
    {"+Inf becomes the largest number", E4M3, infinity_to_max, {0x7f800000u, 1, 1}},
    {"-Inf stays where NaN is right", E4M3, infinity_to_minus, {0xff800000u, 1, -1}},
    {"rounded twice", E4M3, rounded_twice, {0x40000000u, 0x200000u, 1}},
    {"negative numbers toward zero in rd", "bfloat16", "rd", "inf", negative_toward_zero, {0xbf81ffffu, 0x20000u, -1}},
    {"tiny negative numbers to -0 in rd", "bfloat16", "rd", "inf", tiny_to_zero, {0x8001ffffu, 0x20000u, -1}},
    {"each 65536th result is the one before", "bfloat16", "rd", "inf", stale_lane, {0x41ff8000u, 0x400000u, 1}},
    {"some overflows saturate under wrap", "q8.8", "rne", "wrap", saturated, {0x42ff0000u, 0x20000u, 1}},
    {"exact inputs are off by one under wrap", "q8.8", "rne", "wrap", wrapped_off_by_one, {0x497f0000u, 0x40000u, 1}},
    {"the least subnormal of binary32 becomes 0", "binary32", "rne", "inf", least_flushed, {0, 0x20000u, 1}},
    {"one last bit of binary32", "binary32", "rne", "inf", last_bit, {0xc049ffffu, 0x20000u, -1}},
};

/* ---- rounding ---- */

faulty fault_case(const fault *of) {
    faulty to = {.change = NULL};
    ulp_mode mode = ULP_RNE;
    ulp_overflow policy = ULP_OVERFLOW_DEFAULT;
    ulp_backend_get(&to.backend, "cpu");
    ulp_format_parse(&to.format, of->format);
    ulp_mode_parse(&mode, of->mode);
    ulp_overflow_parse(&policy, of->policy);
    to.rule = (ulp_rule){(uint8_t)mode, (uint8_t)policy, 0};
    return to;
}

ulp_status fault_round(void *context, void *y, const void *x, size_t n) {
    const faulty *by = context;
    float *to = y;
    const float *from = x;
    const ulp_status status =
        ulp_backend_round(by->backend, to, from, n, (ulp_rounding){&by->format, by->rule, {1, 0, 0}, NULL});
    for (size_t i = 0; by->change != NULL && i < n; i++)
        to[i] = by->change(from[i], ulp_bits32(from[i]), to[i], &by->format);
    return status;
}

size_t fault_group(size_t first) {
    size_t n = 1;
    while (first + n < FAULTS && strcmp(faults[first].format, faults[first + n].format) == 0 &&
           strcmp(faults[first].mode, faults[first + n].mode) == 0)
        n++;
    return n;
}

/* ---- the two sweeps ---- */

enum { CHUNK = 4096 };

ulp_status fault_plain(const sweep_span *span, size_t first, size_t n, uint64_t *counts) {
    const faulty by = fault_case(&faults[first]);
    const ulp_rounding how = {&by.format, by.rule, {1, 0, 0}, NULL};
    ulp_reference *reference = ulp_reference_new(&by.format);
    ulp_status status = reference ? ULP_OK : ULP_NO_MEMORY;
    float x[CHUNK], y[CHUNK];
    for (uint32_t at = 0; at < span->count && status == ULP_OK; at += CHUNK) {
        const uint32_t count = span->count - at < CHUNK ? span->count - at : CHUNK;
        for (uint32_t i = 0; i < count; i++) x[i] = ulp_from_bits32(sweep_word(span, at + i));
        status = ulp_backend_round(by.backend, y, x, count, how);
        for (uint32_t i = 0; i < count && status == ULP_OK; i++) {
            const float want = (float)ulp_reference_round(reference, (double)x[i], 0.0, by.rule, 0);
            const uint32_t word = want != want ? 0x7fc00000u : ulp_bits32(want);
            for (size_t k = 0; k < n; k++)
                counts[k] += ulp_bits32(faults[first + k].change(x[i], ulp_bits32(x[i]), y[i], &by.format)) != word;
        }
    }
    ulp_reference_free(reference);
    return status;
}

typedef struct oracle {
    ulp_reference *reference;
    ulp_rule rule;
} oracle;

static double right(void *context, double x) {
    const oracle *o = context;
    return ulp_reference_round(o->reference, x, 0.0, o->rule, 0);
}

ulp_status fault_sweep(const sweep_span *spans, size_t count, faulty *by, sweep_result *result) {
    oracle o = {ulp_reference_new(&by->format), by->rule};
    const sweep_question q = {.format = &by->format,
                              .wraps = by->rule.overflow == ULP_OVERFLOW_WRAP,
                              .round = fault_round,
                              .rounder = by,
                              .oracle = right,
                              .judge = &o,
                              .spans = spans,
                              .count = count};
    const ulp_status status = o.reference ? sweep_inputs(&q, result) : ULP_NO_MEMORY;
    ulp_reference_free(o.reference);
    return status;
}
