/* round.c - rounding of whole arrays, with optional counting. */
#include <string.h>

#include "anchored.h"
#include "cut.h"
#include "kernels/cpu/cpu.h"
#include "kernels/rounding/count.h"
#include "kernels/rounding/general.h"
#include "kernels/rounding/tapered.h"
#include "kernels/rounding/watched.h"
#include "kernels/cpu/philox.h"

typedef struct work {
    float *y;
    const ulp_rounding *how; /* between y and x, which gcc would load as one vector right after two stores */
    const float *x;
    double *y64;
    const double *x64;
    anchored anchored;
    cut cut;
    int alone; /* whether one thread adds to the counts */
} work;

ULP_INLINE uint32_t word_of(const uint32_t *words, size_t i, uint32_t mode) {
    return ulp_mode_is_stochastic(mode) ? words[i] : 0u;
}

/* ---- values in range: mode, shape and counting are constants in each instance ---- */

/* The findings of a loop over a piece. */
typedef struct found {
    uint32_t most;  /* the largest magnitude of the input; if it is out of range, the results are undefined */
    uint32_t least; /* the least magnitude of the results, if counted */
} found;

ULP_INLINE void watched_one(found *f, float *y, float x, uint32_t word, const ulp_core *c, uint32_t mode,
                            uint32_t shape, int counted) {
    const uint32_t u = ulp_bits32(x), r = ulp_watched(u, c, mode, shape, word);
    *y = ulp_from_bits32(r);
    f->most = ulp_max_u32(f->most, u & 0x7fffffffu);
    if (counted) f->least = ulp_min_u32(f->least, r & 0x7fffffffu);
}

ULP_INLINE found watched_run(const piece *p, const ulp_core *core, uint32_t mode, uint32_t shape, int counted) {
    const ulp_core c = *core;
    float *restrict y = p->y;
    const float *restrict x = p->x;
    const uint32_t *restrict words = p->words;
    found f = {0, 0x7f800000u};
    FOUR_VECTORS
    for (size_t i = 0; i < p->n / STEP * STEP; i++)
        watched_one(&f, y + i, x[i], word_of(words, i, mode), &c, mode, shape, counted);
    return f;
}

/* An instance for each mode of a shape, with and without counts. */
#define MODE_INSTANCE(id, name, meaning, stochastic, inward)                                                           \
    case id: return counted ? watched_run(p, core, id, SHAPE, 1) : watched_run(p, core, id, SHAPE, 0);

static found watched_any(const piece *p, const ulp_core *core, int counted) {
    enum { SHAPE = ULP_SHAPE_ANY };
    switch (core->mode) { ULP_MODES(MODE_INSTANCE) }
    return (found){0, 0};
}

static found watched_wide(const piece *p, const ulp_core *core, int counted) {
    enum { SHAPE = ULP_SHAPE_WIDE };
    switch (core->mode) { ULP_MODES(MODE_INSTANCE) }
    return (found){0, 0};
}
#undef MODE_INSTANCE

/* ---- any values ---- */

/* The magnitudes before overflow. */
ULP_INLINE void magnitudes_run(uint32_t *restrict to, const piece *p, const ulp_core *core, uint32_t mode,
                               uint32_t shape) {
    const ulp_core c = *core;
    for (size_t i = 0; i < p->n / STEP * STEP; i++)
        to[i] = ulp_core_magnitude(ulp_bits32(p->x[i]), &c, mode, shape, word_of(p->words, i, mode));
}

static void magnitudes(uint32_t *to, const piece *p, const ulp_core *core, uint32_t shape) {
    switch (core->mode) {
#define CASE(id, name, meaning, stochastic, inward)                                                                    \
    case id:                                                                                                           \
        if (shape == ULP_SHAPE_WIDE) magnitudes_run(to, p, core, id, ULP_SHAPE_WIDE);                                  \
        else if (shape == ULP_SHAPE_NARROW) magnitudes_run(to, p, core, id, ULP_SHAPE_NARROW);                         \
        else magnitudes_run(to, p, core, id, ULP_SHAPE_ANY);                                                           \
        break;
        ULP_MODES(CASE)
#undef CASE
    default: break;
    }
}

