/* core.h - branch-free rounding of array elements: one text for scalar C, vectors and CUDA.
 *
 * Elements are binary32 words in arrays, or binary64 words (ulp_core_round64) of exact results that ulp_to_odd folded
 * into one double. Both versions give the bits of ulp_round_exact for every input. No branch depends on data: a loop
 * over elements vectorises when `mode` and `shape` are constants. ulp_core holds the constants of the format.
 *
 * A magnitude is rounded in one of three ways. The ways differ in speed and never in the result:
 *   - ULP_SHAPE_WIDE: emin = -126, as in bfloat16. Subnormals of binary32 have the spacing of the format; the cut is at
 *     a fixed bit (word.h).
 *   - ULP_SHAPE_NARROW: deterministic modes where the quantum is a normal number and at least two bits are lost: the
 *     addition of an anchor (anchor.h).
 *   - ULP_SHAPE_ANY: all other cases, with shifts by a count of each element. ulp_round_up decides the direction. In
 *     mode sra the word is added to the lost bits, and their carry is the direction.
 *
 * ulp_core_init accepts signed formats with a zero and p >= 2 whose values and exponent range fit binary32: then the
 * parity of a code is the parity of the significand. general.h rounds to the other formats and wraps around; what no
 * text offers, as stochastic modes there, the scalar path rounds.
 */
#ifndef ULP_CORE_H
#define ULP_CORE_H

#include "formats/round.h"

/* A format and a rule, prepared for the loop. Index [1] is for negative values. */
typedef struct ulp_core {
    uint32_t drop;        /* 24 - p, the bits that a normal binary32 significand loses */
    uint32_t emin;        /* exponent field of the least normal value in binary32, >= 1 */
    uint32_t below;       /* bits that are lost at once below emin: 0 with subnormals, p - 1 without */
    uint32_t least;       /* binary32 bits of 2^qmin */
    uint32_t limit[2];    /* binary32 bits of the largest magnitude */
    uint32_t overflow[2]; /* result bits for a finite value beyond the limit */
    uint32_t infinite[2]; /* result bits for an infinite value */
    uint32_t zero_sign;   /* sign bit that a zero result keeps */
    uint32_t min_normal;  /* binary32 bits of the least normal value */
    uint64_t least64;     /* as binary64 bits, for ulp_core_round64 */
    uint64_t limit64[2], overflow64[2], infinite64[2];
    uint64_t within64;         /* the smaller of limit64 */
    double normal64, beyond64; /* 2^emin and 2^(emax+1) */
    double unit64;             /* 2^(32 - qmin): turns numbers below the quantum into 32-bit fractions of it */
    uint32_t far;              /* 0; without subnormals 6: one binade below 2^emin loses all bits */
    uint32_t watched;          /* whether ulp_core_watched64 serves this format and mode */
    uint32_t beyond;           /* binary32 bits of 2^(emax+1): numbers from there on have the anchor of this binade */
    uint32_t symmetric; /* 1 if -x gives the negative of the result of x and every overflow gives infinity's result */
    uint32_t mode, random_bits, shape;
    uint32_t random; /* mask of the bits of a word that are used */
} ulp_core;

enum { ULP_SHAPE_ANY, ULP_SHAPE_WIDE, ULP_SHAPE_NARROW };

ULP_CORE uint32_t ulp_min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }
ULP_CORE uint32_t ulp_max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* pair[1] where the sign bit is set, else pair[0]. The function reads both, so that loops need no gather. */
ULP_CORE uint32_t ulp_by_sign(const uint32_t pair[2], uint32_t sign) {
    const uint32_t positive = pair[0], negative = pair[1];
    return sign != 0 ? negative : positive;
}

/* yes ? a : b for yes = 0 or 1, by masks. The compiler makes jumps from chains of conditional expressions in wide
 * lanes. */
ULP_CORE uint64_t ulp_select(uint64_t yes, uint64_t a, uint64_t b) { return b ^ ((a ^ b) & (0u - yes)); }

/* A binary32 word rounded at one bit. */
#define WORD_NAME ulp_word_cut
#define WORD uint32_t
#include "kernels/rounding/word.h"

/* The anchors of binary32 and of binary64 numbers. */
#define ANCHOR_NAME(part) ulp_anchor32_##part
#define ANCHOR_NUMBER float
#define ANCHOR_WORD uint32_t
#define ANCHOR_MASK uint32_t
#define ANCHOR_BITS ulp_bits32
#define ANCHOR_FROM ulp_from_bits32
#define ANCHOR_WHERE(condition) (0u - (uint32_t)(condition))
#include "kernels/rounding/anchor.h"

