/* t_elementary.c - the project's exp, log, tanh, sigmoid, cos and normal variates against MPFR and fixed bits. */
#include <math.h>

#include "test.h"
#include <mpfr.h>

#include "kernels/functions/lanes.h"
#include "sim/normal.h"

enum { SAMPLES = 40000, PRECISION = 120 };

typedef int (*mpfr_function)(mpfr_t, const mpfr_t, mpfr_rnd_t);

/* |got - f(x)| in units in the last place of f(x). */
static double error_of(double got, double x, mpfr_function f) {
    mpfr_t want, difference;
    mpfr_inits2(PRECISION, want, difference, (mpfr_ptr)NULL);
    mpfr_set_d(want, x, MPFR_RNDN);
    f(want, want, MPFR_RNDN);
    mpfr_sub_d(difference, want, got, MPFR_RNDN);
    int e = mpfr_zero_p(want) ? -1021 : (int)mpfr_get_exp(want);
    double ulps = fabs(ldexp(mpfr_get_d(difference, MPFR_RNDN), 53 - e));
    mpfr_clears(want, difference, (mpfr_ptr)NULL);
    return ulps;
}

/* Check the largest error at seeded points in the intervals [low, high] and at their ends. */
static void within(const char *name, double (*own)(double), mpfr_function f, const double (*interval)[2], size_t n,
                   double bound) {
    double most = 0.0;
    for (size_t k = 0; k < n; k++) {
        ulp_stream stream = {1, k, 0};
        for (uint64_t i = 0; i < SAMPLES; i++) {
            double u = ulp_random_uniform(stream, 2 * i) + ulp_random_uniform(stream, 2 * i + 1) * 0x1p-32;
            double x = i == 0   ? interval[k][0]
                       : i == 1 ? interval[k][1]
                                : interval[k][0] + (interval[k][1] - interval[k][0]) * u;
            double error = error_of(own(x), x, f);
            if (error > most) most = error;
        }
    }
    print_message("%s: %.3f ulp at most, bound %.2f\n", name, most, bound);
    assert_true(most <= bound);
}

TEST(exp) {
    static const double at[][2] = {{-708, 709.7}, {-2, 2}, {-0.4, 0.4}, {-1e-8, 1e-8}, {-40, 0}};
    within("exp", ulp_exp, mpfr_exp, at, COUNT_OF(at), ULP_EXP_BOUND);
    assert_true(ulp_exp(0.0) == 1.0);
    assert_true(ulp_exp(-0.0) == 1.0);
    assert_true(ulp_exp(-746.0) == 0.0 && ulp_exp(-INFINITY) == 0.0);
    assert_true(ulp_exp(710.0) == INFINITY && ulp_exp(INFINITY) == INFINITY);
    assert_true(isnan(ulp_exp(NAN)));
}

TEST(exp_subnormal) {
    double most = 0.0;
    for (int i = 0; i < 3000; i++) {
        double x = -708.4 - 36.7 * i / 3000.0, want = exp(x); /* libm is within 1 subnormal spacing here */
        double error = fabs(ulp_exp(x) - want) * 0x1p1000 * 0x1p74;
        if (want < 0x1p-1022 && error > most) most = error;
    }
    assert_true(most <= 2.0);
}

TEST(log) {
    static const double at[][2] = {{1e-300, 1e300}, {0.5, 2}, {0.99, 1.01}, {0.70, 0.7072}, {1e-10, 1}, {1, 100}};
    within("log", ulp_log, mpfr_log, at, COUNT_OF(at), ULP_LOG_BOUND);
    for (int e = -1074; e <= 1023; e++)
        assert_true(error_of(ulp_log(ldexp(1.0, e)), ldexp(1.0, e), mpfr_log) <= ULP_LOG_BOUND);
    assert_true(ulp_log(1.0) == 0.0);
    assert_true(ulp_log(0.0) == -INFINITY && ulp_log(-0.0) == -INFINITY);
    assert_true(ulp_log(INFINITY) == INFINITY);
    assert_true(isnan(ulp_log(-1.0)) && isnan(ulp_log(NAN)));
}

TEST(tanh) {
    static const double at[][2] = {{-23, 23}, {-1, 1}, {0.16, 0.18}, {-1e-7, 1e-7}, {-0.3, 0.3}};
    within("tanh", ulp_tanh, mpfr_tanh, at, COUNT_OF(at), ULP_TANH_BOUND);
    assert_true(ulp_tanh(INFINITY) == 1.0 && ulp_tanh(-INFINITY) == -1.0);
    assert_true(ulp_tanh(0.0) == 0.0 && signbit(ulp_tanh(-0.0)));
    assert_true(ulp_tanh(-0.7) == -ulp_tanh(0.7));
    assert_true(isnan(ulp_tanh(NAN)));
}

static int mpfr_sigmoid(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding) {
    mpfr_neg(y, x, rounding);
    mpfr_exp(y, y, rounding);
    mpfr_add_ui(y, y, 1, rounding);
    return mpfr_ui_div(y, 1, y, rounding);
}

