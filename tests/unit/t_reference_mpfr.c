/* t_reference_mpfr.c - operations of the oracle against mpfr_subnormalize() and the arithmetic of the hardware.
 *
 * The tests do not call formats/. MPFR rounds a result to the precision of a format. Then mpfr_subnormalize() rounds a
 * subnormal result again; the sign of the first error prevents a double rounding. */
#include <mpfr.h>

#include "reference_formats.h"

static mpfr_t left, right, third_operand, result;

/* The result of an operation in prec bits, in the exponent range of the format, after mpfr_subnormalize(). */
static double mpfr_says(const row *t, ulp_op op, double a, double b, double c, mpfr_rnd_t rnd) {
    int least, most, inexact;
    frexp(t->min_positive, &least);
    frexp(t->max, &most);
    mpfr_set_prec(result, t->format.prec);
    mpfr_set_d(left, a, MPFR_RNDN);
    mpfr_set_d(right, b, MPFR_RNDN);
    mpfr_set_d(third_operand, c, MPFR_RNDN);
    switch (op) {
    case ULP_ADD: inexact = mpfr_add(result, left, right, rnd); break;
    case ULP_SUB: inexact = mpfr_sub(result, left, right, rnd); break;
    case ULP_MUL: inexact = mpfr_mul(result, left, right, rnd); break;
    case ULP_DIV: inexact = mpfr_div(result, left, right, rnd); break;
    case ULP_SQRT: inexact = mpfr_sqrt(result, left, rnd); break;
    default: inexact = mpfr_fma(result, left, right, third_operand, rnd);
    }
    mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_set_emin(least);
    mpfr_set_emax(most);
    inexact = mpfr_check_range(result, inexact, rnd);
    mpfr_subnormalize(result, inexact, rnd);
    double value = mpfr_get_d(result, MPFR_RNDN);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    return value;
}

static double hardware_says(ulp_op op, double a, double b, double c) {
    switch (op) {
    case ULP_ADD: return a + b;
    case ULP_SUB: return a - b;
    case ULP_MUL: return a * b;
    case ULP_DIV: return a / b;
    case ULP_SQRT: return sqrt(a);
    default: return fma(a, b, c);
    }
}

static void compare(const row *t, ulp_reference *ref, double a, double b, double c) {
    static const int modes[] = {ULP_RNE, ULP_RZ, ULP_RU, ULP_RD};
    static const mpfr_rnd_t rnd[] = {MPFR_RNDN, MPFR_RNDZ, MPFR_RNDU, MPFR_RNDD};
    static const char *const names[] = {"add", "sub", "mul", "div", "sqrt", "fma"};
    const ulp_format *f = &t->format;
    for (int i = 0; i < 4 * ULP_OP_COUNT; i++) {
        ulp_op op = (ulp_op)(i / 4);
        ulp_rule rule = rule_of(modes[i % 4], ULP_OVERFLOW_INF, 0);
        double got = ulp_reference_arith(ref, (ulp_scalar_op){op, a, b, c}, rule, 0);
        expect(f, rule, names[op], a, b, c, got, mpfr_says(t, op, a, b, c, rnd[i % 4]));
        if (rule.mode == ULP_RNE && f->prec == 53) expect(f, rule, names[op], a, b, c, got, hardware_says(op, a, b, c));
        if (op == ULP_ADD && b != 0) expect(f, rule, "pair", a, b, 0, ulp_reference_round(ref, a, b, rule, 0), got);
    }
}

/* Significand pattern i around a breakpoint of prec bits, at exponent e. */
static double pattern(const row *t, int i, int e) {
    double ulp = ldexp(1, 1 - t->format.prec), half = ulp / 2 + 1 > 1 ? ulp / 2 : 0;
    double s[] = {
        1, 1 + ulp, 1.5, 1.5 + half, 1 + half, 1 + half + 0x1p-52, 2 - ulp, 2 - half, 2 - ulp - half + 0x1p-52};
    return ldexp(s[i], e);
}

static void compare_patterns(const row *t, ulp_reference *ref) {
    int emax = t->format.bias, emin = 1 - emax, p = t->format.prec, count = 0;
    int exponents[] = {emin - p, emin - p + 1, emin - 1, emin, 0, 1, emax - 1, emax};
    double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1, -2, 0x1p-1074};
    double x[9 * 8 * 2 + 8];
    for (int i = 0; i < 9 * 8; i++, count += 2) {
        x[count] = pattern(t, i % 9, exponents[i / 9]);
        x[count + 1] = -x[count];
    }
    for (int i = 0; i < 8; i++) x[count++] = special[i];
    for (int i = 0; i < count * count; i++) {
        double a = x[i / count], b = x[i % count];
        compare(t, ref, a, b, i % 3 == 0 ? -(a * b) : x[(i * 7 + i / count) % count]);
    }
}

/* A random double near 1, or anywhere in the format's range and a little below. Short significands give ties. */
static double random_operand(const row *t, uint64_t *seed) {
    uint64_t bits = next_random(seed), choice = next_random(seed), kept = ~(uint64_t)0 << (choice >> 56) % 53;
    int emax = t->format.bias, p = t->format.prec, pick = (int)(choice >> 8 & 0xffffff);
    int e = (choice & 1) ? pick % (2 * emax + p + 4) - (emax + p + 1) : pick % 8 - 4;
    double x = ldexp((double)((bits >> 11 | (uint64_t)1 << 52) & kept), e - 52);
    return (bits & 1) ? x : -x;
}

TEST(mpfr_and_hardware) {
    const char *names[] = {"binary64", "binary32", "binary16", "e5m2"};
    mpfr_inits2(53, left, right, third_operand, result, (mpfr_ptr)0);
    uint64_t seed = 1;
    for (int n = 0; n < 4; n++) {
        const row *t = &table[0];
        while (strcmp(t->format.name, names[n]) != 0) t++;
        ulp_reference *ref = ulp_reference_new(&t->format);
        compare_patterns(t, ref);
        for (int i = 0; i < 20000; i++) {
            double a = random_operand(t, &seed), b = random_operand(t, &seed), c = random_operand(t, &seed);
            compare(t, ref, a, b, (i & 1) ? c : -(a * b));
        }
        ulp_reference_free(ref);
    }
    mpfr_clears(left, right, third_operand, result, (mpfr_ptr)0);
}

int main(void) {
    int failed = run_listed_tests(NULL, NULL);
    mpfr_free_cache();
    return failed;
}
