/* t_codec.c - decode, encode, classify, neighbours and spacing of every code against the oracle. */
#include <float.h>

#include "support.h"

#include "kernels/mpfr/reference.h"

enum { EVERY_CODE = 16, SAMPLES = 20000 }; /* largest number of bits for tests of every code; number of samples else */

static const ulp_rule no_rule = {0, 0, 0};

static uint64_t mask_of(const ulp_format *f) { return f->bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << f->bits) - 1; }

static uint64_t sign_of(const ulp_format *f) { return f->is_signed ? (uint64_t)1 << (f->bits - 1) : 0; }

static void equal(const char *what, uint64_t code, double at, const ulp_format *f, double got, double want) {
    if (same(got, want)) return;
    char what_code[64];
    snprintf(what_code, sizeof what_code, "%s, code %#llx", what, (unsigned long long)code);
    fail_case(what_code, at, 0, 0, f, no_rule, 0, got, want);
}

static void equal_code(const char *what, const ulp_format *f, uint64_t code, uint64_t got, uint64_t want) {
    if (got != want)
        fail_msg("%s: %s of code %#llx: %#llx, not %#llx", f->name, what, (unsigned long long)code,
                 (unsigned long long)got, (unsigned long long)want);
}

/* Code i to test: in narrow formats all codes; in wide formats random codes and the codes around every power of two. */
static uint64_t pick_code(const ulp_format *f, uint64_t i, uint64_t *seed) {
    if (f->bits <= EVERY_CODE) return i;
    uint64_t bits = next_random(seed), power = ((uint64_t)1 << i / 8 % f->bits) + i % 8 - 4;
    return (i < (uint64_t)f->bits * 16 ? power ^ (i / 8 / f->bits ? sign_of(f) : 0) : bits) & mask_of(f);
}

static uint64_t code_count(const ulp_format *f) { return f->bits <= EVERY_CODE ? (uint64_t)1 << f->bits : SAMPLES; }

/* ---- decode, encode, classify ---- */

/* The code to which the value of `code` has to encode. All NaN encode to one code, -0 to +0 in a format without -0, and
 * the codes of missing subnormals to zero. */
static uint64_t canonical(uint64_t code, double value, const ulp_format *f) {
    if (isnan(value)) return f->nan_code;
    if (value == 0.0) return f->has_neg_zero ? code & sign_of(f) : 0;
    return code;
}

static ulp_class class_of(double value, const ulp_format *f) {
    if (isnan(value)) return ULP_NAN;
    if (isinf(value)) return ULP_INFINITE;
    if (value == 0.0) return ULP_ZERO;
    return fabs(value) < f->min_normal ? ULP_SUBNORMAL : ULP_NORMAL;
}

TEST(every_code) {
    ulp_format f;
    for (size_t i = 0; test_format(i, &f); i++) {
        ulp_reference *ref = ulp_reference_new(&f);
        uint64_t seed = i, nans = 0;
        for (uint64_t n = 0; n < code_count(&f); n++) {
            uint64_t code = pick_code(&f, n, &seed), back = ~code;
            double value = ulp_decode(code, &f), want = ulp_reference_decode(ref, code);
            equal("decode", code, 0, &f, value, want);
            equal("decode with bits above the width", code, 0, &f, ulp_decode(code | ~mask_of(&f), &f), want);
            assert_ok(ulp_encode(&back, value, &f));
            equal_code("encode", &f, code, back, canonical(code, value, &f));
            equal_code("classify", &f, code, ulp_classify(code, &f), class_of(value, &f));
            if (f.fits_binary32) equal("binary32 carries it", code, 0, &f, (double)(float)value, value);
            nans += isnan(value) != 0;
        }
        uint64_t signs = 1u + f.is_signed, fraction = (uint64_t)1 << (f.is_fixed ? 0 : f.prec - 1);
        uint64_t want[] = {[ULP_NAN_NONE] = 0,
                           [ULP_NAN_IEEE] = signs * (fraction - 1),
                           [ULP_NAN_ALL_ONES] = signs,
                           [ULP_NAN_NEG_ZERO] = 1};
        if (f.bits <= EVERY_CODE) equal_code("the number of NaN codes", &f, 0, nans, want[f.nan_codes]);
        ulp_reference_free(ref);
    }
}

/* All codes of a format, or a sample, through the array function: the codes of ulp_encode(), and n for "all have one".
 */
TEST(encode_array) {
    ulp_format f;
    for (size_t i = 0; test_format(i, &f); i++)
        for (int shift = -60; shift <= 60; shift += 60) {
            ulp_format g = f;
            if (shift != 0 && ulp_format_shift(&g, shift) != ULP_OK) continue;
            const size_t n = code_count(&g);
            double *value = malloc(n * sizeof *value);
            uint64_t *code = malloc(n * sizeof *code), seed = i, want = 0;
            for (uint64_t k = 0; k < n; k++) value[k] = ulp_decode(pick_code(&g, k, &seed), &g);
            assert_int_equal(ulp_encode_array(code, value, n, &g), n);
            for (uint64_t k = 0; k < n; k++) {
                assert_ok(ulp_encode(&want, value[k], &g));
                equal_code("encode of an array", &g, want, code[k], want);
            }
            free(value);
            free(code);
        }
}