#define ANCHOR_NAME(part) ulp_anchor64_##part
#define ANCHOR_NUMBER double
#define ANCHOR_WORD uint64_t
#define ANCHOR_MASK uint64_t
#define ANCHOR_BITS ulp_bits64
#define ANCHOR_FROM ulp_from_bits64
#define ANCHOR_WHERE(condition) (0u - (uint64_t)(condition))
#include "kernels/rounding/anchor.h"

/* The modes that the texts of word.h and anchor.h offer, apart from sra. Other modes use another shape. */
enum { ULP_NARROW_MODES = 1 << ULP_RNE | 1 << ULP_RNA | 1 << ULP_RZ | 1 << ULP_RU | 1 << ULP_RD | 1 << ULP_RO };
ULP_FN int ulp_narrow_knows(uint32_t mode) { return (int)ulp_mode_in(mode, ULP_NARROW_MODES); }

/* 2^k as binary64 bits, for -1022 <= k <= 1023. */
ULP_FN uint64_t ulp_power64(int32_t k) { return (uint64_t)(k + 1023) << 52; }

/* The end of the range of a sign: the largest magnitude, the results for a finite value beyond it and for an infinity;
 * as values and as binary32 bits. */
typedef struct ulp_end {
    double limit, overflow, infinite;
    uint32_t limit32, overflow32, infinite32;
} ulp_end;

ULP_FN ulp_end ulp_end_of(const ulp_format *f, uint32_t mode, uint32_t policy, uint32_t neg) {
    ulp_end e;
    e.limit = ulp_magnitude_limit(f, policy, neg);
    e.overflow = ulp_overflow_value(f, mode, policy, neg, 0);
    e.infinite = ulp_overflow_value(f, mode, policy, neg, 1);
    e.limit32 = ulp_bits32((float)e.limit);
    e.overflow32 = ulp_bits32((float)e.overflow);
    e.infinite32 = ulp_bits32((float)e.infinite);
    return e;
}

ULP_FN uint32_t ulp_core_policy(const ulp_format *f, ulp_rule rule) {
    return rule.overflow == ULP_OVERFLOW_DEFAULT ? f->overflow : rule.overflow;
}

/* Whether the core offers a format and rule. */
ULP_FN int ulp_core_offers(const ulp_format *f, ulp_rule rule) {
    return f->fits_binary32 && f->taper == ULP_TAPER_NONE && f->flushes == 0 && f->is_signed && f->has_zero &&
           !f->zero_binade && f->prec >= 2 && f->emin >= -126 && f->emin <= 127 &&
           ulp_core_policy(f, rule) != ULP_OVERFLOW_WRAP;
}

/* The mask of the bits of a word that a rule uses. */
ULP_FN uint32_t ulp_core_random(ulp_rule rule) {
    return 0xffffffffu << (32u - (rule.random_bits ? rule.random_bits : 32u));
}

/* Prepares the core. 0 if the core does not offer this format and rule. */
ULP_FN int ulp_core_init(ulp_core *c, const ulp_format *f, ulp_rule rule) {
    const uint32_t policy = ulp_core_policy(f, rule);
    if (!ulp_core_offers(f, rule)) return 0;
    c->drop = 24u - f->prec;
    c->emin = (uint32_t)(f->emin + 127);
    c->below = f->has_subnormals ? 0u : f->prec - 1u;
    c->least64 = ulp_power64(f->qmin);
    c->least = ulp_bits32((float)ulp_from_bits64(c->least64));
    c->min_normal = ulp_bits32((float)f->min_normal);
    const ulp_end end[2] = {ulp_end_of(f, rule.mode, policy, 0), ulp_end_of(f, rule.mode, policy, 1)};
    for (uint32_t neg = 0; neg < 2; neg++) {
        c->limit64[neg] = ulp_bits64(end[neg].limit);
        c->overflow64[neg] = ulp_bits64(end[neg].overflow);
        c->infinite64[neg] = ulp_bits64(end[neg].infinite);
        c->limit[neg] = end[neg].limit32;
        c->overflow[neg] = end[neg].overflow32;
        c->infinite[neg] = end[neg].infinite32;
    }
    c->zero_sign = f->has_neg_zero ? 0x80000000u : 0u;
    const uint32_t differ = (end[0].limit32 ^ end[1].limit32) |
                            ((end[0].overflow32 | 0x80000000u) ^ end[1].overflow32) |
                            (end[0].infinite32 ^ end[0].overflow32) | (end[1].infinite32 ^ end[1].overflow32);
    c->symmetric = (uint32_t)(differ == 0) & f->has_neg_zero;
    c->beyond = (uint32_t)(f->emax + 128) << 23;
    c->shape = ULP_SHAPE_ANY;
    if (f->emin == -126 && f->has_subnormals) c->shape = ULP_SHAPE_WIDE;
    else if (f->has_subnormals && f->qmin >= -126 && f->emax + 1 + (int)c->drop <= 127 && f->emax >= f->emin &&
             c->drop >= 2 && ulp_narrow_knows(rule.mode))
        c->shape = ULP_SHAPE_NARROW;
    c->within64 = c->limit64[0] < c->limit64[1] ? c->limit64[0] : c->limit64[1];
    c->normal64 = ulp_from_bits64(ulp_power64(f->emin));
    c->beyond64 = ulp_from_bits64(ulp_power64(f->emax + 1));
    c->far = f->has_subnormals ? 0u : 6u;
    c->unit64 = ulp_from_bits64(ulp_power64(32 - f->qmin));
    c->watched = rule.mode == ULP_SRA || (f->has_subnormals && f->emax >= f->emin && ulp_narrow_knows(rule.mode));
    c->mode = rule.mode;
    c->random_bits = rule.random_bits ? rule.random_bits : 32u;
    c->random = ulp_core_random(rule);
    return 1;
}

