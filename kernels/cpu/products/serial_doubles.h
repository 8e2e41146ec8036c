/* serial_doubles.h - sums with every partial sum rounded, k ascending, in vectors whose range is watched.
 */
#ifndef ULP_CPU_SERIAL_DOUBLES_H
#define ULP_CPU_SERIAL_DOUBLES_H

#include "lanes.h"

/* Knowledge of the range of the sums: a proof that none is too large; the same, and that all are multiples of the
 * least quantum; nothing, and large sums are saturated; the watch is to find out whether one is too large, or too large
 * or too small. */
enum { SMALL, MULTIPLES, SATURATED, NOT_LARGE, WATCHED };

/* Adds products to the sums of a group; sums and panels are aligned to vectors. Returns the watch. `mode` and `range`
 * are constants. rd is ru of the negated sums. */
ULP_INLINE watch group_run(double *restrict sums, const lanes_products *of, const uint32_t *restrict words,
                           const lane_format *format, uint32_t mode, int range) {
    const lane_format f = *format;
    const vbits negated = all_bits(mode == ULP_RD ? 1ull << 63 : 0);
    const uint32_t way = mode == ULP_RD ? ULP_RU : mode;
    vdouble acc[HELD];
    watch w = watch_begin();
    UNROLLED for (int v = 0; v < HELD; v++) acc[v] = (vdouble)(((const vbits *)(const void *)sums)[v] ^ negated);
    UNROLLED for (int v = 0; v < HELD && range == WATCHED; v += 2) w = watch_both(w, acc[v], acc[v + 1]);
    for (size_t i = 0; i < of->k; i++) {
        const vdouble a = (vdouble)((vbits)all_doubles(of->a[i]) ^ negated);
        const vdouble *b = (const vdouble *)(const void *)(of->b + i * LANES);
        UNROLLED for (int v = 0; v < HELD; v++) {
            if (way == ULP_RNE) {
                acc[v] = round_nearest(fused(a, b[v], acc[v]), &f, range == MULTIPLES);
                if (range == SATURATED) acc[v] = saturate(acc[v], &f);
            } else {
                vbits word = {0};
                if (way == ULP_SRA) word = random_lanes(words + i * LANES + (size_t)v * DOUBLES, &f);
                acc[v] = round_normal(fused_toward(a, b[v], acc[v], way), &f, way, word);
            }
            IN_REGISTER(acc[v]);
        }
        UNROLLED for (int v = 0; v < HELD; v += 2) {
            if (range == NOT_LARGE) w = watch_most(w, acc[v], acc[v + 1]);
            if (range == WATCHED) w = watch_both(w, acc[v], acc[v + 1]);
        }
    }
    UNROLLED for (int v = 0; v < HELD; v++)((vbits *)(void *)sums)[v] = (vbits)acc[v] ^ negated;
    return w;
}

/* The limits of the watch, as of watch_limit. */
typedef struct limits {
    uint32_t least, most;
} limits;

/* Adds products to sums (LANES). words (k, LANES) in mode sra. Returns 0 if a sum was out of range; then the sums are
 * of no use. */
typedef int (*vector_function)(double *sums, const lanes_products *of, const uint32_t *words, const lane_format *f,
                               limits within);

/* X(name, mode, range) */
#define VECTORS(X)                                                                                                     \
    X(rne_small, ULP_RNE, SMALL)                                                                                       \
    X(rne_multiples, ULP_RNE, MULTIPLES)                                                                               \
    X(rne_saturated, ULP_RNE, SATURATED)                                                                               \
    X(rne_not_large, ULP_RNE, NOT_LARGE)                                                                               \
    X(rne_watched, ULP_RNE, WATCHED)                                                                                   \
    X(rna_watched, ULP_RNA, WATCHED)                                                                                   \
    X(rz_watched, ULP_RZ, WATCHED)                                                                                     \
    X(ru_watched, ULP_RU, WATCHED)                                                                                     \
    X(rd_watched, ULP_RD, WATCHED)                                                                                     \
    X(ro_watched, ULP_RO, WATCHED)                                                                                     \
    X(sra_watched, ULP_SRA, WATCHED)
#define FUNCTION(name, mode, range)                                                                                    \
    static int name(double *sums, const lanes_products *of, const uint32_t *words, const lane_format *f,               \
                    limits within) {                                                                                   \
        int good = 1;                                                                                                  \
        for (size_t j = 0; j < LANES; j += HELD_LANES) {                                                               \
            const lanes_products part = {of->a, of->b + j, of->k};                                                     \
            const watch w = group_run(sums + j, &part, words + j, f, mode, range);                                     \
            if (range == NOT_LARGE || range == WATCHED)                                                                \
                good &= watch_is_within(w, range == WATCHED ? within.least : 0, within.most);                          \
        }                                                                                                              \
        return good;                                                                                                   \
    }
VECTORS(FUNCTION)

#endif
