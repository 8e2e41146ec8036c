/* t_reference.c - the oracle against published values, and against the definition of each mode on all codes.
 *
 * The tests do not call formats/. Published values are in reference_formats.h. */
#include <mpfr.h>

#include "reference_formats.h"

/* Check one rounding of one value to a format of the table. */
static void expect_round(const char *name, int mode, int overflow, double x, double want) {
    const ulp_format *f = named(name);
    ulp_reference *ref = ulp_reference_new(f);
    ulp_rule rule = rule_of(mode, overflow, 0);
    double got = ulp_reference_round(ref, x, 0.0, rule, 0x9e3779b9u);
    ulp_reference_free(ref);
    expect(f, rule, "round", x, 0.0, 0.0, got, want);
}

TEST(table) {
    for (size_t i = 0; i < ROWS; i++) {
        const row *t = &table[i];
        ulp_reference *ref = ulp_reference_new(&t->format);
        ulp_rule none = {0};
        expect(&t->format, none, "max", 0, 0, 0, ulp_reference_max(ref), t->max);
        expect(&t->format, none, "lowest", 0, 0, 0, ulp_reference_lowest(ref), t->lowest);
        expect(&t->format, none, "min normal", 0, 0, 0, ulp_reference_min_normal(ref), t->min_normal);
        expect(&t->format, none, "min positive", 0, 0, 0, ulp_reference_min_positive(ref), t->min_positive);
        expect(&t->format, none, "code of max", 0, 0, 0, ulp_reference_decode(ref, t->max_code), t->max);
        if (t->inf_code != NO_CODE)
            expect(&t->format, none, "code of Inf", 0, 0, 0, ulp_reference_decode(ref, t->inf_code), INFINITY);
        if (t->nan_code != NO_CODE)
            expect(&t->format, none, "code of NaN", 0, 0, 0, ulp_reference_decode(ref, t->nan_code), NAN);
        ulp_reference_free(ref);
    }
    assert_null(ulp_reference_new(NULL));
    ulp_reference_free(NULL);
}

/* No mode changes a value of the format, and magnitude codes have the order of their values. */
TEST(codes) {
    for (size_t i = 0; i < ROWS; i++) {
        const ulp_format *f = &table[i].format;
        if (f->bits > 16) continue;
        ulp_reference *ref = ulp_reference_new(f);
        unsigned finite = 0, nans = 0;
        for (uint64_t code = 0; code < (uint64_t)1 << f->bits; code++) {
            double x = ulp_reference_decode(ref, code);
            finite += isfinite(x) != 0, nans += isnan(x) != 0;
            for (int m = 0; m < ULP_MODE_COUNT; m++)
                for (int o = 0; o < ULP_OVERFLOW_WRAP && isfinite(x); o++) {
                    ulp_rule rule = rule_of(m, o, 0);
                    expect(f, rule, "round", x, 0, 0, ulp_reference_round(ref, x, 0.0, rule, 0xffffffffu), x);
                }
            if (code > 0 && code <= table[i].max_code && (f->has_subnormals || !f->has_zero || f->zero_binade))
                assert_true(x > ulp_reference_decode(ref, code - 1));
        }
        unsigned signs = 1u + f->is_signed;
        unsigned nans_of[] = {[ULP_NAN_NONE] = 0,
                              [ULP_NAN_ALL_ONES] = signs,
                              [ULP_NAN_NEG_ZERO] = 1,
                              [ULP_NAN_IEEE] = signs * ((1u << (f->prec - 1)) - 1)};
        assert_int_equal(nans, nans_of[f->nan_codes]);
        assert_int_equal(finite + nans + (f->has_inf ? signs : 0), 1u << f->bits);
        ulp_reference_free(ref);
    }
}

/* ---- the modes, by their definition on the gap between two neighbours ---- */

/* Whether a value at j/16 of a gap is rounded away from zero; R has 3 random bits. */
static int goes_up(int mode, int odd, int j, int neg, int R) {
    switch ((ulp_mode)mode) {
    case ULP_RNE: return j > 8 || (j == 8 && odd);
    case ULP_RNA: return j >= 8;
    case ULP_RZ: return 0;
    case ULP_RU: return j > 0 && !neg;
    case ULP_RD: return j > 0 && neg;
    case ULP_RO: return j > 0 && !odd;
    case ULP_SRA: return j / 2 + R >= 8;
    case ULP_SRB: return j + 2 * R + 1 >= 16;
    case ULP_SRC: return (j % 4 == 3 ? (j + 1) / 2 : j / 2) + R >= 8; /* j/2 rounded to nearest even */
    case ULP_RNU: return j > 8 || (j == 8 && !neg);
    case ULP_RNZ: return j > 8;
    case ULP_RND: return j > 8 || (j == 8 && neg);
    case ULP_MODE_COUNT: break;
    }
    fail_msg("no mode %d", mode);
    return 0;
}

