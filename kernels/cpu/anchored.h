/* anchored.h - rounding of a piece of a binary32 array whose values are in the range of the format, by anchors.
 *
 * float_rounding.h rounds the vectors, and a watch over the piece says whether its values are in range.
 */
#ifndef ULP_CPU_ANCHORED_H
#define ULP_CPU_ANCHORED_H

#include <string.h>

#include "float_rounding.h"

/* A piece of the arrays, and the random words of its elements. */
typedef struct piece {
    float *y;
    const float *x; /* not y */
    size_t n;       /* at most ULP_PIECE; a multiple of STEP, so that vector loops have no remainder */
    const uint32_t *words;
} piece;

enum { STEP = 64 };
_Static_assert(STEP % (4 * FLOATS) == 0 && ULP_PIECE % STEP == 0, "a step is whole turns of a loop");

/* The constants of round_anchored. */
typedef struct anchored {
    float_format format;
    int serves, by_input; /* by_input: a watch of counted rounding looks at the arguments, not at the results */
    uint32_t most;        /* the largest magnitude that is in range */
    uint32_t upper;       /* twice its upper half */
    uint32_t least;       /* the exponent field of the least normal value */
} anchored;

static void anchored_of(anchored *a, const ulp_format *f, ulp_rule rule) {
    a->serves = float_format_of(&a->format, f, rule);
    if (!a->serves) return;
    const double limit = f->max < -f->lowest ? f->max : -f->lowest;
    const uint32_t most = ulp_bits32((float)limit), next = most + (1u << (24 - f->prec));
    a->most = most;
    a->upper = most >> 16 << 1;
    a->least = ulp_bits32((float)f->min_normal) >> 23;
    a->by_input = rule.mode == ULP_SRA || next >> 16 == most >> 16;
}

/* The results of a piece below the least normal value, those of them that are zeros, and the zeros of the arguments. */
typedef struct small_counts {
    int32_t below, zero, nothing;
} small_counts;

/* The zeros of n elements, whole vectors. */
ULP_INLINE int32_t zeros_among(const float *x, size_t n) {
    int32_t zeros = 0;
    for (size_t i = 0; i < n; i += FLOATS) {
        vfloat at;
        memcpy(&at, x + i, sizeof at);
        zeros += zeros_of(at);
    }
    return zeros;
}

/* Whether all values are in range. No result except zero has the exponent field zero, and the least normal value is a
 * power of two: the fields decide what is small. */
ULP_INLINE int anchored_signs(const piece *p, const anchored *a, uint32_t mode, int by_input, uint32_t signs,
                              small_counts *counts) {
    float_format f = a->format;
    f.signs = signs;
    const float *restrict from = p->x;
    float *restrict to = p->y;
    const uint32_t *restrict words = p->words;
    const size_t n = p->n;
    vshort upper = (vshort){0};
    vuint most = all_uints(0);
    small_counts count = {0, 0, 0};
    for (size_t i = 0; i < n; i += 4 * FLOATS) {
        vfloat y[4];
        UNROLLED for (size_t v = 0; v < 4; v++) {
            vfloat x;
            vuint word = all_uints(0);
            memcpy(&x, from + i + v * FLOATS, sizeof x);
            if (mode == ULP_SRA) memcpy(&word, words + i + v * FLOATS, sizeof word);
            y[v] = round_float(x, &f, mode, word);
            if (by_input) most = larger_uints(most, (vuint)x & 0x7fffffffu);
            memcpy(to + i + v * FLOATS, &y[v], sizeof y[v]);
        }
        if (by_input && counts == NULL) continue;
        const vshort first = upper_shorts(y[0], y[1]), second = upper_shorts(y[2], y[3]);
        if (!by_input) upper = larger_shorts(upper, larger_shorts(first, second));
        if (counts == NULL) continue;
        const vbytes exponents = exponents_of(first, second);
        const uint64_t zero = bytes_below(exponents, 1);
        count.below += bits_of(bytes_below(exponents, a->least));
        if (zero == 0) continue;
        count.zero += bits_of(zero);
        count.nothing += zeros_among(from + i, 4 * FLOATS);
    }
    if (counts != NULL) *counts = count;
    return by_input ? !any_above((vint)most, (int32_t)a->most) : !any_short_above(upper, a->upper);
}

/* An instance for each kind of zeros. A mask that is no constant lets gcc join two operations of AVX-512. */
ULP_INLINE int anchored_run(const piece *p, const anchored *a, uint32_t mode, int by_input, small_counts *counts) {
    if (a->format.signs == 0) return anchored_signs(p, a, mode, by_input, 0, counts);
    return anchored_signs(p, a, mode, by_input, FLOATS_ROUND_TOWARD ? a->format.signs : 0x80000000u, counts);
}

/* Whether the watch over arguments is the faster one, without counts. */
enum { BY_INPUT = ULP_VECTOR_BYTES > 16 };

/* An instance for each mode and watch, with and without counts. */
static int anchored_piece(const piece *p, const anchored *a, uint32_t mode, small_counts *counts) {
    switch (mode) {
#define CASE(id, name, meaning, stochastic, inward)                                                                    \
    case id:                                                                                                           \
        if (counts != NULL)                                                                                            \
            return a->by_input ? anchored_run(p, a, id, 1, counts) : anchored_run(p, a, id, 0, counts);                \
        return BY_INPUT || a->by_input ? anchored_run(p, a, id, 1, NULL) : anchored_run(p, a, id, 0, NULL);
        ULP_MODES(CASE)
#undef CASE
    default: return 0;
    }
}

static void add_small(const small_counts *counts, ulp_stats *stats) {
    stats->subnormal += (uint64_t)(counts->below - counts->zero);
    stats->zero += (uint64_t)counts->zero;
    stats->underflow += (uint64_t)(counts->zero - counts->nothing);
}

/* Rounds a piece. 0 if a value is not in range; then the results are of no use. */
static int round_anchored(const piece *p, const anchored *a, uint32_t mode, ulp_stats *stats) {
    small_counts counts;
    if (!anchored_piece(p, a, mode, stats != NULL ? &counts : NULL)) return 0;
    if (stats != NULL) add_small(&counts, stats);
    return 1;
}

#endif
