/* anchored.h - rounding of a piece of a binary32 array whose values are in the range of the format, by anchors.
 *
 * float_rounding.h rounds the vectors, and a watch over the piece says whether its values are in range.
 */
#ifndef ULP_CPU_ANCHORED_H
#define ULP_CPU_ANCHORED_H

#include <string.h>

#include "float_rounding.h"
#include "piece.h"

/* The constants of round_anchored. */
typedef struct anchored {
    float_format format;
    int serves;
    uint32_t most;  /* the largest magnitude that is in range */
    uint32_t least; /* the exponent field of the least normal value */
} anchored;

static void anchored_of(anchored *a, const ulp_format *f, ulp_rule rule, uint32_t most) {
    a->serves = round_float_serves(f, rule);
    a->format = float_format_of(f, ulp_core_random(rule));
    a->most = most;
    a->least = ulp_bits32((float)f->min_normal) >> 23;
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

/* Whether no magnitude of the arguments is above the largest one. */
static int none_is_above(const piece *p, const anchored *a) {
    vuint most = all_uints(0);
    for (size_t i = 0; i < p->n; i += FLOATS) {
        vuint u;
        memcpy(&u, p->x + i, sizeof u);
        most = larger_uints(most, u & 0x7fffffffu);
    }
    return !any_above((vint)most, (int32_t)a->most);
}

/* The findings of a loop over a piece. */
typedef struct exponents {
    vuint fields; /* the largest exponent fields of the arguments, at their place in a word */
    vbytes most;  /* the largest exponent fields of the results */
} exponents;

/* Whether all values are in range. A result is outside the range where its argument is, except in mode sra. The values
 * are looked at once more if an exponent field is not below the field of the largest one. */
ULP_INLINE int in_range(const piece *p, const anchored *a, const exponents *f, int by_input) {
    const uint32_t field = a->most >> 23;
    if (by_input ? !any_above((vint)f->fields, (int32_t)(field << 23) - 1) : !any_byte_above(f->most, field - 1))
        return 1;
    return none_is_above(p, a);
}

/* y (TOGETHER vectors) = elements `at` and following, rounded; stores them. `fields` holds the largest exponent fields,
 * if it is not NULL. */
ULP_INLINE void round_together(const piece *p, size_t at, const float_format *f, uint32_t mode, vfloat *y,
                               vuint *fields) {
    vfloat x[TOGETHER];
    UNROLLED for (size_t v = 0; v < TOGETHER; v++) memcpy(&x[v], p->x + at + v * FLOATS, sizeof x[v]);
    UNROLLED for (size_t v = 0; v < TOGETHER; v++) {
        vuint word = all_uints(0);
        if (mode == ULP_SRA) memcpy(&word, p->words + at + v * FLOATS, sizeof word);
        y[v] = round_float(x[v], fields_of(x[v]), f, mode, word);
        if (fields != NULL) *fields = larger_fields(*fields, fields_of(x[v]));
    }
    UNROLLED for (size_t v = 0; v < TOGETHER; v++) memcpy(p->y + at + v * FLOATS, &y[v], sizeof y[v]);
}

/* Rounds a piece; whether all values are in range. No result except zero has the exponent field zero, and the least
 * normal value is a power of two: the fields decide what is small. */
ULP_INLINE int anchored_signs(const piece *p, const anchored *a, uint32_t mode, uint32_t signs, small_counts *counts) {
    const int by_input = counts == NULL || mode == ULP_SRA;
    float_format f = a->format;
    f.signs = signs;
    const uint32_t least = a->least; /* a copy: the results could alias the constants */
    const piece part = *p;
    exponents found = {{0}, {0}};
    small_counts count = {0, 0, 0};
    for (size_t i = 0; i < part.n; i += 4 * FLOATS) {
        vfloat y[4];
        UNROLLED for (size_t v = 0; v < 4; v += TOGETHER)
            round_together(&part, i + v * FLOATS, &f, mode, y + v, by_input ? &found.fields : NULL);
        if (counts == NULL) continue;
        const vbytes fields = exponents_of(upper_shorts(y[0], y[1]), upper_shorts(y[2], y[3]));
        if (!by_input) found.most = larger_bytes(found.most, fields);
        count.below += bits_of(bytes_below(fields, least));
        const uint64_t zero = zero_bytes(fields);
        if (zero == 0) continue;
        count.zero += bits_of(zero);
        count.nothing += zeros_among(part.x + i, 4 * FLOATS);
    }
    if (counts != NULL) *counts = count;
    return in_range(p, a, &found, by_input);
}

/* An instance for each kind of zeros. A mask that is no constant lets gcc join two operations of AVX-512. */
ULP_INLINE int anchored_run(const piece *p, const anchored *a, uint32_t mode, small_counts *counts) {
    if (a->format.signs == 0) return anchored_signs(p, a, mode, 0, counts);
    return anchored_signs(p, a, mode, FLOATS_ROUND_TOWARD ? a->format.signs : 0x80000000u, counts);
}

/* An instance for each mode, with and without counts. */
static int anchored_piece(const piece *p, const anchored *a, uint32_t mode, small_counts *counts) {
    switch (mode) {
#define CASE(id, name, meaning, stochastic, inward)                                                                    \
    case id: return counts != NULL ? anchored_run(p, a, id, counts) : anchored_run(p, a, id, NULL);
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
