/* watched.h - rounding of binary32 words while every value is in the range of the format.
 *
 * Overflow, infinities and NaN are half of the work of kernels/rounding/core.h, and most arrays hold no such value. The
 * loop that calls ulp_watched watches the magnitudes: a group with a magnitude above ulp_watched_limit is rounded once
 * more by core.h. Results for such magnitudes are undefined. All other results have the bits of core.h.
 *
 * The shapes are WIDE and ANY of core.h. kernels/cpu/rounding/float_rounding.h has a shorter way for NARROW.
 */
#ifndef ULP_WATCHED_H
#define ULP_WATCHED_H

#include "kernels/rounding/core.h"

/* Whether ulp_watched serves the format and mode of a core in a shape. */
ULP_FN int ulp_watched_serves(const ulp_core *c, uint32_t shape) {
    if (shape == ULP_SHAPE_WIDE) return c->zero_sign != 0;
    return shape == ULP_SHAPE_ANY;
}

/* The largest magnitude, as binary32 bits, that ulp_watched rounds. */
ULP_FN uint32_t ulp_watched_limit(const ulp_core *c) { return ulp_min_u32(c->limit[0], c->limit[1]); }

/* The sign of a zero result: y + 0 is +0 for both zeros, y + -0 is y. */
ULP_CORE uint32_t ulp_watched_zero(uint32_t y, const ulp_core *c) {
    return ulp_bits32(ulp_from_bits32(y) + ulp_from_bits32(c->zero_sign));
}

/* The result, with its sign, for the input word u. */
ULP_CORE uint32_t ulp_watched(uint32_t u, const ulp_core *c, uint32_t mode, uint32_t shape, uint32_t word) {
    if (shape == ULP_SHAPE_WIDE) return ulp_core_cut(u, u, c, mode, word);
    return ulp_watched_zero(ulp_core_any(u, c, mode, word) | (u & 0x80000000u), c);
}

#endif
