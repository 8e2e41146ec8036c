/* spaced.h - the update of weights w + a (f g), rounded once to a format of equal spacing, in modes rne and sra.
 *
 * All values are multiples of the quantum 2^qmin, as in fixed point. The factors a and f are constants of the update,
 * and the product f g is rounded to binary32. The functions serve results in the range of the format, and a w that is a
 * value of the format. They report other operands and leave w as it is; then the steps of the update run one by one.
 *   - rne: w + anchor is exact for an anchor of 1.5 2^23 quanta (2^52 in binary64), and the last place of the sum
 *     a (f g) + (w + anchor) is one quantum. The one rounding of the processor is the rounding to the format. The
 *     anchor is even, so that ties are right.
 *   - sra: the last place of a base of 1.5 2^20 quanta is 2^-32 quanta in binary64, the unit of a random word. The
 *     upper half of the word of base + |x| + random, rounded downward, counts the quanta of the result for x.
 * tests/unit/t_update.c compares both with the scalar definition.
 */
#ifndef ULP_CPU_SPACED_H
#define ULP_CPU_SPACED_H

#include "kernels/cpu/doubles.h"
#include "kernels/cpu/floats.h"

/* The numbers of mode rne: binary32 if a fused multiply-add rounds the sum once, else binary64, which holds a b. */
#if FUSED_IS_FAST
typedef float lane;
typedef uint32_t lane_bits;
enum { LANE_PLACES = 23 };
ULP_INLINE lane lane_fused(lane a, lane b, lane c) { return __builtin_fmaf(a, b, c); }
ULP_INLINE lane_bits lane_word(lane x) { return ulp_bits32(x); }
#else
typedef double lane;
typedef uint64_t lane_bits;
enum { LANE_PLACES = 52 };
ULP_INLINE lane lane_fused(lane a, lane b, lane c) { return a * b + c; }
ULP_INLINE lane_bits lane_word(lane x) { return ulp_bits64(x); }
#endif

typedef struct spaced {
    uint32_t mode;
    float a, factor;           /* the caller sets them */
    lane anchor, lowest, most; /* of mode rne */
    float whole;               /* of mode sra: whole + c, a number of 2^23 to 2^24 quanta, counts quanta */
    uint32_t limit;            /* 2^k - 1, the largest magnitude that mode sra serves, in quanta */
    uint32_t random;           /* mask of the bits of a word that are used */
    uint64_t base;
    float scale, offset; /* the number whose word is the upper half of a sum, times scale, less offset, is the result */
} spaced;

/* Prepares the constants. 0 if the functions below do not serve the format and the rule. */
static inline int spaced_of(spaced *s, const ulp_format *f, ulp_rule rule) {
    if (!ulp_core_offers(f, rule) || f->emax > f->emin || !f->has_subnormals || f->has_neg_zero || f->prec > 18 ||
        f->qmin < -64 || f->qmin > 64 || (rule.mode != ULP_RNE && rule.mode != ULP_SRA))
        return 0;
    const double quantum = ulp_scale(1.0, f->qmin), most = f->max < -f->lowest ? f->max : -f->lowest;
    s->mode = rule.mode;
    s->anchor = (lane)ulp_scale(1.5, LANE_PLACES + f->qmin);
    s->lowest = (lane)f->lowest;
    s->most = (lane)f->max;
    s->whole = (float)(0x1.04p23 * quantum);
    s->base = ulp_bits64(0x1.8p20 * quantum);
    const uint32_t none = (uint32_t)(s->base >> 32); /* no quantum; the next word is one quantum */
    s->scale = (float)(quantum / ((double)ulp_from_bits32(none + 1u) - (double)ulp_from_bits32(none)));
    s->offset = ulp_from_bits32(none) * s->scale;
    s->random = ulp_core_random(rule);
    for (s->limit = 0; 2.0 * s->limit + 1.0 <= most / quantum;) s->limit = 2 * s->limit + 1;
    return 1;
}

/* ---- mode rne ---- */

/* held (n) = w. 0 if an operand is not served; then w is of no use. */
ULP_INLINE int spaced_nearest(float *restrict w, float *restrict held, const float *restrict g, size_t n,
                              const spaced *constants) {
    const spaced s = *constants;
    lane_bits inexact = 0, beyond = 0;
    for (size_t i = 0; i < n; i++) {
        const lane at = (lane)w[i], from = at + s.anchor;
        const lane to = lane_fused((lane)s.a, (lane)(s.factor * g[i]), from) - s.anchor;
        held[i] = w[i];
        w[i] = (float)to;
        inexact |= lane_word(from - s.anchor - at) | lane_word(to - to); /* +0 for numbers */
        beyond |= lane_word(to - s.lowest) | lane_word(s.most - to);
    }
    return inexact == 0 && beyond >> (8 * sizeof beyond - 1) == 0;
}

/* ---- mode sra ---- */

/* The indices of the upper halves of the words of two vectors, and of a half of a vector. */
#if ULP_VECTOR_BYTES == 64
#define UPPER_OF(i)                                                                                                    \
    i, i + 2, i + 4, i + 6, i + 8, i + 10, i + 12, i + 14, i + 16, i + 18, i + 20, i + 22, i + 24, i + 26, i + 28,     \
        i + 30
#define HALF(i) i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7
#elif ULP_VECTOR_BYTES == 32
#define UPPER_OF(i) i, i + 2, i + 4, i + 6, i + 8, i + 10, i + 12, i + 14
#define HALF(i) i, i + 1, i + 2, i + 3
#else
#define UPPER_OF(i) i, i + 2, i + 4, i + 6
#define HALF(i) i, i + 1
#endif
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
enum { UPPER = 0 };
#else
enum { UPPER = 1 };
#endif

