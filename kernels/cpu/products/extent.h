/* extent.h - the range of the operands of a sum: the conditions under which sums in binary64 are exact. */
#ifndef ULP_CPU_EXTENT_H
#define ULP_CPU_EXTENT_H

#include "kernels/cpu/cpu.h"
#include "kernels/rounding/nearest.h"

/* The range of operands: |x| < 2^top, x is a multiple of 2^low and has at most `bits` significant bits. narrow: every
 * x is finite, and top and low are not extreme. */
typedef struct extent {
    int top, low, bits, narrow;
} extent;

/* The largest power of two that divides x; Inf for zero. */
ULP_INLINE double lowest_bit(double x) {
    const uint64_t u = ulp_bits64(x) & 0x7fffffffffffffffu, fraction = u & 0xfffffffffffffu;
    const double rest = ulp_from_bits64(u) - ulp_from_bits64(u & (u - 1)); /* the last bit that is set */
    const uint64_t least = ulp_select((uint64_t)(fraction == 0), u, ulp_bits64(rest));
    return ulp_from_bits64(ulp_select((uint64_t)(u == 0), 0x7ff0000000000000u, least));
}

/* The range of x (n). */
static inline extent extent_of(const double *x, size_t n) {
    uint64_t most = 0, least = 0x7ff0000000000000u, bits = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t u = ulp_bits64(x[i]) & 0x7fffffffffffffffu;
        most = (int64_t)u > (int64_t)most ? u : most;
    }
    for (size_t i = 0; i < n; i++) {
        const uint64_t q = ulp_bits64(lowest_bit(x[i]));
        least = (int64_t)q < (int64_t)least ? q : least;
    }
    for (size_t i = 0; i < n; i++) {
        const uint64_t q = ulp_bits64(lowest_bit(x[i])) >> 52, u = (ulp_bits64(x[i]) & 0x7fffffffffffffffu) >> 52;
        const uint64_t wide = (u - q) & (0u - (uint64_t)(u > q)); /* 0 for zeros */
        bits = (int64_t)wide > (int64_t)bits ? wide : bits;
    }
    if (most == 0) return (extent){0, 0, 0, 1};
    const int top = (int)(most >> 52) - 1022, low = (int)(least >> 52) - 1023;
    return (extent){top, low, (int)bits + 1, top < 450 && low > -450};
}

/* The range of two arrays together. */
static inline extent extent_both(extent x, extent y) {
    if (x.bits == 0 || y.bits == 0) return x.bits == 0 ? y : x; /* only zeros */
    return (extent){.top = x.top > y.top ? x.top : y.top,
                    .low = x.low < y.low ? x.low : y.low,
                    .bits = x.bits > y.bits ? x.bits : y.bits,
                    .narrow = x.narrow && y.narrow};
}

/* Mode rne: whether RN53(acc + a b) rounds like acc + a b for operands of the extents a and b, where acc is 0 or a
 * value of the format of at least 2^least. Let x = acc + a b. As for ulp_nearest_by_fma, RN53(x) = T != x for a tie T
 * in a binade e, d = a b - T and |a b| >= 2^(e-p-1), so that a b and d are multiples of 2^(e-p-pa-pb). If d = 0, then
 * acc = x - T is at most 2^(e-53), below 2^least. Else acc = 0 gives |x - T| = |d| > 2^(e-53), and so does acc != 0:
 * |acc| >= |d| - 2^(e-53) makes x - T a multiple of 2^(e-2p-pa-pb). */
static inline int nearest_by_fused(const ulp_format *f, const extent *a, const extent *b, int least) {
    return 2 * f->prec + a->bits + b->bits <= 52 && a->top + b->top < 53 + least;
}

#endif
