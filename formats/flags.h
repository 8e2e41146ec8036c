/* flags.h - the exceptions that IEEE 754 signals for an operation, as flags (IEEE 754-2019, section 7).
 *
 *   - invalid: a NaN result of operands that are no NaN, or an infinite operand whose result is not infinite
 *   - divbyzero: a finite number that is not zero, divided by zero
 *   - overflow: the rounded result is beyond the range, whatever the overflow policy makes of it; inexact too
 *   - underflow: the result is inexact and tiny. Tininess is detected after rounding (7.5): the exact result, rounded
 * as if the exponent had no lower end, lies strictly between the least normal numbers of both signs
 *   - inexact: the result is not the exact value of the operation
 *
 * Formats have quiet NaNs only: an operand that is NaN raises no flag. Fixed point has no exponent and never
 * underflows. In tapered formats, which have no subnormals, underflow is a zero result that is not exact. A result that
 * is flushed to zero underflows; a flushed operand raises no flag.
 */
#ifndef ULP_FLAGS_H
#define ULP_FLAGS_H

#include "round.h"

ULP_C_BEGIN

/* X(enumerator, name), in the order of IEEE 754-2019, 7.2 to 7.6 */
#define ULP_FLAGS(X)                                                                                                   \
    X(INVALID, "invalid")                                                                                              \
    X(DIVBYZERO, "divbyzero")                                                                                          \
    X(OVERFLOW, "overflow")                                                                                            \
    X(UNDERFLOW, "underflow")                                                                                          \
    X(INEXACT, "inexact")

enum {
#define ULP_FLAG_PLACE(id, name) ULP_FLAG_PLACE_##id,
    ULP_FLAGS(ULP_FLAG_PLACE)
#undef ULP_FLAG_PLACE
        ULP_FLAG_COUNT,
#define ULP_FLAG_BIT(id, name) ULP_FLAG_##id = 1 << ULP_FLAG_PLACE_##id,
    ULP_FLAGS(ULP_FLAG_BIT)
#undef ULP_FLAG_BIT
};

enum { ULP_FLAGS_TEXT = 48 }; /* characters of the longest text, and the end */

/* The flags of the rounding of x, whose result is y, by the rule and the random word. */
unsigned ulp_flags_of_rounding(ulp_exact x, double y, const ulp_format *format, ulp_rule rule, uint32_t word);

/* The flags of an operation, whose result is y. */
unsigned ulp_flags_of_op(ulp_scalar_op op, double y, const ulp_format *format, ulp_rule rule, uint32_t word);

/* The names of the flags with | between them, "overflow|inexact"; "-" if there is none. Returns the length. */
int ulp_flags_text(char *text /* (ULP_FLAGS_TEXT) */, unsigned flags);

ULP_C_END
#endif