ULP_INLINE vuint upper_words(vbits low, vbits high) {
    return LANES_AT(vuint, (vuint)low, (vuint)high, UPPER_OF(UPPER));
}
#if defined(__clang__) || __GNUC__ >= 12
ULP_INLINE vdouble low_half(vfloat x) { return wide_floats(__builtin_shufflevector(x, x, HALF(0))); }
ULP_INLINE vdouble high_half(vfloat x) { return wide_floats(__builtin_shufflevector(x, x, HALF(FLOATS / 2))); }
#else
typedef union halves {
    vfloat all;
    vfloats half[2];
} halves;
ULP_INLINE vdouble low_half(vfloat x) { return wide_floats((halves){x}.half[0]); }
ULP_INLINE vdouble high_half(vfloat x) { return wide_floats((halves){x}.half[1]); }
#endif

/* The words of FLOATS results for x = w + a g: the upper half of the word of base, and the rounded magnitude in quanta,
 * and the sign of x. A magnitude above spaced.limit gives a larger word. */
typedef struct counted {
    vuint word;
    vuint inexact; /* not zero in a lane whose operands are not served */
} counted;

#if defined(__AVX512F__)
/* The word of x + base + a random word, where base and word have the sign of x. Both sums are rounded toward zero,
 * which changes no unit of 2^-32 quanta. */
ULP_INLINE vbits count_half(vdouble w, vdouble g, const uint32_t *words, const spaced *s) {
    const vdouble x = fused_toward(all_doubles((double)s->a), g, w, ULP_RZ);
    const vbits base = ((vbits)x & 0x8000000000000000u) | s->base;
    return (vbits)sum_toward(x, (vdouble)((wide_words(words) & s->random) | base), ULP_RZ);
}

ULP_INLINE counted count_quanta(vfloat w, vfloat g, const uint32_t *words, const spaced *s) {
    const vbits low = count_half(low_half(w), low_half(g), words, s),
                high = count_half(high_half(w), high_half(g), words + DOUBLES, s);
    return (counted){upper_words(low, high), all_uints(0)};
}
#else
/* base + a random word */
ULP_INLINE vdouble random_base(const uint32_t *words, const spaced *s) {
    return (vdouble)((wide_words(words) & s->random) | s->base);
}

ULP_INLINE vuint sign_of_sum(vfloat w, vfloat g, const spaced *s) {
#if defined(MM_HAS_FMA)
    return (vuint)float_fused(s->a - (vfloat){0}, g, w) & 0x80000000u;
#else
    vfloat x;
    for (int i = 0; i < FLOATS; i++) x[i] = (float)((double)s->a * (double)g[i] + (double)w[i]);
    return (vuint)x & 0x80000000u;
#endif
}

/* a g + from rounded downward, as a word; a g is exact. */
ULP_INLINE vbits sum_below(vdouble g, vdouble from, const spaced *s) {
    const vdouble p = g * (double)s->a, near = p + from;
    return (vbits)near + (vbits)(near - from > p);
}

/* Both terms get the sign of x. The quanta of w are counted by an addition in binary32. */
ULP_INLINE counted count_quanta(vfloat w, vfloat g, const uint32_t *words, const spaced *s) {
    const vuint sign = sign_of_sum(w, g, s);
    const vfloat to = (vfloat)((vuint)g ^ sign), from = (vfloat)((vuint)w ^ sign), sum = from + s->whole;
    const vbits low = sum_below(low_half(to), random_base(words, s), s),
                high = sum_below(high_half(to), random_base(words + DOUBLES, s), s);
    const vuint whole = (vuint)sum - ulp_bits32(s->whole);
    return (counted){(upper_words(low, high) + whole) | sign,
                     (vuint)(sum - s->whole - from) | ((whole + (1u << 17)) >> 18)};
}
#endif

/* As spaced_nearest; n is a multiple of FLOATS. */
ULP_INLINE int spaced_stochastic(float *restrict w, float *restrict held, const float *restrict g,
                                 const uint32_t *words, size_t n, const spaced *constants) {
    const spaced s = *constants;
    vuint all = all_uints(0), inexact = all_uints(0);
    for (size_t i = 0; i < n; i += FLOATS) {
        vfloat at, by;
        memcpy(&at, w + i, sizeof at);
        memcpy(&by, g + i, sizeof by);
        IN_REGISTER(at); /* gcc would copy w to held in a loop of its own */
        const counted r = count_quanta(at, by * s.factor, words + i, &s);
        const vfloat offset = (vfloat)((r.word & 0x80000000u) | ulp_bits32(s.offset)),
                     to = float_fused((vfloat)r.word, (vfloat){0} + s.scale, -offset); /* exact; a zero is +0 */
        memcpy(held + i, &at, sizeof at);
        memcpy(w + i, &to, sizeof to);
        all |= r.word;
        inexact |= r.inexact;
    }
    /* a magnitude above the limit sets another bit */
    return !any_bit((all & ~(0x80000000u | (uint32_t)(s.base >> 32) | s.limit)) | inexact);
}

/* ---- both ---- */

/* w (n) = w + a (f g) rounded; n is a multiple of FLOATS. 0 if an operand is not served; then w stays. */
static int spaced_update(float *w, const float *g, const uint32_t *words, size_t n, const spaced *s) {
    float held[ULP_PIECE];
    if (s->mode == ULP_SRA ? spaced_stochastic(w, held, g, words, n, s) : spaced_nearest(w, held, g, n, s)) return 1;
    memcpy(w, held, n * sizeof *w);
    return 0;
}

#endif
