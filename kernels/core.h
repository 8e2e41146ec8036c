/* core.h - the rounding of array elements, branch-free: one text for scalar C, vectors and CUDA.
 *
 * Two carriers: binary32 words (ulp_core_round) for arrays, and binary64 words (ulp_core_round64) for
 * exact sums that were folded into one double by ulp_to_odd. Both give the bits of ulp_round_exact for
 * every input; the decision is the same ulp_round_up. There is no branch on data, so that a loop over
 * elements with a constant mode vectorises; what depends on the format is in ulp_core, loop-invariant.
 *
 * Offered (ulp_core_init) to signed formats with a zero whose values and exponent range fit binary32 and
 * whose codes' parity is the significand's (p >= 2); wrap-around and dlfloat16 take the scalar path.
 */
#ifndef ULP_CORE_H
#define ULP_CORE_H

#include "formats/round.h"

/* A format and a rule, prepared for the loop. Index [1] is for negative values. */
typedef struct ulp_core {
    uint32_t drop;           /* 24 - p: bits that a normal binary32 significand loses */
    uint32_t emin;           /* exponent field of the least normal value in binary32, >= 1 */
    uint32_t below;          /* bits lost at once below emin: 0 with subnormals, p - 1 without */
    uint32_t least;          /* binary32 bits of 2^qmin */
    uint32_t limit[2];       /* binary32 bits of the largest magnitude */
    uint32_t overflow[2];    /* result bits for a finite value beyond it */
    uint32_t infinite[2];    /* result bits for an infinite value */
    uint32_t zero_sign;      /* sign bit that a zero result keeps */
    uint32_t min_normal;     /* binary32 bits */
    uint64_t least64;        /* the same as binary64 bits, for ulp_core_round64 */
    uint64_t limit64[2], overflow64[2], infinite64[2];
    uint32_t mode, random_bits;
} ulp_core;

ULP_FN uint32_t ulp_min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }
ULP_FN uint32_t ulp_max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* Prepare the core; 0 if it does not offer this format and rule. */
ULP_FN int ulp_core_init(ulp_core *c, const ulp_format *f, ulp_rule rule) {
    uint32_t policy = rule.overflow == ULP_OVERFLOW_DEFAULT ? f->overflow : rule.overflow;
    if (!f->fits_binary32 || !f->is_signed || !f->has_zero || f->zero_binade || f->prec < 2 || f->emin < -126 ||
        f->emin > 127 || policy == ULP_OVERFLOW_WRAP)
        return 0;
    c->drop = 24u - f->prec;
    c->emin = (uint32_t)(f->emin + 127);
    c->below = f->has_subnormals ? 0u : f->prec - 1u;
    c->least = ulp_bits32((float)ulp_scale(1.0, f->qmin));
    c->min_normal = ulp_bits32((float)f->min_normal);
    for (uint32_t neg = 0; neg < 2; neg++) {
        c->limit[neg] = ulp_bits32((float)(neg ? -f->lowest : f->max));
        c->overflow[neg] = ulp_bits32((float)ulp_overflow_value(f, rule.mode, policy, neg, 0));
        c->infinite[neg] = ulp_bits32((float)ulp_overflow_value(f, rule.mode, policy, neg, 1));
    }
    c->least64 = ulp_bits64(ulp_scale(1.0, f->qmin));
    for (uint32_t neg = 0; neg < 2; neg++) {
        c->limit64[neg] = ulp_bits64(neg ? -f->lowest : f->max);
        c->overflow64[neg] = ulp_bits64(ulp_overflow_value(f, rule.mode, policy, neg, 0));
        c->infinite64[neg] = ulp_bits64(ulp_overflow_value(f, rule.mode, policy, neg, 1));
    }
    c->zero_sign = f->has_neg_zero ? 0x80000000u : 0u;
    c->mode = rule.mode;
    c->random_bits = rule.random_bits ? rule.random_bits : 32u;
    return 1;
}

/* The magnitude of binary32 word u rounded, as binary32 bits, before any overflow. Inf stays Inf; of NaN
 * nothing is promised. */
