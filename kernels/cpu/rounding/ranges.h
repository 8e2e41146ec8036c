/* ranges.h - the largest magnitude and the least bit of binary32 numbers, without special values. */
#ifndef ULP_CPU_RANGES_H
#define ULP_CPU_RANGES_H

#include <math.h>

#include "kernels/cpu/products/gemm.h"

/* |x| <= most, and x is a multiple of 2^low. Zeros alone have most = 0 and low = 1000. */
typedef struct range {
    float most;
    int low;
} range;

static const range empty_range = {0.0f, 1000};

static inline range range_of(const float *x, size_t n) {
    uint32_t most = 0, least = 0x7f800000u;
    for (size_t i = 0; i < n; i++) {
        const uint32_t u = ulp_bits32(x[i]) & 0x7fffffffu, finite = 0u - (uint32_t)(u < 0x7f800000u), v = u & finite;
        const float rest = ulp_from_bits32(v) - ulp_from_bits32(v & (v - 1)); /* the last bit of the code that is set */
        const uint32_t q = (v & 0x7fffffu) == 0 ? v : ulp_bits32(rest), bit = v == 0 ? 0x7f800000u : q;
        most = v > most ? v : most;
        least = bit < least ? bit : least;
    }
    if (most == 0) return empty_range;
    return (range){ulp_from_bits32(most), ilogbf(ulp_from_bits32(least))};
}

/* The range of two arrays together. */
static inline range range_both(range x, range y) {
    return (range){x.most > y.most ? x.most : y.most, x.low < y.low ? x.low : y.low};
}

/* The exponent e with most < 2^e. */
static inline int range_top(range x) { return x.most == 0.0f ? -1000 : ilogbf(x.most) + 1; }

#endif