/* Whether the core rounds as processors round binary32 to nearest even. */
ULP_FN int ulp_core_is_binary32(const ulp_core *c) {
    return c->mode == ULP_RNE && c->drop == 0 && c->emin == 1 && c->below == 0 && c->symmetric &&
           c->limit[0] == 0x7f7fffffu && c->overflow[0] == 0x7f800000u && c->zero_sign != 0;
}

/* The three ways to round a magnitude: binary32 bits to binary32 bits, before overflow. Inf stays Inf (NARROW: Inf
 * becomes a value out of range). The result for NaN is undefined. */

/* Mode sra for a magnitude that loses s bits, s < 24: the word is added to the lost bits, and their carry rounds up. */
ULP_CORE uint32_t ulp_core_carry(uint32_t a, uint32_t s, uint32_t random) {
    return (a + (random >> 1 >> (31u - s))) >> s << s;
}

/* `a` rounded at the last d bits, for a magnitude or for a finite number with its sign; u is the number with its sign.
 */
ULP_CORE uint32_t ulp_core_cut(uint32_t a, uint32_t u, const ulp_core *c, uint32_t mode, uint32_t word) {
    const uint32_t d = c->drop, ones = (1u << d) - 1u; /* the bits that are lost */
    const uint32_t odd = a >> d & (uint32_t)(d != 0), neg = u >> 31;
    const ulp_fraction lost = {a << (31u - d) << 1, 0};
    if (mode == ULP_SRA) return ulp_core_carry(a, d, word & c->random);
    if (ulp_narrow_knows(mode)) return ulp_word_cut(a, ones, odd, 0u - neg, 0, mode);
    return (a & ~ones) + (ulp_round_up(mode, odd, lost, neg, word, c->random_bits) << d);
}

ULP_CORE uint32_t ulp_core_wide(uint32_t u, const ulp_core *c, uint32_t mode, uint32_t word) {
    return ulp_core_cut(u & 0x7fffffffu, u, c, mode, word);
}

ULP_CORE uint32_t ulp_core_narrow(uint32_t u, const ulp_core *c, uint32_t mode) {
    const uint32_t field = ulp_min_u32(u & 0x7f800000u, c->beyond), binade = ulp_max_u32(field, c->emin << 23);
    const float anchor = ulp_from_bits32(binade + (c->drop << 23 | 1u << 22)), x = ulp_from_bits32(u);
    return ulp_bits32(ulp_anchor32_round(x, anchor, 0x80000000u, mode)) & 0x7fffffffu;
}

