/* predict.c - the number at which a deterministic count stops; counting.c gives the reasons. */
#include <math.h>

#include "counting.h"

int predict(double *value, const ulp_format *f, ulp_rule rule, ulp_cure cure, int64_t chunk) {
    const double top = ldexp(1, f->prec), end = end_of(f, rule), n = (double)chunk;
    if (ulp_mode_is_stochastic(rule.mode) || ulp_overflow_of(f, (ulp_overflow)rule.overflow) == ULP_OVERFLOW_WRAP ||
        (f->prec < 2 && !f->is_fixed) || !f->has_zero)
        return 0;
    int known = 1;
    *value = end;
    switch (cure) {
    case ULP_CURE_CHUNKS: /* powers of two only: other sums of chunks are rounded before the stop */
        known = (chunk & (chunk - 1)) == 0 && n <= f->max && (f->is_fixed || n <= top);
        if (!f->is_fixed && n * top <= f->max) *value = n * top;
        break;
    case ULP_CURE_KAHAN:
        known = !f->is_fixed && f->is_signed &&
                top * top <= f->max; /* the correction is negative: the format needs a sign */
        *value = top * top;
        break;
    case ULP_CURE_MASTER: *value = ulp_round(0x1p24, f, rule, 0); break;
    case ULP_CURE_FIRST:
    case ULP_CURE_NONE:
        if (f->is_fixed || f->max < top) break;
        if (rule.mode == ULP_RNE || rule.mode == ULP_RZ || rule.mode == ULP_RD) *value = top;
        else if (rule.mode == ULP_RNA && 2 * top <= f->max) *value = 2 * top;
        else if (rule.mode == ULP_RO && top + 2 <= f->max) *value = top + 2;
        break;
    }
    return known;
}
