/* lanes.h - exp, tanh and sigmoid of elementary.h without branches, for loops in vectors.
 *
 * Every function gives the bits of the function of elementary.h for every number, and NaN for NaN. The operations on
 * numbers are the same in the same order; the argument is brought into the range of the reduction first, and the
 * special cases are chosen at the end. tests/unit/t_elementary.c compares the two.
 */
#ifndef ULP_LANES_H
#define ULP_LANES_H

#include "elementary.h"

/* yes ? a : b for yes = 0 or 1, by masks: compilers make jumps from conditional expressions with divisions. */
ULP_CORE double ulp_choose(uint64_t yes, double a, double b) {
    const uint64_t x = ulp_bits64(a), y = ulp_bits64(b);
    return ulp_from_bits64(y ^ ((x ^ y) & (0u - yes)));
}

/* e^c = 2^k (1 + (hi + (q - lo))) for c in the range of the reduction; k is a two's complement integer. */
typedef struct ulp_exp_parts {
    uint64_t k;
    double hi, lo, r, q;
} ulp_exp_parts;

ULP_CORE ulp_exp_parts ulp_exp_parts_of(double x) {
    double c = x < 720.0 ? x : 720.0; /* also for NaN */
    c = c > -750.0 ? c : -750.0;
    const double t = c * ULP_INV_LN2 + ULP_TO_INTEGER, k = t - ULP_TO_INTEGER;
    ulp_exp_parts p;
    p.k = ulp_bits64(t) - ulp_bits64(ULP_TO_INTEGER);
    p.hi = c - k * ULP_LN2_HI;
    p.lo = k * ULP_LN2_LO;
    p.r = p.hi - p.lo;
    p.q = p.r * p.r * ulp_exp_tail(p.r);
    return p;
}

/* The first factor 2^(k/2) is exact; the second one rounds a subnormal result. */
ULP_CORE double ulp_exp_joined(double x, ulp_exp_parts p) {
    const uint64_t half = ((p.k + 2048u) >> 1) - 1024u, rest = p.k - half;
    double y = 1.0 + (p.hi + (p.q - p.lo));
    y = y * ulp_from_bits64((half + 1023u) << 52) * ulp_from_bits64((rest + 1023u) << 52);
    y = ulp_choose((uint64_t)(x > 709.782712893384), ulp_from_bits64(0x7ff0000000000000u), y);
    y = ulp_choose((uint64_t)(x < -745.1332191019412), 0.0, y);
    return ulp_choose((uint64_t)(x != x), x, y);
}

ULP_CORE double ulp_exp_lane(double x) { return ulp_exp_joined(x, ulp_exp_parts_of(x)); }

/* Below 0.17 the reduction of 2 a has k = 0, so that r = 2 a and both ways share the polynomial. */
ULP_CORE double ulp_tanh_lane(double x) {
    const double a = x < 0.0 ? -x : x, b = 2.0 * a;
    const ulp_exp_parts p = ulp_exp_parts_of(b);
    const double e = p.r + p.q, small = e / (e + 2.0), large = 1.0 - 2.0 / (ulp_exp_joined(b, p) + 1.0);
    double t = ulp_choose((uint64_t)(a < 0.17), small, large);
    t = ulp_choose((uint64_t)(a > 22.0), 1.0, t);
    t = ulp_choose((uint64_t)(x < 0.0), -t, t);
    return ulp_choose((uint64_t)(x != x) | (uint64_t)(x == 0.0), x, t);
}

ULP_CORE double ulp_sigmoid_lane(double x) {
    const double e = ulp_exp_lane(x < 0.0 ? x : -x);
    return ulp_choose((uint64_t)(x < 0.0), e, 1.0) / (1.0 + e);
}

#endif
