/* float_rounding.h - vectors of binary32 numbers rounded to a format by the addition of an anchor.
 *
 * kernels/rounding/anchor.h rounds. For p <= 22, |x| < 2^(e+1) and an anchor of 1.5 2^(e+24-p) have a sum in the binade
 * of the anchor. Mode sra adds a random word to the part of a quantum that is lost; there the caller watches the
 * arguments, as a result for |x| above the largest value of the format may be in range.
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

/* `random` is the mask of the bits of a random word that are used. */
static inline float_format float_format_of(const ulp_format *f, uint32_t random) {
    return (float_format){.least = (uint32_t)(f->emin + 127) << 23,
                          .anchor = (24u - f->prec) << 23 | 1u << 22,
                          .signs = f->has_neg_zero ? 0x80000000u : 0u,
                          .random = random,
                          .per = (2u * 127u + 31u + f->prec) << 23};
}

/* Whether round_float serves the format and rule for every number. */
static inline int round_float_serves(const ulp_format *f, ulp_rule rule) {
    const int drop = 24 - (int)f->prec;
    return ulp_core_offers(f, rule) && f->has_subnormals && f->qmin >= -126 && f->emax + 1 + drop <= 127 &&
           f->emax >= f->emin && drop >= 2 &&
           (ulp_narrow_knows(rule.mode) || (ADDS_FRACTIONS && rule.mode == ULP_SRA && f->qmin >= -94));
}

#define ANCHOR_NAME(part) float_anchor_##part
#define ANCHOR_NUMBER vfloat
#define ANCHOR_WORD vuint
#define ANCHOR_MASK uint32_t
#if defined(__AVX512F__)
#define ANCHOR_TOWARD float_sum_toward
#endif
#include "kernels/rounding/anchor.h"

/* Mode sra. */
ULP_INLINE vfloat round_float_by_words(vfloat x, vuint binade, const float_format *f, vuint word) {
    const vfloat a = (vfloat)((vuint)x & 0x7fffffffu), anchor = (vfloat)(binade + f->anchor);
    const vfloat sum = FLOATS_ROUND_TOWARD ? float_sum_toward(a, anchor, ULP_RZ) : a + anchor;
    const vfloat at = (a - (sum - anchor)) * (vfloat)(f->per - binade); /* if negative, a multiple of 2^-32 */
    const vuint random = word & f->random, to = FLOATS_ROUND_TOWARD ? carry_fractions((vuint)sum, at, random)
                                                                    : add_fractions((vuint)sum, at, random);
    return float_anchor_signed((vfloat)to - anchor, (vuint)x, f->signs);
}

/* The exponent fields: the words of 2^e for numbers of binade e, the word of an infinity for NaN. */
ULP_INLINE vuint fields_of(vfloat x) { return (vuint)x & 0x7f800000u; }

/* x with its fields_of rounded in modes rne, rna, rz, ru, rd, ro and sra. `mode` is a constant. */
ULP_INLINE vfloat round_float(vfloat x, vuint fields, const float_format *f, uint32_t mode, vuint word) {
    const vuint least = all_uints(f->least);
    /* in mode rne the units for integers have more to do than those for numbers */
    const vuint binade = mode == ULP_RNE ? larger_numbers(fields, least) : larger_fields(fields, least);
    if (mode == ULP_SRA) return round_float_by_words(x, binade, f, word);
    return float_anchor_round(x, (vfloat)(binade + f->anchor), f->signs, mode);
}

#endif
