/* function_oracle.h - functions of one number by MPFR, cut to 120 bits. */
#ifndef ULP_TESTS_FUNCTION_ORACLE_H
#define ULP_TESTS_FUNCTION_ORACLE_H

#include "support.h"

#include <mpfr.h>

#include "formats/function.h"

enum { BITS = 120, COMPOSED = 400 };

/* A value by MPFR, cut to BITS bits, or to those that a test gives `value`; inexact if it has more. */
typedef struct oracle {
    mpfr_t value, x, part, wide;
    int inexact;
} oracle;

static inline void begin(oracle *o) {
    mpfr_init2(o->value, BITS);
    mpfr_inits2(COMPOSED, o->x, o->part, o->wide, (mpfr_ptr)NULL);
}

static inline void end(oracle *o) { mpfr_clears(o->value, o->x, o->part, o->wide, (mpfr_ptr)NULL); }

/* The value and a little less, or more, in magnitude. */
static inline void put_near(oracle *o, double value, int more) {
    mpfr_set_d(o->value, value, MPFR_RNDN);
    if (!more && value > 0) mpfr_nextbelow(o->value);
    o->inexact = 1;
}

/* o->wide = f(x) by several operations of `bits` bits. Returns the bits that rounding errors may change. */
static inline mpfr_prec_t compose(oracle *o, ulp_function f, double x, mpfr_prec_t bits) {
    mpfr_ptr u = o->part, y = o->wide;
    mpfr_set_prec(u, bits);
    mpfr_set_prec(y, bits);
    mpfr_set_d(o->x, x, MPFR_RNDN);
    if (f == ULP_FUNCTION_GELU) { /* x erfc(-x / sqrt 2) / 2; an error d of z is an error 2 z^2 d of erfc(z) */
        mpfr_set_ui(u, 2, MPFR_RNDN);
        mpfr_sqrt(u, u, MPFR_RNDN);
        mpfr_div(u, o->x, u, MPFR_RNDN);
        mpfr_neg(u, u, MPFR_RNDN);
        mpfr_erfc(y, u, MPFR_RNDN);
        mpfr_mul(y, y, o->x, MPFR_RNDN);
        mpfr_div_2ui(y, y, 1, MPFR_RNDN);
        return 32;
    }
    if (f == ULP_FUNCTION_SOFTPLUS) {
        mpfr_exp(u, o->x, MPFR_RNDN);
        mpfr_log1p(y, u, MPFR_RNDN);
        return 16;
    }
    if (f == ULP_FUNCTION_GELU_TANH) { /* the argument of sigmoid, sqrt(8/pi) x (1 + 0.044715 x^2) */
        mpfr_sqr(u, o->x, MPFR_RNDN);
        mpfr_mul_ui(u, u, 44715, MPFR_RNDN);
        mpfr_div_ui(u, u, 1000000, MPFR_RNDN);
        mpfr_add_ui(u, u, 1, MPFR_RNDN);
        mpfr_mul(u, u, o->x, MPFR_RNDN);
        mpfr_const_pi(y, MPFR_RNDN);
        mpfr_ui_div(y, 8, y, MPFR_RNDN);
        mpfr_sqrt(y, y, MPFR_RNDN);
        mpfr_mul(u, u, y, MPFR_RNDN);
    } else {
        mpfr_set(u, o->x, MPFR_RNDN);
    }
    mpfr_neg(u, u, MPFR_RNDN);
    mpfr_exp(u, u, MPFR_RNDN);
    mpfr_add_ui(u, u, 1, MPFR_RNDN);
    if (f == ULP_FUNCTION_SIGMOID) mpfr_ui_div(y, 1, u, MPFR_RNDN);
    else mpfr_div(y, o->x, u, MPFR_RNDN);
    return 32;
}

