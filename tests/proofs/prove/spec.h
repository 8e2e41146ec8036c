/* spec.h - the meaning of a rounding in plain integers, with which `make prove` compares the library.
 *
 * This text includes nothing of formats/ and kernels/ and uses no floating-point number. A binary64 number is its 64
 * bits. A format is the parameters of its standard (spec_format). The value |x| = M 2^e2 is cut at the quantum 2^q:
 * |x| = (m + rem / 2^shift) 2^q. Each mode is an inequality of integers between rem and 2^shift.
 *
 * SPEC_FAULT plants a fault; a proof of a specification with a fault has to fail:
 *   1 ties of rne go to odd numbers, and the decision of the stochastic modes is one unit late
 *   2 the largest value is one code less
 *   3 below the normal numbers the quantum is twice as large
 */
#ifndef SPEC_H
#define SPEC_H

#include <stdint.h>

#ifndef SPEC_FAULT
#define SPEC_FAULT 0
#endif

__extension__ typedef unsigned __int128 spec_wide;

enum {
    SPEC_RNE,
    SPEC_RNA,
    SPEC_RZ,
    SPEC_RU,
    SPEC_RD,
    SPEC_RO,
    SPEC_SRA,
    SPEC_SRB,
    SPEC_SRC,
    SPEC_RNU,
    SPEC_RNZ,
    SPEC_RND,
    SPEC_MODES
};
enum { SPEC_DEFAULT, SPEC_TO_INF, SPEC_TO_END, SPEC_TO_NAN, SPEC_WRAP };
enum { SPEC_NAN_NONE, SPEC_NAN_IEEE, SPEC_NAN_ALL_ONES, SPEC_NAN_NEG_ZERO };
enum { SPEC_FLAT, SPEC_POSIT, SPEC_TAKUM, SPEC_HIF8 };

typedef struct spec_format {
    int bits, prec, bias, frac; /* prec: 0 in fixed-point and tapered formats; frac: F of qI.F */
    int is_signed, is_fixed, has_inf, has_zero, has_neg_zero, has_subnormals, zero_binade;
    int nan, policy, taper, es;
} spec_format;

/* The question to a rounding. r: the number of random bits; R is the top r bits of word. */
typedef struct spec_asked {
    uint32_t mode, policy, word, r;
} spec_asked;

static inline int spec_is_stochastic(uint32_t mode) { return mode >= SPEC_SRA && mode <= SPEC_SRC; }

static const uint64_t spec_sign = 0x8000000000000000u, spec_inf = 0x7ff0000000000000u, spec_nan = 0x7ff8000000000000u;
static const uint64_t spec_hidden = 0x10000000000000u; /* 2^52 */

/* ---- numbers as bits ---- */

/* m 2^q as bits, for m < 2^33 and a normal result or zero. */
static inline uint64_t spec_pattern(uint64_t m, int q) {
    int top = 0; /* floor(log2 m) */
    if (m == 0) return 0;
    for (int step = 32; step > 0; step /= 2)
        if (m >> top >> step != 0) top += step;
    return ((uint64_t)(top + q + 1023) << 52) + ((m << (52 - top)) - spec_hidden);
}

/* The binary64 number of a binary32 number. */
static inline uint64_t spec_widen(uint32_t u) {
    const uint64_t sign = (uint64_t)(u >> 31) << 63, fraction = u & 0x7fffffu, field = u >> 23 & 0xffu;
    if (field == 0xff) return fraction != 0 ? spec_nan : sign | spec_inf;
    return sign | (field == 0 ? spec_pattern(fraction, -149) : (field + 896) << 52 | fraction << 29);
}

/* ---- the ends of the range ---- */

/* The largest magnitude code that is a number. */
static inline uint64_t spec_last_code(const spec_format *f) {
    const uint64_t ones = (1ull << (f->bits - f->is_signed)) - 1, hidden = f->prec ? 1ull << (f->prec - 1) : 0;
    uint64_t top = ones;
    if (f->nan == SPEC_NAN_IEEE) top = ones - (hidden - 1); /* field of ones, fraction 0 */
    if (f->nan == SPEC_NAN_ALL_ONES) top = ones - 1;
    top -= (uint64_t)f->has_inf; /* infinity is the code above the numbers */
    return SPEC_FAULT == 2 ? top - 1 : top;
}

/* The magnitude of the largest or of the lowest value. */
static inline uint64_t spec_end(const spec_format *f, uint32_t neg);

