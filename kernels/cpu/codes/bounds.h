/* bounds.h - elements of 4 bits by counting: the place of an element among the 8 magnitudes is the number of bounds
 * that its quotient reaches.
 */
#ifndef ULP_CPU_BOUNDS_H
#define ULP_CPU_BOUNDS_H

#include <string.h>

#include "vectors.h"

enum { BOUNDS = 7, LANES = 8 }; /* the bounds between the 8 magnitudes of 4-bit elements, in vectors of 8 */

typedef double eight_doubles __attribute__((vector_size(64)));
typedef int64_t eight_longs __attribute__((vector_size(64)));
typedef float eight_floats __attribute__((vector_size(32)));
typedef int32_t eight_ints __attribute__((vector_size(32)));

/* The bounds of a format and rule: an element is at least magnitude i + 1 where its quotient is at least bound[i];
 * index [1] is for negative numbers. */
typedef struct element_bounds {
    int by_sign, complement; /* whether signs differ in their bounds; whether codes are two's complement */
    double bound[2][LANES];
    int32_t words[2][LANES]; /* the least binary32 numbers at or above the bounds, as words */
} element_bounds;

/* Whether there are bounds for the format: signs and 8 finite magnitudes. */
static inline int has_bounds(const ulp_format *f) {
    return f->bits == 4 && f->taper == ULP_TAPER_NONE && f->nan_codes == ULP_NAN_NONE && !f->has_inf && f->is_signed &&
           (f->has_neg_zero || f->is_fixed);
}

/* The element that q becomes, as its place among the magnitudes. */
static inline int place_of(double q, const ulp_format *f, ulp_rule rule) {
    uint64_t code = 0;
    double e = ulp_block_element(ulp_exact_of(q), f, rule, 0);
    (void)ulp_encode(&code, e < 0 ? -e : e, f);
    return e == 0.0 ? 0 : (int)code;
}

/* The least binary32 numbers at or above the bounds times a factor, as words. */
ULP_INLINE void bounds_of(int32_t words[LANES], const double bound[LANES], double factor) {
    eight_doubles exact;
    memcpy(&exact, bound, sizeof exact);
    exact *= factor;
    const eight_floats near = __builtin_convertvector(exact, eight_floats);
    const eight_longs below = __builtin_convertvector(near, eight_doubles) < exact;
    const eight_ints result = (eight_ints)near - __builtin_convertvector(below, eight_ints);
    memcpy(words, &result, sizeof result);
}

/* The bound between magnitude i and the next one is the lower of them, their middle, or the upper one. Where the bound
 * itself gives magnitude i, it grows by less than the distance of binary32 numbers, and by more than a rounding. */
static inline void element_bounds_of(element_bounds *p, const ulp_format *f, ulp_rule rule) {
    p->complement = f->is_fixed;
    for (int sign = 0; sign < 2; sign++) {
        const double s = sign ? -1.0 : 1.0;
        for (int i = 0; i < BOUNDS; i++) {
            const double low = ulp_decode((uint64_t)i, f), high = ulp_decode((uint64_t)i + 1, f),
                         middle = (low + high) / 2, below = (low + middle) / 2, above = (middle + high) / 2;
            const double bound = place_of(s * below, f, rule) > i   ? low
                                 : place_of(s * above, f, rule) > i ? middle
                                                                    : high;
            const double beyond = bound == 0.0 ? 0x1p-600 : bound * (1.0 + 0x1p-45);
            p->bound[sign][i] = place_of(s * bound, f, rule) > i ? bound : beyond;
        }
        bounds_of(p->words[sign], p->bound[sign], 1.0);
    }
    p->by_sign = memcmp(p->bound[0], p->bound[1], sizeof p->bound[0]) != 0;
}

ULP_INLINE few_bytes count_vector(vuint u, const vint *positive, const vint *negative, int by_sign, int complement) {
    const vint size = (vint)(u & 0x7fffffffu), neg = (vint)u >> 31;
    vint count = {0};
    UNROLLED for (int t = 0; t < BOUNDS; t++) {
        const vint bound = by_sign ? (positive[t] & ~neg) | (negative[t] & neg) : positive[t];
        count = one_more_from(count, size, bound);
    }
    const vint code = complement ? ((count ^ neg) - neg) & 15 : count | (neg & 8);
    return __builtin_convertvector(code, few_bytes);
}

ULP_INLINE void count_bounds(uint8_t *to, const float *x, size_t n, const int32_t *positive, const int32_t *negative,
                             int by_sign, int complement) {
    vint of[2][BOUNDS];
    for (int t = 0; t < BOUNDS; t++) of[0][t] = (vint){0} + positive[t], of[1][t] = (vint){0} + negative[t];
    vuint u = {0};
    few_bytes codes;
    size_t i = 0;
    for (; i + FLOATS <= n; i += FLOATS) {
        memcpy(&u, x + i, sizeof u);
        codes = count_vector(u, of[0], of[1], by_sign, complement);
        memcpy(to + i, &codes, sizeof codes);
    }
    if (i == n) return;
    memcpy(&u, x + i, (n - i) * sizeof *x);
    codes = count_vector(u, of[0], of[1], by_sign, complement);
    memcpy(to + i, &codes, n - i);
}

/* The codes of x (n), for bounds as words: of `p`, or these times a factor. */
ULP_INLINE void count_elements(uint8_t *to, const float *x, size_t n, const int32_t (*words)[LANES],
                               const element_bounds *p) {
    if (p->by_sign) count_bounds(to, x, n, words[0], words[1], 1, p->complement);
    else if (p->complement) count_bounds(to, x, n, words[0], words[0], 0, 1);
    else count_bounds(to, x, n, words[0], words[0], 0, 0);
}

/* The codes of x (n) under a factor. */
ULP_INLINE void count_block(uint8_t *to, const float *x, size_t n, double factor, const element_bounds *p) {
    int32_t words[2][LANES];
    bounds_of(words[0], p->bound[0], factor);
    if (p->by_sign) bounds_of(words[1], p->bound[1], factor);
    count_elements(to, x, n, (const int32_t(*)[LANES])words, p);
}

#endif
