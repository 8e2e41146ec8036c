/* anchor.h - rounding by kernels/rounding/anchor.h on the device: the bits of ulp_core_round64, for every mode.
 *
 * Let q be the quantum of x's binade. The device adds in every direction, and two truncations give the result of one
 * truncation. A stochastic mode therefore adds its random part of a quantum to |x| and truncates: the sum carries
 * exactly if floor(nu 2^r) + R >= 2^r. The subtraction of the anchor is not exact only for |x| beyond 2^top, where all
 * values round alike.
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

/* The modes that ulp_anchored_round offers. */
enum { ULP_ANCHORED_MODES = ULP_NARROW_MODES | 1 << ULP_SRA | 1 << ULP_SRB | 1 << ULP_SRC };

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

/* a + b in the direction of mode rz, ru or rd. */
static __device__ inline double ulp_sum_toward(double a, double b, uint32_t mode) {
    return mode == ULP_RU ? __dadd_ru(a, b) : mode == ULP_RD ? __dadd_rd(a, b) : __dadd_rz(a, b);
}

#define ANCHOR_NAME(part) ulp_device_anchor_##part
#define ANCHOR_NUMBER double
#define ANCHOR_WORD uint64_t
#define ANCHOR_MASK uint64_t
#define ANCHOR_BITS ulp_bits64
#define ANCHOR_FROM ulp_from_bits64
#define ANCHOR_WHERE(condition) (0u - (uint64_t)(condition))
#define ANCHOR_TOWARD ulp_sum_toward
#define ANCHOR_FN static __device__ inline
#include "kernels/rounding/anchor.h"

/* 1.5 2^(unit+52), an anchor of numbers below 2^(unit+51). */
static __device__ inline double ulp_anchor_of(int unit) { return ulp_from_high(ulp_power(unit + 52) | 1u << 19); }

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

/* size >= 0 and the random part of 2^unit that a stochastic mode adds, cut toward zero; what lies below 2^unit decides
 * no more. */
static __device__ inline double ulp_anchored_plus(double size, int unit, const ulp_anchored &p, uint32_t mode,
                                                  uint32_t word) {
    const uint32_t r = p.random_bits, random = word & 0xffffffffu << (32 - r);
    if (mode == ULP_SRB) /* R + 1/2 */
        return __dadd_rz(size, ulp_anchored_part((uint64_t)random << 1 | 1ull << (32 - r), unit - 33));
    if (mode == ULP_SRC) { /* first to nearest even in units of 2^-r of a quantum */
        const double finer = ulp_from_high(ulp_power(unit - (int)r + 52));
        size = ulp_device_anchor_round(size, finer, 0, ULP_RNE);
    }
    return __dadd_rz(size, ulp_anchored_part(random, unit - 32));
}

static __device__ inline double ulp_anchored_round(double x, const ulp_anchored &p, uint32_t mode, uint32_t word) {
    const uint64_t u = ulp_bits64(x), sign = u & 1ull << 63;
    const int e = min((int)(ulp_high(x) >> 20 & 0x7ff) - 1023, p.top), unit = e < p.emin ? p.qmin : e - p.bits;
    const double size = ulp_from_bits64(u ^ sign);
    double from = x;
    if (ulp_mode_is_stochastic(mode)) {
        from = ulp_from_bits64(ulp_bits64(ulp_anchored_plus(size, unit, p, mode, word)) | sign);
        mode = ULP_RZ;
    }
    double y = ulp_device_anchor_round(from, ulp_anchor_of(unit), (uint64_t)p.zero_sign << 32, mode);
    const double magnitude = ulp_from_bits64(ulp_bits64(y) & ~(1ull << 63));
    y = magnitude > (sign ? p.limit[1] : p.limit[0]) ? (sign ? p.overflow[1] : p.overflow[0]) : y;
    return size > 0x1.fffffffffffffp1023 ? (sign ? p.infinite[1] : p.infinite[0]) : y;
}

#endif