TEST(array_without_code) {
    ulp_format f;
    uint64_t code[4];
    for (size_t i = 0; test_format(i, &f); i++) {
        const double special[] = {NAN, INFINITY, -INFINITY};
        for (size_t k = 0; k < 3; k++) {
            const double value[] = {f.max, f.max, special[k], f.max};
            const size_t n = ulp_encode_array(code, value, 4, &f), want = ulp_encode(&code[3], special[k], &f) ? 2 : 4;
            if (n != want) fail_msg("%s: %zu of 4 codes with %g, not %zu", f.name, n, special[k], want);
        }
    }
    f = named("fp16");
    assert_int_equal(ulp_encode_array(NULL, NULL, 0, &f), 0);
}

/* ---- values that have no code ---- */

static void expect_status(double x, const ulp_format *f, ulp_status want) {
    uint64_t code = 0;
    ulp_status got = ulp_encode(&code, x, f);
    if (got != want)
        fail_msg("%s: encode %a: %s; should be: %s", f->name, x, ulp_status_text(got), ulp_status_text(want));
}

TEST(no_code) {
    ulp_format f;
    for (size_t i = 0; test_format(i, &f); i++) {
        expect_status(NAN, &f, f.nan_codes == ULP_NAN_NONE ? ULP_NO_NAN : ULP_OK);
        expect_status(-NAN, &f, f.nan_codes == ULP_NAN_NONE ? ULP_NO_NAN : ULP_OK);
        expect_status(INFINITY, &f, f.has_inf ? ULP_OK : ULP_NO_CODE);
        expect_status(-INFINITY, &f, f.has_inf && f.is_signed ? ULP_OK : ULP_NO_CODE);
        expect_status(0.0, &f, f.has_zero ? ULP_OK : ULP_NO_CODE);
        expect_status(-0.0, &f, f.has_zero ? ULP_OK : ULP_NO_CODE);
        expect_status(f.lowest, &f, ULP_OK);
        uint64_t zero = 1;
        if (f.has_zero && ulp_encode(&zero, -0.0, &f) == ULP_OK)
            equal_code("encode -0, the code", &f, 0, zero, f.has_neg_zero ? sign_of(&f) : 0);
        if (f.max < 0x1p1000) {
            expect_status(f.max + last_quantum(&f), &f, ULP_NO_CODE);
            expect_status(f.max * 2 + last_quantum(&f), &f, ULP_NO_CODE);
            expect_status(DBL_MAX, &f, ULP_NO_CODE);
            expect_status(f.lowest - last_quantum(&f), &f, ULP_NO_CODE);
        }
        if (f.min_positive > 0x1p-1074) {
            expect_status(f.min_positive / 2, &f, ULP_NO_CODE);
            expect_status(-f.min_positive / 2, &f, ULP_NO_CODE);
            expect_status(0x1p-1074, &f, ULP_NO_CODE);
        }
        if (f.prec == 53) continue;
        uint64_t seed = i;
        for (uint64_t n = 0; n < code_count(&f); n++) {
            double x = ulp_decode(pick_code(&f, n, &seed), &f);
            if (isnan(x) || isinf(x) || x == 0.0) continue;
            expect_status(nextafter(x, INFINITY), &f, ULP_NO_CODE);
            expect_status(nextafter(x, -INFINITY), &f, ULP_NO_CODE);
            if (!f.is_signed) expect_status(-x, &f, ULP_NO_CODE);
        }
    }
}

/* ---- neighbours ---- */

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* All values in ascending order, with infinities and with one zero. The caller frees them. */
static double *sorted_values(const ulp_format *f, size_t *count) {
    ulp_reference *ref = ulp_reference_new(f);
    size_t n = 0, kept = 0;
    double *x = malloc(sizeof *x << f->bits);
    assert_non_null(x);
    for (uint64_t code = 0; code < (uint64_t)1 << f->bits; code++) {
        double value = ulp_reference_decode(ref, code);
        if (!isnan(value)) x[n++] = value;
    }
    ulp_reference_free(ref);
    qsort(x, n, sizeof *x, by_value);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || x[i] != x[kept - 1]) x[kept++] = x[i] == 0.0 ? 0.0 : x[i];
    *count = kept;
    return x;
}

/* IEEE 754-2019, 5.3.1: the number above the largest negative number is -0; the number below the least positive, +0. */
static void check_neighbours(double low, double high, const ulp_format *f) {
    double up = high == 0.0 && f->has_neg_zero ? -0.0 : high, down = low == 0.0 ? 0.0 : low;
    equal("next up", 0, low, f, ulp_next_up(low, f), up);
    equal("next down", 0, high, f, ulp_next_down(high, f), down);
    if (isinf(low) || isinf(high)) return;
    double between[] = {nextafter(low, high), low + (high - low) / 2, nextafter(high, low)};
    for (int i = 0; i < 3; i++) {
        if (!(between[i] > low && between[i] < high)) continue;
        equal("next up", 0, between[i], f, ulp_next_up(between[i], f), up);
        equal("next down", 0, between[i], f, ulp_next_down(between[i], f), down);
    }
}

