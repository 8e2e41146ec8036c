/* lane_rounding.h - vectors of binary64 numbers rounded to a format in a few instructions, under conditions that a
 * watch checks.
 *
 * An anchor is a number whose last place is the quantum. Its addition rounds in the direction of the addition, and in
 * mode rne to nearest even. It serves every range of values below the overflow. round_normal rounds the significand as
 * an integer at a fixed bit. It serves normal values of the format. A caller rounds in one of these ways, and rounds
 * again by kernels/rounding/core.h where the watch found a value outside the range.
 */
#ifndef ULP_CPU_LANE_ROUNDING_H
#define ULP_CPU_LANE_ROUNDING_H

#include <string.h>

#include "kernels/cpu/doubles.h"
#include "kernels/rounding/nearest.h"

/* The constants of a format and rule. */
typedef struct lane_format {
    uint64_t least, anchor; /* the word of 2^emin; anchor + word of 2^e is a number whose last place is the quantum */
    uint64_t signs;         /* the sign bit, if zeros keep their sign */
    uint64_t ones, half;    /* the bits that normal values lose; the first of them */
    uint64_t random;        /* mask of the bits of a random word that are used */
    uint32_t shift;         /* from a random word to the bits that are lost */
    double lowest, most;    /* the ends of the range, for saturation */
    uint64_t word, per;     /* binade - word: the quantum times 2^-32; per - binade: 2^32 over the quantum */
} lane_format;

/* `random` is the mask of the bits of a random word that are used. */
static inline lane_format lane_format_of(const ulp_format *f, uint32_t random) {
    const uint32_t lost = 53u - f->prec;
    return (lane_format){.least = ulp_bits64(ulp_scale(1.0, f->emin)),
                         .anchor = (uint64_t)lost << 52 | 1ull << 51,
                         .signs = f->has_neg_zero ? 1ull << 63 : 0,
                         .ones = (1ull << lost) - 1,
                         .half = 1ull << (lost - 1),
                         .random = random,
                         .shift = lost > 32 ? lost - 32 : 0,
                         .lowest = f->lowest,
                         .most = f->max,
                         .word = (uint64_t)(31 + f->prec) << 52,
                         .per = (uint64_t)(2046 + 31 + f->prec) << 52};
}

/* Mode rne; results of zero are +0. binade: the word of 2^e for x in binade e, or of 2^emin. */
ULP_INLINE vdouble round_at(vdouble x, vbits binade, const lane_format *f) {
    const vdouble anchor = (vdouble)(binade + f->anchor);
    return (x + anchor) - anchor;
}

/* Mode rne. multiples: x is +0 or a multiple of the least quantum, so that subnormal results are exact and no negative
 * number becomes zero. */
ULP_INLINE vdouble round_nearest(vdouble x, const lane_format *f, int multiples) {
    vbits binade = (vbits)x & 0x7ff0000000000000u;
    /* the units for integers have more to do than those for numbers */
    if (!multiples) binade = (vbits)larger((vdouble)binade, (vdouble)all_bits(f->least));
    const vdouble y = round_at(x, binade, f);
    return multiples ? y : (vdouble)((vbits)y | ((vbits)x & f->signs));
}

/* Mode rne; results of zero are +0. */
ULP_INLINE vdouble round_unsigned(vdouble x, const lane_format *f) {
    const vdouble binade = (vdouble)((vbits)x & 0x7ff0000000000000u);
    return round_at(x, (vbits)larger(binade, (vdouble)all_bits(f->least)), f);
}

/* A saturated result; NaN stays. */
ULP_INLINE vdouble saturate(vdouble x, const lane_format *f) {
    return smaller(all_doubles(f->most), larger(all_doubles(f->lowest), x));
}

/* Modes rna, rz, ru, rd, ro and sra of normal values. `mode` is a constant. */
ULP_INLINE vdouble round_normal(vdouble x, const lane_format *f, uint32_t mode, vbits word) {
    const vbits u = (vbits)x, ones = all_bits(f->ones), negative = (vbits)((vsigned)u >> 63);
    switch (mode) {
    case ULP_RNA: return (vdouble)((u + f->half) & ~ones);
    case ULP_RU: return (vdouble)((u + (ones & ~negative)) & ~ones);
    case ULP_RD: return (vdouble)((u + (ones & negative)) & ~ones);
    case ULP_RO: return (vdouble)((u | ((u & ones) + ones)) & ~ones);
    case ULP_SRA: return (vdouble)((u + (word << f->shift)) & ~ones);
    default: return (vdouble)(u & ~ones); /* rz */
    }
}

