/* t_gelu.c - gelu in both forms, silu and their slopes against MPFR, within the bounds that gelu.h states. */
#include "support.h"
#include <mpfr.h>

#include "kernels/functions/gelu.h"

enum { SAMPLES = 5000, PRECISION = 200 };

/* y = the standard normal distribution at x; y = 1 / (1 + e^-x). */
static void normal_below(mpfr_t y, const mpfr_t x) {
    mpfr_sqrt_ui(y, 2, MPFR_RNDN);
    mpfr_div(y, x, y, MPFR_RNDN);
    mpfr_neg(y, y, MPFR_RNDN);
    mpfr_erfc(y, y, MPFR_RNDN);
    mpfr_div_ui(y, y, 2, MPFR_RNDN);
}

static void sigmoid(mpfr_t y, const mpfr_t x) {
    mpfr_neg(y, x, MPFR_RNDN);
    mpfr_exp(y, y, MPFR_RNDN);
    mpfr_add_ui(y, y, 1, MPFR_RNDN);
    mpfr_ui_div(y, 1, y, MPFR_RNDN);
}

/* y = s(u) + x s(u) s(-u) slope: the slope of x s(u). */
static void slope_of_product(mpfr_t y, const mpfr_t x, const mpfr_t u, const mpfr_t slope) {
    mpfr_t rest;
    mpfr_init2(rest, PRECISION);
    mpfr_neg(rest, u, MPFR_RNDN);
    sigmoid(rest, rest);
    mpfr_mul(rest, rest, slope, MPFR_RNDN);
    mpfr_mul(rest, rest, x, MPFR_RNDN);
    mpfr_add_ui(rest, rest, 1, MPFR_RNDN);
    sigmoid(y, u);
    mpfr_mul(y, y, rest, MPFR_RNDN);
    mpfr_clear(rest);
}

/* u = 2 sqrt(2/pi) (x + 0.044715 x^3) and its slope. */
static void argument(mpfr_t u, mpfr_t slope, const mpfr_t x) {
    mpfr_t square, turn;
    mpfr_inits2(PRECISION, square, turn, (mpfr_ptr)NULL);
    mpfr_const_pi(turn, MPFR_RNDN);
    mpfr_ui_div(turn, 8, turn, MPFR_RNDN);
    mpfr_sqrt(turn, turn, MPFR_RNDN);
    mpfr_sqr(square, x, MPFR_RNDN);
    mpfr_mul_ui(square, square, 44715, MPFR_RNDN);
    mpfr_div_ui(square, square, 1000000, MPFR_RNDN);
    mpfr_add_ui(u, square, 1, MPFR_RNDN);
    mpfr_mul(u, u, x, MPFR_RNDN);
    mpfr_mul(u, u, turn, MPFR_RNDN);
    mpfr_mul_ui(slope, square, 3, MPFR_RNDN);
    mpfr_add_ui(slope, slope, 1, MPFR_RNDN);
    mpfr_mul(slope, slope, turn, MPFR_RNDN);
    mpfr_clears(square, turn, (mpfr_ptr)NULL);
}

typedef enum kind { GELU, GELU_TANH, SILU } kind;

/* y = the function or its slope at x. */
static void wanted(mpfr_t y, kind of, int is_slope, double at) {
    mpfr_t x, u, slope;
    mpfr_inits2(PRECISION, x, u, slope, (mpfr_ptr)NULL);
    mpfr_set_d(x, at, MPFR_RNDN);
    mpfr_set(u, x, MPFR_RNDN);
    mpfr_set_ui(slope, 1, MPFR_RNDN);
    if (of == GELU_TANH) argument(u, slope, x);
    if (of == GELU) {
        normal_below(y, x);
        if (is_slope) { /* + x e^(-x^2/2) / sqrt(2 pi) */
            mpfr_sqr(u, x, MPFR_RNDN);
            mpfr_div_si(u, u, -2, MPFR_RNDN);
            mpfr_exp(u, u, MPFR_RNDN);
            mpfr_mul(u, u, x, MPFR_RNDN);
            mpfr_const_pi(slope, MPFR_RNDN);
            mpfr_mul_ui(slope, slope, 2, MPFR_RNDN);
            mpfr_sqrt(slope, slope, MPFR_RNDN);
            mpfr_div(u, u, slope, MPFR_RNDN);
            mpfr_add(y, y, u, MPFR_RNDN);
        }
    } else if (is_slope) slope_of_product(y, x, u, slope);
    else sigmoid(y, u);
    if (!is_slope) mpfr_mul(y, y, x, MPFR_RNDN);
    mpfr_clears(x, u, slope, (mpfr_ptr)NULL);
}