/* The result for a magnitude above max, by IEEE 754-2019, 7.4, and by the overflow policies. */
static double beyond(const row *t, int mode, int policy, int neg) {
    double end = neg ? t->lowest : t->max;
    int inward = mode == ULP_RZ || mode == ULP_RO || (neg && mode == ULP_RU) || (!neg && mode == ULP_RD);
    if (policy == ULP_OVERFLOW_DEFAULT) policy = t->format.overflow;
    if (policy == ULP_OVERFLOW_NAN) return NAN;
    if (policy == ULP_OVERFLOW_SAT || inward) return end;
    if (t->inf_code != NO_CODE) return neg ? -INFINITY : INFINITY;
    return t->nan_code != NO_CODE ? NAN : end;
}

static void check_point(const row *t, ulp_reference *ref, double x, double want, ulp_rule rule, uint32_t R) {
    uint32_t word = R << 29 | 0x155u; /* the bits below R do not matter */
    if (want == 0 && !t->format.has_neg_zero) want = 0.0;
    if (want > t->max || want < t->lowest) want = beyond(t, rule.mode, rule.overflow, want < 0);
    expect(&t->format, rule, "round", x, R, 0, ulp_reference_round(ref, x, 0.0, rule, word), want);
    if (x != 0 && x / 2 + x / 2 == x) /* the halves do not underflow */
        expect(&t->format, rule, "pair", x, R, 0, ulp_reference_round(ref, 1.5 * x, -0.5 * x, rule, word), want);
}

/* Check every sixteenth of a gap in every mode, under the overflow policies 0 .. last_policy. */
static void check_gap(const row *t, ulp_reference *ref, double lower, double upper, int odd, int last_policy) {
    for (int neg = 0; neg <= t->format.is_signed; neg++)
        for (int mode = 0; mode < ULP_MODE_COUNT; mode++)
            for (int j = 0; j < 16; j++)
                for (int R = 0; R < (ulp_mode_is_stochastic((uint32_t)mode) ? 8 : 1); R++)
                    for (int policy = 0; policy <= last_policy; policy++) {
                        double x = lower + (upper - lower) * j / 16,
                               want = goes_up(mode, odd, j, neg, R) ? upper : lower;
                        check_point(t, ref, neg ? -x : x, neg ? -want : want, rule_of(mode, policy, 3), (uint32_t)R);
                    }
}

/* All gaps of small formats, with the gap above max; of dlfloat16 the gaps of the lowest codes and of the last. */
TEST(gaps) {
    unsigned formats = 0;
    for (size_t i = 0; i < ROWS; i++) {
        const row *t = &table[i];
        const ulp_format *f = &t->format;
        if (f->bits > 8 && !f->zero_binade) continue;
        ulp_reference *ref = ulp_reference_new(f);
        uint64_t code = 0,
                 step = f->has_subnormals || f->prec == 1 || f->zero_binade ? 1 : (uint64_t)1 << (f->prec - 1);
        double lower = ulp_reference_decode(ref, 0);
        while (code != t->max_code) {
            double upper = ulp_reference_decode(ref, code + step);
            assert_true(lower < upper);
            check_gap(t, ref, lower, upper, code & 1, 0);
            lower = upper, code += step, step = 1;
            if (code == 600) code = t->max_code, lower = t->max;
        }
        int exponent;
        frexp(t->max, &exponent);
        double ulp = f->is_fixed ? t->min_positive : fmax(t->min_positive, ldexp(1, exponent - f->prec));
        check_gap(t, ref, t->max, t->max + ulp, code & 1, ULP_OVERFLOW_NAN);
        ulp_reference_free(ref);
        formats++;
    }
    assert_true(formats >= 18);
}

/* ---- facts ---- */

