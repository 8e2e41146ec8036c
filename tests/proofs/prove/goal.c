/* goal.c - one goal of `make prove`: functions of the library against the specification, on whole words.
 *
 * Compiled for each goal with -DGOAL_NAME, where NAME is a case below, and with the format of the goal in FORMAT_H
 * (written by describe.c). The functions code and spec get the same words and return the bits that have to be equal;
 * assumed says for which words the library promises anything. Nothing here is executed by a proof: ir.py reads what
 * clang makes of this file. replay.c executes it on a counterexample. words.h has the goals without a format.
 */
#define ULP_DEFINES_TAPERED /* round.h defines ulp_round_tapered here */
#if defined(FORMAT_H)
#include FORMAT_H
#endif
#include "spec.h"

#include "formats/round.h"
#include "formats/tapered.h"
#include "kernels/rounding/core.h"
#include "kernels/rounding/nearest.h"
#include "kernels/rounding/tapered.h"
#include "kernels/rounding/watched.h"

#if defined(GOAL_nearest64)
#include "formats/descriptor.c" /* ulp_overflow_of */
#endif

#ifndef GOAL_MODES
#define GOAL_MODES 0xfff /* a bit for each mode */
#endif

#define GOAL_FN __attribute__((noinline))
#define SAME(a, b) _Static_assert((int)(a) == (int)(b), "the specification numbers as the library does")
SAME(SPEC_RNE, ULP_RNE);
SAME(SPEC_RNA, ULP_RNA);
SAME(SPEC_RZ, ULP_RZ);
SAME(SPEC_RU, ULP_RU);
SAME(SPEC_RD, ULP_RD);
SAME(SPEC_RO, ULP_RO);
SAME(SPEC_SRA, ULP_SRA);
SAME(SPEC_SRB, ULP_SRB);
SAME(SPEC_SRC, ULP_SRC);
SAME(SPEC_RNU, ULP_RNU);
SAME(SPEC_RNZ, ULP_RNZ);
SAME(SPEC_RND, ULP_RND);
SAME(SPEC_MODES, ULP_MODE_COUNT);
SAME(SPEC_DEFAULT, ULP_OVERFLOW_DEFAULT);
SAME(SPEC_TO_INF, ULP_OVERFLOW_INF);
SAME(SPEC_TO_END, ULP_OVERFLOW_SAT);
SAME(SPEC_TO_NAN, ULP_OVERFLOW_NAN);
SAME(SPEC_WRAP, ULP_OVERFLOW_WRAP);

#if defined(GOAL_decide) || defined(GOAL_to_odd) || defined(GOAL_once) || defined(GOAL_formats)
#include "words.h"
#else

static const spec_format standard = SPEC_FORMAT;
static const ulp_format format = LIBRARY_FORMAT;

static inline uint64_t one_nan(uint64_t u) { return (u & ~spec_sign) > spec_inf ? spec_nan : u; }

static inline ulp_rule rule_of(uint32_t mode, uint32_t policy, uint32_t r) {
    const ulp_rule rule = {(uint8_t)mode, (uint8_t)policy, (uint8_t)r};
    return rule;
}

/* The rules that ulp_rule_check accepts; random bits count in the stochastic modes alone. */
static inline int is_rule(uint32_t mode, uint32_t policy, uint32_t r) {
    return mode < SPEC_MODES && (GOAL_MODES >> mode & 1) && policy <= (format.is_fixed ? SPEC_WRAP : SPEC_TO_NAN) &&
           (spec_is_stochastic(mode) ? r >= 1 && r <= 32 : r == 32);
}

static inline uint64_t wanted(uint64_t x, uint32_t mode, uint32_t policy, uint32_t word, uint32_t r) {
    const spec_asked asked = {mode, policy, word, r};
    return spec_round(x, &standard, asked);
}

#if defined(GOAL_exact) /* ulp_round_exact */

/* A goal may be one part of a case, the numbers of some exponent fields: those in [GOAL_FROM, GOAL_TO). If it is one
 * field, it is a constant of the goal, and so are all shifts. */
