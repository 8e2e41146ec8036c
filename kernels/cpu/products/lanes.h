/* lanes.h - declarations for products whose lanes are the columns of the result: packing, random words, rounding.
 *
 * B is packed once as panels of LANES columns, and the rows of A are converted once. Both are binary64 numbers:
 * products of binary32 values are exact in binary64.
 */
#ifndef ULP_CPU_LANES_H
#define ULP_CPU_LANES_H

#include "extent.h"
#include "gemm.h"
#include "kernels/cpu/rounding/lane_rounding.h"
#include "kernels/cpu/philox.h"

#include <string.h>

enum { LANES = 64, DEPTH = 512, MOST_ROWS = 16 }; /* DEPTH products of a panel fit the second-level cache */

/* The vectors of sums that registers hold, and the lanes of such a group. */
enum { HELD = 8, HELD_LANES = HELD * DOUBLES };
_Static_assert(LANES % HELD_LANES == 0, "a panel is whole groups");

/* ---- operands ---- */

typedef struct lanes {
    const ulp_job *job;
    double *packed, *rows; /* B as panels of (k, LANES), zero-padded; A (m, k), or some rows of A from row `first` */
    size_t first;
} lanes;

ULP_INLINE const double *lanes_panel(const lanes *l, size_t panel) { return l->packed + panel * l->job->s.k * LANES; }
ULP_INLINE size_t lanes_panels(const lanes *l) { return (l->job->s.n + LANES - 1) / LANES; }

ULP_INLINE size_t lanes_width(const lanes *l, size_t panel) {
    const size_t left = l->job->s.n - panel * LANES;
    return left < LANES ? left : LANES;
}

static inline void lanes_pack_panel(const lanes *l, size_t panel) {
    const size_t k_all = l->job->s.k, j0 = panel * LANES, width = lanes_width(l, panel);
    double *to = l->packed + panel * k_all * LANES;
    memset(to, 0, k_all * LANES * sizeof *to);
    for (size_t k = 0; k < k_all; k++)
        for (size_t j = 0; j < width; j++) to[k * LANES + j] = job_at(l->job, l->job->b, b_index(l->job, k, j0 + j));
}

/* Packs panels begin .. end - 1, for ulp_parallel_for. */
static inline void lanes_pack_part(void *context, size_t begin, size_t end) {
    for (size_t panel = begin; panel < end; panel++) lanes_pack_panel(context, panel);
}

static inline void lanes_pack_row(const lanes *l, size_t i) {
    const size_t k_all = l->job->s.k;
    for (size_t k = 0; k < k_all; k++)
        l->rows[(i - l->first) * k_all + k] = job_at(l->job, l->job->a, a_index(l->job, i, k));
}

/* Allocates the operands. */
static inline void lanes_room(lanes *l, rooms *r) {
    l->packed = rooms_take(r, lanes_panels(l) * l->job->s.k * LANES, sizeof *l->packed);
    l->rows = rooms_take(r, l->job->s.m * l->job->s.k, sizeof *l->rows);
}

/* Products of a row of A and a panel of B. */
typedef struct lanes_products {
    const double *a, *b; /* (k), (k, LANES) */
    size_t k;
} lanes_products;

/* The products k0 .. k1 - 1 of row i and a panel. */
ULP_INLINE lanes_products lanes_products_of(const lanes *l, size_t i, size_t panel, size_t k0, size_t k1) {
    return (lanes_products){l->rows + (i - l->first) * l->job->s.k + k0, lanes_panel(l, panel) + k0 * LANES, k1 - k0};
}

/* to (LANES) = the start values of row i in a panel, +0 if the job has none. */
static inline void lanes_start(double *to, const lanes *l, size_t i, size_t panel) {
    const ulp_gemm_shape *s = &l->job->s;
    const size_t at = i * s->ldc + panel * LANES, width = lanes_width(l, panel);
    memset(to, 0, LANES * sizeof *to);
    for (size_t j = 0; j < width && s->accumulate; j++) to[j] = job_at(l->job, l->job->c, at + j);
}