TEST(facts) {
    expect_round("e4m3", ULP_RNE, ULP_OVERFLOW_INF, 464, 448);
    expect_round("e4m3", ULP_RNE, ULP_OVERFLOW_INF, nextafter(464, 500), NAN);
    expect_round("e4m3", ULP_RNE, ULP_OVERFLOW_DEFAULT, 1e30, 448);
    expect_round("e4m3", ULP_RNA, ULP_OVERFLOW_INF, -464, NAN);
    expect_round("e5m2", ULP_RNE, ULP_OVERFLOW_INF, 61440, INFINITY);
    expect_round("e5m2", ULP_RNE, ULP_OVERFLOW_INF, nextafter(61440, 0), 57344);
    expect_round("e5m2", ULP_RNE, ULP_OVERFLOW_SAT, INFINITY, 57344);
    expect_round("binary16", ULP_RNE, ULP_OVERFLOW_DEFAULT, -65520, -INFINITY);
    expect_round("binary16", ULP_RNE, ULP_OVERFLOW_DEFAULT, nextafter(65520, 0), 65504);
    expect_round("binary16", ULP_RU, ULP_OVERFLOW_DEFAULT, 65505, INFINITY);
    expect_round("binary16", ULP_RU, ULP_OVERFLOW_DEFAULT, -65535, -65504);
    expect_round("binary16", ULP_RD, ULP_OVERFLOW_DEFAULT, 1e300, 65504);
    expect_round("binary16", ULP_RO, ULP_OVERFLOW_DEFAULT, -1e300, -65504);
    expect_round("binary16", ULP_RZ, ULP_OVERFLOW_DEFAULT, INFINITY, INFINITY);
    expect_round("binary16", ULP_RNE, ULP_OVERFLOW_NAN, -INFINITY, NAN);
    expect_round("e4m3fnuz", ULP_RNE, ULP_OVERFLOW_INF, 248, NAN);
    expect_round("e4m3fnuz", ULP_RNE, ULP_OVERFLOW_INF, nextafter(248, 0), 240);
    expect_round("e4m3fnuz", ULP_RZ, ULP_OVERFLOW_INF, 1e9, 240);
    expect_round("e4m3fnuz", ULP_RZ, ULP_OVERFLOW_INF, INFINITY, NAN);
    expect_round("e2m1", ULP_RNE, ULP_OVERFLOW_INF, -INFINITY, -6);
    expect_round("e2m1", ULP_RNE, ULP_OVERFLOW_INF, NAN, NAN);
    expect_round("e2m1", ULP_RNE, ULP_OVERFLOW_SAT, 5, 4);
    expect_round("e2m1", ULP_RNE, ULP_OVERFLOW_WRAP, 5, NAN);
    expect_round("q8.8", ULP_RNE, ULP_OVERFLOW_INF, -1e300, -128);
    expect_round("q8.8", ULP_RNE, ULP_OVERFLOW_SAT, NAN, NAN);
    expect_round("binary64", ULP_RNE, ULP_OVERFLOW_SAT, NAN, NAN);
    expect_round("binary64", ULP_MODE_COUNT, 0, 1.0, NAN);
}

TEST(zeros) {
    expect_round("binary16", ULP_RU, 0, -0x1p-30, -0.0);
    expect_round("binary16", ULP_RD, 0, -0x1p-1074, -0x1p-24);
    expect_round("binary16", ULP_RNE, 0, -0x1p-25, -0.0);
    expect_round("binary16", ULP_RNE, 0, -0.0, -0.0);
    expect_round("e4m3fnuz", ULP_RNE, 0, -0.0, 0.0);
    expect_round("e4m3fnuz", ULP_RZ, 0, -0x1p-20, 0.0);
    expect_round("int8", ULP_RNE, 0, -0.5, 0.0);
    expect_round("binary8p3ue", ULP_RZ, 0, -0x1p-34, 0.0);
    const ulp_format *f = named("binary16");
    ulp_reference *ref = ulp_reference_new(f);
    for (int m = 0; m < ULP_MODE_COUNT; m++) {
        ulp_rule rule = rule_of(m, 0, 0);
        double cancel = m == ULP_RD ? -0.0 : 0.0;
        expect(f, rule, "round", 1, -1, 0, ulp_reference_round(ref, 1, -1, rule, 0), cancel);
        expect(f, rule, "add", 1, -1, 0, ulp_reference_arith(ref, (ulp_scalar_op){ULP_ADD, 1, -1, 0}, rule, 0), cancel);
        expect(f, rule, "sub", 0, 0, 0, ulp_reference_arith(ref, (ulp_scalar_op){ULP_SUB, 0.0, 0.0, 0}, rule, 0),
               cancel);
        expect(f, rule, "fma", 2, 3, -6, ulp_reference_arith(ref, (ulp_scalar_op){ULP_FUSED, 2, 3, -6}, rule, 0),
               cancel);
        expect(f, rule, "fma", -0.0, 3, -0.0,
               ulp_reference_arith(ref, (ulp_scalar_op){ULP_FUSED, -0.0, 3, -0.0}, rule, 0), -0.0);
        expect(f, rule, "mul", -0.0, 3, 0, ulp_reference_arith(ref, (ulp_scalar_op){ULP_MUL, -0.0, 3, 0}, rule, 0),
               -0.0);
        expect(f, rule, "sqrt", -0.0, 0, 0, ulp_reference_arith(ref, (ulp_scalar_op){ULP_SQRT, -0.0, 0, 0}, rule, 0),
               -0.0);
        expect(f, rule, "div", -1, 0, 0, ulp_reference_arith(ref, (ulp_scalar_op){ULP_DIV, -1, 0.0, 0}, rule, 0),
               -INFINITY);
        expect(f, rule, "round", -0.0, 0, 0, ulp_reference_round(ref, -0.0, 0.0, rule, 0), -0.0);
        expect(f, rule, "round", INFINITY, -INFINITY, 0, ulp_reference_round(ref, INFINITY, -INFINITY, rule, 0), NAN);
    }
    ulp_reference_free(ref);
}

