/* random_sums.h - sums with every partial sum rounded by random words (mode sra), in vectors of binary32.
 *
 * The processor rounds acc + a b to 24 bits toward zero. Normal values of a format of precision p lose the last 24 - p
 * of them. The first bits of the word are added to the lost bits, and the carry decides. It decides like all bits of
 * the sum and of the word, except where lost bits and added bits become all ones: there a carry from below would pass.
 * A vector with such a sum is formed once more in binary64. A watch looks for results that are too small or too large.
 */
#ifndef ULP_CPU_RANDOM_SUMS_H
#define ULP_CPU_RANDOM_SUMS_H

#include "odd.h"

#if defined(__AVX512F__)

/* The constants of a format and rule. */
typedef struct random_format {
    uint32_t random, shift; /* mask of the bits of a word that are used; from the word to the lost bits */
    uint32_t ones;          /* the lost bits */
    uint32_t decided;       /* the largest sum of lost and added bits, without its carry, that decides */
    uint32_t least, most;   /* the range of results: twice the words of the magnitudes */
    lane_format wide;       /* the same format and rule in binary64, and the range there as of watch_limit */
    limits within;
} random_format;

/* 0 if too many sums would have to be formed once more. `random` is the mask of the bits of a word that are used;
 * results are accepted up to `most`. */
static inline int random_format_of(random_format *to, const ulp_format *f, uint32_t random, double most) {
    enum { MANY = 12 }; /* one sum in 2^MANY */
    const uint32_t lost = 24u - f->prec, ones = (1u << lost) - 1u, shift = 32u - lost;
    const int all_are_added = (random & ((1u << shift) - 1u)) == 0;
    *to = (random_format){.random = random,
                          .shift = shift,
                          .ones = ones,
                          .decided = all_are_added ? ones : ones - 1u,
                          .least = (uint32_t)(f->emin + 127) << 24,
                          .most = 2u * ulp_bits32((float)most),
                          .wide = lane_format_of(f, random),
                          .within = {watch_limit(ulp_bits64(f->min_normal)), watch_limit(ulp_bits64(most))}};
    return all_are_added || lost >= MANY;
}

/* Products of a row of A, (k), and a panel of B (k, LANES); words (k, LANES). */
typedef struct random_products {
    const float *a, *b;
    const uint32_t *words;
    size_t k;
} random_products;

/* Forms the sums of the vector of columns at `column` in binary64. Returns 0 if a result is out of range. */
static int random_again(float *sums, const random_products *of, size_t column, const random_format *f) {
    watch w = watch_begin();
    for (size_t j = column; j < column + FLOATS; j += DOUBLES) {
        vdouble sum = wide_floats(*(const vfloats *)(const void *)(sums + j));
        for (size_t k = 0; k < of->k; k++) {
            const vdouble b = wide_floats(*(const vfloats *)(const void *)(of->b + k * LANES + j));
            const vdouble exact = fused_toward(all_doubles((double)of->a[k]), b, sum, ULP_RZ);
            sum = round_normal(exact, &f->wide, ULP_SRA, random_lanes(of->words + k * LANES + j, &f->wide));
            w = watch_both(w, sum, sum);
        }
        *(vfloats *)(void *)(sums + j) = __builtin_convertvector(sum, vfloats);
    }
    return watch_is_within(w, f->within.least, f->within.most);
}

/* Adds products to sums (LANES). Returns 0 if a result is out of range; then the sums are of no use. */
static inline int random_run(float *sums, const random_products *of, const random_format *format) {
    const random_format f = *format;
    vfloat acc[VECTORS];
    vuint mixed[VECTORS] = {{0}}, most = {0}, least = ~(vuint){0};
    UNROLLED for (int v = 0; v < VECTORS; v++) acc[v] = *(const vfloat *)(const void *)(sums + v * FLOATS);
    for (size_t k = 0; k < of->k; k++) {
        const vfloat *b = (const vfloat *)(const void *)(of->b + k * LANES);
        const vuint *words = (const vuint *)(const void *)(of->words + k * LANES);
        const vfloat a = of->a[k] - (vfloat){0}; /* the sign of a zero stays */
        UNROLLED for (int v = 0; v < VECTORS; v++) {
            const vuint sum = (vuint)float_fused_toward(a, b[v], acc[v], ULP_RZ) + ((words[v] & f.random) >> f.shift);
            const vuint result = sum & ~f.ones, twice = result + result;
            mixed[v] = larger_uints(mixed[v], sum & f.ones);
            most = larger_uints(most, twice);
            least = smaller_uints(least, twice - 1u); /* zero becomes the largest number */
            acc[v] = (vfloat)result;
        }
    }
    int good = !any_uint_above(most, f.most) && !any_uint_below(least, f.least - 1u);
    UNROLLED for (int v = 0; v < VECTORS; v++) {
        if (any_uint_above(mixed[v], f.decided)) good &= random_again(sums, of, (size_t)v * FLOATS, format);
        else *(vfloat *)(void *)(sums + v * FLOATS) = acc[v];
    }
    return good;
}

#endif

#endif
