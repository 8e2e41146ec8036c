/* t_flags.c - the exceptions of operations against MPFR, whose exponents have no ends.
 *
 * MPFR forms each result at the precision of the format, in a direction, and once more with one bit more, which tells a
 * tie. The mode chooses between the two directions. This number has no subnormals and no overflow, so that its size
 * says what underflows and what overflows. A result of 2000 bits tells whether the format's result is exact.
 */
#include <mpfr.h>

#include "formats/flags.h"
#include "support.h"

static mpfr_t left, right, third, result, longer, precise;

static int form(mpfr_t to, ulp_scalar_op of, mpfr_rnd_t rnd) {
    mpfr_set_d(left, of.a, MPFR_RNDN);
    mpfr_set_d(right, of.b, MPFR_RNDN);
    mpfr_set_d(third, of.c, MPFR_RNDN);
    switch (of.op) {
    case ULP_ADD: return mpfr_add(to, left, right, rnd);
    case ULP_SUB: return mpfr_sub(to, left, right, rnd);
    case ULP_MUL: return mpfr_mul(to, left, right, rnd);
    case ULP_DIV: return mpfr_div(to, left, right, rnd);
    case ULP_SQRT: return mpfr_sqrt(to, left, rnd);
    default: return mpfr_fma(to, left, right, third, rnd);
    }
}

/* Whether the result toward zero at p bits has an odd last bit: it needs all p bits. */
static int is_odd(ulp_scalar_op of, int prec) {
    mpfr_set_prec(result, prec);
    mpfr_set_prec(longer, prec - 1);
    form(result, of, MPFR_RNDZ);
    return mpfr_set(longer, result, MPFR_RNDZ) != 0;
}

/* result = the exact result rounded to p bits. */
static void round_without_ends(ulp_scalar_op of, ulp_mode mode, int prec) {
    static const mpfr_rnd_t native[] = {
        [ULP_RNE] = MPFR_RNDN, [ULP_RNA] = MPFR_RNDA, [ULP_RZ] = MPFR_RNDZ,  [ULP_RU] = MPFR_RNDU, [ULP_RD] = MPFR_RNDD,
        [ULP_RO] = MPFR_RNDA,  [ULP_RNU] = MPFR_RNDU, [ULP_RNZ] = MPFR_RNDZ, [ULP_RND] = MPFR_RNDD};
    mpfr_rnd_t rnd = native[mode];
    if (mode == ULP_RO && is_odd(of, prec)) rnd = MPFR_RNDZ;
    mpfr_set_prec(longer, prec + 1);
    const int is_half = form(longer, of, MPFR_RNDZ) == 0; /* a tie, or exact at p bits */
    if (!is_half && (mode == ULP_RNA || mode == ULP_RNU || mode == ULP_RNZ || mode == ULP_RND)) rnd = MPFR_RNDN;
    mpfr_set_prec(result, prec);
    form(result, of, rnd);
}

static unsigned want_of(ulp_scalar_op of, double y, const ulp_format *f, ulp_mode mode) {
    const int n = ulp_op_operands(of.op);
    if (isnan(of.a) || (n > 1 && isnan(of.b)) || (n > 2 && isnan(of.c))) return 0;
    mpfr_clear_flags();
    const int rounded = form(precise, of, MPFR_RNDZ);
    if (mpfr_nan_p(precise)) return ULP_FLAG_INVALID;
    if (mpfr_divby0_p()) return ULP_FLAG_DIVBYZERO;
    if (mpfr_inf_p(precise)) return isinf(y) ? 0u : ULP_FLAG_INVALID;
    if (mpfr_zero_p(precise)) return 0;
    round_without_ends(of, mode, f->prec);
    if (mpfr_cmp_d(result, f->max) > 0 || mpfr_cmp_d(result, f->lowest) < 0)
        return ULP_FLAG_OVERFLOW | ULP_FLAG_INEXACT;
    if (rounded == 0 && mpfr_cmp_d(precise, y) == 0) return 0;
    mpfr_abs(result, result, MPFR_RNDN);
    return ULP_FLAG_INEXACT | (mpfr_cmp_d(result, f->min_normal) < 0 ? ULP_FLAG_UNDERFLOW : 0);
}

static void check(ulp_scalar_op of, const ulp_format *f, ulp_mode mode) {
    char got_text[ULP_FLAGS_TEXT], want_text[ULP_FLAGS_TEXT];
    const ulp_rule rule = {(uint8_t)mode, ULP_OVERFLOW_DEFAULT, 0};
    const double y = ulp_arith(of, f, rule, 0);
    const unsigned got = ulp_flags_of_op(of, y, f, rule, 0), want = want_of(of, y, f, mode);
    if (got == want) return;
    ulp_flags_text(got_text, got);
    ulp_flags_text(want_text, want);
    fail_msg("%s in %s, %s, of %a %a %a: %s, not %s", ulp_op_name(of.op), f->name, ulp_mode_name(mode), of.a, of.b,
             of.c, got_text, want_text);
}

static void check_modes(ulp_scalar_op of, const ulp_format *f) {
    for (int mode = 0; mode < ULP_MODE_COUNT; mode++)
        if (!ulp_mode_is_stochastic((uint32_t)mode)) check(of, f, (ulp_mode)mode);
}

