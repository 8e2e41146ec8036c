/* spaced.h - a b + c rounded once to a format of equal spacing: all values are multiples of the quantum 2^qmin.
 *
 * Fixed-point formats are such formats. Domain: c is a multiple of the quantum, the result is in the range of the
 * format, the mode is rne or sra. Every function reports operands outside of this domain; then ulp_odd_op and
 * ulp_core_round64 give the result. The product a b of binary32 numbers is exact in binary64.
 *   - rne: c + anchor is exact for the anchor 1.5 2^52 quanta, and the last place of the sum a b + (c + anchor) is one
 *     quantum. The one rounding of the processor is the rounding to the format; the anchor is even, so ties are right.
 *   - sra: in units of 2^-32 quanta, |x| = sign c + floor(sign a b) + a fraction. The fraction does not reach the
 *     comparison floor(nu 2^r) + R >= 2^r, since c and R are integers in these units. The integers are below 2^53.
 * tests/t_update.c compares both with the scalar definition.
 */
#ifndef ULP_SPACED_H
#define ULP_SPACED_H

#include "core.h"

typedef struct ulp_spaced {
    double anchor;       /* 1.5 2^52 quanta */
    double lowest, most; /* the range */
    double fine, coarse; /* 2^32 / quantum and its reciprocal */
    uint64_t random;     /* mask of the bits of a word that are used */
} ulp_spaced;

/* Prepares the constants. 0 if the functions below do not serve the format and the mode. */
ULP_FN int ulp_spaced_init(ulp_spaced *s, const ulp_format *f, const ulp_core *c) {
    if (f->emax > f->emin || !f->has_subnormals || c->zero_sign != 0 || f->prec > 18) return 0;
    if (c->mode != ULP_RNE && c->mode != ULP_SRA) return 0;
    s->anchor = ulp_scale(1.5, 52 + f->qmin);
    s->lowest = f->lowest;
    s->most = f->max;
    s->fine = ulp_scale(1.0, 32 - f->qmin);
    s->coarse = ulp_scale(1.0, f->qmin - 32);
    s->random = c->random;
    return 1;
}

/* The largest integer multiple of `unit` that is not above x, with |x| < 2^51 units; half is 1.5 2^52 units. */
ULP_CORE double ulp_floor_to(double x, double half, double unit) {
    const double near = x + half - half;
    return near > x ? near - unit : near;
}

/* a b + c rounded. Operands outside of the domain set a bit of *outside: any bit of outside[0], the sign of outside[1].
 */
ULP_CORE double ulp_spaced_fused(double a, double b, double c, const ulp_spaced *s, uint32_t mode, uint32_t word,
                                 uint64_t outside[2]) {
    const double p = a * b, from = c + s->anchor;
    double y;
    if (mode == ULP_SRA) {
        const uint64_t sign = ulp_bits64(p + c) & 0x8000000000000000u;
        const double size_p = ulp_from_bits64(ulp_bits64(p * s->fine) ^ sign),
                     size_c = ulp_from_bits64(ulp_bits64(c * s->fine) ^ sign),
                     random = ulp_from_bits64((word & s->random) | 0x4330000000000000u) - 0x1p52;
        const double whole = ulp_floor_to(size_p, 0x1.8p52, 1.0) + size_c + random;
        y = ulp_floor_to(whole, 0x1.8p84, 0x1p32) * s->coarse;
        y = ulp_from_bits64(ulp_bits64(y) ^ sign) + 0.0; /* no negative zero */
        outside[1] |= ulp_bits64(0x1p50 - size_p) | ulp_bits64(size_p + 0x1p50);
    } else {
        y = p + from - s->anchor;
    }
    outside[0] |= ulp_bits64(from - s->anchor - c) | ulp_bits64(y - y); /* +0 for numbers */
    outside[1] |= ulp_bits64(y - s->lowest) | ulp_bits64(s->most - y);
    return y;
}

#endif
