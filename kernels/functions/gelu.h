/* gelu.h - gelu in both forms, silu, and their slopes, in binary64 without branches: one definition for every backend.
 *
 *   gelu(x) = x Phi(x), Phi(x) = erfc(-x / sqrt 2) / 2       gelu_tanh(x) = x s(2 sqrt(2/pi) (x + 0.044715 x^3))
 *   silu(x) = x s(x)                                         s(x) = 1 / (1 + e^-x)
 *
 * Hendrycks and Gimpel 2016, arXiv:1606.08415; s(2 u) = (1 + tanh u) / 2. The argument x is a binary32 number: x^2 is
 * exact. erfc(y) = e^(-y^2) p(t) / (1 + 2 y) for y >= 0, t = (y - 3) / (y + 3); p is a polynomial of degree 23 that was
 * fitted at Chebyshev nodes (the form of Shepherd and Laframboise 1981, doi:10.1090/S0025-5718-1981-0595058-X). Its
 * relative error is below 2^-51. The functions below have relative errors below 2^-48 where the result is normal in
 * binary32, and gelu_tanh below 2^-44; the slopes have absolute errors below 2^-48. tests/unit/t_gelu.c measures them.
 */
#ifndef ULP_GELU_H
#define ULP_GELU_H

#include "lanes.h"

ULP_C_BEGIN

/* Relative errors where the result is normal in binary32; absolute errors of slopes. */
#define ULP_GELU_BOUND 0x1p-48
#define ULP_GELU_TANH_BOUND 0x1p-44 /* six roundings of an argument of up to 88 */
#define ULP_SILU_BOUND 0x1p-48
#define ULP_GELU_SLOPE_BOUND 0x1p-48

#define ULP_SQRT_HALF 0x1.6a09e667f3bcdp-1   /* sqrt(1/2) */
#define ULP_NORMAL_PEAK 0x1.9884533d43651p-2 /* 1 / sqrt(2 pi) */
#define ULP_GELU_TURN 0x1.9884533d43651p+0   /* 2 sqrt(2 / pi) */
#define ULP_GELU_CUBE 0.044715

/* The polynomial p of the head, t in [-1, 1). */
ULP_CORE double ulp_erfc_polynomial(double t) {
    double p = 0x1.0f1885d83ec91p-30;
    p = p * t + -0x1.b53e216396729p-29;
    p = p * t + -0x1.c96d0f5b5418ap-27;
    p = p * t + 0x1.de5acea4524cfp-26;
    p = p * t + 0x1.b561e7a549a78p-24;
    p = p * t + -0x1.02dc6222b8d79p-23;
    p = p * t + -0x1.4b08fbdf0a37cp-21;
    p = p * t + 0x1.6986d6d5de0b3p-22;
    p = p * t + 0x1.d20dc00db7e49p-19;
    p = p * t + -0x1.81e5884d17167p-21;
    p = p * t + -0x1.513b2bd2dcf90p-16;
    p = p * t + 0x1.4bcb68f74de9dp-18;
    p = p * t + 0x1.065a32b3a8308p-13;
    p = p * t + -0x1.b910e0f8ea4bbp-14;
    p = p * t + -0x1.98db50c183611p-11;
    p = p * t + 0x1.ef1bd8cef3593p-10;
    p = p * t + 0x1.4b884e411c628p-9;
    p = p * t + -0x1.8574c4045d73bp-6;
    p = p * t + 0x1.17ca2877f2e12p-4;
    p = p * t + -0x1.e88b803a62b25p-4;
    p = p * t + 0x1.098366a5b4640p-3;
    p = p * t + -0x1.85a15c58a94bcp-5;
    p = p * t + -0x1.15c084bb9e8f2p-3;
    return p * t + 0x1.40c522d7e4987p+0;
}

/* Phi(x), and the factor e^(-x^2/2) of the normal density. */
typedef struct ulp_normal_parts {
    double below, fall;
} ulp_normal_parts;

ULP_CORE ulp_normal_parts ulp_normal_parts_of(double x) {
    const double a = x < 0.0 ? -x : x, far = a < 64.0 ? a : 64.0, y = far * ULP_SQRT_HALF;
    ulp_normal_parts n;
    n.fall = ulp_exp_lane(far * far * -0.5);
    const double half = 0.5 * (n.fall * ulp_erfc_polynomial((y - 3.0) / (y + 3.0)) / (1.0 + 2.0 * y));
    n.below = ulp_choose((uint64_t)(x < 0.0), half, 1.0 - half);
    return n;
}

ULP_CORE double ulp_gelu(double x) {
    return ulp_choose((uint64_t)(x != x), x, ulp_choose((uint64_t)(x < -64.0), -0.0, x * ulp_normal_parts_of(x).below));
}

/* gelu'(x) = Phi(x) + x density(x) */
ULP_CORE double ulp_gelu_slope(double x) {
    const ulp_normal_parts n = ulp_normal_parts_of(x);
    const double near = x < 64.0 ? x : 64.0, inside = near > -64.0 ? near : -64.0;
    return ulp_choose((uint64_t)(x != x), x, n.below + inside * (ULP_NORMAL_PEAK * n.fall));
}

ULP_CORE double ulp_silu(double x) { return ulp_choose((uint64_t)(x < -1024.0), -0.0, x * ulp_sigmoid_lane(x)); }

/* silu'(x) = s (1 + x (1 - s)); 1 - s is computed as s(-x). */
ULP_CORE double ulp_silu_slope(double x) {
    const double near = x < 1024.0 ? x : 1024.0, inside = near > -1024.0 ? near : -1024.0;
    return ulp_choose((uint64_t)(x != x), x, ulp_sigmoid_lane(x) * (1.0 + inside * ulp_sigmoid_lane(-x)));
}

/* The argument of s in gelu_tanh. */
ULP_CORE double ulp_gelu_tanh_argument(double x) { return ULP_GELU_TURN * (x + ULP_GELU_CUBE * (x * x) * x); }

ULP_CORE double ulp_gelu_tanh(double x) {
    return ulp_choose((uint64_t)(x < -1024.0), -0.0, x * ulp_sigmoid_lane(ulp_gelu_tanh_argument(x)));
}

/* gelu_tanh'(x) = s + x s (1 - s) u', u' the slope of the argument */
ULP_CORE double ulp_gelu_tanh_slope(double x) {
    const double near = x < 1024.0 ? x : 1024.0, v = near > -1024.0 ? near : -1024.0, u = ulp_gelu_tanh_argument(v);
    const double s = ulp_sigmoid_lane(u), rest = ulp_sigmoid_lane(-u);
    const double steep = ULP_GELU_TURN * (1.0 + 3.0 * ULP_GELU_CUBE * (v * v));
    return ulp_choose((uint64_t)(x != x), x, s + v * (s * rest) * steep);
}

ULP_C_END
#endif