static const char *const formats[] = {"e5m2",     "e4m3",       "e4m3fnuz",   "e3m4",      "e2m1",     "e5m2:sat",
                                      "e4m3:inf", "e4m3:nosub", "e5m2:nosub", "dlfloat16", "binary16", "bfloat16",
                                      "binary32", "binary64",   "e4m3:sym",   "e5m2:zero"};

/* Pairs of codes, spread over all pairs. */
TEST(operations) {
    uint64_t seed = 1;
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        const ulp_format f = named(formats[i]);
        for (size_t k = 0; k < thinned(3000); k++)
            for (int op = 0; op < ULP_OP_COUNT; op++) {
                double v[3];
                for (int j = 0; j < 3; j++) v[j] = ulp_decode(next_random(&seed), &f);
                if (k % 4 == 0) v[1] = ulp_scale(v[0], op == ULP_DIV ? f.emax / 2 : -1); /* near cancellation */
                check_modes((ulp_scalar_op){(ulp_op)op, v[0], v[1], v[2]}, &f);
            }
    }
}

/* Conversions, as products with 1: numbers around each end of the normal numbers, in sixteenths of a last place. */
TEST(ends) {
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        const ulp_format f = named(formats[i]);
        if (f.prec > 40) continue;
        const double ends[] = {f.min_normal, f.min_normal / 2, f.min_positive, f.max, 1.0};
        for (size_t e = 0; e < COUNT_OF(ends); e++)
            for (int k = -40; k <= 40; k++)
                for (int sign = -1; sign <= 1; sign += 2) {
                    const double x = sign * (ends[e] + k * ldexp(ends[e], -f.prec - 4));
                    check_modes((ulp_scalar_op){ULP_MUL, x, 1, 0}, &f);
                }
    }
}

static void says(const char *format, const char *policy_of, double x, const char *want) {
    const ulp_format f = named(format);
    char text[ULP_FLAGS_TEXT];
    ulp_rule rule = {ULP_RNE, 0, 0};
    ulp_overflow policy;
    assert_ok(ulp_overflow_parse(&policy, policy_of));
    rule.overflow = (uint8_t)policy;
    const ulp_exact exact = ulp_exact_of(x);
    const int n = ulp_flags_text(text, ulp_flags_of_rounding(exact, ulp_round_exact(exact, &f, rule, 0), &f, rule, 0));
    assert_int_equal(n, strlen(text));
    if (strcmp(text, want) != 0) fail_msg("%a in %s, %s: %s, not %s", x, format, policy_of, text, want);
}

/* What MPFR does not have: infinities that saturate, fixed point, tapered formats, formats without a zero. */
TEST(others) {
    says("binary16", "default", INFINITY, "-");
    says("binary16", "sat", INFINITY, "invalid");
    says("e4m3", "default", INFINITY, "invalid");
    says("e4m3", "default", NAN, "-");
    says("q8.0", "default", 127.4, "inexact");
    says("q8.0", "default", 0.25, "inexact");
    says("q8.0", "default", 128, "overflow|inexact");
    says("q8.0", "wrap", 128, "overflow|inexact");
    says("q8.0", "wrap", -128, "-");
    says("q8.0", "sym", -128, "overflow|inexact");
    says("q8.0", "zero", -129, "overflow|inexact");
    says("uq8.0", "default", 255, "-");
    says("uq8.0", "default", -1, "overflow|inexact");
    says("uq8.0", "default", -0.25, "inexact");
    says("uq0.8", "default", 1, "overflow|inexact");
    says("posit8", "default", 1e30, "inexact");
    says("posit8", "default", 1e-30, "inexact");
    says("hif8", "default", 1e-30, "underflow|inexact");
    says("hif8", "default", 1e30, "overflow|inexact");
    says("e8m0", "default", 0, "inexact");
    says("e8m0", "default", 1.25, "inexact");
    says("e8m0", "default", 0x1p-128, "underflow|inexact");
}

/* The random word decides whether the result is tiny. */
TEST(stochastic) {
    const ulp_format f = named("binary16");
    const ulp_rule rule = {ULP_SRA, 0, 0};
    const ulp_exact x = ulp_exact_of(0x1p-14 * (1 - 0x1p-12)); /* half of a last place below 2^-14 */
    for (uint32_t word = 0; word < 2; word++) {
        const uint32_t random = word == 0 ? 0x7fffffffu : 0x80000000u;
        const double y = ulp_round_exact(x, &f, rule, 0xffffffffu);
        const unsigned flags = ulp_flags_of_rounding(x, y, &f, rule, random);
        assert_int_equal(flags, ULP_FLAG_INEXACT | (word == 0 ? ULP_FLAG_UNDERFLOW : 0));
    }
}

int main(void) {
    mpfr_inits2(64, left, right, third, result, longer, (mpfr_ptr)0);
    mpfr_init2(precise, 2400);
    const int status = run_listed_tests(NULL, NULL);
    mpfr_clears(left, right, third, result, longer, precise, (mpfr_ptr)0);
    mpfr_free_cache();
    return status;
}
