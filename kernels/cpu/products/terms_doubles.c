/* terms_doubles.c - the product with several roundings for each term: split, pairwise, Kahan; lanes are columns.
 *
 * The source runs the steps of kernels/products/sum.h for LANES outputs at a time. A rounding acts on a product of
 * binary32 values, which is exact in binary64, or on a sum of two numbers folded to odd. lanes.h says where the
 * rounding of binary64 may replace the folding.
 */
#include "lanes.h"

/* The slots of LANES sums: ACC; OUTER, the start value or the promoted total; ERROR of Kahan; from LEVELS on, the
 * partial sums of a tree. */
enum { ACC, OUTER, ERROR, LEVELS };

typedef struct range {
    const double *a, *b;   /* (k), (k, LANES) */
    size_t k, count;       /* number of products here, and number of earlier products of this sum */
    const uint32_t *words; /* (roundings, LANES) */
} range;

#define WORD(i) (way_is_stochastic(way) ? words[(i)*LANES + (size_t)j] : 0u)

/* acc <- round(acc + round(a b)) */
ULP_INLINE void split_run(double *restrict state, const range *r, const rounding *how, int way) {
    const rounding constants = *how;
    const uint32_t *restrict words = r->words;
    double acc[LANES];
    for (int j = 0; j < LANES; j++) acc[j] = state[ACC * LANES + j];
    for (size_t i = 0; i < r->k; i++) {
        const double a = r->a[i];
        const double *restrict b = r->b + i * LANES;
        for (int j = 0; j < LANES; j++) {
            const double x = round_lane(a * b[j], &constants.core, &constants.format, way, WORD(2 * i));
            acc[j] = round_lane(member_sum(acc[j], x, way), &constants.core, &constants.format, way, WORD(2 * i + 1));
        }
    }
    for (int j = 0; j < LANES; j++) state[ACC * LANES + j] = acc[j];
}

/* y = round(a b - e), t = round(acc + y), e = round(round(t - acc) - y), acc = t */
ULP_INLINE void kahan_run(double *restrict state, const range *r, const rounding *how, int way) {
    const rounding constants = *how;
    const uint32_t *restrict words = r->words;
    double acc[LANES], error[LANES];
    for (int j = 0; j < LANES; j++) acc[j] = state[ACC * LANES + j];
    for (int j = 0; j < LANES; j++) error[j] = state[ERROR * LANES + j];
    for (size_t i = 0; i < r->k; i++) {
        const double a = r->a[i];
        const double *restrict b = r->b + i * LANES;
        for (int j = 0; j < LANES; j++) {
            const double c = acc[j], exact = ulp_odd_sum(a * b[j], -error[j], (uint32_t)way_mode(way));
            const double y = round_lane(exact, &constants.core, &constants.format, way, WORD(4 * i));
            const double t =
                round_lane(member_sum(c, y, way), &constants.core, &constants.format, way, WORD(4 * i + 1));
            const double change =
                round_lane(member_sum(t, -c, way), &constants.core, &constants.format, way, WORD(4 * i + 2));
            error[j] =
                round_lane(member_sum(change, -y, way), &constants.core, &constants.format, way, WORD(4 * i + 3));
            acc[j] = t;
        }
    }
    for (int j = 0; j < LANES; j++) state[ACC * LANES + j] = acc[j];
    for (int j = 0; j < LANES; j++) state[ERROR * LANES + j] = error[j];
}

/* to = round(x + y) */
ULP_INLINE void sum_run(double *to, const double *x, const double *y, const uint32_t *restrict words,
                        const rounding *how, int way) {
    const rounding constants = *how;
    double sum[LANES];
    for (int j = 0; j < LANES; j++)
        sum[j] = round_lane(member_sum(x[j], y[j], way), &constants.core, &constants.format, way, WORD((size_t)0));
    for (int j = 0; j < LANES; j++) to[j] = sum[j];
}