/* The results from the magnitudes. */
ULP_INLINE void finish_run(const piece *p, const uint32_t *magnitude, const ulp_core *core, uint32_t symmetric) {
    const ulp_core c = *core;
    float *restrict y = p->y;
    const float *restrict x = p->x;
    for (size_t i = 0; i < p->n / STEP * STEP; i++)
        y[i] = ulp_from_bits32(ulp_core_finish(ulp_bits32(x[i]), magnitude[i], &c, symmetric));
}

/* The largest magnitude of the sign of u, as a signed integer: so are all sizes, which are below 2^31. */
ULP_INLINE int32_t limit_of(const ulp_core *c, uint32_t u, uint32_t symmetric) {
    return (int32_t)(symmetric ? c->limit[0] : ulp_by_sign(c->limit, u & 0x80000000u));
}

/* Counts, in short loops that each vectorise: inputs, then results. */
ULP_INLINE void count_run(const piece *p, const uint32_t *magnitude, const ulp_core *core, ulp_stats *stats,
                          uint32_t symmetric) {
    const ulp_core c = *core;
    const int32_t infinity = 0x7f800000, least = (int32_t)c.min_normal;
    const float *x = p->x, *y = p->y;
    int32_t overflow = 0, saturated = 0, underflow = 0, small = 0, zero = 0, nan = 0;
    for (size_t i = 0; i < p->n / STEP * STEP; i++) {
        const uint32_t u = ulp_bits32(x[i]);
        const int32_t a = (int32_t)(u & 0x7fffffffu), size = (int32_t)magnitude[i];
        overflow += (size > limit_of(&c, u, symmetric)) & (a < infinity);
        underflow += (size == 0) & (a != 0) & (a < infinity);
    }
    for (size_t i = 0; i < p->n / STEP * STEP; i++) {
        const uint32_t r = ulp_bits32(y[i]);
        const int32_t size = (int32_t)(r & 0x7fffffffu), limit = limit_of(&c, r, symmetric);
        saturated += (size == limit) & ((int32_t)magnitude[i] > limit);
        small += size < least;
        zero += size == 0;
        nan += size > infinity;
    }
    stats->overflow += (uint64_t)overflow;
    stats->saturated += (uint64_t)saturated;
    stats->underflow += (uint64_t)underflow;
    stats->subnormal += (uint64_t)(small - zero);
    stats->zero += (uint64_t)zero;
    stats->nan += (uint64_t)nan;
}

static void round_unwatched(const piece *p, const ulp_core *core, uint32_t shape, ulp_stats *stats) {
    uint32_t magnitude[ULP_PIECE];
    magnitudes(magnitude, p, core, shape);
    if (core->symmetric) finish_run(p, magnitude, core, 1);
    else finish_run(p, magnitude, core, 0);
    if (stats == NULL) return;
    if (core->symmetric) count_run(p, magnitude, core, stats, 1);
    else count_run(p, magnitude, core, stats, 0);
}

/* ---- pieces ---- */

/* The shape for a piece. Where every number is zero or at least 2^emin, all numbers lose the same number of bits, so
 * that ULP_SHAPE_WIDE rounds them. */
static uint32_t shape_of(const piece *p, const ulp_core *core) {
    const uint32_t least = core->emin << 23;
    uint32_t below = 0;
    if (core->shape != ULP_SHAPE_ANY) return core->shape;
    for (size_t i = 0; i < p->n / STEP * STEP; i++)
        below |= (uint32_t)((ulp_bits32(p->x[i]) & 0x7fffffffu) - 1u < least - 1u);
    return below == 0 ? ULP_SHAPE_WIDE : ULP_SHAPE_ANY;
}

/* Counts the small results of a piece whose values are in range. `normal` is the word of the least normal value. */
static void count_small(const piece *p, uint32_t normal, ulp_stats *stats) {
    const int32_t least = (int32_t)normal;
    int32_t below = 0, zero = 0;
    FOUR_VECTORS
    for (size_t i = 0; i < p->n / STEP * STEP; i++) {
        const int32_t size = (int32_t)(ulp_bits32(p->y[i]) & 0x7fffffffu);
        below += size < least;
        zero += size == 0;
    }
    add_small(&(small_counts){below, zero, zero > 0 ? zeros_among(p->x, p->n) : 0}, stats);
}