#if defined(GOAL_FROM)
static inline int in_part(uint64_t x) { return (x >> 52 & 0x7ff) >= GOAL_FROM && (x >> 52 & 0x7ff) < GOAL_TO; }
static inline uint64_t of_part(uint64_t x) {
    return GOAL_TO - GOAL_FROM == 1 ? (x & ~spec_inf) | (uint64_t)GOAL_FROM << 52 : x;
}
#else
static inline int in_part(uint64_t x) { return (void)x, 1; }
static inline uint64_t of_part(uint64_t x) { return x; }
#endif

GOAL_FN int assumed(uint64_t x, uint32_t mode, uint32_t policy, uint32_t word, uint32_t r) {
    (void)word;
    return is_rule(mode, policy, r) && in_part(x);
}
GOAL_FN uint64_t spec(uint64_t x, uint32_t mode, uint32_t policy, uint32_t word, uint32_t r) {
    return wanted(of_part(x), mode, policy, word, r);
}
GOAL_FN uint64_t code(uint64_t x, uint32_t mode, uint32_t policy, uint32_t word, uint32_t r) {
    const ulp_exact exact = ulp_exact_of(ulp_from_bits64(of_part(x)));
    return one_nan(ulp_bits64(ulp_round_exact(exact, &format, rule_of(mode, policy, r), word)));
}

#elif defined(GOAL_core64) || defined(GOAL_watched64) /* ulp_core_round64, ulp_core_watched64 */

GOAL_FN int assumed(uint64_t x, uint32_t mode, uint32_t policy, uint32_t word, uint32_t r) {
    (void)x, (void)word;
    if (!is_rule(mode, policy, r)) return 0;
    ulp_core c;
    if (!ulp_core_init(&c, &format, rule_of(mode, policy, r))) return 0;
#if defined(GOAL_watched64)
    uint64_t beyond = 0;
    if (!c.watched) return 0;
    (void)ulp_core_watched64(ulp_from_bits64(x), &c, mode, word, &beyond);
    return beyond >> 63 == 0;
#else
    return 1;
#endif
}
GOAL_FN uint64_t spec(uint64_t x, uint32_t mode, uint32_t policy, uint32_t word, uint32_t r) {
    return wanted(x, mode, policy, word, r);
}
GOAL_FN uint64_t code(uint64_t x, uint32_t mode, uint32_t policy, uint32_t word, uint32_t r) {
    ulp_core c;
    if (!ulp_core_init(&c, &format, rule_of(mode, policy, r))) return 0;
#if defined(GOAL_watched64)
    uint64_t beyond = 0;
    return one_nan(ulp_bits64(ulp_core_watched64(ulp_from_bits64(x), &c, mode, word, &beyond)));
#else
    return one_nan(ulp_bits64(ulp_core_round64(ulp_from_bits64(x), &c, mode, word)));
#endif
}

#elif defined(GOAL_core32) || defined(GOAL_any32) || defined(GOAL_watched32) /* binary32 words: wide, narrow, any */

/* core32: the shape that ulp_core_init chooses. any32: ULP_SHAPE_ANY, which serves each format. */
#if defined(GOAL_any32)
#define SHAPE(c) ULP_SHAPE_ANY
#else
#define SHAPE(c) ((c).shape)
#endif

GOAL_FN int assumed(uint32_t u, uint32_t mode, uint32_t policy, uint32_t word, uint32_t r) {
    (void)u, (void)word;
    ulp_core c;
    if (!is_rule(mode, policy, r) || !ulp_core_init(&c, &format, rule_of(mode, policy, r))) return 0;
#if defined(GOAL_watched32)
    return ulp_watched_serves(&c, c.shape) && (u & 0x7fffffffu) <= ulp_watched_limit(&c);
#else
    return 1;
#endif
}
GOAL_FN uint64_t spec(uint32_t u, uint32_t mode, uint32_t policy, uint32_t word, uint32_t r) {
    return wanted(spec_widen(u), mode, policy, word, r);
}
GOAL_FN uint64_t code(uint32_t u, uint32_t mode, uint32_t policy, uint32_t word, uint32_t r) {
    ulp_core c;
    if (!ulp_core_init(&c, &format, rule_of(mode, policy, r))) return 0;
#if defined(GOAL_watched32)
    return spec_widen(ulp_watched(u, &c, mode, SHAPE(c), word));
#else
    return spec_widen(ulp_core_finish(u, ulp_core_magnitude(u, &c, mode, SHAPE(c), word), &c, c.symmetric));
#endif
}