/* Stores `from` (LANES) as row i of the result in a panel. */
static inline void lanes_store(const lanes *l, size_t i, size_t panel, const double *from) {
    const size_t at = i * l->job->s.ldc + panel * LANES, width = lanes_width(l, panel);
    if (l->job->wide) {
        double *to = (double *)l->job->c + at;
        for (size_t j = 0; j < width; j++) to[j] = from[j] == from[j] ? from[j] : ulp_quiet_nan();
    } else {
        float *to = (float *)l->job->c + at;
        for (size_t j = 0; j < width; j++) to[j] = canonical((float)from[j]);
    }
}

/* Promotion: adds acc to total and clears acc. Both are binary32 values, so that the addition rounds once. */
ULP_INLINE void lanes_promote(double *restrict total, double *restrict acc) {
    for (int j = 0; j < LANES; j++) total[j] = (double)((float)total[j] + (float)acc[j]);
    for (int j = 0; j < LANES; j++) acc[j] = 0.0;
}

/* Whether all elements of a matrix of doubles are binary32 values. */
static inline int all_binary32(matrix of) {
    const double *x = of.x;
    uint64_t bad = 0;
    for (size_t i = 0; i < of.rows; i++)
        for (size_t j = 0; j < of.width; j++) {
            const double v = x[i * of.ld + j];
            bad |= (uint64_t)((double)(float)v != v) & (uint64_t)(v == v);
        }
    return bad == 0;
}

/* Whether the operands and start values of a job are binary32 values. */
static inline int job_fits_binary32(const ulp_job *w) {
    if (!w->wide) return 1;
    if (w->s.accumulate && !all_binary32(matrix_c(w))) return 0;
    return w->s.k == 0 || (all_binary32(matrix_a(w)) && all_binary32(matrix_b(w)));
}

/* ---- random words ---- */

/* Two vectors of blocks, a block for each of PAIR columns. Lane i of vector g belongs to column 2 i + g: the words of
 * the two vectors, in pairs, lie in the order of the columns. */
enum { MOST_WORDS = 128, WIDES = ULP_VECTOR_BYTES / 8, PAIR = 2 * WIDES, PAIRS = LANES / PAIR };

/* rows (4 count, LANES) = the words of `count` blocks of each column; column j begins with block (index + j step) / 4.
 */
static inline void lanes_blocks(uint32_t *rows, size_t count, const philox *p, uint64_t index, uint64_t step) {
    enum { TOGETHER = PHILOX_MOST / 2 };
    uint64_t first[PAIRS][2][WIDES];
    vwide block[2 * PAIRS];
    for (size_t j = 0; j < LANES; j++) first[j / PAIR][j % 2][j % PAIR / 2] = (index + j * step) / 4;
    memcpy(block, first, sizeof block);
    for (size_t pair = 0; pair < count * PAIRS; pair += TOGETHER) {
        vwide at[2 * TOGETHER];
        philox_words w;
        ALL_UNROLLED for (size_t i = 0; i < TOGETHER; i++) {
            at[2 * i] = block[2 * ((pair + i) % PAIRS)] + (pair + i) / PAIRS;
            at[2 * i + 1] = block[2 * ((pair + i) % PAIRS) + 1] + (pair + i) / PAIRS;
        }
        philox_blocks(&w, at, p, 2 * TOGETHER);
        ALL_UNROLLED for (size_t i = 0; i < TOGETHER; i++) {
            if (pair + i >= count * PAIRS) break;
            uint32_t *to = rows + (pair + i) / PAIRS * 4 * LANES + (pair + i) % PAIRS * PAIR;
            ALL_UNROLLED for (size_t row = 0; row < 4; row++) {
                const vwide words = pair_of(w.word[row][2 * i], w.word[row][2 * i + 1]);
                memcpy(to + row * LANES, &words, sizeof words);
            }
        }
    }
}

/* words (count, LANES) = the words first .. first + count - 1 of each output of row i in a panel;
 * count <= MOST_WORDS. Columns beyond the result hold any words. */
