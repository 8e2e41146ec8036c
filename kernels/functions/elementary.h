/* elementary.h - exp, log, tanh and sigmoid in binary64 with equal bits on every machine and device.
 *
 * The libraries libm of different machines differ in the last bit. The functions here consist of + - * / (all correctly
 * rounded by IEEE 754-2019) and integer operations on bits, in a fixed order, without fma: argument reduction and
 * Taylor polynomials with stated remainders. The remainders are far below the error bounds.
 * tests/unit/t_elementary.c measures the bounds.
 */
#ifndef ULP_ELEMENTARY_H
#define ULP_ELEMENTARY_H

#include "formats/exact.h"

ULP_C_BEGIN

/* Error bounds in units in the last place of the result, for normal results. */
#define ULP_EXP_BOUND 1.25
#define ULP_LOG_BOUND 1.0
#define ULP_SIGMOID_BOUND 4.0 /* the error of exp; a quotient just below a power of two has twice as many units */
#define ULP_TANH_BOUND 6.0    /* the largest error is near 0.17, where 1 - 2 / (e^2x + 1) cancels most */

#define ULP_LN2_HI 0x1.62e42fee00000p-1  /* the leading 32 bits of ln 2: k ULP_LN2_HI is exact for |k| < 2^20 */
#define ULP_LN2_LO 0x1.a39ef35793c76p-33 /* ln 2 - ULP_LN2_HI */
#define ULP_INV_LN2 0x1.71547652b82fep+0
#define ULP_TO_INTEGER 0x1.8p52 /* x + ULP_TO_INTEGER - ULP_TO_INTEGER = the integer nearest to x, |x| < 2^51 */

/* x, with the quiet NaN for every NaN. Processors differ in the sign and payload of a NaN result. */
ULP_CORE double ulp_quieted(double x) { return x != x ? ulp_quiet_nan() : x; }

/* x rounded to nearest even in binary32. Every NaN gives the quiet NaN. */
ULP_CORE float ulp_narrowed(double x) { return x != x ? ulp_from_bits32(0x7fc00000u) : (float)x; }

/* (e^r - 1 - r) / r^2 for |r| <= 0.3466: 1/2! + r/3! + ... + r^12/14!. The remainder is below 2^-60 of the sum. */
ULP_CORE double ulp_exp_tail(double r) {
    double p = 1.0 / 87178291200.0;
    p = p * r + 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    return p * r + 0.5;
}

/* e^x. 0 below -745.13, Inf above 709.78. A subnormal result is rounded once more and has 2 ulp. NaN gives NaN. */
ULP_CORE double ulp_exp(double x) {
    if (x != x) return x;
    if (x > 709.782712893384) return ulp_from_bits64(0x7ff0000000000000u);
    if (x < -745.1332191019412) return 0.0;
    double k = x * ULP_INV_LN2 + ULP_TO_INTEGER - ULP_TO_INTEGER;
    double hi = x - k * ULP_LN2_HI, lo = k * ULP_LN2_LO, r = hi - lo;
    /* the error of the subtraction joins the small terms, so that the final sum rounds once */
    double y = 1.0 + (hi + (r * r * ulp_exp_tail(r) - lo));
    return ulp_scale(ulp_scale(y, (int32_t)k / 2), (int32_t)k - (int32_t)k / 2);
}

/* (atanh(s) / s - 1) 2 = 2 z/3 + 2 z^2/5 + ... + 2 z^11/23 with z = s^2 <= 0.0295. The remainder is below 2^-61. */
ULP_CORE double ulp_log_tail(double z) {
    double p = 2.0 / 23.0;
    p = p * z + 2.0 / 21.0;
    p = p * z + 2.0 / 19.0;
    p = p * z + 2.0 / 17.0;
    p = p * z + 2.0 / 15.0;
    p = p * z + 2.0 / 13.0;
    p = p * z + 2.0 / 11.0;
    p = p * z + 2.0 / 9.0;
    p = p * z + 2.0 / 7.0;
    p = p * z + 2.0 / 5.0;
    p = p * z + 2.0 / 3.0;
    return p * z;
}

/* The natural logarithm. -Inf at 0, NaN for negative x and for NaN. */
ULP_CORE double ulp_log(double x) {
    int32_t k = 0;
    if (x != x || x < 0.0) return ulp_quiet_nan();
    if (x == 0.0) return ulp_from_bits64(0xfff0000000000000u);
    uint64_t bits = ulp_bits64(x);
    if (bits == 0x7ff0000000000000u) return x;
    if (bits < 0x0010000000000000u) { /* subnormal */
        k = -54;
        bits = ulp_bits64(x * 0x1p54);
    }
    /* x = 2^k m, sqrt(1/2) <= m < sqrt(2) */
    bits += 0x3ff0000000000000u - 0x3fe6a09e667f3bcdu;
    k += (int32_t)(bits >> 52) - 1023;
    double m = ulp_from_bits64((bits & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu);
    /* log(1 + f) = 2 atanh(s) with s = f / (2 + f); the order of the operations uses f without rounding it */
    double f = m - 1.0, s = f / (2.0 + f), half = 0.5 * f * f;
    double rest = s * (half + ulp_log_tail(s * s));
    return (double)k * ULP_LN2_HI - ((half - (rest + (double)k * ULP_LN2_LO)) - f);
}

ULP_CORE double ulp_tanh(double x) {
    double a = x < 0.0 ? -x : x, t;
    if (x != x || x == 0.0) return x;
    if (a > 22.0) {
        t = 1.0;
    } else if (a < 0.17) { /* 2 a is within the range of the polynomial: e^(2a) - 1 has no cancellation */
        double r = 2.0 * a, e = r + r * r * ulp_exp_tail(r);
        t = e / (e + 2.0);
    } else {
        t = 1.0 - 2.0 / (ulp_exp(2.0 * a) + 1.0);
    }
    return x < 0.0 ? -t : t;
}

/* 1 / (1 + e^-x). A subnormal result has the error of a subnormal result of ulp_exp. */
ULP_CORE double ulp_sigmoid(double x) {
    double e = ulp_exp(x < 0.0 ? x : -x); /* at most 1 */
    return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

ULP_C_END
#endif