/* Adds one leaf after the other. A partial sum joins an earlier partial sum of equal size at once. */
ULP_INLINE void tree_run(double *restrict state, const range *r, const rounding *how, int way) {
    const rounding constants = *how;
    const uint32_t *words = r->words;
    const size_t next = way_is_stochastic(way) ? LANES : 0; /* other ways have no words */
    for (size_t i = 0; i < r->k; i++) {
        const size_t count = r->count + i;
        double *level = state + LEVELS * LANES, x[LANES];
        for (int j = 0; j < LANES; j++)
            x[j] = round_lane(r->a[i] * r->b[i * LANES + (size_t)j], &constants.core, &constants.format, way,
                              WORD((size_t)0));
        words += next;
        for (; count >> ((size_t)(level - state) / LANES - LEVELS) & 1u; level += LANES, words += next)
            sum_run(x, level, x, words, &constants, way);
        for (int j = 0; j < LANES; j++) level[j] = x[j];
    }
}

typedef struct functions {
    void (*split)(double *state, const range *r, const rounding *how);
    void (*kahan)(double *state, const range *r, const rounding *how);
    void (*tree)(double *state, const range *r, const rounding *how);
    void (*sum)(double *to, const double *x, const double *y, const uint32_t *words, const rounding *how);
} functions;

#define FUNCTIONS(way, name, meaning, stochastic, inward)                                                              \
    static void split_##way(double *state, const range *r, const rounding *how) { split_run(state, r, how, way); }     \
    static void kahan_##way(double *state, const range *r, const rounding *how) { kahan_run(state, r, how, way); }     \
    static void tree_##way(double *state, const range *r, const rounding *how) { tree_run(state, r, how, way); }       \
    static void sum_##way(double *to, const double *x, const double *y, const uint32_t *words, const rounding *how) {  \
        sum_run(to, x, y, words, how, way);                                                                            \
    }
ULP_WAYS(FUNCTIONS)

/* ---- mode rne where no result is beyond the range ---- */

/* The sums `state` of a group in vectors. */
ULP_INLINE void load_group(vdouble to[HELD], const double *state) {
    UNROLLED for (int v = 0; v < HELD; v++) to[v] = ((const vdouble *)(const void *)state)[v];
}
ULP_INLINE void store_group(double *state, const vdouble from[HELD]) {
    UNROLLED for (int v = 0; v < HELD; v++)((vdouble *)(void *)state)[v] = from[v];
}

static void split_small(double *state, const range *r, const rounding *how) {
    const lane_format f = how->small;
    for (size_t j = 0; j < LANES; j += HELD_LANES) {
        vdouble acc[HELD];
        load_group(acc, state + ACC * LANES + j);
        for (size_t i = 0; i < r->k; i++) {
            const vdouble a = all_doubles(r->a[i]), *b = (const vdouble *)(const void *)(r->b + i * LANES + j);
            UNROLLED for (int v = 0; v < HELD; v++) acc[v] =
                round_nearest(acc[v] + round_nearest(a * b[v], &f, 0), &f, 0);
        }
        store_group(state + ACC * LANES + j, acc);
    }
}

/* Whether the sums (LANES) are values of the format, and none is -0. */
static int are_values(const double *sums, const lane_format *f) {
    double values[LANES];
    for (size_t j = 0; j < LANES; j += DOUBLES) {
        const vdouble value = round_unsigned(*(const vdouble *)(const void *)(sums + j), f);
        memcpy(values + j, &value, sizeof value);
    }
    return memcmp(values, sums, sizeof values) == 0;
}

/* For sums that are values of the format, none of them -0. Then every sum of two values is a multiple of the least
 * quantum, and no such sum is -0. The sign of a product that is rounded to zero changes no result. */
static void kahan_fused(double *state, const range *r, const rounding *how) {
    const lane_format f = how->small;
    for (size_t j = 0; j < LANES; j += HELD_LANES) {
        vdouble acc[HELD], error[HELD];
        load_group(acc, state + ACC * LANES + j);
        load_group(error, state + ERROR * LANES + j);
        for (size_t i = 0; i < r->k; i++) {
            const vdouble a = all_doubles(r->a[i]), *b = (const vdouble *)(const void *)(r->b + i * LANES + j);
            UNROLLED for (int v = 0; v < HELD; v++) {
                const vdouble y = round_unsigned(fused(a, b[v], -error[v]), &f);
                const vdouble t = round_nearest(acc[v] + y, &f, 1);
                error[v] = round_nearest(round_nearest(t - acc[v], &f, 1) - y, &f, 1);
                acc[v] = t;
            }
        }
        store_group(state + ACC * LANES + j, acc);
        store_group(state + ERROR * LANES + j, error);
    }
}

