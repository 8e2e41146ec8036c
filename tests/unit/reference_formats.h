/* reference_formats.h - formats of the standards with their numbers, written by hand, for tests of the oracle.
 *
 * Nothing here is computed by formats/. */
#ifndef ULP_TESTS_REFERENCE_FORMATS_H
#define ULP_TESTS_REFERENCE_FORMATS_H

#include <float.h>
#include <math.h>

#include "test.h"

#include "kernels/mpfr/reference.h"

#define FLOAT(NAME, BITS, P, BIAS, NAN_CODES, INF)                                                                     \
    {                                                                                                                  \
        .name = NAME, .bits = BITS, .prec = P, .bias = BIAS, .is_signed = 1, .has_inf = INF, .has_zero = 1,            \
        .has_neg_zero = (NAN_CODES) != ULP_NAN_NEG_ZERO, .has_subnormals = 1, .nan_codes = NAN_CODES,                  \
        .overflow = (INF) ? ULP_OVERFLOW_INF : ULP_OVERFLOW_SAT                                                        \
    }
#define NO_SUBNORMALS(NAME, BITS, P, BIAS, NAN_CODES, ZERO_BINADE)                                                     \
    {                                                                                                                  \
        .name = NAME, .bits = BITS, .prec = P, .bias = BIAS, .is_signed = 1, .has_zero = 1, .has_neg_zero = 1,         \
        .zero_binade = ZERO_BINADE, .nan_codes = NAN_CODES, .overflow = ULP_OVERFLOW_SAT                               \
    }
#define UNSIGNED(NAME, BITS, P, BIAS, ZERO, INF)                                                                       \
    {                                                                                                                  \
        .name = NAME, .bits = BITS, .prec = P, .bias = BIAS, .has_inf = INF, .has_zero = ZERO, .has_subnormals = ZERO, \
        .nan_codes = ULP_NAN_ALL_ONES, .overflow = (INF) ? ULP_OVERFLOW_INF : ULP_OVERFLOW_SAT                         \
    }
#define FIXED(NAME, BITS, F)                                                                                           \
    {                                                                                                                  \
        .name = NAME, .bits = BITS, .prec = BITS, .is_signed = 1, .is_fixed = 1, .frac_bits = F, .has_zero = 1,        \
        .has_subnormals = 1, .nan_codes = ULP_NAN_NONE, .overflow = ULP_OVERFLOW_SAT                                   \
    }
#define IEEE(NAME, X, Y) FLOAT(NAME, 1 + (X) + (Y), (Y) + 1, (1 << ((X)-1)) - 1, ULP_NAN_IEEE, 1)
#define NO_CODE UINT64_MAX

/* A format and the numbers of its standard: codes of max, +Inf and one NaN; values. */
typedef struct row {
    ulp_format format;
    uint64_t max_code, inf_code, nan_code;
    double max, lowest, min_normal, min_positive;
} row;