/* Check the largest relative error of results that are normal in binary32, or the largest absolute error, of seeded
 * binary32 arguments in intervals and of arguments of every exponent. */
static void within(const char *name, double (*own)(double), kind of, int is_slope, double bound) {
    static const double interval[][2] = {{-1, 1}, {-7, 7}, {-14, -5}, {-100, 20}, {-0.8, -0.7}, {2.9, 3.2}};
    double most = 0.0, worst = 0.0;
    mpfr_t want;
    mpfr_init2(want, PRECISION);
    for (size_t k = 0; k <= COUNT_OF(interval); k++)
        for (uint64_t i = 0; i < SAMPLES; i += thinned(9)) {
            const double u = ulp_random_uniform((ulp_stream){2, k, 0}, i);
            float x = ldexpf((float)(u - 0.5), (int)(i % 180) - 150);
            if (k < COUNT_OF(interval)) x = (float)(interval[k][0] + (interval[k][1] - interval[k][0]) * u);
            const double got = own((double)x);
            wanted(want, of, is_slope, (double)x);
            const double exact = fabs(mpfr_get_d(want, MPFR_RNDN));
            mpfr_sub_d(want, want, got, MPFR_RNDN);
            const double error = fabs(mpfr_get_d(want, MPFR_RNDN)) / (is_slope ? 1.0 : exact);
            if ((is_slope || exact >= 0x1p-126) && !(error <= most)) most = error, worst = (double)x;
        }
    mpfr_clear(want);
    print_message("%s: error 2^%.2f at most, at %g; bound 2^%.2f\n", name, log2(most), worst, log2(bound));
    assert_true(most <= bound);
}

TEST(values) {
    within("gelu", ulp_gelu, GELU, 0, ULP_GELU_BOUND);
    within("gelu_tanh", ulp_gelu_tanh, GELU_TANH, 0, ULP_GELU_TANH_BOUND);
    within("silu", ulp_silu, SILU, 0, ULP_SILU_BOUND);
}

TEST(slopes) {
    within("the slope of gelu", ulp_gelu_slope, GELU, 1, ULP_GELU_SLOPE_BOUND);
    within("the slope of gelu_tanh", ulp_gelu_tanh_slope, GELU_TANH, 1, ULP_GELU_SLOPE_BOUND);
    within("the slope of silu", ulp_silu_slope, SILU, 1, ULP_GELU_SLOPE_BOUND);
}

/* Zeros, infinities, NaN and the largest binary32 numbers: the limits, and the signs of zeros. */
TEST(ends) {
    static double (*const values[])(double) = {ulp_gelu, ulp_gelu_tanh, ulp_silu},
                          (*const slopes[])(double) = {ulp_gelu_slope, ulp_gelu_tanh_slope, ulp_silu_slope};
    for (int k = 0; k < 3; k++) {
        static const double far[] = {INFINITY, 0x1.fffffep127, 2000.0};
        for (int i = 0; i < 3; i++) {
            assert_true(same(values[k](far[i]), far[i]));
            assert_true(same(values[k](-far[i]), -0.0));
            assert_true(slopes[k](far[i]) == 1.0 && slopes[k](-far[i]) == 0.0);
        }
        assert_true(same(values[k](0.0), 0.0) && same(values[k](-0.0), -0.0));
        assert_true(slopes[k](0.0) == 0.5 && slopes[k](-0.0) == 0.5);
        assert_true(isnan(values[k](NAN)) && isnan(slopes[k](NAN)));
    }
}

TESTS(NULL, NULL)