ULP_CORE uint32_t ulp_core_any(uint32_t u, const ulp_core *c, uint32_t mode, uint32_t word) {
    uint32_t a = u & 0x7fffffffu, field = a >> 23;
    uint32_t m = (a & 0x7fffffu) | (uint32_t)(field != 0) << 23; /* |x| = m 2^(e - 150) */
    uint32_t e = ulp_max_u32(field, 1u);
    uint32_t gap = c->emin - ulp_min_u32(e, c->emin);               /* binades below the least normal binade */
    uint32_t below = c->below & (0u - (uint32_t)(field < c->emin)); /* gap is 0 for binary32's own subnormals */
    uint32_t cut = ulp_min_u32(c->drop + gap + below, 57u);         /* bits discarded */
    uint32_t left = 24u - ulp_min_u32(cut, 24u), right = ulp_max_u32(cut, 24u) - 24u; /* left or right is 0 */
    uint32_t top = m << 8;
    uint32_t s = ulp_min_u32(cut, 23u);
    uint32_t inside = (uint32_t)(cut < 24u); /* if not, the result is the least value or zero */
    if (mode == ULP_SRA) {
        uint32_t random = word & c->random, nu = top >> ulp_min_u32(right, 31u) >> (right > 31u);
        uint32_t up = (uint32_t)((uint32_t)(nu + random) < nu);
        return inside ? ulp_core_carry(a, s, random) : c->least & (0u - up);
    }
    ulp_fraction lost = {top << left >> ulp_min_u32(right, 31u) >> (right > 31u), 0};
    /* the bits of nu that the right shift removes: the first bit, and whether any other bit is set */
    uint32_t r0 = ulp_max_u32(right, 1u) - 1u, r1 = ulp_min_u32(r0, 31u);
    uint32_t before = top >> r1 >> (r0 > 31u);
    uint32_t some = (uint32_t)(right != 0);
    uint32_t others = some & ((uint32_t)(before << r1 != top) | (uint32_t)(r0 > 31u)) & (uint32_t)(m != 0);
    lost.tail = (some & before & 1u) << 1 | others;
    uint32_t up = ulp_round_up(mode, m >> s & inside, lost, u >> 31, word, c->random_bits) & 1u;
    uint32_t kept = (a >> s << s) + (up << s), least = c->least & (0u - up);
    return inside ? kept : least;
}

ULP_CORE uint32_t ulp_core_magnitude(uint32_t u, const ulp_core *c, uint32_t mode, uint32_t shape, uint32_t word) {
    if (shape == ULP_SHAPE_WIDE) return ulp_core_wide(u, c, mode, word);
    return shape == ULP_SHAPE_NARROW ? ulp_core_narrow(u, c, mode) : ulp_core_any(u, c, mode, word);
}

/* The result for the input word u from its rounded magnitude: adds the sign, overflow, Inf and NaN. */
ULP_CORE uint32_t ulp_core_finish(uint32_t u, uint32_t magnitude, const ulp_core *c, uint32_t symmetric) {
    uint32_t a = u & 0x7fffffffu, sign = u & 0x80000000u, y;
    if (symmetric) {
        y = sign | (magnitude > c->limit[0] ? c->overflow[0] : magnitude);
    } else {
        const uint32_t limit = ulp_by_sign(c->limit, sign), over = ulp_by_sign(c->overflow, sign);
        const uint32_t infinite = ulp_by_sign(c->infinite, sign), zero = sign & c->zero_sign;
        y = (magnitude == 0 ? zero : sign) | magnitude;
        y = magnitude > limit ? over : y;
        y = a == 0x7f800000u ? infinite : y;
    }
    return a > 0x7f800000u ? 0x7fc00000u : y;
}

ULP_CORE uint64_t ulp_min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
ULP_CORE uint64_t ulp_max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* The ways to round the magnitude of a binary64 number, before overflow. The steps are those of the binary32 words
 * above. */

ULP_CORE uint64_t ulp_core_narrow64(double x, const ulp_core *c, uint32_t mode) {
    double binade = ulp_from_bits64(ulp_bits64(x) & 0x7ff0000000000000u);
    binade = binade > c->normal64 ? binade : c->normal64;
    binade = binade < c->beyond64 ? binade : c->beyond64;
    const double anchor = ulp_from_bits64(ulp_bits64(binade) + ((29u + (uint64_t)c->drop) << 52 | 1ull << 51));
    return ulp_bits64(ulp_anchor64_round(x, anchor, 1ull << 63, mode)) & 0x7fffffffffffffffu;
}

ULP_CORE uint64_t ulp_core_carry64(double x, const ulp_core *c, uint32_t word) {
    const double binade = ulp_from_bits64(ulp_bits64(x) & 0x7ff0000000000000u);
    const uint64_t a = ulp_bits64(x), e = ulp_bits64(binade > c->normal64 ? binade : c->normal64);
    const uint64_t gap = (e - ulp_bits64(binade)) >> 52 << c->far, cut = c->drop + 29u + gap;
    const uint64_t inside = (uint64_t)((int64_t)cut < 53);
    const uint64_t s = ulp_select(inside, cut, 52u), random = word & c->random;
    const uint64_t kept = (a + (random << 32 >> (64u - s))) >> s << s;
    /* below the quantum: up iff x / quantum 2^32 + random >= 2^32 */
    const double rest = (0x1p52 + 0x1p32) - ulp_from_bits64(random | 0x4330000000000000u);
    const uint64_t up = (uint64_t)(x * c->unit64 >= rest);
    return ulp_select(inside, kept, c->least64 & (0u - up));
}

