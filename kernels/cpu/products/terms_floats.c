/* terms_floats.c - split and pairwise sums to nearest in lanes of binary32, where products are exact; lanes are
 * columns.
 *
 * A binary32 sum of two values of a format of at most 11 bits, rounded to the format, is the exact sum rounded once:
 * Figueroa 1995, doi:10.1145/221332.221334, theorem for sums, 24 >= 2 p + 2. Sums that are subnormal in the format are
 * exact. A proof for the operands excludes sums beyond the range. terms_doubles.c forms all other sums.
 */
#include "float_panels.h"
#include "kernels/cpu/rounding/float_rounding.h"

/* The vectors of sums that registers hold, and their columns. */
enum { GROUP = 4, GROUP_LANES = GROUP * FLOATS };
_Static_assert(LANES % GROUP_LANES == 0, "a panel is whole groups");

/* The slots of LANES sums: ACC; OUTER, the start value; from LEVELS on, the partial sums of a tree. */
enum { ACC, OUTER, LEVELS };

typedef struct work {
    float_panels p;
    float_format f;
    float *states; /* (m, slots, LANES) */
    size_t slots;
} work;

/* Products of a row of A, (k), and a panel of B (k, LANES), and the number of earlier products of the sums. */
typedef struct terms {
    const float *a, *b;
    size_t k, count;
} terms;

ULP_INLINE vfloat to_nearest(vfloat x, const float_format *f) {
    return round_float(x, fields_of(x), f, ULP_RNE, (vuint){0});
}

ULP_INLINE vfloat *vectors_at(float *sums) { return (vfloat *)(void *)sums; }
ULP_INLINE const vfloat *vectors_of(const float *b) { return (const vfloat *)(const void *)b; }

/* acc <- round(acc + round(a b)) */
static void split_terms(float *state, const terms *t, const float_format *format) {
    const float_format f = *format;
    for (size_t j = 0; j < LANES; j += GROUP_LANES) {
        vfloat acc[GROUP], *at = vectors_at(state + ACC * LANES + j);
        UNROLLED for (int v = 0; v < GROUP; v++) acc[v] = at[v];
        for (size_t i = 0; i < t->k; i++) {
            const vfloat a = t->a[i] - (vfloat){0}, *b = vectors_of(t->b + i * LANES + j);
            UNROLLED for (int v = 0; v < GROUP; v++) acc[v] = to_nearest(acc[v] + to_nearest(a * b[v], &f), &f);
        }
        UNROLLED for (int v = 0; v < GROUP; v++) at[v] = acc[v];
    }
}

/* Adds one leaf after the other. A partial sum joins an earlier partial sum of equal size at once. */
static void tree_terms(float *state, const terms *t, const float_format *format) {
    const float_format f = *format;
    for (size_t j = 0; j < LANES; j += GROUP_LANES)
        for (size_t i = 0; i < t->k; i++) {
            const vfloat a = t->a[i] - (vfloat){0}, *b = vectors_of(t->b + i * LANES + j);
            const size_t count = t->count + i;
            float *level = state + LEVELS * LANES + j;
            vfloat x[GROUP];
            UNROLLED for (int v = 0; v < GROUP; v++) x[v] = to_nearest(a * b[v], &f);
            for (size_t l = 0; count >> l & 1u; l++, level += LANES) {
                const vfloat *part = vectors_of(level);
                UNROLLED for (int v = 0; v < GROUP; v++) x[v] = to_nearest(part[v] + x[v], &f);
            }
            UNROLLED for (int v = 0; v < GROUP; v++) vectors_at(level)[v] = x[v];
        }
}

/* acc = the tree of `count` products, count > 0, plus the start value. */
static void end_tree(float *state, size_t count, const float_format *f) {
    for (size_t j = 0; j < LANES; j += FLOATS) {
        size_t level = (size_t)__builtin_ctzll((unsigned long long)count);
        vfloat x = *vectors_of(state + (LEVELS + level) * LANES + j);
        for (level++; count >> level != 0; level++)
            if (count >> level & 1u) x = to_nearest(*vectors_of(state + (LEVELS + level) * LANES + j) + x, f);
        *vectors_at(state + ACC * LANES + j) = to_nearest(*vectors_of(state + OUTER * LANES + j) + x, f);
    }
}