TEST(sigmoid) {
    static const double at[][2] = {{-708, 40}, {-40, 40}, {-2, 2}, {-1e-7, 1e-7}, {-1, 0}, {0, 3}, {30, 40}};
    within("sigmoid", ulp_sigmoid, mpfr_sigmoid, at, COUNT_OF(at), ULP_SIGMOID_BOUND);
    assert_true(ulp_sigmoid(INFINITY) == 1.0 && ulp_sigmoid(-INFINITY) == 0.0 && ulp_sigmoid(800.0) == 1.0);
    assert_true(ulp_sigmoid(0.0) == 0.5 && ulp_sigmoid(-0.0) == 0.5);
    assert_true(isnan(ulp_sigmoid(NAN)));
}

TEST(cos) {
    mpfr_t x, turn;
    double most = 0.0;
    mpfr_inits2(PRECISION, x, turn, (mpfr_ptr)NULL);
    mpfr_const_pi(turn, MPFR_RNDN);
    mpfr_mul_ui(turn, turn, 2, MPFR_RNDN);
    for (uint64_t i = 0; i < SAMPLES; i++) {
        double u = i < 64 ? (double)i / 64.0 : ulp_random_uniform((ulp_stream){1, 9, 0}, i);
        mpfr_mul_d(x, turn, u, MPFR_RNDN);
        mpfr_cos(x, x, MPFR_RNDN);
        mpfr_sub_d(x, x, ulp_cos_turn(u), MPFR_RNDN);
        most = fmax(most, fabs(mpfr_get_d(x, MPFR_RNDN)));
    }
    mpfr_clears(x, turn, (mpfr_ptr)NULL);
    print_message("cos: 2^%.2f at most, bound 2^-50\n", log2(most));
    assert_true(most <= 0x1p-50);
    assert_true(ulp_cos_turn(0.0) == 1.0 && ulp_cos_turn(0.25) == 0.0 && ulp_cos_turn(0.5) == -1.0 &&
                ulp_cos_turn(0.75) == 0.0);
}

/* Mean, variance and the share of |z| > 2 of N variates are within five standard errors. */
TEST(normal) {
    enum { N = 200000 };
    double sum = 0.0, squares = 0.0, beyond = 0.0;
    for (uint64_t i = 0; i < N; i++) {
        double z = ulp_random_normal((ulp_stream){1, 3, 0}, i);
        sum += z;
        squares += z * z;
        beyond += fabs(z) > 2.0;
    }
    const double n = N;
    assert_true(fabs(sum / n) < 5.0 / sqrt(n));
    assert_true(fabs(squares / n - 1.0) < 5.0 * sqrt(2.0 / n));
    assert_true(fabs(beyond / n - 0.0455003) < 5.0 * sqrt(0.0455 * 0.9545 / n));
}

/* The bits are the same for every machine, compiler and flag: a hash of many results has a fixed value. */
TEST(bits) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint64_t i = 0; i < 20000; i++) {
        double u = ulp_random_uniform((ulp_stream){7, 7, 0}, i);
        double y[5] = {ulp_exp(100.0 * (u - 0.5)), ulp_log(u + 1e-9), ulp_tanh(8.0 * (u - 0.5)), ulp_cos_turn(u),
                       ulp_random_normal((ulp_stream){7, 8, 0}, i)};
        for (int k = 0; k < 5; k++) hash = (hash ^ ulp_bits64(y[k])) * 0x100000001b3u;
    }
    if (hash != 0x3d8cdabf6d4f0267u) print_message("hash of the bits: 0x%016llx\n", (unsigned long long)hash);
    assert_true(hash == 0x3d8cdabf6d4f0267u);
}

/* The functions without branches have the bits of the others; the sign of a NaN is that of the processor's operations,
 * in an order that compilers choose. */
static void same_bits(double got, double want, double x, const char *what) {
    uint64_t g, w;
    memcpy(&g, &got, sizeof g);
    memcpy(&w, &want, sizeof w);
    if (g != w && !(isnan(got) && isnan(want))) fail_msg("%s(%a) = %a, want %a", what, x, got, want);
}

TEST(lanes) {
    static const double special[] = {0.0,    -0.0,       INFINITY, -INFINITY,   NAN,    0x1p-1074, 709.782712893384,
                                     709.79, -745.13,    -745.14,  720.0,       -750.0, 1e300,     -1e300,
                                     22.0,   22.0000001, 0.17,     0.169999999, -0.17,  1.0};
    static const double width[] = {1e-9, 0.2, 3.0, 50.0, 800.0};
    enum { PER = 20000, ALL = 5 * PER };
    static double x[ALL];
    for (size_t i = 0; i < ALL; i++) {
        const ulp_stream stream = {3, i / PER, 0};
        x[i] = (2.0 * ulp_random_uniform(stream, i) - 1.0) * width[i / PER];
        if (i < COUNT_OF(special)) x[i] = special[i];
    }
    for (size_t i = 0; i < ALL; i++) {
        same_bits(ulp_exp_lane(x[i]), ulp_exp(x[i]), x[i], "exp");
        same_bits(ulp_tanh_lane(x[i]), ulp_tanh(x[i]), x[i], "tanh");
        same_bits(ulp_sigmoid_lane(x[i]), ulp_sigmoid(x[i]), x[i], "sigmoid");
    }
}

TESTS(NULL, NULL)