static inline void lanes_words(uint32_t *words, const ulp_job *job, size_t i, size_t panel, uint64_t first,
                               size_t count) {
    const ulp_stream stream = job->stream;
    const uint64_t step = ulp_datapath_words(job->datapath, job->s.k);
    const uint64_t index = stream.first + word_index(job, i, panel * LANES) + first;
    if (!philox_are_near(index, index + (LANES - 1) * step + count)) { /* both upper halves are rare */
        for (size_t j = 0; j < LANES; j++)
            for (size_t k = 0; k < count; k++)
                words[k * LANES + j] = ulp_random_word((ulp_stream){stream.seed, stream.stream, index}, j * step + k);
        return;
    }
    philox p;
    philox_begin(&p, stream.seed, stream.stream);
    ULP_CPU(ulp_philox_set)(&p, index >> 34);
    if (step % 4 == 0 && index % 4 == 0 && count % 4 == 0) {
        lanes_blocks(words, count / 4, &p, index, step);
        return;
    }
    _Alignas(ULP_VECTOR_BYTES) uint32_t rows[(MOST_WORDS + 8) * LANES];
    const size_t blocks = (count + 6) / 4; /* the first and the last one may be needed in part */
    lanes_blocks(rows, blocks, &p, index, step);
    if (step % 4 == 0) {
        memcpy(words, rows + index % 4 * LANES, count * LANES * sizeof *words);
        return;
    }
    for (size_t k = 0; k < count; k++)
        for (size_t j = 0; j < LANES; j++) words[k * LANES + j] = rows[(k + (index + j * step) % 4) * LANES + j];
}

/* ---- mode rne ---- */

/* Whether the start values of sums in the accumulator's format are values of this format. */
static inline int starts_are_members(const ulp_job *w, const ulp_nearest *n, int range) {
    for (size_t i = 0; i < w->s.m && w->s.accumulate && w->datapath->promote == 0; i++)
        for (size_t j = 0; j < w->s.n; j++) {
            const double c = job_at(w, w->c, i * w->s.ldc + j);
            if (c == c && ulp_nearest64(c, n, range) != c) return 0;
        }
    return 1;
}

/* The result of ulp_nearest_range for a job. ULP_RANGE_OTHER also where a start value is not a value of the
 * format. */
static inline int nearest_range(ulp_nearest *n, const ulp_job *w) {
    const int range = ulp_nearest_range(n, &w->datapath->accumulator, w->datapath->rule);
    return range == ULP_RANGE_OTHER || starts_are_members(w, n, range) ? range : ULP_RANGE_OTHER;
}

/* Whether no sum of k products below 2^top, k > 0, is beyond the largest value of a format, if each product takes part
 * in `roundings` roundings to nearest. A rounding enlarges a number by a factor of at most 1 + 2^-p. */
static inline int sums_fit(int top, size_t k, size_t roundings, const ulp_format *f) {
    double bound = ulp_scale((double)k, top), factor = 1.0 + ulp_scale(1.0, -(int)f->prec);
    for (size_t n = k * roundings; n > 0; n >>= 1, factor *= factor)
        if (n & 1u) bound *= factor;
    return bound * (1.0 + 0x1p-20) <= f->max; /* the computation of the bound rounds */
}

/* The range of a matrix of a job. */
static inline extent matrix_extent(const ulp_job *w, matrix of) {
    enum { PART = 256 };
    double part[PART];
    extent all = {0, 0, 0, 1};
    for (size_t i = 0; i < of.rows; i++)
        for (size_t j = 0; j < of.width; j += PART) {
            const size_t n = of.width - j < PART ? of.width - j : PART;
            for (size_t t = 0; t < n; t++) part[t] = job_at(w, of.x, i * of.ld + j + t);
            all = extent_both(all, extent_of(part, n));
        }
    return all;
}

/* Facts for mode rne that follow from the ranges of the operands of a job. */
typedef struct proofs {
    int small; /* no result is beyond the range of the accumulator */
    int fused; /* the rounding of acc + a b may follow one fused multiply-add */
} proofs;