/* The result for a number beyond the range, or for an infinity. */
static inline uint64_t spec_beyond(const spec_format *f, uint32_t mode, uint32_t policy, uint32_t neg, int infinite) {
    const int inward = mode == SPEC_RZ || mode == SPEC_RO || mode == (neg ? SPEC_RU : SPEC_RD);
    const int outside = neg && !f->is_signed; /* negative, in a format without negative numbers */
    /* the end of an unsigned format is its smallest value: 0, or in e8m0 the least power */
    const uint64_t least = f->has_zero ? 0 : spec_pattern(1, -f->bias);
    const uint64_t end = outside ? least : spec_end(f, neg) | (neg ? spec_sign : 0);
    if (policy == SPEC_TO_NAN) return spec_nan;
    if (policy == SPEC_TO_END) return end;
    if (outside) return f->nan == SPEC_NAN_NONE ? end : spec_nan;
    if (inward && !infinite) return end;
    if (f->has_inf) return neg ? spec_sign | spec_inf : spec_inf;
    return f->nan == SPEC_NAN_NONE ? end : spec_nan;
}

static inline uint64_t spec_zero(const spec_format *f, uint32_t neg) {
    if (!f->has_zero) return spec_pattern(1, -f->bias);
    return neg && f->has_neg_zero ? spec_sign : 0;
}

/* ---- the decision ---- */

/* Whether a magnitude is rounded up that is a fraction rem / (base 2^shift) above a number of the format. rem < 2^53,
 * base is 1 or has 10 bits. `odd`: the last bit of the code of the number below. */
static inline int spec_up(spec_asked a, int odd, uint32_t neg, uint64_t rem, uint32_t base, int shift) {
    const int huge = shift >= (base == 1 ? 87 : 78); /* the fraction is below 2^-34 */
    const spec_wide unit = (spec_wide)base << (huge ? 0 : shift), twice = (spec_wide)rem << 1;
    const int above = !huge && twice > unit, tie = !huge && twice == unit;
    /* Both sides of a condition on R are multiplied by 2^(32-r): then R is `random`, 1 is `one` and 2^r is 2^32. The
     * fraction y is rem / unit times 2^32. Up where y is at least `lack`, in the conditions below. */
    const uint64_t one = 1ull << (32 - a.r), random = a.word & ~(one - 1);
    const uint64_t lack = (1ull << 32) - random + (SPEC_FAULT == 1 ? one : 0);
    const spec_wide y2 = (spec_wide)rem << 33, least2 = (spec_wide)(2 * lack - one) * unit; /* twice y; of B and C */
    switch (a.mode) {
    case SPEC_RNE: return above || (tie && (odd ^ (SPEC_FAULT == 1)));
    case SPEC_RNA: return above || tie;
    case SPEC_RZ: return 0;
    case SPEC_RU: return rem != 0 && !neg;
    case SPEC_RD: return rem != 0 && neg;
    case SPEC_RO: return rem != 0 && !odd;
    /* floor(nu 2^r) + R >= 2^r is nu 2^r >= 2^r - R, as R is an integer */
    case SPEC_SRA: return !huge && y2 >= 2 * (spec_wide)lack * unit;
    /* floor(nu 2^(r+1)) + 2 R + 1 >= 2^(r+1) is 2 nu 2^r >= 2 (2^r - R) - 1 */
    case SPEC_SRB: return !huge && y2 >= least2;
    /* roundeven(nu 2^r) + R >= 2^r is nu 2^r > (2^r - R) - 1/2; at the tie roundeven takes the even number */
    case SPEC_SRC: return !huge && (y2 > least2 || (y2 == least2 && (lack & one) == 0));
    case SPEC_RNU: return above || (tie && !neg);
    case SPEC_RNZ: return above;
    case SPEC_RND: return above || (tie && neg);
    default: return 0;
    }
}

/* A magnitude cut at a quantum: m quanta and a rest. */
typedef struct spec_cut {
    uint64_t m, rem;
} spec_cut;

static inline spec_cut spec_cut_at(uint64_t M, int shift) {
    spec_cut cut = {0, M};
    if (shift < 53) {
        cut.m = M >> shift;
        cut.rem = M - (cut.m << shift);
    }
    return cut;
}

#include "spec_tapered.h"

/* ---- floating point and fixed point ---- */

