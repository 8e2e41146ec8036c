/* tapered.h - branch-free rounding of array elements to posits and takums: one text for scalar C and vectors.
 *
 * The word of a binary32 or binary64 number is an exponent field and a fraction, and the last bits of the exponent are
 * next to the fraction, as in the code string of a posit or a takum. So a cut of the code string is a cut of the word
 * at the bit `s`, which depends on the regime alone, and a carry goes through fraction and exponent into the next
 * regime by itself. Before that, `shift` is added to the exponent field: it makes the last exponent bits those of the
 * code.
 *
 *  - POSIT: e = k 2^es + (es bits), the regime has (k >= 0 ? k : -k - 1) + 2 bits. Where all exponent bits are cut, the
 *    last bit of the code is the end of the regime: 0 for k >= 0, else 1. In every other cut it is bit s of the word.
 *  - TAKUM: the r characteristic bits are the last of e + 1 for e >= 0 and of e - 1 for e < 0, with r = floor(log2) of
 *    e + 1 or of -e. A code of 6 bits or more holds at least one of them, which is bit s of the word where s > 52.
 *
 * |x| is first clamped to the least and the largest value, which are words without lost bits; a zero, an infinity and
 * NaN are put in at the end. The results are those of ulp_round_exact for every input (tests: t_tapered, t_kernels).
 */
#ifndef ULP_ROUNDING_TAPERED_H
#define ULP_ROUNDING_TAPERED_H

#include "kernels/rounding/core.h"

/* A format and a rule, prepared for the loop. */
typedef struct ulp_tapered {
    uint32_t cut, cut64;      /* s of the shortest regime, for binary32 and binary64 words */
    uint32_t es;              /* exponent bits of posits */
    uint32_t least, most;     /* words of the least and the largest value */
    uint32_t infinite, signs; /* the result for an infinite input; the sign bit if that result has a sign */
    double least64, most64;
    uint64_t infinite64, signs64;
    uint64_t one;                 /* 1: gcc makes no vectors of shifts of a constant by counts of 64 bits */
    uint32_t random, random_bits; /* the mask of the bits of a word that are used; their number */
} ulp_tapered;

/* Whether the texts below offer a format. In binary32 words at least one bit is lost, and the format is no takum. */
ULP_FN int ulp_tapered_offers(const ulp_format *f, int wide) {
    if (f->taper == ULP_TAPER_TAKUM) return wide;
    return f->taper == ULP_TAPER_POSIT && (wide || (f->fits_binary32 && f->prec <= 23 && f->emin >= -126));
}

ULP_FN ulp_tapered ulp_tapered_of(const ulp_format *f, ulp_rule rule) {
    ulp_tapered t;
    const uint32_t before = f->taper == ULP_TAPER_POSIT ? 3u + f->exponent_bits : 5u; /* bits that are no fraction */
    const double infinite = ulp_overflow_value(f, rule.mode, ulp_core_policy(f, rule), 0, 1);
    t.cut = 23u + before - f->bits;
    t.cut64 = 52u + before - f->bits;
    t.es = f->exponent_bits;
    t.least = ulp_bits32((float)f->min_positive);
    t.most = ulp_bits32((float)f->max);
    t.infinite = ulp_bits32((float)infinite);
    t.signs = infinite == infinite && infinite != 0.0 ? 0x80000000u : 0u; /* their only zero is +0 */
    t.least64 = f->min_positive;
    t.most64 = f->max;
    t.infinite64 = ulp_bits64(infinite);
    t.signs64 = (uint64_t)t.signs << 32;
    t.one = f->is_signed; /* not a constant to the compiler */
    t.random = ulp_core_random(rule);
    t.random_bits = rule.random_bits ? rule.random_bits : 32u;
    return t;
}

/* A binary64 word rounded at one bit. */
#define WORD_NAME ulp_word_cut64
#define WORD uint64_t
#include "kernels/rounding/word.h"

/* A word that loses s bits, 1 <= s <= 31, rounded at bit s. odd: the last bit of the code; u: the number's word. */
ULP_CORE uint32_t ulp_tapered_cut(uint32_t w, uint32_t s, uint32_t odd, uint32_t u, const ulp_tapered *t, uint32_t mode,
                                  uint32_t word) {
    const uint32_t ones = (1u << s) - 1u, neg = 0u - (u >> 31), random = (word & t->random) >> (32u - s);
    const ulp_fraction lost = {w << (32u - s), 0};
    if (mode == ULP_RO) return ulp_word_cut(w, ones, odd, 0u - odd, 0, ULP_RU); /* away from zero if the code is even */
    if (mode == ULP_SRA || ulp_narrow_knows(mode)) return ulp_word_cut(w, ones, odd, neg, random, mode);
    return (w & ~ones) + (ulp_round_up(mode, odd, lost, neg & 1u, word, t->random_bits) << s);
}

