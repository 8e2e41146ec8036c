/* t_ball.c - numbers with a bound on their error: balls of few limbs and of many hold the values that MPFR computes. */
#include "function_oracle.h"

#include "formats/ball.h"

enum { WIDE = 2200 };

/* Whether the number lies in the ball, of which a bound is known. */
static int holds(const ulp_ball *b, mpfr_srcptr number) {
    mpfr_t middle, limb;
    mpfr_inits2(WIDE, middle, limb, (mpfr_ptr)NULL);
    mpfr_set_ui(middle, 0, MPFR_RNDN);
    for (uint32_t i = 0; i < b->n; i++) {
        mpfr_set_ui_2exp(limb, b->limb[i], b->exp + 32 * (mpfr_exp_t)i, MPFR_RNDN);
        mpfr_add(middle, middle, limb, MPFR_RNDN);
    }
    if (b->neg) mpfr_neg(middle, middle, MPFR_RNDN);
    mpfr_sub(middle, middle, number, MPFR_RNDA);
    mpfr_set_ui_2exp(limb, b->radius, b->exp, MPFR_RNDN);
    const int is_within = mpfr_cmpabs(middle, limb) <= 0 && b->limb[b->n - 1] >> 31 == 1;
    mpfr_clears(middle, limb, (mpfr_ptr)NULL);
    return is_within;
}

/* Balls of few limbs and of many hold the value; most of them say something. */
TEST(balls_hold_values) {
    oracle o;
    uint64_t seed = 3, known = 0, all = 0;
    begin(&o);
    mpfr_set_prec(o.value, WIDE);
    for (int f = 0; f < ULP_FUNCTION_RECIPROCAL; f++)
        for (uint32_t i = 0; i < 60 / thinned(5); i++) {
            const uint64_t bits = next_random(&seed);
            const int is_positive = f == ULP_FUNCTION_LOG || f == ULP_FUNCTION_LOG2 || f == ULP_FUNCTION_RSQRT;
            const double size =
                ldexp((double)(bits >> (i % 3 ? 11 : 53) | 1), (int)(bits % 40) - 90 + (i % 3 ? 0 : 42));
            const double x = !is_positive && bits >> 9 & 1 ? -size : size;
            ulp_ball b;
            if (size > 16 || size == 1) continue;
            ulp_ball_function(&b, (ulp_function)f, x, (uint32_t[]){4, 6, 9, 20, ULP_BALL_MOST}[i % 5]);
            all++;
            if (b.radius >= ULP_BALL_LOST) continue;
            known++;
            compute(&o, (ulp_function)f, x);
            if (!holds(&b, o.value))
                fail_msg("%s %a: the ball of %u limbs does not hold it", ulp_function_name((ulp_function)f), x, b.n);
        }
    assert_true(known > all / 2);
    end(&o);
}

TEST(constants) {
    ulp_ball b;
    mpfr_t pi, x;
    mpfr_inits2(WIDE + 1024, pi, x, (mpfr_ptr)NULL);
    mpfr_const_log2(x, MPFR_RNDN);
    ulp_ball_of_constant(&b, ULP_LN_2, ULP_BALL_MOST);
    assert_true(holds(&b, x));
    mpfr_const_pi(pi, MPFR_RNDN);
    mpfr_mul_2ui(x, pi, 1, MPFR_RNDN);
    mpfr_rec_sqrt(x, x, MPFR_RNDN);
    ulp_ball_of_constant(&b, ULP_DENSITY_AT_0, ULP_BALL_MOST);
    assert_true(holds(&b, x));
    mpfr_div_2ui(pi, pi, 1, MPFR_RNDN);
    ulp_ball_of_constant(&b, ULP_HALF_PI, ULP_BALL_MOST);
    assert_true(holds(&b, pi));
    for (int e = 0; e < 1024; e++)
        for (uint32_t n = 6; n <= ULP_BALL_MOST; n += 21) { /* x = q pi/2 + r with a q of up to 1024 bits */
            mpfr_t q;
            const double of = ldexp(e % 2 ? -1.9 : 1.3, e);
            const uint32_t quadrant = ulp_ball_quadrant(&b, ulp_exact_of(of), n);
            mpfr_init2(q, 1100);
            mpfr_set_d(x, of, MPFR_RNDN);
            mpfr_div(x, x, pi, MPFR_RNDN);
            mpfr_rint(q, x, MPFR_RNDN);
            mpfr_sub(x, x, q, MPFR_RNDN);
            mpfr_mul(x, x, pi, MPFR_RNDN);
            mpfr_set_ui(pi, 4, MPFR_RNDN);
            mpfr_fmod(q, q, pi, MPFR_RNDN);
            mpfr_const_pi(pi, MPFR_RNDN);
            mpfr_div_2ui(pi, pi, 1, MPFR_RNDN);
            if (!holds(&b, x) || ((mpfr_get_si(q, MPFR_RNDN) - (long)quadrant) & 3) != 0)
                fail_msg("the quadrant of %a, %u limbs", of, n);
            mpfr_clear(q);
        }
    mpfr_clears(pi, x, (mpfr_ptr)NULL);
}

/* Whether 128 bits are decided where the limbs below hold `low`. */
static int decides(uint32_t n, uint64_t low, uint32_t middle, uint64_t radius) {
    ulp_ball b = {.radius = radius, .n = n};
    ulp_exact y;
    b.limb[0] = (uint32_t)low;
    if (n > 5) b.limb[1] = (uint32_t)(low >> 32);
    if (n > 6) b.limb[2] = middle;
    b.limb[n - 4] = 7;
    b.limb[n - 1] = 0x80000000u;
    const int decided = ulp_ball_exact(&y, &b);
    assert_true(y.hi == 1ull << 63 && y.lo == 7 && y.sticky == decided);
    return decided;
}

TEST(decisions) {
    assert_true(decides(6, 6, 0, 5) && !decides(6, 5, 0, 5) && !decides(6, 0, 0, 0));
    assert_true(decides(6, UINT64_MAX - 5, 0, 5) && !decides(6, UINT64_MAX - 5, 0, 6));
    assert_true(decides(5, 6, 0, 5) && !decides(5, 5, 0, 5) && !decides(5, UINT32_MAX - 5, 0, 6));
    assert_true(!decides(5, UINT32_MAX / 2, 0, 1ull << 32) && !decides(4, 7, 0, 0));
    assert_true(decides(7, 0, 1, 99) && !decides(7, 9, 0, 9) && decides(7, 10, 0, 9));
    assert_true(decides(7, UINT64_MAX, 1, 9) && !decides(7, UINT64_MAX, UINT32_MAX, 1));
    assert_true(!decides(7, 0, 1, ULP_BALL_LOST));
}

TESTS(NULL, NULL)