/* A function that MPFR has, and rounds correctly. */
static inline void compute_one(oracle *o, ulp_function f) {
    mpfr_ptr y = o->value;
    switch (f) {
    case ULP_FUNCTION_EXP: o->inexact = mpfr_exp(y, o->x, MPFR_RNDZ); break;
    case ULP_FUNCTION_EXP2: o->inexact = mpfr_exp2(y, o->x, MPFR_RNDZ); break;
    case ULP_FUNCTION_LOG: o->inexact = mpfr_log(y, o->x, MPFR_RNDZ); break;
    case ULP_FUNCTION_LOG2: o->inexact = mpfr_log2(y, o->x, MPFR_RNDZ); break;
    case ULP_FUNCTION_SIN: o->inexact = mpfr_sin(y, o->x, MPFR_RNDZ); break;
    case ULP_FUNCTION_COS: o->inexact = mpfr_cos(y, o->x, MPFR_RNDZ); break;
    case ULP_FUNCTION_TANH: o->inexact = mpfr_tanh(y, o->x, MPFR_RNDZ); break;
    case ULP_FUNCTION_RSQRT: o->inexact = mpfr_rec_sqrt(y, o->x, MPFR_RNDZ); break;
    default: o->inexact = mpfr_ui_div(y, 1, o->x, MPFR_RNDZ); break;
    }
    if (o->inexact && mpfr_zero_p(y)) mpfr_set_ui_2exp(y, 1, -1300, MPFR_RNDN); /* below the range of MPFR */
}

static inline void compute(oracle *o, ulp_function f, double x) {
    const int is_unit =
        f == ULP_FUNCTION_SILU || f == ULP_FUNCTION_GELU || f == ULP_FUNCTION_GELU_TANH; /* x times a probability */
    mpfr_set_d(o->x, x, MPFR_RNDN);
    o->inexact = 0;
    if (f == ULP_FUNCTION_RSQRT && x == 0) mpfr_set_inf(o->value, signbit(x) ? -1 : 1); /* IEEE 754-2019, 9.2.1 */
    else if (!is_unit && f != ULP_FUNCTION_SIGMOID && f != ULP_FUNCTION_SOFTPLUS) compute_one(o, f);
    else if (isnan(x)) mpfr_set_nan(o->value);
    else if (is_unit && x == -INFINITY) mpfr_set_d(o->value, -0.0, MPFR_RNDN);
    else if (x == -INFINITY) mpfr_set_ui(o->value, 0, MPFR_RNDN);
    else if (x == INFINITY || (x == 0 && f != ULP_FUNCTION_SOFTPLUS))
        mpfr_set_d(o->value, f == ULP_FUNCTION_SIGMOID ? (x == 0 ? 0.5 : 1) : x, MPFR_RNDN);
    else if (x > (f == ULP_FUNCTION_GELU || f == ULP_FUNCTION_GELU_TANH ? 20 : 100)) /* 1 - p < 2^-144 */
        put_near(o, f == ULP_FUNCTION_SIGMOID ? 1 : x, f == ULP_FUNCTION_SOFTPLUS);
    else if (x < (f == ULP_FUNCTION_GELU || f == ULP_FUNCTION_GELU_TANH ? -60
                                                                        : -4000)) { /* nearer to 0 than formats tell */
        mpfr_set_si_2exp(o->value, is_unit ? -1 : 1, -1300, MPFR_RNDN);
        o->inexact = 1;
    } else {
        for (mpfr_prec_t bits = COMPOSED;; bits *= 2) {
            const mpfr_prec_t wrong = compose(o, f, x, bits);
            if (mpfr_can_round(o->wide, bits - wrong, MPFR_RNDN, MPFR_RNDZ, mpfr_get_prec(o->value))) break;
            if (bits > 1 << 16) fail_msg("%s %a: the oracle finds no result", ulp_function_name(f), x);
        }
        mpfr_set(o->value, o->wide, MPFR_RNDZ);
        o->inexact = 1;
    }
}

/* The value as numbers hi + lo that round like it to formats of up to 58 bits of precision and random bits, whose
 * numbers are between 2^-800 and 2^800. */
static inline void pair_of(double *hi, double *lo, oracle *o) {
    *lo = 0;
    *hi = mpfr_get_d(o->value, MPFR_RNDZ);
    if (!mpfr_regular_p(o->value)) return;
    if (mpfr_get_exp(o->value) < -900 || mpfr_get_exp(o->value) > 900) {
        *hi = mpfr_sgn(o->value) * (mpfr_get_exp(o->value) < 0 ? 0x1p-900 : 0x1p900);
        return;
    }
    mpfr_sub_d(o->value, o->value, *hi, MPFR_RNDZ);
    *lo = mpfr_get_d(o->value, MPFR_RNDZ);
    if (!o->inexact && mpfr_cmp_d(o->value, *lo) == 0) return;
    *lo = *lo == 0 ? *hi * 0x1p-110 : ulp_from_bits64(ulp_bits64(*lo) | 1);
}

#endif
