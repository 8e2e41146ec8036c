/* exact_sum.c - a sum of products without rounding; see exact_sum.h. */
#include "exact_sum.h"

#include <math.h>

void ulp_mpfr_sum_open(ulp_mpfr_sum *s) {
    mpz_inits(s->m, s->term, (mpz_ptr)0);
    ulp_mpfr_sum_clear(s);
}

void ulp_mpfr_sum_close(ulp_mpfr_sum *s) { mpz_clears(s->m, s->term, (mpz_ptr)0); }

void ulp_mpfr_sum_clear(ulp_mpfr_sum *s) {
    mpz_set_ui(s->m, 0);
    s->e = 0;
    s->finite = s->nan = s->infinite[0] = s->infinite[1] = s->zero[0] = s->zero[1] = 0;
}

/* |x| as an odd integer times 2^*e; x is finite and not zero. */
static unsigned long odd_part(double x, int *e) {
    const unsigned long m = (unsigned long)ldexp(frexp(fabs(x), e), 53);
    const int zeros = __builtin_ctzl(m);
    *e += zeros - 53;
    return m >> zeros;
}

long ulp_mpfr_product(ulp_mpfr_sum *s, double a, double b) {
    int i, j;
    mpz_set_ui(s->term, odd_part(a, &i));
    mpz_mul_ui(s->term, s->term, odd_part(b, &j));
    if (!signbit(a) != !signbit(b)) mpz_neg(s->term, s->term);
    return (long)i + j;
}

void ulp_mpfr_sum_add_integer(ulp_mpfr_sum *s, mpz_srcptr m, long e) {
    if (mpz_sgn(s->m) == 0) s->e = e;
    if (e < s->e) {
        mpz_mul_2exp(s->m, s->m, (mp_bitcnt_t)(s->e - e));
        s->e = e;
    }
    mpz_mul_2exp(s->term, m, (mp_bitcnt_t)(e - s->e));
    mpz_add(s->m, s->m, s->term);
    s->finite++;
}

void ulp_mpfr_sum_add(ulp_mpfr_sum *s, double a, double b) {
    const int neg = !signbit(a) != !signbit(b);
    if (isnan(a) || isnan(b) || (isinf(a) && b == 0.0) || (isinf(b) && a == 0.0)) s->nan++;
    else if (isinf(a) || isinf(b)) s->infinite[neg]++;
    else if (a == 0.0 || b == 0.0) s->zero[neg]++;
    else {
        const long e = ulp_mpfr_product(s, a, b);
        ulp_mpfr_sum_add_integer(s, s->term, e);
    }
}

int ulp_mpfr_sum_is_special(const ulp_mpfr_sum *s, double *value) {
    const int any = s->nan || s->infinite[0] || s->infinite[1];
    if (s->nan || (s->infinite[0] && s->infinite[1])) *value = NAN;
    else if (any) *value = s->infinite[1] ? -INFINITY : INFINITY;
    return any;
}

double ulp_mpfr_sum_round(ulp_mpfr_sum *s, ulp_reference *ref, ulp_rule rule, uint32_t word) {
    double x = rule.mode == ULP_RD ? -0.0 : 0.0;
    if (!ulp_mpfr_sum_is_special(s, &x)) {
        if (mpz_sgn(s->m) != 0) return ulp_reference_round_exact(ref, s->m, s->e, rule, word);
        if (s->finite == 0 && s->zero[0] == 0 && s->zero[1] > 0) x = -0.0;
        else if (s->finite == 0 && s->zero[1] == 0) x = 0.0;
    }
    return ulp_reference_round(ref, x, 0.0, rule, word);
}
