/* watched.h - rounding of binary32 words while every value is in the range of the format.
 *
 * Overflow, infinities and NaN are half of the work of kernels/rounding/core.h, and most arrays hold no such value. The
 * loop that calls ulp_watched watches the magnitudes: a group with a magnitude above ulp_watched_limit is rounded once
 * more by core.h. Results for such magnitudes are undefined. All other results have the bits of core.h.
 *
 * The shapes are those of core.h. NARROW adds signed numbers: |x| < 2^(e+1) and an anchor of 1.5 2^(e+24-p) have a sum
 * in the binade of the anchor if p <= 22. The last place of this binade is the quantum of x. The word of the sum is
 * therefore an integer multiple of the quantum, up to a constant: subtraction of 1 from the word rounds down where the
 * addition rounded up.
 */
#ifndef ULP_WATCHED_H
#define ULP_WATCHED_H

#include "kernels/rounding/core.h"

/* Whether ulp_watched serves the format and mode of a core in a shape. */
ULP_FN int ulp_watched_serves(const ulp_core *c, uint32_t shape) {
    if (shape == ULP_SHAPE_WIDE) return c->zero_sign != 0;
    return shape == ULP_SHAPE_ANY || c->drop >= 2;
}

/* The largest magnitude, as binary32 bits, that ulp_watched rounds. */
ULP_FN uint32_t ulp_watched_limit(const ulp_core *c) { return ulp_min_u32(c->limit[0], c->limit[1]); }

/* The sign of a zero result: y + 0 is +0 for both zeros, y + -0 is y. */
ULP_CORE uint32_t ulp_watched_zero(uint32_t y, const ulp_core *c) {
    return ulp_bits32(ulp_from_bits32(y) + ulp_from_bits32(c->zero_sign));
}

ULP_CORE uint32_t ulp_watched_narrow(uint32_t u, const ulp_core *c, uint32_t mode) {
    const uint32_t binade = ulp_max_u32(u & 0x7f800000u, c->emin << 23);
    const float anchor = ulp_from_bits32(binade + (c->drop << 23 | 1u << 22));
    /* in mode rna a tie becomes a value above the tie; no other result changes, as at least two bits are lost */
    const float x = ulp_from_bits32(mode == ULP_RNA ? u | 1u : mode == ULP_RZ ? u & 0x7fffffffu : u);
    const float shifted = x + anchor, nearest = shifted - anchor;
    const uint32_t sum = ulp_bits32(shifted), down = sum - (uint32_t)(nearest > x), sign = u & 0x80000000u;
    switch (mode) {
    case ULP_RNE:
    case ULP_RNA: return ulp_bits32(nearest) | (u & c->zero_sign);
    case ULP_RZ: return ulp_watched_zero(ulp_bits32(ulp_from_bits32(down) - anchor) | sign, c);
    case ULP_RU: return ulp_bits32(ulp_from_bits32(sum + (uint32_t)(nearest < x)) - anchor) | (u & c->zero_sign);
    case ULP_RD: return ulp_bits32(ulp_from_bits32(down) - anchor) | (u & c->zero_sign);
    case ULP_RO: return ulp_bits32(ulp_from_bits32(down | (uint32_t)(nearest != x)) - anchor) | (u & c->zero_sign);
    default: return 0x7fc00000u; /* no mode of ULP_NARROW_MODES */
    }
}

/* The result, with its sign, for the input word u. */
ULP_CORE uint32_t ulp_watched(uint32_t u, const ulp_core *c, uint32_t mode, uint32_t shape, uint32_t word) {
    if (shape == ULP_SHAPE_WIDE) return ulp_core_cut(u, u, c, mode, word);
    if (shape == ULP_SHAPE_NARROW) return ulp_watched_narrow(u, c, mode);
    return ulp_watched_zero(ulp_core_any(u, c, mode, word) | (u & 0x80000000u), c);
}

#endif