static void panel_part(const work *w, size_t begin, size_t end, size_t panel) {
    const ulp_gemm_shape *s = &w->p.job->s;
    const int split = w->p.job->datapath->kind == ULP_SPLIT;
    const size_t size = w->slots * LANES;
    for (size_t i = begin; i < end; i++) {
        memset(w->states + i * size, 0, LEVELS * LANES * sizeof *w->states);
        if (s->accumulate) float_panels_move(&w->p, w->states + i * size + (split ? ACC : OUTER) * LANES, i, panel, 0);
    }
    for (size_t k = 0; k < s->k; k += DEPTH)
        for (size_t i = begin; i < end; i++) {
            const terms t = {w->p.rows + i * s->k + k, w->p.packed + (panel * s->k + k) * LANES,
                             s->k - k < DEPTH ? s->k - k : DEPTH, k};
            (split ? split_terms : tree_terms)(w->states + i * size, &t, &w->f);
        }
    for (size_t i = begin; i < end; i++) {
        if (!split) end_tree(w->states + i * size, s->k, &w->f);
        float_panels_move(&w->p, w->states + i * size + ACC * LANES, i, panel, 1);
    }
}

static void rows_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    for (size_t i = begin; i < end; i++) float_panels_row(&w->p, i);
    for (size_t panel = 0; panel < w->p.panels; panel++) panel_part(w, begin, end, panel);
}

/* Whether products of the operands are exact in binary32, and no sum is beyond the range, or so large that its anchor
 * would overflow. */
static int operands_serve(const ulp_job *job) {
    enum { TOP = 100, LEAST = -149 };
    ulp_datapath limited = *job->datapath;
    ulp_job proven = *job;
    proven.datapath = &limited;
    if (limited.accumulator.max > 0x1p100) limited.accumulator.max = 0x1p100;
    const extent a = matrix_extent(job, matrix_a(job)), b = matrix_extent(job, matrix_b(job));
    return a.bits + b.bits <= 24 && a.top + b.top < TOP && a.low + b.low >= LEAST && proofs_of(&proven).small;
}

int ULP_CPU(ulp_serves_terms_floats)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    const ulp_format *f = &d->accumulator;
    ulp_nearest nearest;
    return (d->kind == ULP_SPLIT || d->kind == ULP_PAIRWISE) && !d->has_inputs && d->promote == 0 && job->s.k > 0 &&
           d->rule.mode == ULP_RNE && f->prec <= 11 && f->qmin >= -149 && f->has_subnormals && f->emax >= f->emin &&
           ulp_nearest_range(&nearest, f, d->rule) != ULP_RANGE_OTHER;
}

ulp_status ULP_CPU(ulp_product_terms_floats)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    const ulp_format *f = &d->accumulator;
    ulp_nearest nearest;
    if (nearest_range(&nearest, job) == ULP_RANGE_OTHER || !job_fits_binary32(job) || !operands_serve(job))
        return ULP_UNSUPPORTED;
    work w = {.p = {.job = job}, .slots = LEVELS};
    w.f = float_format_of(f, 0);
    for (size_t n = job->s.k; n != 0 && d->kind == ULP_PAIRWISE; n >>= 1) w.slots++;
    rooms r = {.count = 0};
    float_panels_room(&w.p, &r);
    w.states = rooms_take(&r, job->s.m * w.slots * LANES, sizeof *w.states);
    if (!r.failed) {
        ulp_parallel_for(w.p.panels, 1, float_panels_pack, &w.p);
        ulp_parallel_for(job->s.m, row_grain(job->s.m), rows_part, &w);
    }
    return rooms_end(&r);
}
