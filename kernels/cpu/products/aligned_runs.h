/* aligned_runs.h - the steps of fused sums for a block of outputs, one after the other, for every kind of sum.
 */
#ifndef ULP_ALIGNED_RUNS_H
#define ULP_ALIGNED_RUNS_H

#include "aligned_fused.h"
#include "aligned_odd.h"
#include "aligned_one_sided.h"

/* One step of a kind of sum; 0 where the outputs need the scalar definition. */
ULP_INLINE int fuse_any(vfloat c[ROWS][HALVES], vbytes nearest[PARTS][PAIRS], const operands *o, const plan *p, way w,
                        int more) {
    if (w.kind == ONE_SIDED) return fuse_one_sided(c, nearest, o, p, w, more);
    if (w.kind == ODD) return fuse_odd(c, nearest[0], o, p, w, more);
    return w.kind == LATE ? fuse_late(c, nearest[0], o, p, w, more) : fuse(c, nearest[0], o, p, w, more);
}

/* Runs up to o.count steps in order. Stops before a step that holds special values or is out of range. Returns the
 * number of steps that are done. */
ULP_INLINE size_t run_steps(vfloat c[ROWS][HALVES], operands o, const plan *row_plan, way w) {
    const plan p = *row_plan;
    const int step = w.kind == LATE ? 2 * p.length : length_of(&p, w);
    if (is_bounded(w) && o.top < p.floor + 127) o.top = p.floor + 127;
    vfloat sums[ROWS][HALVES];
    vbytes nearest[PARTS][PAIRS];
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++) sums[r][h] = c[r][h];
    for (int q = 0; q < PARTS; q++) UNROLLED for (int i = 0; i < PAIRS; i++) nearest[q][i] = start_of(&o, &p, w);
    for (int k = 0; k < p.length; k++) take_distances(nearest[k % parts_of(w)], o.a_distance, o.b_distance, k);
    size_t at = 0;
    for (; at < o.count; at++) {
        const int more = at + 1 < o.count;
        if (w.care == WATCHED && (o.a_special[at] | o.b_special[at])) break;
        if (!fuse_any(sums, nearest, &o, &p, w, more)) break;
        o.a += step * ROWS, o.a_distance += step * ROWS, o.a_scale += ROWS;
        o.b += step * WIDTH, o.b_distance += step * 2 * WIDTH, o.b_scale += WIDTH;
    }
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++) c[r][h] = sums[r][h];
    return at;
}

typedef size_t (*run_function)(vfloat c[ROWS][HALVES], operands o, const plan *p);

/* Every way: X(name, kind, span, narrow, size). */
#define RUNS(X)                                                                                                        \
    X(plain4, PLAIN, 4, 0, FITS_INT)                                                                                   \
    X(plain8, PLAIN, 8, 0, FITS_INT)                                                                                   \
    X(plain16_short, PLAIN, 16, 0, FITS_FLOAT)                                                                         \
    X(plain16, PLAIN, 16, 0, FITS_TWO)                                                                                 \
    X(narrow4, PLAIN, 4, 1, FITS_INT)                                                                                  \
    X(narrow8, PLAIN, 8, 1, FITS_INT)                                                                                  \
    X(narrow16_short, PLAIN, 16, 1, FITS_FLOAT)                                                                        \
    X(narrow16, PLAIN, 16, 1, FITS_TWO)                                                                                \
    X(late16, LATE, 16, 0, FITS_INT)                                                                                   \
    X(late_narrow16, LATE, 16, 1, FITS_INT)                                                                            \
    X(scaled16, SCALED, 16, 0, FITS_TWO)                                                                               \
    X(one_sided4, ONE_SIDED, 4, 0, FITS_INT)                                                                           \
    X(one_sided8, ONE_SIDED, 8, 0, FITS_INT)                                                                           \
    X(one_sided16, ONE_SIDED, 16, 0, FITS_INT)                                                                         \
    X(odd8, ODD, 8, 0, FITS_INT)                                                                                       \
    X(odd16, ODD, 16, 0, FITS_FOUR)

#define RUN_WITH(name, ...)                                                                                            \
    static size_t name(vfloat c[ROWS][HALVES], operands o, const plan *p) {                                            \
        return run_steps(c, o, p, (way){__VA_ARGS__});                                                                 \
    }
#define RUN(name, kind, span, narrow, size)                                                                            \
    RUN_WITH(name##_near, kind, span, narrow, size, NEAR)                                                              \
    RUN_WITH(name##_far, kind, span, narrow, size, FAR)                                                                \
    RUN_WITH(name##_watched, kind, span, narrow, size, WATCHED)
RUNS(RUN)

#endif
