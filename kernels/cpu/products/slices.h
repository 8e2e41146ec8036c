/* slices.h - exact sums of products in binary64, with A cut into slices whose products have few bits.
 *
 * The error-free transformation of Ozaki, Ogita, Oishi and Rump (2012, doi:10.1007/s11075-011-9478-1), of one operand.
 * Let |a| < 2^ta, let b be a multiple of 2^lb with |b| < 2^tb, let a sum have n <= 2^g products, g >= 3, and let
 * w = 52 - g - (tb - lb) > 0. The first slice of a is a rounded to a multiple of 2^s, s = ta - w. The remainder, at
 * most 2^(s-1), is cut in the same way. A slice is a multiple of 2^s of at most 2^(s+w), so that a sum of its products
 * is a multiple of 2^(s+lb) of at most 2^(g+s+w+tb) = 2^(52+s+lb), and no product or addition rounds. All sums of slice
 * i go into part i.
 */
#ifndef ULP_CPU_SLICES_H
#define ULP_CPU_SLICES_H

#include "lanes.h"

enum {
    MOST_SLICES = 3,
    SLICED_ROWS = 2,
    SLICED_DEPTH = 256
}; /* so many products of a panel fit the first-level cache */

typedef struct slices {
    int count;      /* 0: the operands are too wide */
    int width;      /* w */
    int first;      /* s of the first slice */
    double *sliced; /* A (m, k, count) */
} slices;

/* The slices for sums of n products of operands of these extents. Three slices have w <= 25, for slices_fold. */
static inline slices slices_of(const extent *a, const extent *b, size_t n) {
    slices s = {.count = 0};
    int g = 3;
    while (g < 40 && n > (size_t)1 << g) g++;
    s.width = 52 - g - (b->top - b->low);
    s.first = a->top - s.width;
    if (!a->narrow || !b->narrow || s.width < 1 || n > (size_t)1 << g) return s;
    const int count = 1 + (s.first > a->low ? (s.first - a->low + s.width) / (s.width + 1) : 0);
    if (count <= 2 || (count == 3 && s.width <= 25)) s.count = count;
    return s;
}

/* to (n, count) = the slices of x (n) */
static inline void slices_cut(double *restrict to, const double *restrict x, size_t n, const slices *s) {
    double anchor[MOST_SLICES]; /* 1.5 2^(s+52); the addition of an anchor rounds to multiples of 2^s */
    const size_t count = (size_t)s->count;
    for (int i = 0; i < MOST_SLICES; i++) anchor[i] = ulp_scale(1.5, s->first - i * (s->width + 1) + 52);
    for (size_t k = 0; k < n; k++) {
        double rest = x[k];
        for (size_t i = 0; i + 1 < count; i++) {
            const double slice = (rest + anchor[i]) - anchor[i];
            to[k * count + i] = slice;
            rest -= slice;
        }
        to[k * count + count - 1] = rest; /* a multiple of 2^s of the last slice */
    }
}

/* The vectors of lanes whose sums are held in registers. */
enum { SLICED_VECTORS = ULP_VECTOR_BYTES == 64 ? 4 : 2 };

/* sums[r] (count, LANES) += a[r] (k, count) b (k, LANES) for two rows. `count` is a constant. */
ULP_INLINE void slices_run(double *const sums[SLICED_ROWS], const double *const a[SLICED_ROWS], const double *b,
                           size_t k, int count) {
    vdouble acc[SLICED_ROWS][MOST_SLICES][SLICED_VECTORS];
    for (size_t j = 0; j < LANES; j += SLICED_VECTORS * DOUBLES) {
        for (int r = 0; r < SLICED_ROWS; r++)
            for (int i = 0; i < count; i++) memcpy(acc[r][i], sums[r] + i * LANES + j, sizeof acc[r][i]);
        for (size_t l = 0; l < k; l++) {
            const vdouble *y = (const vdouble *)(const void *)(b + l * LANES + j);
            ALL_UNROLLED for (int r = 0; r < SLICED_ROWS; r++) ALL_UNROLLED for (int i = 0; i < count; i++) {
                const vdouble x = all_doubles(a[r][l * (size_t)count + (size_t)i]);
                ALL_UNROLLED for (int v = 0; v < SLICED_VECTORS; v++) acc[r][i][v] = fused(x, y[v], acc[r][i][v]);
            }
        }
        for (int r = 0; r < SLICED_ROWS; r++)
            for (int i = 0; i < count; i++) memcpy(sums[r] + i * LANES + j, acc[r][i], sizeof acc[r][i]);
    }
}

#define ULP_SLICES(count)                                                                                              \
    static void slices_##count(double *const sums[SLICED_ROWS], const double *const a[SLICED_ROWS], const double *b,   \
                               size_t k) {                                                                             \
        slices_run(sums, a, b, k, count);                                                                              \
    }
ULP_SLICES(1)
ULP_SLICES(2)
ULP_SLICES(3)

/* Adds k products of two rows and a panel to the parts of their sums. */
static inline void slices_add(const slices *s, double *const sums[SLICED_ROWS], const double *const a[SLICED_ROWS],
                              const double *b, size_t k) {
    if (s->count == 1) slices_1(sums, a, b, k);
    else if (s->count == 2) slices_2(sums, a, b, k);
    else slices_3(sums, a, b, k);
}

/* Two parts for three: the first becomes the rounded sum of the first two, the second the error of this sum plus the
 * third. With s of the three slices, the error is a multiple of 2^(s3+lb) of at most 2^(s1+lb-1) = 2^(s3+lb+2w+1), and
 * the third part is at most 2^(52+s3+lb), so that w <= 25 makes their sum exact. */
static inline void slices_fold(double *restrict part, const double *restrict third) {
    for (int j = 0; j < LANES; j++) {
        double sum;
        const double error = ulp_two_sum(part[j], part[LANES + j], &sum);
        part[j] = sum;
        part[LANES + j] = error + third[j];
    }
}

#endif