static void tree_small(double *state, const range *r, const rounding *how) {
    const lane_format f = how->small;
    for (size_t j = 0; j < LANES; j += HELD_LANES)
        for (size_t i = 0; i < r->k; i++) {
            const vdouble a = all_doubles(r->a[i]), *b = (const vdouble *)(const void *)(r->b + i * LANES + j);
            const size_t count = r->count + i;
            double *level = state + LEVELS * LANES + j;
            vdouble x[HELD];
            UNROLLED for (int v = 0; v < HELD; v++) x[v] = round_nearest(a * b[v], &f, 0);
            for (size_t l = 0; count >> l & 1u; l++, level += LANES) {
                const vdouble *part = (const vdouble *)(const void *)level;
                UNROLLED for (int v = 0; v < HELD; v++) x[v] = round_nearest(part[v] + x[v], &f, 0);
            }
            store_group(level, x);
        }
}

#define ROW(way, name, meaning, stochastic, inward) [way] = {split_##way, kahan_##way, tree_##way, sum_##way},
static const functions by_way[WAYS] = {ULP_WAYS(ROW)};

/* ---- the product ---- */

typedef struct work {
    lanes l;
    rounding how;
    double *states; /* (m, slots, LANES) */
    size_t slots;
} work;

enum { PIECE = 16, TREE_WORDS = 64 }; /* products with words computed together; most roundings that end a tree */

static size_t ones(size_t n) { return (size_t)__builtin_popcountll((unsigned long long)n); }

/* The number of roundings of the first `count` products of a sum. The roundings at the end of a tree are not
 * included. */
static size_t roundings(const ulp_datapath *d, size_t count) {
    if (d->kind == ULP_KAHAN) return 4 * count;
    return d->kind == ULP_SPLIT ? 2 * count : 2 * count - ones(count);
}

/* The number of roundings of the sums that were promoted before product k; `count` products of the current sum come
 * before product k. */
static uint64_t roundings_before(const ulp_datapath *d, size_t k, size_t count) {
    return (uint64_t)(k - count) * (d->kind == ULP_KAHAN ? 4 : 2);
}

/* acc = the tree of `count` products, plus the start value if there is no promotion; the first product is product k. */
static void end_tree(const work *w, double *state, size_t i, size_t panel, size_t k, size_t count) {
    static const double zeros[LANES];
    const ulp_datapath *d = w->l.job->datapath;
    const double *start = d->promote != 0 ? zeros : state + OUTER * LANES;
    uint32_t words[TREE_WORDS * LANES];
    const uint32_t *word = words;
    if (way_is_stochastic(w->how.way))
        lanes_words(words, w->l.job, i, panel, roundings_before(d, k + count, count) + roundings(d, count),
                    ones(count));
    const double *x = NULL;
    for (size_t level = 0; count >> level != 0; level++) {
        if ((count >> level & 1u) == 0) continue;
        const double *part = state + (LEVELS + level) * LANES;
        if (x == NULL) {
            x = part;
            continue;
        }
        by_way[w->how.way].sum(state + ACC * LANES, part, x, word, &w->how);
        word += LANES;
        x = state + ACC * LANES;
    }
    by_way[w->how.way].sum(state + ACC * LANES, start, x, word, &w->how);
}

/* Adds the sum of `count` products, which ends before product k, to the promoted total. */
static void add_to_total(const work *w, double *state, size_t i, size_t panel, size_t k, size_t count) {
    if (w->l.job->datapath->kind == ULP_PAIRWISE) end_tree(w, state, i, panel, k - count, count);
    lanes_promote(state + OUTER * LANES, state + ACC * LANES);
    memset(state + ERROR * LANES, 0, LANES * sizeof *state);
}

static void run(const work *w, double *state, const range *r) {
    const functions *f = &by_way[w->how.way];
    switch (w->l.job->datapath->kind) {
    case ULP_SPLIT: (w->how.way == BY_SMALL ? split_small : f->split)(state, r, &w->how); break;
    case ULP_KAHAN:
        (w->how.fused && are_values(state + ACC * LANES, &w->how.small) ? kahan_fused : f->kahan)(state, r, &w->how);
        break;
    default: (w->how.way == BY_SMALL ? tree_small : f->tree)(state, r, &w->how); break;
    }
}