static const row table[] = {
    {IEEE("binary64", 11, 52), 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF8000000000000, DBL_MAX, -DBL_MAX, DBL_MIN,
     0x1p-1074},
    {IEEE("binary32", 8, 23), 0x7F7FFFFF, 0x7F800000, 0x7FC00000, (double)FLT_MAX, -(double)FLT_MAX, 0x1p-126,
     0x1p-149},
    {IEEE("tf32", 8, 10), 0x3FBFF, 0x3FC00, 0x3FC01, 2047 * 0x1p117, -2047 * 0x1p117, 0x1p-126, 0x1p-136},
    {IEEE("binary16", 5, 10), 0x7BFF, 0x7C00, 0xFE00, 65504, -65504, 0x1p-14, 0x1p-24},
    {IEEE("bfloat16", 8, 7), 0x7F7F, 0x7F80, 0x7F81, 255 * 0x1p120, -255 * 0x1p120, 0x1p-126, 0x1p-133},
    {IEEE("e6m9", 6, 9), 0x7DFF, 0x7E00, 0x7FFF, 1023 * 0x1p22, -1023 * 0x1p22, 0x1p-30, 0x1p-39},
    {IEEE("fp24", 8, 15), 0x7F7FFF, 0x7F8000, 0x7F8001, 65535 * 0x1p112, -65535 * 0x1p112, 0x1p-126, 0x1p-141},
    {IEEE("e5m2", 5, 2), 0x7B, 0x7C, 0x7D, 57344, -57344, 0x1p-14, 0x1p-16},
    {FLOAT("e4m3", 8, 4, 7, ULP_NAN_ALL_ONES, 0), 0x7E, NO_CODE, 0xFF, 448, -448, 0x1p-6, 0x1p-9},
    {FLOAT("e4m3fnuz", 8, 4, 8, ULP_NAN_NEG_ZERO, 0), 0x7F, NO_CODE, 0x80, 240, -240, 0x1p-7, 0x1p-10},
    {FLOAT("e5m2fnuz", 8, 3, 16, ULP_NAN_NEG_ZERO, 0), 0x7F, NO_CODE, 0x80, 57344, -57344, 0x1p-15, 0x1p-17},
    {FLOAT("binary8p3se", 8, 3, 16, ULP_NAN_NEG_ZERO, 1), 0x7E, 0x7F, 0x80, 49152, -49152, 0x1p-15, 0x1p-17},
    {FLOAT("binary8p4se", 8, 4, 8, ULP_NAN_NEG_ZERO, 1), 0x7E, 0x7F, 0x80, 224, -224, 0x1p-7, 0x1p-10},
    {FLOAT("binary8p1se", 8, 1, 64, ULP_NAN_NEG_ZERO, 1), 0x7E, 0x7F, 0x80, 0x1p62, -0x1p62, 0x1p-63, 0x1p-63},
    {FLOAT("binary8p3sf", 8, 3, 16, ULP_NAN_NEG_ZERO, 0), 0x7F, NO_CODE, 0x80, 57344, -57344, 0x1p-15, 0x1p-17},
    {FLOAT("binary8p4sf", 8, 4, 8, ULP_NAN_NEG_ZERO, 0), 0x7F, NO_CODE, 0x80, 240, -240, 0x1p-7, 0x1p-10},
    {UNSIGNED("binary8p3ue", 8, 3, 32, 1, 1), 0xFD, 0xFE, 0xFF, 1.25 * 0x1p31, 0, 0x1p-31, 0x1p-33},
    {UNSIGNED("binary8p3uf", 8, 3, 32, 1, 0), 0xFE, NO_CODE, 0xFF, 1.5 * 0x1p31, 0, 0x1p-31, 0x1p-33},
    {UNSIGNED("binary6p1uf", 6, 1, 32, 1, 0), 0x3E, NO_CODE, 0x3F, 0x1p30, 0, 0x1p-31, 0x1p-31},
    {IEEE("e3m4", 3, 4), 0x6F, 0x70, 0x71, 15.5, -15.5, 0x1p-2, 0x1p-6},
    {IEEE("e1m2", 1, 2), 0x3, 0x4, 0x5, 1.5, -1.5, 2, 0.5}, /* all nonzero values are subnormal */
    {IEEE("e5m0", 5, 0), 0x1E, 0x1F, NO_CODE, 0x1p15, -0x1p15, 0x1p-14, 0x1p-14},
    {FLOAT("e3m2", 6, 3, 3, ULP_NAN_NONE, 0), 0x1F, NO_CODE, NO_CODE, 28, -28, 0x1p-2, 0x1p-4},
    {FLOAT("e2m3", 6, 4, 1, ULP_NAN_NONE, 0), 0x1F, NO_CODE, NO_CODE, 7.5, -7.5, 1, 0x1p-3},
    {FLOAT("e2m1", 4, 2, 1, ULP_NAN_NONE, 0), 0x7, NO_CODE, NO_CODE, 6, -6, 1, 0.5},
    {UNSIGNED("e8m0", 8, 1, 127, 0, 0), 0xFE, NO_CODE, 0xFF, 0x1p127, 0x1p-127, 0x1p-127, 0x1p-127},
    {NO_SUBNORMALS("dlfloat16", 16, 10, 31, ULP_NAN_ALL_ONES, 1), 0x7FFE, NO_CODE, 0xFFFF, 1022 * 0x1p23,
     -1022 * 0x1p23, 513 * 0x1p-40, 513 * 0x1p-40},
    {NO_SUBNORMALS("e3m2:nosub", 6, 3, 3, ULP_NAN_NONE, 0), 0x1F, NO_CODE, NO_CODE, 28, -28, 0x1p-2, 0x1p-2},
    {FIXED("q8.8", 16, 8), 0x7FFF, NO_CODE, NO_CODE, 127 + 255 * 0x1p-8, -128, 0x1p-8, 0x1p-8},
    {FIXED("int8", 8, 0), 0x7F, NO_CODE, NO_CODE, 127, -128, 1, 1},
    {FIXED("q4.2", 6, 2), 0x1F, NO_CODE, NO_CODE, 7.75, -8, 0.25, 0.25},
    {FIXED("q1.0", 1, 0), 0, NO_CODE, NO_CODE, 0, -1, 1, 1},
    {FIXED("q1.31", 32, 31), 0x7FFFFFFF, NO_CODE, NO_CODE, 0x7FFFFFFF * 0x1p-31, -1, 0x1p-31, 0x1p-31},
};
enum { ROWS = COUNT_OF(table) };

static inline const ulp_format *named(const char *name) {
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(table[i].format.name, name) == 0) return &table[i].format;
    fail_msg("no row %s", name);
    return NULL;
}

static inline ulp_rule rule_of(int mode, int overflow, int random_bits) {
    return (ulp_rule){(uint8_t)mode, (uint8_t)overflow, (uint8_t)random_bits};
}

static inline int same(double x, double y) {
    if (isnan(x) || isnan(y)) return isnan(x) && isnan(y);
    return x == y && signbit(x) == signbit(y);
}

static inline void expect(const ulp_format *f, ulp_rule rule, const char *what, double a, double b, double c,
                          double got, double want) {
    if (!same(got, want))
        fail_msg("%s mode %d overflow %d r %d: %s %a %a %a gives %a, not %a", f->name, rule.mode, rule.overflow,
                 rule.random_bits, what, a, b, c, got, want);
}

/* splitmix64 (Steele et al. 2014, doi:10.1145/2660193.2660195) */
static inline uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

#endif