#elif defined(GOAL_nearest64) /* ulp_nearest64 */

static inline int range_of(ulp_nearest *n, uint32_t policy) {
    return ulp_nearest_range(n, &format, rule_of(ULP_RNE, policy, 0));
}
GOAL_FN int assumed(uint64_t x, uint32_t policy) {
    ulp_nearest n;
    (void)x;
    return is_rule(ULP_RNE, policy, 32) && range_of(&n, policy) != ULP_RANGE_OTHER;
}
GOAL_FN uint64_t spec(uint64_t x, uint32_t policy) { return wanted(x, SPEC_RNE, policy, 0, 32); }
GOAL_FN uint64_t code(uint64_t x, uint32_t policy) {
    ulp_nearest n;
    const int range = range_of(&n, policy);
    if (range == ULP_RANGE_OTHER) return 0;
    return one_nan(ulp_bits64(ulp_nearest64(ulp_from_bits64(x), &n, range)));
}

#elif defined(GOAL_within64) /* ulp_nearest64 where no value is beyond the range, as lanes of kernels/cpu use it */

GOAL_FN int assumed(uint64_t x) {
    const ulp_rule rne = rule_of(ULP_RNE, ULP_OVERFLOW_DEFAULT, 0);
    return (GOAL_MODES & 1) && ulp_core_offers(&format, rne) && format.has_subnormals && format.emax >= format.emin &&
           wanted(x, SPEC_RNE, SPEC_TO_NAN, 0, 32) != spec_nan;
}
GOAL_FN uint64_t spec(uint64_t x) { return wanted(x, SPEC_RNE, SPEC_TO_NAN, 0, 32); }
GOAL_FN uint64_t code(uint64_t x) {
    const ulp_nearest n = ulp_nearest_of(&format);
    return one_nan(ulp_bits64(ulp_nearest64(ulp_from_bits64(x), &n, ULP_RANGE_NONE)));
}

#elif defined(GOAL_tapered64) || defined(GOAL_tapered32) /* ulp_tapered_round64, ulp_tapered_round */

#if defined(GOAL_tapered64)
typedef uint64_t goal_word;
enum { WIDE = 1 };
#else
typedef uint32_t goal_word;
enum { WIDE = 0 };
#endif
GOAL_FN int assumed(goal_word x, uint32_t mode, uint32_t policy, uint32_t word, uint32_t r) {
    (void)x, (void)word;
    return is_rule(mode, policy, r) && ulp_tapered_offers(&format, WIDE);
}
GOAL_FN uint64_t spec(goal_word x, uint32_t mode, uint32_t policy, uint32_t word, uint32_t r) {
#if defined(GOAL_tapered64)
    return wanted(x, mode, policy, word, r);
#else
    return wanted(spec_widen(x), mode, policy, word, r);
#endif
}
GOAL_FN uint64_t code(goal_word x, uint32_t mode, uint32_t policy, uint32_t word, uint32_t r) {
    const ulp_tapered t = ulp_tapered_of(&format, rule_of(mode, policy, r));
#if defined(GOAL_tapered64)
    const int is_takum = format.taper == ULP_TAPER_TAKUM;
    return one_nan(ulp_bits64(ulp_tapered_round64(ulp_from_bits64(x), &t, is_takum, mode, word)));
#else
    return spec_widen(ulp_tapered_round(x, &t, mode, word));
#endif
}

#endif
#endif