/* Adds products k0 .. k1 - 1 of row i and a panel. */
static void advance(const work *w, double *state, size_t i, size_t panel, size_t k0, size_t k1) {
    const ulp_datapath *d = w->l.job->datapath;
    const size_t all = w->l.job->s.k, every = d->promote, piece = way_is_stochastic(w->how.way) ? PIECE : k1;
    const double *a = w->l.rows + i * all, *b = lanes_panel(&w->l, panel);
    uint32_t words[MOST_WORDS * LANES];
    for (size_t k = k0, end; k < k1; k = end) {
        const size_t count = every == 0 ? k : k % every, left = every == 0 ? k1 : every - count;
        end = k1 - k < piece ? k1 : k + piece;
        if (end - k > left) end = k + left;
        const size_t done = roundings(d, count), more = roundings(d, count + end - k) - done;
        if (way_is_stochastic(w->how.way))
            lanes_words(words, w->l.job, i, panel, roundings_before(d, k, count) + done, more);
        const range r = {a + k, b + k * LANES, end - k, count, words};
        run(w, state, &r);
        if (every != 0 && (end % every == 0 || end == all)) add_to_total(w, state, i, panel, end, count + end - k);
    }
}

static void begin_row(const work *w, double *state, size_t i, size_t panel) {
    const ulp_datapath *d = w->l.job->datapath;
    const int outside = d->promote != 0 || d->kind == ULP_PAIRWISE;
    memset(state, 0, LEVELS * LANES * sizeof *state);
    lanes_start(state + (outside ? OUTER : ACC) * LANES, &w->l, i, panel);
}

static void end_row(const work *w, double *state, size_t i, size_t panel) {
    const ulp_datapath *d = w->l.job->datapath;
    const int tree = d->kind == ULP_PAIRWISE && d->promote == 0 && w->l.job->s.k > 0;
    if (tree) end_tree(w, state, i, panel, 0, w->l.job->s.k);
    const int outer = d->promote != 0 || (d->kind == ULP_PAIRWISE && !tree);
    lanes_store(&w->l, i, panel, state + (outer ? OUTER : ACC) * LANES);
}

static void rows_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t all = w->l.job->s.k, size = w->slots * LANES;
    for (size_t i = begin; i < end; i++) lanes_pack_row(&w->l, i);
    for (size_t panel = 0; panel < lanes_panels(&w->l); panel++) {
        for (size_t i = begin; i < end; i++) begin_row(w, w->states + i * size, i, panel);
        for (size_t k = 0; k < all; k += DEPTH)
            for (size_t i = begin; i < end; i++)
                advance(w, w->states + i * size, i, panel, k, all - k < DEPTH ? all : k + DEPTH);
        for (size_t i = begin; i < end; i++) end_row(w, w->states + i * size, i, panel);
    }
}

int ULP_CPU(ulp_serves_terms_doubles)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    return (d->kind == ULP_SPLIT || d->kind == ULP_KAHAN || d->kind == ULP_PAIRWISE) && !d->has_inputs &&
           lanes_round(d);
}

ulp_status ULP_CPU(ulp_product_terms_doubles)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    work w = {.l = {.job = job}, .slots = LEVELS};
    if (!rounding_of(&w.how, job) || !job_fits_binary32(job)) return ULP_UNSUPPORTED;
    const size_t longest = d->promote != 0 && d->promote < job->s.k ? d->promote : job->s.k;
    for (size_t n = longest; n != 0 && d->kind == ULP_PAIRWISE; n >>= 1) w.slots++;
    rooms r = {.count = 0};
    lanes_room(&w.l, &r);
    w.states = rooms_take(&r, job->s.m * w.slots * LANES, sizeof *w.states);
    if (!r.failed) {
        ulp_parallel_for(lanes_panels(&w.l), 1, lanes_pack_part, &w.l);
        ulp_parallel_for(job->s.m, row_grain(job->s.m), rows_part, &w);
    }
    return rooms_end(&r);
}