/* Rounds a piece whose values are in range. 0 if a value is not. */
static int round_watched(const piece *p, const ulp_core *core, uint32_t shape, ulp_stats *stats) {
    const found f = (shape == ULP_SHAPE_WIDE ? watched_wide : watched_any)(p, core, stats != NULL);
    if (f.most > ulp_watched_limit(core)) return 0;
    if (stats != NULL && f.least < core->min_normal) count_small(p, core->min_normal, stats);
    return 1;
}

/* The same for a piece whose numbers all lose equally many bits. */
static int round_at_cut(const piece *p, const work *w, ulp_stats *stats) {
    const uint32_t mode = w->how->rule.mode, normal = w->anchored.least << 23;
    uint32_t least;
    if (!round_cut(p, &w->cut, mode, stats != NULL ? &least : NULL)) return 0;
    if (stats != NULL && least < normal) count_small(p, normal, stats);
    return 1;
}

/* A value out of range is likely to have others near. After a piece with such a value, UNWATCHED pieces are rounded
 * without a first attempt. */
enum { UNWATCHED = 8 };

/* The state that a thread keeps from piece to piece. Many calls need no core, and take less time than its preparation.
 */
typedef struct state {
    int unwatched; /* the number of pieces that are left of UNWATCHED */
    int ready;     /* whether there is a core */
    ulp_core core;
} state;

static void core_ready(state *s, const work *w) {
    if (!s->ready) ulp_core_init(&s->core, w->how->format, w->how->rule);
    s->ready = 1;
}

/* Whether anchors serve, and are faster than any way of ULP_SHAPE_WIDE. In fixed point few pieces have this shape. */
static int anchors_first(const work *w) {
    const anchored *a = &w->anchored;
    return a->serves && (FLOATS_ROUND_TOWARD || w->how->rule.mode != ULP_SRA || a->most >> 23 <= a->least);
}

static void round_piece(const piece *p, const work *w, ulp_stats *stats, state *s) {
    const uint32_t mode = w->how->rule.mode;
    const int anchors = s->unwatched == 0 && w->anchored.serves;
    const int first = anchors_first(w);
    if (anchors && first && round_anchored(p, &w->anchored, mode, stats)) return;
    if (s->unwatched == 0 && w->cut.always && round_at_cut(p, w, stats)) return;
    core_ready(s, w);
    const uint32_t shape = shape_of(p, &s->core);
    if (s->unwatched == 0) {
        if (w->cut.serves && shape == ULP_SHAPE_WIDE) {
            if (!w->cut.always && round_at_cut(p, w, stats)) return;
        } else if (anchors && shape != ULP_SHAPE_WIDE) {
            if (!first && round_anchored(p, &w->anchored, mode, stats)) return;
        } else if (ulp_watched_serves(&s->core, shape)) {
            if (round_watched(p, &s->core, shape, stats)) return;
        }
        s->unwatched = UNWATCHED + 1;
    }
    s->unwatched -= s->unwatched > 0;
    round_unwatched(p, &s->core, shape, stats);
}

/* ---- the work of one thread: elements begin .. end - 1 ---- */

static void round_core_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    ulp_stats counts = {0}, *const stats = w->how->stats == NULL ? NULL : &counts;
    float held[ULP_PIECE], last[ULP_PIECE];
    uint32_t words[ULP_PIECE];
    philox source;
    const int stochastic = ulp_mode_is_stochastic(w->how->rule.mode);
    philox_begin(&source, w->how->stream.seed, w->how->stream.stream);
    state s;
    s.unwatched = s.ready = 0;
    for (size_t at = begin; at < end; at += ULP_PIECE) {
        const size_t n = end - at < ULP_PIECE ? end - at : ULP_PIECE, more = (0 - n) % STEP;
        piece p = {w->y + at, w->x + at, n + more, words};
        if (w->y == w->x || more > 0) { /* zeros fill the last step */
            p.x = memcpy(held, p.x, n * sizeof *held);
            memset(held + n, 0, more * sizeof *held);
            counts.zero -= more;
        }
        if (more > 0) p.y = last;
        if (stochastic) ULP_CPU(ulp_philox_words)(words, p.n, &source, w->how->stream.first + at);
        round_piece(&p, w, stats, &s);
        if (more > 0) memcpy(w->y + at, last, n * sizeof *last);
    }
    counts.count = end - begin;
    if (stats != NULL) (w->alone ? ulp_stats_add_alone : ulp_stats_add)(w->how->stats, stats);
}