static inline proofs proofs_of(const ulp_job *w) {
    enum { MOST_ROUNDINGS = 5 }; /* of a product, in Kahan's sum */
    const ulp_gemm_shape *s = &w->s;
    const ulp_format *f = &w->datapath->accumulator;
    const extent a = matrix_extent(w, matrix_a(w)), b = matrix_extent(w, matrix_b(w));
    const extent c = s->accumulate ? matrix_extent(w, matrix_c(w)) : (extent){0, 0, 0, 1};
    const int low = a.low + b.low, product = a.top + b.top, top = c.bits > 0 && c.top > product ? c.top : product;
    const int lowest = s->accumulate || low < f->qmin ? f->qmin : low;
    if (!a.narrow || !b.narrow || !c.narrow) return (proofs){0, 0};
    return (proofs){.small = sums_fit(top, s->k + 1, MOST_ROUNDINGS, f),
                    .fused = ulp_nearest_by_fma(f, a.bits, b.bits) || nearest_by_fused(f, &a, &b, lowest)};
}

/* ---- one rounding of a lane ---- */

/* The ways to round: each mode by core.h, then mode rne by nearest.h with an open and with a closed range, and where no
 * result is beyond the range. */
enum { BY_OPEN = ULP_MODE_COUNT, BY_CLOSED, BY_SMALL, WAYS };

/* The constants of a datapath's rounding. */
typedef struct rounding {
    ulp_core core;
    ulp_nearest format;
    int way;
    int fused;         /* a b + c may be one fused multiply-add; only if `way` is BY_SMALL */
    lane_format small; /* of BY_SMALL */
} rounding;

/* Whether the lanes offer the accumulator and rule of a datapath. */
static inline int lanes_round(const ulp_datapath *d) {
    ulp_core core;
    return ulp_core_init(&core, &d->accumulator, d->rule) && ulp_core64_decides(&core);
}

/* The rounding without proofs. 0 if the lanes do not offer the job's accumulator and rule. */
static inline int plain_rounding_of(rounding *r, const ulp_job *w) {
    const ulp_datapath *d = w->datapath;
    if (!ulp_core_init(&r->core, &d->accumulator, d->rule) || !ulp_core64_decides(&r->core)) return 0;
    const int range = nearest_range(&r->format, w);
    r->way = d->rule.mode;
    if (range == ULP_RANGE_OPEN) r->way = BY_OPEN;
    if (range == ULP_RANGE_CLOSED) r->way = BY_CLOSED;
    r->fused = 0;
    return 1;
}

/* 0 if the lanes do not offer the job's accumulator and rule. */
static inline int rounding_of(rounding *r, const ulp_job *w) {
    if (!plain_rounding_of(r, w)) return 0;
    if ((r->way == BY_OPEN || r->way == BY_CLOSED) && w->s.k > 0) {
        const proofs p = proofs_of(w);
        if (p.small) r->way = BY_SMALL;
        r->fused = p.small && p.fused;
        r->small = lane_format_of(&w->datapath->accumulator, r->core.random);
    }
    return 1;
}

ULP_INLINE int way_mode(int way) { return way < ULP_MODE_COUNT ? way : ULP_RNE; }
ULP_INLINE int way_is_stochastic(int way) { return ulp_mode_is_stochastic((uint32_t)way); }

/* x rounded, where x is exact or folded to odd. `way` is a constant. */
ULP_INLINE double round_lane(double x, const ulp_core *c, const ulp_nearest *n, int way, uint32_t word) {
    if (way == BY_OPEN) return ulp_nearest64(x, n, ULP_RANGE_OPEN);
    if (way == BY_CLOSED) return ulp_nearest64(x, n, ULP_RANGE_CLOSED);
    if (way == BY_SMALL) return ulp_nearest64(x, n, ULP_RANGE_NONE);
    return ulp_core_round64(x, c, (uint32_t)way, word);
}

/* x + y for two values of the format, as an argument of round_lane. */
ULP_INLINE double member_sum(double x, double y, int way) {
    return way >= ULP_MODE_COUNT ? ulp_nearest_sum(x, y) : ulp_odd_sum(x, y, (uint32_t)way);
}

/* X(way, ...) for each way. ULP_WAYS uses only the first column of ULP_MODES. */
#define ULP_WAYS(X)                                                                                                    \
    ULP_MODES(X) X(BY_OPEN, "", "", 0, 0)                                                                              \
    X(BY_CLOSED, "", "", 0, 0)                                                                                         \
    X(BY_SMALL, "", "", 0, 0)

#endif