static inline uint64_t spec_end(const spec_format *f, uint32_t neg) {
    if (f->taper != SPEC_FLAT) return spec_tapered_end(f);
    if (f->is_fixed) return spec_pattern((1ull << (f->bits - 1)) - !neg - (SPEC_FAULT == 2), -f->frac);
    const uint64_t code = spec_last_code(f), hidden = 1ull << (f->prec - 1), fraction = code & (hidden - 1);
    const int field = (int)(code >> (f->prec - 1)), normal = field > 0 || !f->has_zero || f->zero_binade;
    return spec_pattern(fraction + (normal ? hidden : 0), (normal ? field : 1) - f->bias - f->prec + 1);
}

/* Fixed point: the multiple of 2^-frac; beyond the range the end, or modulo 2^bits. */
static inline uint64_t spec_fixed(const spec_format *f, spec_asked a, uint32_t neg, uint64_t M, int e2) {
    const int shift = -f->frac - e2;
    const spec_cut cut = spec_cut_at(M, shift > 0 ? shift : 0);
    const uint64_t n = cut.m + (uint64_t)(shift > 0 && spec_up(a, (int)(cut.m & 1), neg, cut.rem, 1, shift));
    const uint64_t half = 1ull << (f->bits - 1);
    if (a.policy == SPEC_WRAP) {
        const uint64_t all = shift > 0 ? n : shift > -64 ? M << -shift : 0;
        const uint64_t code = (neg ? 0 - all : all) & (2 * half - 1);
        return code >= half ? spec_sign | spec_pattern(2 * half - code, -f->frac) : spec_pattern(code, -f->frac);
    }
    if (shift <= 0 || n > half - !neg) return spec_beyond(f, a.mode, a.policy, neg, 0);
    return n == 0 ? spec_zero(f, neg) : spec_pattern(n, -f->frac) | (neg ? spec_sign : 0);
}

static inline uint64_t spec_floating(const spec_format *f, spec_asked a, uint32_t neg, uint64_t M, int e, int e2) {
    const int emin = (f->has_zero && !f->zero_binade) - f->bias, finest = emin - f->prec + 1 + (SPEC_FAULT == 3);
    const int q = e >= emin ? e - f->prec + 1 : f->has_subnormals ? finest : emin;
    const uint64_t least = (1ull << (f->prec - 1)) + 1; /* dlfloat16: the least number, in quanta */
    const spec_cut cut = spec_cut_at(M, q - e2);
    int odd = (int)(cut.m & 1);
    uint64_t size;
    if (f->zero_binade && (e < emin || (e == emin && cut.m < least))) { /* no number between 0 and the least */
        size = spec_up(a, 0, neg, M, (uint32_t)least, finest - e2) ? spec_pattern(least, finest) : 0;
    } else {
        if (f->prec == 1 && cut.m == 1) odd = (e + f->bias) & 1; /* the last bit of the code is in the exponent */
        size = spec_pattern(cut.m + (uint64_t)spec_up(a, odd, neg, cut.rem, 1, q - e2), q);
    }
    if (size == 0) return spec_zero(f, neg);
    if ((neg && !f->is_signed) || size > spec_end(f, neg)) return spec_beyond(f, a.mode, a.policy, neg, 0);
    return size | (neg ? spec_sign : 0);
}

/* The bits of the format's number for the bits of a binary64 number. Every NaN of a result is spec_nan. */
static inline uint64_t spec_round(uint64_t x, const spec_format *f, spec_asked a) {
    const uint32_t neg = (uint32_t)(x >> 63);
    const int field = (int)(x >> 52 & 0x7ff);
    const uint64_t fraction = x & (spec_hidden - 1);
    if (a.policy == SPEC_DEFAULT) a.policy = (uint32_t)f->policy;
    if (field == 0x7ff && fraction != 0) return spec_nan;
    if (field == 0x7ff) return spec_beyond(f, a.mode, a.policy == SPEC_WRAP ? SPEC_TO_END : a.policy, neg, 1);
    if (field == 0 && fraction == 0) return spec_zero(f, neg);
    const uint64_t M = field == 0 ? fraction : fraction + spec_hidden;
    const int e = field - 1023, e2 = (field == 0 ? 1 : field) - 1075; /* of a subnormal number, e is a bound above */
    if (f->taper != SPEC_FLAT) return spec_tapered(f, a, neg, M, e, e2);
    return f->is_fixed ? spec_fixed(f, a, neg, M, e2) : spec_floating(f, a, neg, M, e, e2);
}

#endif