/* Formats without sign, without zero, with a gap at 0, with one bit of precision, and with wrap-around. */
TEST(odd_ones) {
    for (int m = 0; m < ULP_MODE_COUNT; m++) {
        expect_round("binary8p3uf", m, ULP_OVERFLOW_SAT, -5, 0.0);
        expect_round("binary8p3uf", m, ULP_OVERFLOW_INF, -5, NAN);
        expect_round("binary8p3ue", m, ULP_OVERFLOW_NAN, -INFINITY, NAN);
        expect_round("binary8p3ue", m, ULP_OVERFLOW_INF, -INFINITY, NAN);
        expect_round("binary8p3ue", m, ULP_OVERFLOW_SAT, -INFINITY, 0.0);
        expect_round("e8m0", m, ULP_OVERFLOW_SAT, -3, 0x1p-127);
        expect_round("e8m0", m, ULP_OVERFLOW_INF, -3, NAN);
        expect_round("e8m0", m, ULP_OVERFLOW_INF, 0.0, 0x1p-127);
        expect_round("e8m0", m, ULP_OVERFLOW_INF, 0x1.8p-129, 0x1p-127);
    }
    expect_round("e8m0", ULP_RNE, 0, 1.5, 2); /* codes 127 and 128 */
    expect_round("e8m0", ULP_RNE, 0, 3, 2);   /* codes 128 and 129 */
    expect_round("e8m0", ULP_RO, 0, 3, 4);
    expect_round("e8m0", ULP_RO, 0, 1.5, 1);
    expect_round("e8m0", ULP_RNE, ULP_OVERFLOW_INF, 1.5 * 0x1p127, 0x1p127);
    expect_round("binary8p1se", ULP_RNE, 0, -0x1.8p-63, -0x1p-62); /* codes 1 and 2 */
    expect_round("dlfloat16", ULP_RNE, 0, 513 * 0x1p-41, 0.0);
    expect_round("dlfloat16", ULP_RNA, 0, 513 * 0x1p-41, 513 * 0x1p-40);
    expect_round("dlfloat16", ULP_RNE, 0, -513 * 0x1.0000000000001p-41, -513 * 0x1p-40);
    expect_round("dlfloat16", ULP_RZ, 0, -0x1p-31, -0.0);
    expect_round("dlfloat16", ULP_RU, 0, 0x1p-1074, 513 * 0x1p-40);
    expect_round("int8", ULP_RNE, ULP_OVERFLOW_WRAP, 128, -128);
    expect_round("int8", ULP_RNE, ULP_OVERFLOW_WRAP, -129.5, 126);
    expect_round("int8", ULP_RZ, ULP_OVERFLOW_WRAP, 0x1.0000001p36, 0.0);
    expect_round("int8", ULP_RZ, ULP_OVERFLOW_WRAP, 0x1.000000004p36, 4);
    expect_round("int8", ULP_RNE, ULP_OVERFLOW_WRAP, INFINITY, 127);
    expect_round("q4.2", ULP_RD, ULP_OVERFLOW_WRAP, -8.1, 7.75);
    expect_round("q1.0", ULP_RO, ULP_OVERFLOW_NAN, -1.25, -1); /* ro: -1 is an odd multiple of the quantum */
    expect_round("q1.0", ULP_RNE, ULP_OVERFLOW_NAN, -1.5, NAN);
    const ulp_format *f = named("int8");
    ulp_reference *ref = ulp_reference_new(f);
    ulp_rule rule = rule_of(ULP_RZ, ULP_OVERFLOW_WRAP, 0);
    expect(f, rule, "round", 0x1p300, 100, 0, ulp_reference_round(ref, 0x1p300, 100.5, rule, 0), 100);
    /* 2^300 / 3 = ...010101.01 */
    expect(f, rule, "div", 0x1p300, 3, 0, ulp_reference_arith(ref, (ulp_scalar_op){ULP_DIV, 0x1p300, 3, 0}, rule, 0),
           0x55);
    ulp_reference_free(ref);
}

