/* stochastic_floats.h - sums with every partial sum rounded by random words (mode sra), in vectors of binary32, where
 * the bits that a sum loses decide.
 *
 * The processor rounds acc + a b to 24 bits. Normal values of a format of precision p lose the last 24 - p of them. The
 * first bits of the word are added to the lost bits, and the carry decides. It decides like all bits of the exact sum
 * and of the word, except near a carry: there bits from below could cause or prevent it. A vector with such a sum is
 * formed once more in binary64. A watch looks for results that are too small or too large.
 */
#ifndef ULP_CPU_STOCHASTIC_FLOATS_H
#define ULP_CPU_STOCHASTIC_FLOATS_H

#include "kernels/cpu/floats.h"
#include "lanes.h"

#if defined(MM_HAS_FMA) && defined(MM_HAS_AVX2)

/* The vectors of sums that registers hold, and their columns. */
enum { GROUP = 4, GROUP_LANES = GROUP * FLOATS };
_Static_assert(LANES % GROUP_LANES == 0, "a panel is whole groups");

/* The constants of a format and rule. */
typedef struct decided_format {
    uint32_t random;            /* mask of the bits of a word that are used */
    uint32_t shift, wide_shift; /* right: from the word to the lost bits; left: to those of binary64 */
    uint32_t ones;              /* the lost bits */
    uint32_t few;               /* a rest below it does not decide */
    double least, most;         /* the range of results */
} decided_format;

/* Products of a row of A, (k), and a panel of B (k, LANES); words (k, LANES). */
typedef struct decided_products {
    const float *a, *b;
    const uint32_t *words;
    size_t k;
} decided_products;

/* a b + acc with 24 bits: rounded toward zero with AVX-512, else to nearest. */
ULP_INLINE vuint sum_word(vfloat a, vfloat b, vfloat acc) {
#if defined(__AVX512F__)
    return (vuint)_mm512_fmadd_round_ps((__m512)a, (__m512)b, (__m512)acc, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#else
    return (vuint)float_fused(a, b, acc);
#endif
}

/* How far a sum and what was added are from a carry. A sum rounded to nearest may be on either side of it. */
ULP_INLINE vuint rest_of(vuint to, const decided_format *f) {
    return FLOATS_ROUND_TOWARD ? f->ones & ~to : (to + 1u) & f->ones;
}

/* Forms the sums of the vector of columns at `column` in binary64. Returns 0 if a result is zero or out of range.
 * The function stays outside of the loop, whose registers it would take. */
__attribute__((noinline)) static int sums_again(float *sums, const decided_products *of, size_t column,
                                                const decided_format *format) {
    const decided_format f = *format;
    const uint64_t ones = ((uint64_t)f.ones << 29) | ((1u << 29) - 1u), sign = 1ull << 63;
    const uint64_t least = ulp_bits64(f.least), most = ulp_bits64(f.most);
    double acc[FLOATS];
    uint64_t beyond = 0;
    for (size_t j = 0; j < FLOATS; j++) acc[j] = (double)sums[column + j];
    for (size_t k = 0; k < of->k; k++) {
        const double a = (double)of->a[k];
        const float *b = of->b + k * LANES + column;
        const uint32_t *words = of->words + k * LANES + column;
        for (size_t j = 0; j < FLOATS; j++) {
            const uint64_t exact = ulp_bits64(ulp_odd_sum(a * (double)b[j], acc[j], ULP_SRA));
            const uint64_t to = (exact + ((uint64_t)(words[j] & f.random) << f.wide_shift)) & ~ones, size = to & ~sign;
            beyond |= (size - least) | (most - size);
            acc[j] = ulp_from_bits64(to);
        }
    }
    for (size_t j = 0; j < FLOATS; j++) sums[column + j] = (float)acc[j];
    return beyond >> 63 == 0;
}

/* Adds products to the sums of a group of columns. Returns 0 if a result is out of range; then the sums are of no use.
 */
static inline int decided_group(float *sums, const decided_products *of, size_t column, const decided_format *format) {
    const decided_format f = *format;
    const uint32_t least_word = 2u * ulp_bits32((float)f.least), most_word = 2u * ulp_bits32((float)f.most);
    vfloat acc[GROUP];
    vuint rest[GROUP], most = {0}, least = ~(vuint){0};
    UNROLLED for (int v = 0; v < GROUP; v++) {
        acc[v] = ((const vfloat *)(const void *)(sums + column))[v];
        most = larger_words(most, (vuint)acc[v] + (vuint)acc[v]); /* no carry changes a NaN */
        rest[v] = ~(vuint){0};
    }
    for (size_t k = 0; k < of->k; k++) {
        const vfloat *b = (const vfloat *)(const void *)(of->b + k * LANES + column);
        const vuint *words = (const vuint *)(const void *)(of->words + k * LANES + column);
        const vfloat a = of->a[k] - (vfloat){0}; /* the sign of a zero stays */
        UNROLLED for (int v = 0; v < GROUP; v++) {
            const vuint to = sum_word(a, b[v], acc[v]) + ((words[v] & f.random) >> f.shift);
            const vuint result = to & ~f.ones, twice = result + result;
            rest[v] = smaller_words(rest[v], rest_of(to, &f));
            most = larger_words(most, twice);
            least = smaller_words(least, twice - 1u); /* zero becomes the largest number */
            acc[v] = (vfloat)result;
        }
    }
    int good = !any_uint_above(most, most_word) && !any_uint_below(least, least_word - 1u);
    UNROLLED for (int v = 0; v < GROUP; v++) {
        if (any_uint_below(rest[v], f.few)) good &= sums_again(sums, of, column + (size_t)v * FLOATS, format);
        else ((vfloat *)(void *)(sums + column))[v] = acc[v];
    }
    return good;
}

/* Adds products to sums (LANES). Returns 0 if a result is out of range; then the sums are of no use. */
static int decided_run(float *sums, const decided_products *of, const decided_format *f) {
    int good = 1;
    for (size_t j = 0; j < LANES; j += GROUP_LANES) good &= decided_group(sums, of, j, f);
    return good;
}

/* The constants of mode sra for sums of products below 2^top that are multiples of 2^low; `random` is the mask of the
 * bits of a word that are used, and results are accepted up to `most`. 0: these lanes do not serve, or too many sums
 * would be undecided or too small. */
static inline int decided_format_of(decided_format *to, const ulp_format *f, uint32_t random, int top, int low,
                                    double most) {
    /* binades from the largest product to usual sums; one sum in 2^MANY is undecided; no sum but zero rounds to zero */
    enum { USUAL = 12, MANY = 12, LEAST = -149 };
    const uint32_t lost = 24u - f->prec, shift = 32u - lost;
    const int all_are_added = (random & ((1u << shift) - 1u)) == 0;
    *to = (decided_format){.random = random,
                           .shift = shift,
                           .wide_shift = 53u - f->prec - 32u,
                           .ones = (1u << lost) - 1u,
                           .few = FLOATS_ROUND_TOWARD ? !all_are_added : 2,
                           .least = ulp_scale(1.0, f->emin),
                           .most = most};
    return low >= LEAST && f->qmin >= LEAST && f->emin <= top - USUAL && (lost >= MANY || to->few == 0);
}

#endif

#endif
