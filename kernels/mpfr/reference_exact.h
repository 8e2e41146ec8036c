/* reference_exact.h - the roundings of the oracle for exact values that are GMP integers times a power of two. */
#ifndef ULP_REFERENCE_EXACT_H
#define ULP_REFERENCE_EXACT_H

#include <gmp.h>

#include "reference.h"

/* m 2^e rounded once by `rule`, as in ulp_reference_round(). m is not zero. A sum of at most 2^63 products of binary64
 * numbers has few enough bits; e is a long of MPFR's range. */
double ulp_reference_round_exact(ulp_reference *ref, mpz_srcptr m, long e, ulp_rule rule, uint32_t word);

/* y = m 2^e rounded to an integer by a mode that is not stochastic. y may be m. */
void ulp_reference_round_integer(ulp_reference *ref, mpz_ptr y, mpz_srcptr m, long e, ulp_mode mode);

#endif