/* The same for 1 <= s <= 63. */
ULP_CORE uint64_t ulp_tapered_cut64(uint64_t w, uint64_t s, uint64_t odd, uint64_t u, const ulp_tapered *t,
                                    uint32_t mode, uint32_t word) {
    const uint64_t ones = (t->one << s) - 1u, neg = 0u - (u >> 63), all = w << (64u - s);
    const uint32_t tail = (uint32_t)(all >> 31 & 1u) << 1 | (uint32_t)((all & 0x7fffffffu) != 0);
    const ulp_fraction lost = {(uint32_t)(all >> 32), tail};
    const uint64_t random = (uint64_t)(word & t->random) << 32 >> (64u - s);
    if (mode == ULP_RO) return ulp_word_cut64(w, ones, odd, 0u - odd, 0, ULP_RU);
    if (mode == ULP_SRA || ulp_narrow_knows(mode)) return ulp_word_cut64(w, ones, odd, neg, random, mode);
    return (w & ~ones) +
           ((uint64_t)ulp_round_up(mode, (uint32_t)odd, lost, (uint32_t)neg & 1u, word, t->random_bits) << s);
}

/* A binary32 word rounded to a posit. */
ULP_CORE uint32_t ulp_tapered_round(uint32_t u, const ulp_tapered *t, uint32_t mode, uint32_t word) {
    const uint32_t a = u & 0x7fffffffu, sign = u ^ a, shift = 1u << 23; /* e + 127 + 1: a multiple of 2^es and e */
    const int32_t low = (int32_t)a > (int32_t)t->least ? (int32_t)a : (int32_t)t->least;
    const uint32_t w = (uint32_t)(low < (int32_t)t->most ? low : (int32_t)t->most) + shift;
    const int32_t k = (int32_t)(w >> (23u + t->es)) - (int32_t)(128u >> t->es);
    const uint32_t below = 0u - ((uint32_t)k >> 31), end = 23u + t->es;
    const uint32_t s =
        ulp_min_u32(t->cut + ((uint32_t)k ^ below), end); /* the largest value has no end of the regime */
    const uint32_t odd = (s == end ? below : w >> s) & 1u;
    const uint32_t y = (ulp_tapered_cut(w, s, odd, u, t, mode, word) - shift) | sign;
    const uint32_t special = a == 0x7f800000u ? t->infinite | (sign & t->signs) : 0x7fc00000u;
    return (int32_t)a >= 0x7f800000 ? special : a == 0 ? 0 : y;
}

/* A binary64 number rounded to a posit, or to a takum; is_takum is a constant. */
ULP_CORE double ulp_tapered_round64(double x, const ulp_tapered *t, int is_takum, uint32_t mode, uint32_t word) {
    const uint64_t u = ulp_bits64(x), a = u & 0x7fffffffffffffffu, sign = u ^ a, one = 1ull << 52;
    const double size = ulp_from_bits64(a), low = size > t->least64 ? size : t->least64;
    const uint64_t clamped = ulp_bits64(low < t->most64 ? low : t->most64);
    uint64_t shift = one, s, odd, w;
    if (is_takum) {
        const uint64_t up = 0u - (uint64_t)(low >= 1.0); /* e >= 0 */
        const uint64_t field = clamped >> 52, e1 = ((field - 1022u) & up) | ((1023u - field) & ~up);
        const double as_double = ulp_from_bits64(e1 | 0x4330000000000000u) - 0x1p52; /* e + 1 or -e, at most 255 */
        shift = (2 * one) & up;
        w = clamped + shift;
        s = t->cut64 + (ulp_bits64(as_double) >> 52) - 1023u;
        odd = w >> s & 1u;
    } else {
        w = clamped + shift;
        const uint64_t k = (w >> (52u + t->es)) - (1024u >> t->es), below = 0u - (k >> 63);
        s = ulp_min_u64(t->cut64 + (k ^ below), 52u + t->es);
        odd = ulp_select((uint64_t)(s == 52u + t->es), below, w >> s) & 1u;
    }
    uint64_t y = (ulp_tapered_cut64(w, s, odd, u, t, mode, word) - shift) | sign;
    y = ulp_select((uint64_t)(size == 0.0), 0, y);
    y = ulp_select((uint64_t)(a == 0x7ff0000000000000u), t->infinite64 | (sign & t->signs64), y);
    return ulp_from_bits64(ulp_select((uint64_t)(x != x), 0x7ff8000000000000u, y));
}

#endif
