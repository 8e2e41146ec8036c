/* exact_sum.h - exact values as GMP integers times a power of two: their roundings by the oracle, sums of products. */
#ifndef ULP_MPFR_EXACT_SUM_H
#define ULP_MPFR_EXACT_SUM_H

#include <gmp.h>

#include "reference.h"

/* m 2^e rounded once by `rule`, as in ulp_reference_round(). m is not zero. A sum of at most 2^63 products of binary64
 * numbers has few enough bits; e is a long of MPFR's range. */
double ulp_reference_round_exact(ulp_reference *ref, mpz_srcptr m, long e, ulp_rule rule, uint32_t word);

/* y = m 2^e rounded to an integer by a mode that is not stochastic. y may be m. */
void ulp_reference_round_integer(ulp_reference *ref, mpz_ptr y, mpz_srcptr m, long e, ulp_mode mode);

/* The finite terms that are not zero add up to m 2^e. The other terms are counted by sign: [0] positive, [1] negative.
 */
typedef struct ulp_mpfr_sum {
    mpz_t m, term;
    long e;
    size_t finite, nan, infinite[2], zero[2];
} ulp_mpfr_sum;

void ulp_mpfr_sum_open(ulp_mpfr_sum *s);
void ulp_mpfr_sum_close(ulp_mpfr_sum *s);

/* The empty sum. */
void ulp_mpfr_sum_clear(ulp_mpfr_sum *s);

/* Adds a b, for any binary64 numbers. */
void ulp_mpfr_sum_add(ulp_mpfr_sum *s, double a, double b);

/* Adds (m 2^e) to the finite terms. m is not zero; m may be s->term. */
void ulp_mpfr_sum_add_integer(ulp_mpfr_sum *s, mpz_srcptr m, long e);

/* s->term = a b as term 2^e; a and b are finite and not zero. Returns e. */
long ulp_mpfr_product(ulp_mpfr_sum *s, double a, double b);

/* Whether the sum is NaN or infinite; then *value is that NaN or infinity. */
int ulp_mpfr_sum_is_special(const ulp_mpfr_sum *s, double *value);

/* The sum rounded once. A sum of zeros of one sign is the zero of this sign; any other zero has the sign of x - x in
 * the mode. */
double ulp_mpfr_sum_round(ulp_mpfr_sum *s, ulp_reference *ref, ulp_rule rule, uint32_t word);

#endif