TEST(walk) {
    ulp_format f;
    size_t walked = 0;
    for (size_t i = 0; test_format(i, &f); i++) {
        if (f.bits > EVERY_CODE) continue;
        size_t n;
        double *x = sorted_values(&f, &n);
        assert_true(n >= 2);
        for (size_t j = 0; j + 1 < n; j++) check_neighbours(x[j], x[j + 1], &f);
        if (f.has_zero) equal("next up of -0", 0, -0.0, &f, ulp_next_up(-0.0, &f), ulp_next_up(0.0, &f));
        if (f.has_neg_zero) equal("next down of -0", 0, -0.0, &f, ulp_next_down(-0.0, &f), ulp_next_down(0.0, &f));
        equal("next up at the end", 0, x[n - 1], &f, ulp_next_up(x[n - 1], &f), x[n - 1]);
        equal("next down at the end", 0, x[0], &f, ulp_next_down(x[0], &f), x[0]);
        free(x);
        walked++;
    }
    assert_true(walked > 40);
}

/* Neighbours beyond the range, and in formats that are too wide for a test of all values. */
TEST(neighbours) {
    ulp_format f;
    for (size_t i = 0; test_format(i, &f); i++) {
        double top = f.has_inf ? INFINITY : f.max, bottom = f.has_inf && f.is_signed ? -INFINITY : f.lowest;
        equal("next up of NaN", 0, NAN, &f, ulp_next_up(NAN, &f), NAN);
        equal("next down of NaN", 0, NAN, &f, ulp_next_down(NAN, &f), NAN);
        equal("next up past the end", 0, f.max, &f, ulp_next_up(f.max, &f), top);
        equal("next down past the end", 0, f.lowest, &f, ulp_next_down(f.lowest, &f), bottom);
        equal("next up", 0, -INFINITY, &f, ulp_next_up(-INFINITY, &f), f.lowest);
        equal("next down", 0, INFINITY, &f, ulp_next_down(INFINITY, &f), f.max);
        equal("next up", 0, INFINITY, &f, ulp_next_up(INFINITY, &f), top);
        equal("next down", 0, -INFINITY, &f, ulp_next_down(-INFINITY, &f), bottom);
        equal("next up", 0, 0, &f, ulp_next_up(0.0, &f), f.min_positive <= f.max ? f.min_positive : top);
        if (f.max < 0x1p1000) {
            equal("next up", 0, DBL_MAX, &f, ulp_next_up(DBL_MAX, &f), top);
            equal("next down", 0, DBL_MAX, &f, ulp_next_down(DBL_MAX, &f), f.max);
            equal("next up", 0, -DBL_MAX, &f, ulp_next_up(-DBL_MAX, &f), f.lowest);
        }
        uint64_t seed = i;
        for (uint64_t n = 0; n < SAMPLES && f.bits > EVERY_CODE; n++) {
            uint64_t code = pick_code(&f, n, &seed), magnitude = code & ~sign_of(&f);
            if (f.is_fixed || magnitude >= f.max_code) continue;
            double low = ulp_decode(magnitude, &f), high = ulp_decode(magnitude + 1, &f);
            if (low == high) continue; /* codes of missing subnormals are zeros */
            check_neighbours(low, high, &f);
            check_neighbours(-high, low == 0.0 ? 0.0 : -low, &f);
        }
    }
}

/* ---- spacing ---- */

TEST(spacing) {
    ulp_format f;
    size_t checked = 0;
    for (size_t i = 0; test_format(i, &f); i++) {
        equal("spacing of NaN", 0, NAN, &f, ulp_spacing(NAN, &f), NAN);
        equal("spacing of Inf", 0, INFINITY, &f, ulp_spacing(INFINITY, &f), NAN);
        equal("spacing of -Inf", 0, -INFINITY, &f, ulp_spacing(-INFINITY, &f), NAN);
        uint64_t seed = i, last = f.max_code;
        for (uint64_t n = 0; n < code_count(&f); n++) {
            uint64_t code = pick_code(&f, n, &seed) & ~sign_of(&f);
            double low = ulp_decode(code, &f), high = ulp_decode(code + 1, &f);
            if (code >= last || (low == 0.0 && f.zero_binade) || high == 0.0 || f.taper == ULP_TAPER_HIF8)
                continue; /* the gap of dlfloat16 at 0 has no spacing */
            double gap = high - low;
            equal("spacing", code, low, &f, ulp_spacing(low, &f), gap);
            equal("spacing", code, -low, &f, ulp_spacing(-low, &f), gap);
            if (low + gap / 2 > low && low + gap / 2 < high)
                equal("spacing", code, low + gap / 2, &f, ulp_spacing(low + gap / 2, &f), gap);
            checked++;
        }
        if (f.max < 0x1p1000 && f.taper == ULP_TAPER_NONE)
            equal("spacing of max", f.max_code, f.max, &f, ulp_spacing(f.max, &f), last_quantum(&f));
    }
    assert_true(checked > 500000);
}

TESTS(NULL, NULL)
