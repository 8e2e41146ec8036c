/* reference.h - the oracle: formats, roundings and operations computed by MPFR.
 *
 * The oracle checks formats/ and shares no code with it. Of a format descriptor it reads only the defining parameters,
 * and of round.h it uses only the types. It computes every derived number again (emin, largest and least values, the
 * codes of Inf and NaN). Every rounding is MPFR's (Fousse et al. 2007, MPFR: a multiple-precision binary floating-point
 * library with correct rounding, doi:10.1145/1236463.1236468) on exact values. Sums, products and fused products are
 * held exactly; quotients and roots are held as enough bits and a sticky bit.
 *
 * Choices in addition to those in the head comment of round.h:
 *
 *  - Between 0 and the least positive value of a format without subnormals, 0 counts as even and the least value as
 *    odd. The same holds in e8m0, but has an effect only in the range check of a negative value. Ties in rna go away
 *    from zero there, too.
 *  - The result of a division by zero is infinite and is treated like an infinite input.
 *  - In a format without subnormals every code with the exponent field 0 is a zero, whatever its fraction.
 *
 * A context belongs to one thread at a time; contexts share nothing. The calling thread must have MPFR's default
 * exponent range; the oracle does not change it. Results are values; no NaN payload is kept.
 */
#ifndef ULP_REFERENCE_H
#define ULP_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

#include "formats/format.h"
#include "formats/round.h"

/* One format and preallocated MPFR variables. */
typedef struct ulp_reference ulp_reference;

/* A context with a copy of *format, whose defining parameters must be consistent. NULL if there is no memory or if
 * format is NULL. */
ulp_reference *ulp_reference_new(const ulp_format *format);
void ulp_reference_free(ulp_reference *ref);

/* The exact value hi + lo of any two doubles, rounded once by `rule`. rule.overflow DEFAULT is the overflow of the
 * format; rule.random_bits 0 means 32. Stochastic modes use the top r bits of `word` as R; other modes ignore `word`.
 * If hi and lo are zero, the result has the sign of hi; any other exact zero has the sign of x + (-x): +0, and -0 in
 * mode rd. The result is NaN for a NaN, for Inf + (-Inf), and for a rule that does not exist: wrap on floating point, a
 * mode out of range, or a number of random bits out of range. */
double ulp_reference_round(ulp_reference *ref, double hi, double lo, ulp_rule rule, uint32_t word);

/* a + b, a - b, a b, a / b, sqrt(a) or a b + c of any doubles, rounded once by `rule` as in ulp_reference_round().
 * Invalid operations and an unknown op give NaN. IEEE 754-2019, 5.4.1, 6.3 and 7.2. */
double ulp_reference_arith(ulp_reference *ref, ulp_scalar_op op, ulp_rule rule, uint32_t word);

/* 1 if the value of the last rounding was finite and its rounded magnitude is out of range, else 0. Wrap-around counts,
 * too. */
int ulp_reference_overflowed(const ulp_reference *ref);

/* The value of a code: the low `bits` bits of `code`. NaN codes give NaN. */
double ulp_reference_decode(const ulp_reference *ref, uint64_t code);

/* The derived constants. lowest is the most negative finite value, or, in an unsigned format, the smallest value (0 or
 * 2^emin). min_normal is 2^emin; in dlfloat16 it is the least positive value, in fixed point 2^-F. */
double ulp_reference_max(const ulp_reference *ref);
double ulp_reference_lowest(const ulp_reference *ref);
double ulp_reference_min_positive(const ulp_reference *ref);
double ulp_reference_min_normal(const ulp_reference *ref);

#endif
