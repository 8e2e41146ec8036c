/* gelu.c - the backend "mpfr": gelu, silu and their slopes.
 *
 * Like functions.c this is a second text of a definition in binary64, the head comment of kernels/functions/gelu.h: a
 * loop over the coefficients of the polynomial, libm's exact fabs, and branches for the ends of the range.
 */
#include "operations.h"

#include <math.h>

/* The coefficients of p, from that of t^0 on. */
static const double coefficient[] = {
    0x1.40c522d7e4987p+0,  -0x1.15c084bb9e8f2p-3,  -0x1.85a15c58a94bcp-5,  0x1.098366a5b4640p-3,
    -0x1.e88b803a62b25p-4, 0x1.17ca2877f2e12p-4,   -0x1.8574c4045d73bp-6,  0x1.4b884e411c628p-9,
    0x1.ef1bd8cef3593p-10, -0x1.98db50c183611p-11, -0x1.b910e0f8ea4bbp-14, 0x1.065a32b3a8308p-13,
    0x1.4bcb68f74de9dp-18, -0x1.513b2bd2dcf90p-16, -0x1.81e5884d17167p-21, 0x1.d20dc00db7e49p-19,
    0x1.6986d6d5de0b3p-22, -0x1.4b08fbdf0a37cp-21, -0x1.02dc6222b8d79p-23, 0x1.b561e7a549a78p-24,
    0x1.de5acea4524cfp-26, -0x1.c96d0f5b5418ap-27, -0x1.b53e216396729p-29, 0x1.0f1885d83ec91p-30,
};
enum { COEFFICIENTS = sizeof coefficient / sizeof *coefficient };

static const double turn = 0x1.9884533d43651p+0, cube = 0.044715;

/* Phi(x); *fall = e^(-x^2/2). */
static double normal_below(double x, double *fall) {
    const double a = fabs(x) < 64.0 ? fabs(x) : 64.0, y = a * 0x1.6a09e667f3bcdp-1, t = (y - 3.0) / (y + 3.0);
    double p = coefficient[COEFFICIENTS - 1];
    for (int k = COEFFICIENTS - 2; k >= 0; k--) p = p * t + coefficient[k];
    *fall = ulp_mpfr_exp(a * a * -0.5);
    const double half = 0.5 * (*fall * p / (1.0 + 2.0 * y));
    return x < 0.0 ? half : 1.0 - half;
}

static double clamped(double x, double most) { return x > most ? most : x < -most ? -most : x; }

double ulp_mpfr_gelu(double x) {
    double fall;
    if (isnan(x)) return x;
    return x < -64.0 ? -0.0 : x * normal_below(x, &fall);
}

double ulp_mpfr_gelu_slope(double x) {
    double fall;
    if (isnan(x)) return x;
    const double below = normal_below(x, &fall);
    return below + clamped(x, 64.0) * (0x1.9884533d43651p-2 * fall);
}

double ulp_mpfr_silu(double x) { return x < -1024.0 ? -0.0 : x * ulp_mpfr_sigmoid(x); }

double ulp_mpfr_silu_slope(double x) {
    if (isnan(x)) return x;
    return ulp_mpfr_sigmoid(x) * (1.0 + clamped(x, 1024.0) * ulp_mpfr_sigmoid(-x));
}

double ulp_mpfr_gelu_tanh(double x) {
    return x < -1024.0 ? -0.0 : x * ulp_mpfr_sigmoid(turn * (x + cube * (x * x) * x));
}

double ulp_mpfr_gelu_tanh_slope(double x) {
    if (isnan(x)) return x;
    const double v = clamped(x, 1024.0), u = turn * (v + cube * (v * v) * v), s = ulp_mpfr_sigmoid(u);
    return s + v * (s * ulp_mpfr_sigmoid(-u)) * (turn * (1.0 + 3.0 * cube * (v * v)));
}
