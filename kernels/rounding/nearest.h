/* nearest.h - rounding to nearest even by the processor's binary64 addition, for mode rne.
 *
 * kernels/rounding/core.h serves all modes with dozens of integer operations; here two additions round. The conditions
 * for exact bits are stated at the functions. The rounding functions are for host and device; the preparation is for
 * the host.
 */
#ifndef ULP_NEAREST_H
#define ULP_NEAREST_H

#include "kernels/products/exact_step.h"
#include "kernels/rounding/core.h"

/* The constants of a format for ulp_nearest64. */
typedef struct ulp_nearest {
    double least, most; /* 2^emin, and 2^(emax+1); all values from 2^(emax+1) on round alike */
    uint64_t anchor;    /* anchor + word of 2^e = 1.5 2^(e+53-p), whose last place is the quantum at 2^e */
    double up, down;    /* powers of two with product 1; multiplication by up takes 2^(emax+1) to infinity */
    double max;         /* the magnitude of saturated values */
    uint32_t zero_sign; /* the sign bit in the upper half of a word if zeros keep their sign, else 0 */
} ulp_nearest;

/* The treatment of values beyond the range: overflow to infinity, saturation; NONE: no value is beyond the range;
 * OTHER: a treatment that ulp_nearest64 does not offer. */
enum { ULP_RANGE_OTHER, ULP_RANGE_OPEN, ULP_RANGE_CLOSED, ULP_RANGE_NONE };

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

/* Returns OPEN or CLOSED and prepares *n where ulp_nearest64 rounds as the rule says: rne that overflows to an infinity
 * of the format (OPEN) or saturates (CLOSED). Else returns OTHER. */
static inline int ulp_nearest_range(ulp_nearest *n, const ulp_format *f, ulp_rule rule) {
    const ulp_overflow policy = ulp_overflow_of(f, (ulp_overflow)rule.overflow);
    const double full = ulp_scale(2.0 - ulp_scale(1.0, 1 - f->prec), f->emax); /* the end of the last binade */
    const int open = policy == ULP_OVERFLOW_INF && f->has_inf && f->max == full;
    const int closed = policy == ULP_OVERFLOW_SAT && f->lowest == -f->max;
    if (rule.mode != ULP_RNE || !f->has_subnormals || f->flushes != 0 || f->emax < f->emin || !(open || closed))
        return ULP_RANGE_OTHER;
    /* p = 1: "even" is the parity of the code, and the addition of an anchor does not see the code */
    if (f->prec < 2) return ULP_RANGE_OTHER;
    *n = ulp_nearest_of(f);
    return open ? ULP_RANGE_OPEN : ULP_RANGE_CLOSED;
}

/* The larger of two non-negative doubles, as words. The instruction set decides which comparison is one instruction. */
ULP_CORE uint64_t ulp_nearest_larger(uint64_t a, uint64_t b) {
#if defined(__AVX512F__)
    return (int64_t)a > (int64_t)b ? a : b;
#else
    const double x = ulp_from_bits64(a), y = ulp_from_bits64(b);
    return ulp_bits64(x > y ? x : y);
#endif
}

/* The anchor of a value: a number that is added to the value and then subtracted. */
ULP_CORE double ulp_nearest_anchor(uint64_t binade, const ulp_nearest *n, int range) {
#if defined(__CUDA_ARCH__) || defined(ULP_EMULATED_DEVICE)
    /* The computation uses the upper halves; the lower halves are zero. Sums of products of binary32 values stay far
     * below the end of the range of binary64, so that no anchor overflows. The binade of Inf and NaN overflows the int,
     * but every anchor leaves Inf and NaN unchanged. */
    const int32_t up = (int32_t)(n->anchor >> 32), least = (int32_t)(ulp_bits64(n->least) >> 32);
    (void)range;
    return ulp_from_bits64((uint64_t)(uint32_t)__viaddmax_s32((int32_t)(binade >> 32), up, least + up) << 32);
#else
    binade = ulp_nearest_larger(binade, ulp_bits64(n->least));
    if (range == ULP_RANGE_OPEN || range == ULP_RANGE_CLOSED) {
        const double b = ulp_from_bits64(binade);
        binade = ulp_bits64(n->most < b ? n->most : b);
    }
    return ulp_from_bits64(binade + n->anchor);
#endif
}

/* x rounded to nearest even: the addition of the anchor rounds at the format's last place. OPEN overflows to infinity,
 * CLOSED saturates, Inf and NaN stay. */
ULP_CORE double ulp_nearest64(double x, const ulp_nearest *n, int range) {
    const uint64_t binade = ulp_bits64(x) & 0x7ff0000000000000u;
    const double anchor = ulp_nearest_anchor(binade, n, range);
    double y = ulp_anchor64_round(x, anchor, 0, ULP_RNE);
    if (range == ULP_RANGE_CLOSED) {
        y = n->max < y ? n->max : y;
        y = -n->max > y ? -n->max : y;
    }
    if (range == ULP_RANGE_OPEN) y = y * n->up * n->down;
    return ulp_from_bits64(ulp_bits64(y) | (ulp_bits64(x) & (uint64_t)n->zero_sign << 32));
}

/* Whether RN53(acc + a b) rounds like acc + a b, where a and b have at most pa and pb significant bits. Let
 * x = acc + a b. A difference needs RN53(x) = T != x for a tie T of the format in a binade e <= emax + 1, so that
 * 0 < |x - T| <= 2^(e-53). Let q be the quantum there. acc is at least q/2 from T, so |a b| >= q/4 = 2^(e-p-1), and
 * x - T is a multiple of the last place of a b, at least 2^(e-p-pa-pb), or of 2^(qmin-1). */
static inline int ulp_nearest_by_fma(const ulp_format *f, int pa, int pb) {
    return f->prec + pa + pb <= 52 && f->emax - f->qmin <= 50;
}

/* x + y for two values of one format of at most 24 bits, as an argument of ulp_nearest64. The rounding of binary64
 * changes no result of ulp_nearest64: p <= 24 gives 53 >= 2 p + 2 (Figueroa 1995, doi:10.1145/221332.221334). */
ULP_CORE double ulp_nearest_sum(double x, double y) { return x + y; }

#endif
