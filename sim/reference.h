/* reference.h - the oracle: what MPFR says a format, a rounding and an operation give.
 *
 * Judges formats/ and shares no code with it: of the descriptor only the deciding parameters are read, of
 * round.h only the types. Everything derived (emin, largest and least values, where Inf and NaN are) is
 * worked out here again, and every rounding is MPFR's own (Fousse et al. 2007, MPFR: a multiple-precision
 * binary floating-point library with correct rounding, doi:10.1145/1236463.1236468), on exact values:
 * sums, products and fused products are held whole, quotients and roots as enough bits and a sticky bit.
 *
 * Choices, beside those in the head comment of round.h:
 *   - below the least positive value of a format without subnormals, 0 counts as even and the least value
 *     as odd; so it does in e8m0, where only the range check of a negative value sees it. Ties in rna
 *     go away from zero there too.
 *   - a division by zero is an infinite result, treated as an infinite input is.
 *   - without subnormals, codes of exponent field 0 are zeros, whatever their fraction.
 *
 * A context belongs to one thread at a time; contexts share nothing. MPFR's exponent range has to be the
 * default one in the calling thread; it is not changed. Results are values; no NaN payload is kept.
 */
#ifndef ULP_REFERENCE_H
#define ULP_REFERENCE_H

#include <stdint.h>

#include "formats/format.h"
#include "formats/round.h"

/* One format and preallocated MPFR variables. */
typedef struct ulp_reference ulp_reference;

/* A context for *format, whose deciding parameters have to be consistent; the format is copied. NULL when
 * out of memory or if format is NULL; GMP itself ends the program when its own few kilobytes cannot be had. */
ulp_reference *ulp_reference_new(const ulp_format *format);
void ulp_reference_free(ulp_reference *ref);

/* The exact value hi + lo, any two doubles, rounded once by `rule`. rule.overflow DEFAULT is the format's
 * own, rule.random_bits 0 is 32; R is the top r bits of `word`, which other modes do not look at. The sign
 * of an exact zero is hi's if both are zero, else that of x + (-x): +0, and -0 in mode rd.
 * NaN for a NaN, for Inf + (-Inf), and for a rule that is not offered: wrap on floating point, a mode or a
 * number of random bits out of range. */
double ulp_reference_round(ulp_reference *ref, double hi, double lo, ulp_rule rule, uint32_t word);

/* a + b, a - b, a b, a / b, sqrt(a), a b + c, for any doubles, rounded once by `rule` as above; the operands
 * that `op` does not have are ignored. Invalid operations and an unknown op give NaN. IEEE 754-2019, 5.4.1, 6.3 and 7.2
 */
double ulp_reference_arith(ulp_reference *ref, ulp_op op, double a, double b, double c, ulp_rule rule, uint32_t word);

/* The value of a code: the low `bits` bits of `code`. NaN codes give NaN. */
double ulp_reference_decode(const ulp_reference *ref, uint64_t code);

/* The derived constants. lowest: the most negative finite value, unsigned the smallest value (0 or 2^emin).
 * min_normal: 2^emin; dlfloat16: the least positive value; fixed point: 2^-F. */
double ulp_reference_max(const ulp_reference *ref);
double ulp_reference_lowest(const ulp_reference *ref);
double ulp_reference_min_positive(const ulp_reference *ref);
double ulp_reference_min_normal(const ulp_reference *ref);

#endif