/* ---- all elements ---- */

static void round64_core_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    ulp_rounding how = *w->how;
    how.stream.first += begin;
    ULP_CPU(ulp_round64_core)(w->y64 + begin, w->x64 + begin, end - begin, how);
}

static void round_tapered_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    ulp_rounding how = *w->how;
    how.stream.first += begin;
    if (w->x64 != NULL) ULP_CPU(ulp_round_tapered64)(w->y64 + begin, w->x64 + begin, end - begin, how);
    else ULP_CPU(ulp_round_tapered32)(w->y + begin, w->x + begin, end - begin, how);
}

static void round_general_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    if (w->x64 != NULL) ULP_CPU(ulp_round_general64)(w->y64 + begin, w->x64 + begin, end - begin, *w->how);
    else ULP_CPU(ulp_round_general32)(w->y + begin, w->x + begin, end - begin, *w->how);
}

/* Any format, any rule, floats or doubles: the scalar definition, element by element. */
static void round_scalar_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    ulp_stats stats = {0};
    const int stochastic = ulp_mode_is_stochastic(w->how->rule.mode);
    for (size_t i = begin; i < end; i++) {
        double x = w->x64 != NULL ? w->x64[i] : (double)w->x[i];
        uint32_t word = stochastic ? ulp_random_word(w->how->stream, i) : 0;
        double y = ulp_round(x, w->how->format, w->how->rule, word);
        if (w->y64 != NULL) w->y64[i] = y;
        else w->y[i] = (float)y;
        if (w->how->stats != NULL) ulp_stats_count(&stats, ulp_exact_of(x), y, w->how->format, w->how->rule, word);
    }
    if (w->how->stats != NULL) ulp_stats_add(w->how->stats, &stats);
}

/* The work on arrays that the core does not offer. */
static void (*part_of(const ulp_rounding *how, int wide))(void *, size_t, size_t) {
    if (ulp_tapered_offers(how->format, wide)) return round_tapered_part;
    const int general = how->stats == NULL && ulp_general_offers(how->format, how->rule) != ULP_GENERAL_NONE;
    return general ? round_general_part : round_scalar_part;
}

ulp_status ULP_CPU(ulp_cpu_round)(float *y, const float *x, size_t n, ulp_rounding how) {
    work w; /* no initialiser: clearing the whole structure would take as long as 100 elements */
    w.y = y;
    w.x = x;
    w.y64 = NULL;
    w.x64 = NULL;
    w.how = &how;
    w.alone = how.stats != NULL && n <= ULP_GRAIN && !ulp_parallel_inside();
    const int offers = ulp_core_offers(how.format, how.rule);
    if (offers) {
        const uint32_t most = largest_in_range(how.format);
        anchored_of(&w.anchored, how.format, how.rule, most);
        cut_of(&w.cut, how.format, how.rule, most);
    }
    ulp_parallel_for(n, ULP_GRAIN, offers ? round_core_part : part_of(&how, 0), &w);
    return ULP_OK;
}

ulp_status ULP_CPU(ulp_cpu_round64)(double *y, const double *x, size_t n, ulp_rounding how) {
    work w; /* no initialiser, as above */
    w.y64 = y;
    w.x64 = x;
    w.how = &how;
    const int vector = how.stats == NULL && ulp_core_offers(how.format, how.rule);
    ulp_parallel_for(n, ULP_GRAIN, vector ? round64_core_part : part_of(&how, 1), &w);
    return ULP_OK;
}
