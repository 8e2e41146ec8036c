/* exact_step.h - exact results of operations on binary32 values, each folded into one double.
 *
 * Every function returns a double that rounds like the exact result of the operation to any format of at most 24 bits
 * (ulp_to_odd). Branch-free.
 */
#ifndef ULP_EXACT_STEP_H
#define ULP_EXACT_STEP_H

#include "formats/round.h"

/* p + c rounded to odd. In mode rd the zero of a cancelled sum is -0. */
ULP_CORE double ulp_odd_sum(double p, double c, uint32_t mode) {
    double odd = ulp_sum_to_odd(p, c);
    if (mode == ULP_RD) {
        uint64_t sign = (ulp_bits64(p) | ulp_bits64(c)) & 0x8000000000000000u;
        odd = odd == 0.0 ? ulp_from_bits64(sign) : odd;
    }
    return odd;
}

/* a / b. The remainder a - q b is exact for binary32 operands (at most 53 bits remain after the cancellation). */
ULP_CORE double ulp_odd_div(double a, double b) {
    double q = a / b, remainder = ULP_FMA(-q, b, a);
    double toward = ulp_from_bits64(ulp_bits64(remainder) ^ (ulp_bits64(b) & 0x8000000000000000u));
    return ulp_to_odd(q, q - q == 0.0 && b - b == 0.0 ? toward : 0.0); /* an infinite operand gives no remainder */
}

ULP_CORE double ulp_odd_sqrt(double a) {
    double q = __builtin_sqrt(a), remainder = ULP_FMA(-q, q, a);
    return ulp_to_odd(q, q - q == 0.0 ? remainder : 0.0);
}

ULP_CORE double ulp_odd_op(ulp_op op, double a, double b, double c, uint32_t mode) {
    switch (op) {
    case ULP_ADD: return ulp_odd_sum(a, b, mode);
    case ULP_SUB: return ulp_odd_sum(a, -b, mode);
    case ULP_MUL: return a * b; /* exact: 48 bits */
    case ULP_DIV: return ulp_odd_div(a, b);
    case ULP_SQRT: return ulp_odd_sqrt(a);
    case ULP_FUSED: return ulp_odd_sum(a * b, c, mode);
    case ULP_OP_COUNT: break;
    }
    return 0.0;
}

#endif
