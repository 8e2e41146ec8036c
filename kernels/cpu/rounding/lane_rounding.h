/* lane_rounding.h - vectors of binary64 numbers rounded to a format in a few instructions, under conditions that a
 * watch checks.
 *
 * The addition of an anchor (kernels/rounding/anchor.h) serves every range of values below the overflow. The cut of a
 * word (kernels/rounding/word.h) serves normal values of the format. A caller rounds in one of these ways, and rounds
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
    uint64_t ones;          /* the bits that normal values lose */
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
                         .random = random,
                         .shift = lost > 32 ? lost - 32 : 0,
                         .lowest = f->lowest,
                         .most = f->max,
                         .word = (uint64_t)(31 + f->prec) << 52,
                         .per = (uint64_t)(2046 + 31 + f->prec) << 52};
}

#define WORD_NAME cut_bits
#define WORD vbits
#include "kernels/rounding/word.h"

#define ANCHOR_NAME(part) double_anchor_##part
#define ANCHOR_NUMBER vdouble
#define ANCHOR_WORD vbits
#define ANCHOR_MASK uint64_t
#if defined(__AVX512F__)
#define ANCHOR_TOWARD sum_toward
#endif
#include "kernels/rounding/anchor.h"

/* The word of 2^e for x in binade e, or of 2^emin if it is larger: by the units for numbers, where the units for
 * integers have more to do. */
ULP_INLINE vbits binade_by_numbers(vdouble x, const lane_format *f) {
    const vdouble binade = (vdouble)((vbits)x & 0x7ff0000000000000u);
    return (vbits)larger(binade, (vdouble)all_bits(f->least));
}

/* Mode rne; results of zero are +0. binade: the word of 2^e for x in binade e, or of 2^emin. */
ULP_INLINE vdouble round_at(vdouble x, vbits binade, const lane_format *f) {
    return double_anchor_round(x, (vdouble)(binade + f->anchor), 0, ULP_RNE);
}

/* Mode rne. multiples: x is +0 or a multiple of the least quantum, so that subnormal results are exact and no negative
 * number becomes zero. */
ULP_INLINE vdouble round_nearest(vdouble x, const lane_format *f, int multiples) {
    if (multiples) return round_at(x, (vbits)x & 0x7ff0000000000000u, f);
    return double_anchor_round(x, (vdouble)(binade_by_numbers(x, f) + f->anchor), f->signs, ULP_RNE);
}

/* Mode rne; results of zero are +0. */
ULP_INLINE vdouble round_unsigned(vdouble x, const lane_format *f) { return round_at(x, binade_by_numbers(x, f), f); }

/* A saturated result; NaN stays. */
ULP_INLINE vdouble saturate(vdouble x, const lane_format *f) {
    return smaller(all_doubles(f->most), larger(all_doubles(f->lowest), x));
}

/* Modes rna, rz, ru, rd, ro and sra of normal values. `mode` is a constant. */
ULP_INLINE vdouble round_normal(vdouble x, const lane_format *f, uint32_t mode, vbits word) {
    const vbits u = (vbits)x;
    return (vdouble)cut_bits(u, all_bits(f->ones), all_bits(0), (vbits)((vsigned)u >> 63), word << f->shift, mode);
}

/* DOUBLES random words, one in each lane. */
ULP_INLINE vbits random_lanes(const uint32_t *words, const lane_format *f) { return wide_words(words) & f->random; }

/* Mode sra. A random word is a part of a quantum, in units of 2^-32 quanta. */
ULP_INLINE vdouble round_by_words(vdouble x, vbits binade, const lane_format *f, vbits word) {
    const vdouble size = (vdouble)((vbits)x & ~all_bits(1ull << 63)), anchor = (vdouble)(binade + f->anchor);
    if (ROUNDS_TOWARD) { /* two truncations give the result of one */
        const vdouble random = __builtin_convertvector(word, vdouble);
        const vdouble sum = fused_toward(random, (vdouble)(binade - f->word), size, ULP_RZ);
        return double_anchor_signed(double_anchor_sum(sum, anchor, ULP_RD) - anchor, (vbits)x, f->signs);
    }
    /* up if the rest in units of 2^-32 quanta, plus the word, is at least 2^32 */
    const vdouble down = double_anchor_sum(size, anchor, ULP_RD);
    const vdouble rest = (size - (down - anchor)) * (vdouble)(f->per - binade);
    const vdouble least = (0x1p52 + 0x1p32) - (vdouble)(word | 0x4330000000000000u);
    return double_anchor_signed((vdouble)((vbits)down - (vbits)(rest >= least)) - anchor, (vbits)x, f->signs);
}

/* x rounded in modes rne, rna, rz, ru, rd, ro and sra, for p <= 24. `mode` is a constant. Where |x| is above the
 * largest value of the format, the result is either right or larger than this value, an infinity or NaN. */
ULP_INLINE vdouble round_anchored(vdouble x, const lane_format *f, uint32_t mode, vbits word) {
    const int by_numbers = mode == ULP_RNE || mode == ULP_RNA;
    const vbits binade =
        by_numbers ? binade_by_numbers(x, f) : larger_exponents((vbits)x & 0x7ff0000000000000u, all_bits(f->least));
    if (mode == ULP_SRA) return round_by_words(x, binade, f, word);
    return double_anchor_round(x, (vdouble)(binade + f->anchor), f->signs, mode);
}

#endif
