/* lane_rounding.h - vectors of sums rounded to a format in a few instructions, under conditions that a watch checks.
 *
 * Mode rne: the addition of an anchor, whose last place is the quantum, rounds to nearest even. It serves every range
 * of values below the overflow. The other modes round the significand as an integer at a fixed bit. They serve normal
 * values of the format. A caller forms sums in this way, and forms them again by kernels/rounding/core.h where the
 * watch found a value outside the range.
 */
#ifndef ULP_CPU_LANE_ROUNDING_H
#define ULP_CPU_LANE_ROUNDING_H

#include <string.h>

#include "doubles.h"
#include "kernels/rounding/nearest.h"

/* The constants of a format and rule. */
typedef struct lane_format {
    uint64_t least, anchor; /* the word of 2^emin; anchor + word of 2^e is a number whose last place is the quantum */
    uint64_t signs;         /* the sign bit, if zeros keep their sign */
    uint64_t ones, half;    /* the bits that normal values lose; the first of them */
    uint64_t random;        /* mask of the bits of a random word that are used */
    uint32_t shift;         /* from a random word to the bits that are lost */
    double lowest, most;    /* the ends of the range, for saturation */
} lane_format;

static inline lane_format lane_format_of(const ulp_format *f, const ulp_core *c) {
    const uint32_t lost = 53u - f->prec;
    return (lane_format){.least = ulp_bits64(ulp_scale(1.0, f->emin)),
                         .anchor = (uint64_t)lost << 52 | 1ull << 51,
                         .signs = f->has_neg_zero ? 1ull << 63 : 0,
                         .ones = (1ull << lost) - 1,
                         .half = 1ull << (lost - 1),
                         .random = c->random,
                         .shift = lost > 32 ? lost - 32 : 0,
                         .lowest = f->lowest,
                         .most = f->max};
}

/* Mode rne. multiples: x is +0 or a multiple of the least quantum, so that subnormal results are exact and no negative
 * number becomes zero. */
ULP_INLINE vdouble round_nearest(vdouble x, const lane_format *f, int multiples) {
    vbits binade = (vbits)x & 0x7ff0000000000000u;
    if (!multiples) binade = (vbits)larger((vdouble)binade, (vdouble)all_bits(f->least));
    const vdouble anchor = (vdouble)(binade + f->anchor), y = (x + anchor) - anchor;
    return multiples ? y : (vdouble)((vbits)y | ((vbits)x & f->signs));
}

/* A saturated result; NaN stays. */
ULP_INLINE vdouble saturate(vdouble x, const lane_format *f) {
    return smaller(all_doubles(f->most), larger(all_doubles(f->lowest), x));
}

/* Modes rna, rz, ru, ro and sra of normal values. `mode` is a constant. */
ULP_INLINE vdouble round_normal(vdouble x, const lane_format *f, uint32_t mode, vbits word) {
    const vbits u = (vbits)x, ones = all_bits(f->ones), negative = (vbits)((vsigned)u >> 63);
    switch (mode) {
    case ULP_RNA: return (vdouble)((u + f->half) & ~ones);
    case ULP_RU: return (vdouble)((u + (ones & ~negative)) & ~ones);
    case ULP_RO: return (vdouble)((u | ((u & ones) + ones)) & ~ones);
    case ULP_SRA: return (vdouble)((u + (word << f->shift)) & ~ones);
    default: return (vdouble)(u & ~ones); /* rz */
    }
}

typedef uint32_t vwords __attribute__((vector_size(ULP_VECTOR_BYTES / 2)));

/* DOUBLES random words, one in each lane. */
ULP_INLINE vbits random_lanes(const uint32_t *words, const lane_format *f) {
    vwords part;
    memcpy(&part, words, sizeof part);
    return __builtin_convertvector(part, vbits) & f->random;
}

#endif
