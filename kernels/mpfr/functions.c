/* functions.c - the backend "mpfr": exp, log, tanh, sigmoid, and softmax with cross-entropy.
 *
 * Their bits are fixed by an order of binary64 operations, the definition in kernels/functions. This file is a second
 * text of the definition: it has loops for the polynomials and libm's exact functions (ldexp, frexp) for bits, and it
 * shows that the first text and its vector forms compute what the definition says. Other arithmetic cannot.
 */
#include "operations.h"

#include <math.h>
#include <stdlib.h>

static double quiet(double x) { return isnan(x) ? NAN : x; }

static const double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33, per_ln2 = 0x1.71547652b82fep+0;

/* 1/2! + r/3! + ... + r^12/14!, from the last coefficient. */
static double exp_tail(double r) {
    double factorial = 1.0, p = 0.0;
    for (int k = 2; k <= 14; k++) factorial *= k;
    for (int k = 14; k >= 2; k--) {
        p = p * r + 1.0 / factorial; /* 0 r + 1/14! is 1/14! */
        factorial /= k;
    }
    return p;
}

double ulp_mpfr_exp(double x) {
    if (isnan(x)) return x;
    if (x > 709.782712893384) return INFINITY;
    if (x < -745.1332191019412) return 0.0;
    const double to_integer = 0x1.8p52, k = x * per_ln2 + to_integer - to_integer;
    const double high = x - k * ln2_high, low = k * ln2_low, r = high - low;
    return ldexp(1.0 + (high + (r * r * exp_tail(r) - low)), (int)k);
}

/* 2 z/3 + 2 z^2/5 + ... + 2 z^11/23, from the last coefficient. */
static double log_tail(double z) {
    double p = 0.0;
    for (int k = 23; k >= 3; k -= 2) p = p * z + 2.0 / k;
    return p * z;
}

double ulp_mpfr_log(double x) {
    int k;
    if (isnan(x) || x < 0.0) return NAN;
    if (x == 0.0) return -INFINITY;
    if (isinf(x)) return x;
    double m = 2.0 * frexp(x, &k); /* 1 <= m < 2, x = m 2^(k-1) */
    k--;
    if (m >= 0x1.6a09e667f3bcdp+0) m /= 2.0, k++; /* sqrt(1/2) <= m < sqrt(2) */
    const double f = m - 1.0, s = f / (2.0 + f), half = 0.5 * f * f, rest = s * (half + log_tail(s * s));
    return k * ln2_high - ((half - (rest + k * ln2_low)) - f);
}

double ulp_mpfr_tanh(double x) {
    const double a = fabs(x);
    if (isnan(x) || x == 0.0) return x;
    double t = 1.0;
    if (a < 0.17) {
        const double r = 2.0 * a, e = r + r * r * exp_tail(r);
        t = e / (e + 2.0);
    } else if (!(a > 22.0)) {
        t = 1.0 - 2.0 / (ulp_mpfr_exp(2.0 * a) + 1.0);
    }
    return copysign(t, x);
}

double ulp_mpfr_sigmoid(double x) {
    const double e = ulp_mpfr_exp(x < 0.0 ? x : -x);
    return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

ulp_status ulp_mpfr_softmax(double *p, double *loss, const float *z, ulp_labels labels) {
    const size_t C = labels.C;
    for (size_t b = 0; b < labels.B; b++, p += C, z += C) {
        double largest = (double)z[0], sum = 0.0;
        for (size_t c = 1; c < C; c++)
            if ((double)z[c] > largest) largest = (double)z[c];
        for (size_t c = 0; c < C; c++) sum += p[c] = ulp_mpfr_exp((double)z[c] - largest);
        for (size_t c = 0; c < C; c++) p[c] = quiet(p[c] / sum);
        loss[b] = NAN;
        if (labels.label[b] < C) loss[b] = quiet(ulp_mpfr_log(sum) - ((double)z[labels.label[b]] - largest));
    }
    return ULP_OK;
}

ulp_status ulp_mpfr_softmax_slope(double *dz, const float *p, ulp_labels labels, double scale) {
    for (size_t b = 0; b < labels.B; b++)
        for (size_t c = 0; c < labels.C; c++) {
            const double target = c == labels.label[b] ? 1.0 : 0.0, probability = (double)p[b * labels.C + c];
            dz[b * labels.C + c] = quiet((probability - target) * scale / (double)labels.B);
        }
    return ULP_OK;
}