/* DOUBLES random words, one in each lane. */
ULP_INLINE vbits random_lanes(const uint32_t *words, const lane_format *f) { return wide_words(words) & f->random; }

/* A magnitude with the sign of u; f->signs is a constant of the loop. */
ULP_INLINE vdouble with_sign(vdouble magnitude, vbits u, const lane_format *f) {
    const vdouble y = (vdouble)((vbits)magnitude | (u & 0x8000000000000000u));
    return f->signs != 0 ? y : y + 0.0; /* no negative zero */
}

/* The numbers of binade e, |x| < 2^(e+1), rounded as round_anchored says, without the direction of the processor's
 * addition: the word of x + anchor is a multiple of the quantum, up to a constant, and a unit of the word is a quantum.
 */
ULP_INLINE vdouble round_by_units(vdouble x, vbits binade, const lane_format *f, uint32_t mode, vbits word) {
    const vbits u = (vbits)x, sign = all_bits(1ull << 63);
    const vdouble anchor = (vdouble)(binade + f->anchor);
    const vdouble a = mode == ULP_RZ || mode == ULP_SRA ? (vdouble)(u & ~sign) : x;
    const vdouble sum = a + anchor, near = sum - anchor;
    const vbits down = (vbits)sum + (vbits)(near > a);
    vbits to = down;
    if (mode == ULP_RU) to = (vbits)sum - (vbits)(near < a);
    if (mode == ULP_RO) to = down | ((vbits)(near != a) & 1u);
    if (mode == ULP_SRA) { /* up if the rest in units of 2^-32 quanta, plus the word, is at least 2^32 */
        const vdouble rest = (a - ((vdouble)down - anchor)) * (vdouble)(f->per - binade);
        const vdouble least = (0x1p52 + 0x1p32) - (vdouble)(word | 0x4330000000000000u);
        to = down - (vbits)(rest >= least);
    }
    const vdouble y = (vdouble)to - anchor;
    if (mode == ULP_RZ || mode == ULP_SRA) return with_sign(y, u, f);
    return (vdouble)((vbits)y | (u & f->signs));
}

/* x rounded in modes rne, rna, rz, ru, rd, ro and sra, for p <= 24. `mode` is a constant. Where |x| is above the
 * largest value of the format, the result is either right or larger than this value, an infinity or NaN. */
ULP_INLINE vdouble round_anchored(vdouble x, const lane_format *f, uint32_t mode, vbits word) {
    if (mode == ULP_RNE) return round_nearest(x, f, 0);
    /* a tie becomes a value above the tie; no other result changes, as at least two bits are lost */
    if (mode == ULP_RNA) return round_nearest((vdouble)((vbits)x | 1u), f, 0);
    const vbits u = (vbits)x, sign = all_bits(1ull << 63);
    const vbits binade = larger_exponents(u & 0x7ff0000000000000u, all_bits(f->least));
    if (!ROUNDS_TOWARD) return round_by_units(x, binade, f, mode, word);
    vbits anchor = binade + f->anchor;
    if (mode == ULP_RZ) anchor |= u & sign;
    vdouble from = x;
    if (mode == ULP_SRA) {
        const vdouble random = __builtin_convertvector(word, vdouble);
        from = fused_toward(random, (vdouble)(binade - f->word), (vdouble)(u & ~sign), ULP_RZ);
    }
    vdouble sum = sum_toward(from, (vdouble)anchor, mode == ULP_RO || mode == ULP_SRA ? (uint32_t)ULP_RD : mode);
    if (mode == ULP_RO) /* the sums in both directions are equal, or one unit of the last place apart */
        sum = (vdouble)((vbits)sum | ((vbits)sum_toward(x, (vdouble)anchor, ULP_RU) & 1u));
    const vdouble y = sum - (vdouble)anchor;
    if (mode == ULP_SRA) return with_sign(y, u, f);
    return (vdouble)((vbits)y | (u & f->signs));
}

#endif
