/* anchor.h - rounding by additions in the device's rounding modes: the bits of ulp_core_round64, for every mode.
 *
 * Let q be the quantum of x's binade and A = 2^52 q. The last place of |x| + A is q, so that the addition rounds |x| to
 * a multiple of q: toward zero, upward or to nearest. The subtraction of A is exact. Two truncations give the result of
 * one truncation. A stochastic mode therefore adds its random part of a quantum to |x| and truncates: the sum carries
 * exactly if floor(nu 2^r) + R >= 2^r. The subtraction is not exact only for |x| beyond 2^top, where all values round
 * alike.
 */
#ifndef ULP_CUDA_ANCHOR_H
#define ULP_CUDA_ANCHOR_H

#include <cuda_runtime.h>

#include "kernels/rounding/core.h"

/* A format and a rule. Index [1] is for negative values. */
typedef struct ulp_anchored {
    int emin, qmin, top; /* least normal exponent, exponent of the least quantum, largest exponent + 1 */
    int bits;            /* p - 1 */
    uint32_t zero_sign;  /* sign bit that a zero result keeps, in the high word */
    uint32_t mode, random_bits;
    double limit[2], overflow[2], infinite[2];
} ulp_anchored;

/* The modes that ulp_anchored_magnitude offers. */
enum {
    ULP_ANCHORED_MODES = 1 << ULP_RNE | 1 << ULP_RNA | 1 << ULP_RZ | 1 << ULP_RU | 1 << ULP_RD | 1 << ULP_RO |
                         1 << ULP_SRA | 1 << ULP_SRB | 1 << ULP_SRC
};

/* Prepares *p. 0 for a mode outside ULP_ANCHORED_MODES, for a format and rule that kernels/rounding/core.h does not
 * offer, and where a binary64 word folded to odd does not round like the exact value. */
static inline int ulp_anchored_init(ulp_anchored *p, const ulp_format *f, ulp_rule rule) {
    ulp_core core;
    if (!ulp_mode_in(rule.mode, ULP_ANCHORED_MODES)) return 0;
    if (!ulp_core_init(&core, f, rule) || !ulp_core64_decides(&core)) return 0;
    p->emin = f->emin;
    p->qmin = f->has_subnormals ? f->qmin : f->emin;
    p->top = f->emax + 1;
    p->bits = (int)f->prec - 1;
    p->zero_sign = core.zero_sign;
    p->mode = core.mode;
    p->random_bits = core.random_bits;
    for (int neg = 0; neg < 2; neg++) {
        p->limit[neg] = ulp_from_bits64(core.limit64[neg]);
        p->overflow[neg] = ulp_from_bits64(core.overflow64[neg]);
        p->infinite[neg] = ulp_from_bits64(core.infinite64[neg]);
    }
    return 1;
}

static __device__ inline uint32_t ulp_high(double x) { return (uint32_t)(ulp_bits64(x) >> 32); }
static __device__ inline double ulp_from_high(uint32_t u) { return ulp_from_bits64((uint64_t)u << 32); }

/* The high word of 2^e. */
static __device__ inline uint32_t ulp_power(int e) { return (uint32_t)(e + 1023) << 20; }

/* The exponent of x, at least `least` and at most 800. Zero has the exponent `least`. */
static __device__ inline int ulp_exponent(double x, int least) {
    const int e = (int)(ulp_high(x) >> 20 & 0x7ff) - 1023;
    return min(max(e, least), 800);
}

/* x with the bits below 2^unit cut off, or rounded to nearest even at 2^unit. Zero gives +0. |x| < 2^(unit+52) if x is
 * finite. */
template <bool NEAREST> static __device__ inline double ulp_to_unit(double x, int unit) {
    const double anchor = ulp_from_high((ulp_high(x) & 0x80000000u) | ulp_power(unit + 52));
    return (NEAREST ? x + anchor : __dadd_rz(x, anchor)) - anchor;
}

/* v 2^unit for v < 2^34 */
static __device__ inline double ulp_anchored_part(uint64_t v, int unit) {
    const uint64_t base = (uint64_t)ulp_power(unit + 52) << 32;
    return ulp_from_bits64(base + v) - ulp_from_bits64(base);
}

/* `size` = |x| rounded by `mode` to a multiple of 2^unit, for size < 2^(unit+52). */
static __device__ inline double ulp_anchored_magnitude(double size, int unit, bool negative, const ulp_anchored &p,
                                                       uint32_t mode, uint32_t word) {
    const double anchor = ulp_from_high(ulp_power(unit + 52));
    const uint32_t r = p.random_bits, random = word & 0xffffffffu << (32 - r);
    switch (mode) {
    case ULP_RNE: return (size + anchor) - anchor;
    case ULP_RNA: return __dadd_rz(__dadd_rz(size, ulp_from_high(ulp_power(unit - 1))), anchor) - anchor;
    case ULP_RZ: return __dadd_rz(size, anchor) - anchor;
    case ULP_RU: return (negative ? __dadd_rz(size, anchor) : __dadd_ru(size, anchor)) - anchor;
    case ULP_RD: return (negative ? __dadd_ru(size, anchor) : __dadd_rz(size, anchor)) - anchor;
    case ULP_RO: {
        const double cut = __dadd_rz(size, anchor);
        return ulp_from_bits64(ulp_bits64(cut) | (uint64_t)(cut - anchor != size)) - anchor;
    }
    case ULP_SRA: return __dadd_rz(__dadd_rz(size, ulp_anchored_part(random, unit - 32)), anchor) - anchor;
    case ULP_SRB: { /* R + 1/2 */
        const uint64_t more = (uint64_t)random << 1 | 1ull << (32 - r);
        return __dadd_rz(__dadd_rz(size, ulp_anchored_part(more, unit - 33)), anchor) - anchor;
    }
    case ULP_SRC: { /* first to nearest even in units of 2^-r of a quantum */
        const double finer = ulp_from_high(ulp_power(unit - (int)r + 52)), near = (size + finer) - finer;
        return __dadd_rz(__dadd_rz(near, ulp_anchored_part(random, unit - 32)), anchor) - anchor;
    }
    default: return ulp_quiet_nan(); /* no mode of ULP_ANCHORED_MODES */
    }
}

static __device__ inline double ulp_anchored_round(double x, const ulp_anchored &p, uint32_t mode, uint32_t word) {
    const uint32_t high = ulp_high(x), sign = high & 0x80000000u;
    const int e = min((int)(high >> 20 & 0x7ff) - 1023, p.top), unit = e < p.emin ? p.qmin : e - p.bits;
    const double size = ulp_from_bits64(ulp_bits64(x) & 0x7fffffffffffffffu);
    const double magnitude = ulp_anchored_magnitude(size, unit, sign != 0, p, mode, word);
    double y = ulp_from_bits64(ulp_bits64(magnitude) | (uint64_t)(magnitude == 0.0 ? sign & p.zero_sign : sign) << 32);
    y = magnitude > (sign ? p.limit[1] : p.limit[0]) ? (sign ? p.overflow[1] : p.overflow[0]) : y;
    return size > 0x1.fffffffffffffp1023 ? (sign ? p.infinite[1] : p.infinite[0]) : y;
}

#endif