ULP_CORE uint64_t ulp_core_any64(uint64_t u, const ulp_core *c, uint32_t mode, uint32_t word) {
    uint64_t a = u & 0x7fffffffffffffffu, field = a >> 52;
    uint64_t m = (a & 0xfffffffffffffu) | (uint64_t)(field != 0) << 52;
    uint64_t e = ulp_max_u64(field, 1u), emin = (uint64_t)c->emin + 896u;
    uint64_t gap = emin - ulp_min_u64(e, emin);
    uint64_t below = c->below & (0u - (uint64_t)(gap != 0)), cut = ulp_min_u64(c->drop + 29u + gap + below, 95u);
    uint64_t left = 64u - ulp_min_u64(cut, 64u), right = ulp_max_u64(cut, 64u) - 64u;
    uint64_t fraction = m << left >> right;
    uint64_t others = (uint64_t)(right != 0) & (uint64_t)(fraction << right != m);
    uint32_t tail = (uint32_t)(fraction >> 31 & 1u) << 1 | (uint32_t)((fraction & 0x7fffffffu) != 0) | (uint32_t)others;
    const ulp_fraction lost = {(uint32_t)(fraction >> 32), tail};
    uint64_t s = ulp_min_u64(cut, 52u), inside = (uint64_t)(cut < 53u);
    uint32_t odd = (uint32_t)((m >> s) & inside);
    uint32_t up = ulp_round_up(mode, odd & 1u, lost, (uint32_t)(u >> 63), word, c->random_bits);
    uint64_t kept = (a >> s << s) + ((uint64_t)up << s), least = c->least64 & (0u - (uint64_t)up);
    return ulp_select(inside, kept, least);
}

/* A binary64 value rounded to the format, with a binary64 result. */
ULP_CORE double ulp_core_round64(double x, const ulp_core *c, uint32_t mode, uint32_t word) {
    const uint64_t u = ulp_bits64(x), a = u & 0x7fffffffffffffffu, sign = u ^ a, negative = u >> 63;
    const uint64_t magnitude =
        mode == ULP_SRA ? ulp_core_carry64(ulp_from_bits64(a), c, word) : ulp_core_any64(u, c, mode, word);
    const uint64_t limit = ulp_select(negative, c->limit64[1], c->limit64[0]);
    const uint64_t over = ulp_select(negative, c->overflow64[1], c->overflow64[0]);
    const uint64_t infinite = ulp_select(negative, c->infinite64[1], c->infinite64[0]);
    uint64_t y = ulp_select(magnitude == 0, sign & (uint64_t)c->zero_sign << 32, sign) | magnitude;
    y = ulp_select(magnitude > limit, over, y);
    y = ulp_select(a == 0x7ff0000000000000u, infinite, y);
    return ulp_from_bits64(ulp_select(a > 0x7ff0000000000000u, 0x7ff8000000000000u, y));
}

/* The same, in half of the operations, while no value is out of range, infinite or NaN: if one is, the sign bit of
 * *beyond is set. Only if c->watched. */
ULP_CORE double ulp_core_watched64(double x, const ulp_core *c, uint32_t mode, uint32_t word, uint64_t *beyond) {
    const uint64_t u = ulp_bits64(x);
    const double size = ulp_from_bits64(u & 0x7fffffffffffffffu);
    const uint64_t magnitude = mode == ULP_SRA ? ulp_core_carry64(size, c, word) : ulp_core_narrow64(x, c, mode);
    const uint64_t signs = (uint64_t)c->zero_sign << 32 | (uint64_t)(magnitude != 0) << 63;
    *beyond |= c->within64 - magnitude;
    return ulp_from_bits64(magnitude | (u & signs));
}

/* Whether a binary64 word that is rounded to odd at 53 bits rounds to the format like the exact value. */
ULP_FN int ulp_core64_decides(const ulp_core *c) {
    uint32_t r = ulp_mode_is_stochastic(c->mode) ? c->random_bits + 1u : 0u;
    return 24u - c->drop + r + 2u <= 53u;
}

#endif