/* ---- stochastic: exact thresholds ---- */

static void expect_threshold(ulp_reference *ref, int mode, int op, double a, double b, uint32_t first_up, double down,
                             double up) {
    const ulp_format *f = named("binary64");
    ulp_rule rule = rule_of(mode, 0, 32);
    expect(f, rule, "down", a, b, mode,
           ulp_reference_arith(ref, (ulp_scalar_op){(ulp_op)op, a, b, 0}, rule, first_up - 1), down);
    expect(f, rule, "up", a, b, mode, ulp_reference_arith(ref, (ulp_scalar_op){(ulp_op)op, a, b, 0}, rule, first_up),
           up);
}

TEST(stochastic) {
    ulp_reference *ref = ulp_reference_new(named("binary64"));
    double third = 0x1.5555555555555p-2, above = nextafter(third, 1), one = nextafter(1, 2);
    /* 2^54 / 3 has the fraction 1/3: floor(2^32 / 3) = 1431655765, floor(2^33 / 3) = 2863311530 */
    for (int m = ULP_SRA; m <= ULP_SRC; m++) expect_threshold(ref, m, ULP_DIV, 1, 3, 2863311531u, third, above);
    /* nu 2^32 = 2.5 in three cases, and slightly more in the last case. src rounds 2.5 to 2 and the larger number to 3;
     * srb uses one bit more */
    expect_threshold(ref, ULP_SRA, ULP_ADD, 1, 5 * 0x1p-85, 0u - 2, 1, one);
    expect_threshold(ref, ULP_SRB, ULP_ADD, 1, 5 * 0x1p-85, 0u - 3, 1, one);
    expect_threshold(ref, ULP_SRC, ULP_ADD, 1, 5 * 0x1p-85, 0u - 2, 1, one);
    expect_threshold(ref, ULP_SRC, ULP_ADD, 1, 0x1.4000000000001p-83, 0u - 3, 1, one);
    /* nu 2^32 = 36445990.5 + 2^-54: src rounds up because of the remainder 2^-54, and not to the even number */
    expect_threshold(ref, ULP_SRC, ULP_DIV, 0x1.c2f0fe6e7223p+51, 0x1.859cd7ed4d57bp+52, 0u - 36445991u,
                     0x1.284bfc30e4ce7p-1, 0x1.284bfc30e4ce8p-1);
    ulp_reference_free(ref);
    /* counts over all words: in a normal and a subnormal gap, and in the gap of dlfloat16 at 0 */
    const char *names[] = {"e4m3", "e4m3", "dlfloat16"};
    double x[] = {1.0625 * 17 / 16, 0x1.3p-9, 100 * 0x1p-40}, lower[] = {1.125, 0x1p-9, 0};
    double nu[] = {(1.0625 * 17 / 16 - 1.125) * 8, 0.1875, 100.0 / 513};
    for (int i = 0; i < 3; i++)
        for (int m = ULP_SRA; m <= ULP_SRC; m++)
            for (int r = 1; r <= 8; r++) {
                ulp_reference *small = ulp_reference_new(named(names[i]));
                double scale = ldexp(nu[i], r), count = 0;
                for (uint32_t R = 0; R < 1u << r; R++)
                    count += ulp_reference_round(small, x[i], 0.0, rule_of(m, 0, r), R << (32 - r)) > lower[i];
                double want = m == ULP_SRA   ? floor(scale)
                              : m == ULP_SRB ? floor((floor(2 * scale) + 1) / 2)
                                             : nearbyint(scale);
                expect(named(names[i]), rule_of(m, 0, r), "count", x[i], 0, 0, count, want);
                ulp_reference_free(small);
            }
}

int main(void) {
    int failed = run_listed_tests(NULL, NULL);
    mpfr_free_cache();
    return failed;
}