ULP_FN uint32_t ulp_core_magnitude(uint32_t u, const ulp_core *c, uint32_t mode, uint32_t word) {
    uint32_t a = u & 0x7fffffffu, field = a >> 23;
    uint32_t m = (a & 0x7fffffu) | (uint32_t)(field != 0) << 23; /* |x| = m 2^(e - 150) */
    uint32_t e = ulp_max_u32(field, 1u);
    uint32_t gap = c->emin - ulp_min_u32(e, c->emin); /* binades below the least normal one */
    uint32_t cut = ulp_min_u32(c->drop + gap + (gap != 0 ? c->below : 0u), 57u); /* bits discarded */
    uint32_t left = 24u - ulp_min_u32(cut, 24u), right = ulp_max_u32(cut, 24u) - 24u; /* one of them is 0 */
    uint32_t top = m << 8;
    uint32_t nu = top << left >> ulp_min_u32(right, 31u) >> (right > 31u);
    /* what nu lost to the right shift: its first bit, and whether more follows */
    uint32_t r0 = ulp_max_u32(right, 1u) - 1u, r1 = ulp_min_u32(r0, 31u);
    uint32_t before = top >> r1 >> (r0 > 31u);
    uint32_t some = (uint32_t)(right != 0);
    uint32_t lost = some & ((uint32_t)(before << r1 != top) | (uint32_t)(r0 > 31u)) & (uint32_t)(m != 0);
    uint32_t tail = (some & before & 1u) << 1 | lost;
    uint32_t s = ulp_min_u32(cut, 23u);
    uint32_t inside = (uint32_t)(cut < 24u); /* else nothing is kept but the least value or zero */
    uint32_t up = ulp_round_up(mode, m >> s & inside, nu, tail, u >> 31, word, c->random_bits) & 1u;
    uint32_t kept = a >> s << s;
    return inside ? kept + (up << s) : (up ? c->least : 0u);
}

/* The result for input word u from its rounded magnitude: sign, overflow, Inf and NaN. */
ULP_FN uint32_t ulp_core_finish(uint32_t u, uint32_t magnitude, const ulp_core *c) {
    uint32_t a = u & 0x7fffffffu, sign = u & 0x80000000u;
    uint32_t limit = sign ? c->limit[1] : c->limit[0];
    uint32_t over = sign ? c->overflow[1] : c->overflow[0];
    uint32_t infinite = sign ? c->infinite[1] : c->infinite[0];
    uint32_t y = (magnitude == 0 ? sign & c->zero_sign : sign) | magnitude;
    y = magnitude > limit ? over : y;
    y = a == 0x7f800000u ? infinite : y;
    return a > 0x7f800000u ? 0x7fc00000u : y;
}

ULP_FN uint32_t ulp_core_round(uint32_t u, const ulp_core *c, uint32_t mode, uint32_t word) {
    return ulp_core_finish(u, ulp_core_magnitude(u, c, mode, word), c);
}

ULP_FN uint64_t ulp_min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
ULP_FN uint64_t ulp_max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* A binary64 value rounded to the format, result in binary64; the same steps in wider words. */
ULP_FN double ulp_core_round64(double x, const ulp_core *c, uint32_t mode, uint32_t word) {
    uint64_t u = ulp_bits64(x), a = u & 0x7fffffffffffffffu, field = a >> 52, sign = u ^ a;
    uint64_t m = (a & 0xfffffffffffffu) | (uint64_t)(field != 0) << 52;
    uint64_t e = ulp_max_u64(field, 1u), emin = (uint64_t)c->emin + 896u;
    uint64_t gap = emin - ulp_min_u64(e, emin);
    uint64_t cut = ulp_min_u64(c->drop + 29u + gap + (gap != 0 ? c->below : 0u), 95u);
    uint64_t left = 64u - ulp_min_u64(cut, 64u), right = ulp_max_u64(cut, 64u) - 64u;
    uint64_t fraction = m << left >> right;
    uint64_t lost = (uint64_t)(right != 0) & (uint64_t)(fraction << right != m);
    uint32_t tail = (uint32_t)(fraction >> 31 & 1u) << 1 | (uint32_t)((fraction & 0x7fffffffu) != 0) | (uint32_t)lost;
    uint64_t s = ulp_min_u64(cut, 52u), inside = (uint64_t)(cut < 53u);
    uint32_t odd = (uint32_t)((m >> s) & inside);
    uint32_t up = ulp_round_up(mode, odd & 1u, (uint32_t)(fraction >> 32), tail, (uint32_t)(u >> 63), word, c->random_bits);
    uint64_t magnitude = inside ? (a >> s << s) + ((uint64_t)up << s) : (up ? c->least64 : 0u);
    uint64_t limit = sign ? c->limit64[1] : c->limit64[0];
    uint64_t over = sign ? c->overflow64[1] : c->overflow64[0];
    uint64_t infinite = sign ? c->infinite64[1] : c->infinite64[0];
    uint64_t y = (magnitude == 0 ? sign & (uint64_t)c->zero_sign << 32 : sign) | magnitude;
    y = magnitude > limit ? over : y;
    y = a == 0x7ff0000000000000u ? infinite : y;
    return ulp_from_bits64(a > 0x7ff0000000000000u ? 0x7ff8000000000000u : y);
}

/* Whether one binary64 word that was rounded to odd at 53 bits still decides like the exact value. */
ULP_FN int ulp_core64_decides(const ulp_core *c) {
    uint32_t r = ulp_mode_is_stochastic(c->mode) ? c->random_bits + 1u : 0u;
    return 24u - c->drop + r + 2u <= 53u;
}

#endif
