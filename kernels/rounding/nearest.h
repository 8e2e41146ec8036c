/* nearest.h - rounding to nearest even by the processor's own binary64 addition, and where that has the exact sum's
 * bits.
 *
 * Beside kernels/rounding/core.h, for mode rne alone: two additions where that takes dozens of integer operations. Host
 * and device; what prepares it is the host's.
 */
#ifndef ULP_NEAREST_H
#define ULP_NEAREST_H

#include "kernels/products/exact_step.h"

/* What ulp_nearest64 needs of a format. */
typedef struct ulp_nearest {
    double least, most; /* 2^emin, and 2^(emax+1), beyond which every value rounds alike */
    uint64_t anchor;    /* added to the word of a binade 2^e: 1.5 2^(e+53-p), whose last place is the quantum there */
    double up, down;    /* inverse powers of two; up takes 2^(emax+1) to infinity */
    double max;         /* where values saturate */
    uint32_t zero_sign; /* the sign bit, of the upper half of a word, if zeros keep it */
} ulp_nearest;

/* What is done about values beyond the range. */
enum { ULP_RANGE_WATCHED, ULP_RANGE_OPEN, ULP_RANGE_CLOSED };

static inline ulp_nearest ulp_nearest_of(const ulp_format *f) {
    ulp_nearest n;
    n.least = ulp_scale(1.0, f->emin);
    n.most = ulp_scale(1.0, f->emax + 1);
    n.anchor = (uint64_t)(53 - f->prec) << 52 | 1ull << 51;
    n.up = ulp_scale(1.0, 1023 - f->emax);
    n.down = 1.0 / n.up;
    n.max = f->max;
    n.zero_sign = f->has_neg_zero ? 0x80000000u : 0u;
    return n;
}

/* OPEN or CLOSED, with *n prepared, where ulp_nearest64 is the rounding of a rule: rne that overflows to an infinity of
 * the format, or saturates; else WATCHED. */
static inline int ulp_nearest_range(ulp_nearest *n, const ulp_format *f, ulp_rule rule) {
    const ulp_overflow policy = ulp_overflow_of(f, (ulp_overflow)rule.overflow);
    const double full = ulp_scale(2.0 - ulp_scale(1.0, 1 - f->prec), f->emax); /* the end of the last binade */
    const int open = policy == ULP_OVERFLOW_INF && f->has_inf && f->max == full;
    const int closed = policy == ULP_OVERFLOW_SAT && f->lowest == -f->max;
    if (rule.mode != ULP_RNE || !f->has_subnormals || f->emax < f->emin || !(open || closed)) return ULP_RANGE_WATCHED;
    *n = ulp_nearest_of(f);
    return open ? ULP_RANGE_OPEN : ULP_RANGE_CLOSED;
}

/* The larger of two non-negative doubles as words; which comparison is one instruction depends on the set. */
ULP_CORE uint64_t ulp_nearest_larger(uint64_t a, uint64_t b) {
#if defined(__AVX512F__)
    return (int64_t)a > (int64_t)b ? a : b;
#else
    const double x = ulp_from_bits64(a), y = ulp_from_bits64(b);
    return ulp_bits64(x > y ? x : y);
#endif
}

/* What is added to a value of a binade, and taken off again. */
ULP_CORE double ulp_nearest_anchor(uint64_t binade, const ulp_nearest *n, int range) {
#if defined(__CUDA_ARCH__) || defined(ULP_EMULATED_DEVICE)
    /* Upper halves; the others are zero. Sums of products of binary32 values end far below binary64's range, where no
     * anchor overflows; those of Inf and NaN pass the end of an int, and any anchor leaves them what they are. */
    const int32_t up = (int32_t)(n->anchor >> 32), least = (int32_t)(ulp_bits64(n->least) >> 32);
    (void)range;
    return ulp_from_bits64((uint64_t)(uint32_t)__viaddmax_s32((int32_t)(binade >> 32), up, least + up) << 32);
#else
    binade = ulp_nearest_larger(binade, ulp_bits64(n->least));
    if (range != ULP_RANGE_WATCHED) {
        const double b = ulp_from_bits64(binade);
        binade = ulp_bits64(n->most < b ? n->most : b);
    }
    return ulp_from_bits64(binade + n->anchor);
#endif
}

/* x rounded to nearest even: adding the anchor rounds at the format's last place. OPEN overflows to infinity, CLOSED
 * saturates, Inf and NaN pass; WATCHED holds while *peak, the largest binade met, stays below that of the largest
 * value. */
ULP_CORE double ulp_nearest64(double x, const ulp_nearest *n, int range, uint64_t *peak) {
    const uint64_t binade = ulp_bits64(x) & 0x7ff0000000000000u;
    if (range == ULP_RANGE_WATCHED) *peak = ulp_nearest_larger(binade, *peak);
    const double anchor = ulp_nearest_anchor(binade, n, range);
    double y = (x + anchor) - anchor;
    if (range == ULP_RANGE_CLOSED) {
        y = n->max < y ? n->max : y;
        y = -n->max > y ? -n->max : y;
    }
    if (range == ULP_RANGE_OPEN) y = y * n->up * n->down;
    return ulp_from_bits64(ulp_bits64(y) | (ulp_bits64(x) & (uint64_t)n->zero_sign << 32));
}

/* Whether RN53(acc + a b) rounds like acc + a b, a and b of at most pa and pb significant bits. A difference needs
 * RN53(x) = T != x for a tie T of the format, in a binade e <= emax + 1, so 0 < |x - T| <= 2^(e-53). With quantum q
 * there, acc lies q/2 or more from T, so |a b| >= q/4 = 2^(e-p-1), and x - T is a multiple of the last places of a b,
 * at least 2^(e-p-pa-pb), or of 2^(qmin-1). */
static inline int ulp_nearest_by_fma(const ulp_format *f, int pa, int pb) {
    return f->prec + pa + pb <= 52 && f->emax - f->qmin <= 50;
}

/* x + y, both values of one format of at most 24 bits, ready for ulp_nearest64: binary64's own rounding first changes
 * nothing, p <= 24 makes 53 >= 2 p + 2 (Figueroa 1995, doi:10.1145/221332.221334). */
ULP_CORE double ulp_nearest_sum(double x, double y) { return x + y; }

#endif
