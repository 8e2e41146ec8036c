/* float_rounding.h - vectors of binary32 numbers rounded to a format by the addition of an anchor.
 *
 * The last place of an anchor is the quantum at x: |x| < 2^(e+1) and an anchor of 1.5 2^(e+24-p) have a sum in the
 * binade of the anchor if p <= 22. The addition rounds in its own direction, and in mode rne to nearest even. The word
 * of the sum is a multiple of the quantum, up to a constant, and a unit of the word is a quantum.
 *
 * Where |x| is above the largest value of the format, the result is either right or larger than this value, an infinity
 * or NaN, except in mode sra: there the caller watches the arguments.
 */
#ifndef ULP_CPU_FLOAT_ROUNDING_H
#define ULP_CPU_FLOAT_ROUNDING_H

#include "kernels/cpu/floats.h"

/* The constants of a format and rule. */
typedef struct float_format {
    uint32_t least, anchor; /* the word of 2^emin; anchor + word of 2^e is the anchor of binade e */
    uint32_t signs;         /* the sign bit, if zeros keep their sign */
    uint32_t random;        /* mask of the bits of a random word that are used */
    uint32_t per;           /* per - word of 2^e: the word of 2^32 over the quantum */
} float_format;

/* 0 if round_float does not serve the format and rule. */
static inline int float_format_of(float_format *to, const ulp_format *f, ulp_rule rule) {
    const uint32_t drop = 24u - f->prec;
    if (!ulp_core_offers(f, rule) || !f->has_subnormals || f->qmin < -126 || f->emax + 1 + (int)drop > 127 ||
        f->emax < f->emin || drop < 2)
        return 0;
    to->least = (uint32_t)(f->emin + 127) << 23;
    to->anchor = drop << 23 | 1u << 22;
    to->signs = f->has_neg_zero ? 0x80000000u : 0u;
    to->random = ulp_core_random(rule);
    to->per = (2u * 127u + 31u + f->prec) << 23;
    return ulp_narrow_knows(rule.mode) || (ADDS_FRACTIONS && rule.mode == ULP_SRA && f->qmin >= -94);
}

/* A magnitude with the sign of u; f->signs is a constant of the loop. */
ULP_INLINE vfloat float_with_sign(vfloat magnitude, vuint u, const float_format *f) {
    const vfloat y = (vfloat)((vuint)magnitude | (u & 0x80000000u));
    return f->signs != 0 ? y : y + 0.0f; /* no negative zero */
}

/* Modes rz, ru, rd, ro and sra without the direction of the processor's addition. */
ULP_INLINE vfloat round_float_by_units(vfloat x, vfloat anchor, const float_format *f, uint32_t mode) {
    const vuint u = (vuint)x;
    const vfloat a = mode == ULP_RZ ? (vfloat)(u & 0x7fffffffu) : x;
    const vfloat sum = a + anchor, near = sum - anchor;
    vuint to = (vuint)sum + (vuint)(near > a);
    if (mode == ULP_RU) to = (vuint)sum - (vuint)(near < a);
    if (mode == ULP_RO) to |= (vuint)(near != a) & 1u;
    const vfloat y = (vfloat)to - anchor;
    return mode == ULP_RZ ? float_with_sign(y, u, f) : (vfloat)((vuint)y | (u & f->signs));
}

/* Mode sra. */
ULP_INLINE vfloat round_float_by_words(vfloat x, vuint binade, const float_format *f, vuint word) {
    const vfloat a = (vfloat)((vuint)x & 0x7fffffffu), anchor = (vfloat)(binade + f->anchor);
    const vfloat sum = FLOATS_ROUND_TOWARD ? float_sum_toward(a, anchor, ULP_RZ) : a + anchor;
    const vfloat at = (a - (sum - anchor)) * (vfloat)(f->per - binade); /* if negative, a multiple of 2^-32 */
    const vuint random = word & f->random, to = FLOATS_ROUND_TOWARD ? carry_fractions((vuint)sum, at, random)
                                                                    : add_fractions((vuint)sum, at, random);
    return float_with_sign((vfloat)to - anchor, (vuint)x, f);
}

/* The exponent fields: the words of 2^e for numbers of binade e, the word of an infinity for NaN. */
ULP_INLINE vuint fields_of(vfloat x) { return (vuint)x & 0x7f800000u; }

/* x with its fields_of rounded in modes rne, rna, rz, ru, rd, ro and sra. `mode` is a constant. */
ULP_INLINE vfloat round_float(vfloat x, vuint fields, const float_format *f, uint32_t mode, vuint word) {
    const vuint u = (vuint)x, least = all_uints(f->least);
    /* in mode rne the units for integers have more to do than those for numbers */
    const vuint binade = mode == ULP_RNE ? larger_numbers(fields, least) : larger_fields(fields, least);
    vfloat anchor = (vfloat)(binade + f->anchor), y;
    if (mode == ULP_SRA) return round_float_by_words(x, binade, f, word);
    if (mode == ULP_RNE) {
        y = (x + anchor) - anchor;
    } else if (mode == ULP_RNA) {
        /* a tie becomes a value above the tie; no other result changes, as at least two bits are lost */
        y = ((vfloat)(u | 1u) + anchor) - anchor;
    } else if (!FLOATS_ROUND_TOWARD) {
        return round_float_by_units(x, anchor, f, mode);
    } else if (mode == ULP_RO) { /* the sums in both directions are equal, or one unit of the last place apart */
        const vuint down = (vuint)float_sum_toward(x, anchor, ULP_RD), up = (vuint)float_sum_toward(x, anchor, ULP_RU);
        y = (vfloat)(down | (up & 1u)) - anchor;
    } else {
        if (mode == ULP_RZ) anchor = (vfloat)((vuint)anchor | (u & 0x80000000u));
        y = float_sum_toward(x, anchor, mode) - anchor;
    }
    return (vfloat)((vuint)y | (u & f->signs));
}

#endif
