/* round.c - rounding of whole arrays, with optional counting. */
#include <string.h>

#include "cpu.h"
#include "formats/rng.h"
#include "kernels/rounding/count.h"

typedef struct work {
    float *y;
    const float *x;
    double *y64;
    const double *x64;
    ulp_rounding how;
    ulp_core core;
} work;

/* A piece of the arrays, and the random words of its elements. */
typedef struct piece {
    float *y;
    const float *x;
    size_t n;
    const uint32_t *words; /* (n) in the stochastic modes */
} piece;

/* ---- the vector loops: mode, shape and symmetry are constants in each instance ---- */

ULP_INLINE void round_run(piece p, const ulp_core *core, uint32_t mode, uint32_t shape, uint32_t symmetric) {
    const ulp_core c = *core;
    for (size_t i = 0; i < p.n; i++) {
        uint32_t u = ulp_bits32(p.x[i]);
        uint32_t magnitude = ulp_core_magnitude(u, &c, mode, shape, ulp_mode_is_stochastic(mode) ? p.words[i] : 0u);
        p.y[i] = ulp_from_bits32(ulp_core_finish(u, magnitude, &c, symmetric));
    }
}

/* Whether all numbers of a piece lose the same number of bits, so that ULP_SHAPE_WIDE rounds them: in such formats, and
 * where every number is zero or at least 2^emin. */
ULP_INLINE int loses_alike(piece p, const ulp_core *core) {
    const uint32_t least = core->emin << 23;
    uint32_t below = 0;
    if (core->shape != ULP_SHAPE_ANY) return core->shape == ULP_SHAPE_WIDE;
    for (size_t i = 0; i < p.n; i++) below |= (uint32_t)((ulp_bits32(p.x[i]) & 0x7fffffffu) - 1u < least - 1u);
    return below == 0;
}

ULP_INLINE void round_mode(piece p, const ulp_core *core, uint32_t mode) {
    if (loses_alike(p, core)) {
        if (core->symmetric) round_run(p, core, mode, ULP_SHAPE_WIDE, 1);
        else round_run(p, core, mode, ULP_SHAPE_WIDE, 0);
    } else if (core->shape == ULP_SHAPE_NARROW && ulp_narrow_knows(mode)) {
        if (core->symmetric) round_run(p, core, mode, ULP_SHAPE_NARROW, 1);
        else round_run(p, core, mode, ULP_SHAPE_NARROW, 0);
    } else {
        round_run(p, core, mode, ULP_SHAPE_ANY, 0);
    }
}

/* ---- with counts ---- */

ULP_INLINE void magnitudes(uint32_t *to, piece p, const ulp_core *core, uint32_t mode, uint32_t shape) {
    const ulp_core c = *core;
    for (size_t i = 0; i < p.n; i++)
        to[i] = ulp_core_magnitude(ulp_bits32(p.x[i]), &c, mode, shape, ulp_mode_is_stochastic(mode) ? p.words[i] : 0u);
}

/* The largest magnitude of the sign of u, as a signed integer: so are all sizes, which are below 2^31. */
ULP_INLINE int32_t limit_of(const ulp_core *c, uint32_t u, uint32_t symmetric) {
    return (int32_t)(symmetric ? c->limit[0] : ulp_by_sign(c->limit, u & 0x80000000u));
}

/* Finishes the magnitudes of a piece and counts, in short loops that each vectorise: inputs, results, their counts. */
ULP_INLINE void count_run(piece p, const uint32_t *magnitude, const ulp_core *core, ulp_stats *stats,
                          uint32_t symmetric) {
    const ulp_core c = *core;
    const int32_t infinity = 0x7f800000, least = (int32_t)c.min_normal;
    const float *x = p.x;
    float *y = p.y;
    int32_t overflow = 0, saturated = 0, underflow = 0, small = 0, zero = 0, nan = 0;
    for (size_t i = 0; i < p.n; i++) {
        const uint32_t u = ulp_bits32(x[i]);
        const int32_t a = (int32_t)(u & 0x7fffffffu), size = (int32_t)magnitude[i];
        overflow += (size > limit_of(&c, u, symmetric)) & (a < infinity);
        underflow += (size == 0) & (a != 0) & (a < infinity);
    }
    for (size_t i = 0; i < p.n; i++)
        y[i] = ulp_from_bits32(ulp_core_finish(ulp_bits32(x[i]), magnitude[i], &c, symmetric));
    for (size_t i = 0; i < p.n; i++) {
        const uint32_t r = ulp_bits32(y[i]);
        const int32_t size = (int32_t)(r & 0x7fffffffu), limit = limit_of(&c, r, symmetric);
        saturated += (size == limit) & ((int32_t)magnitude[i] > limit);
        small += size < least;
        zero += size == 0;
        nan += size > infinity;
    }
    stats->count += p.n;
    stats->overflow += (uint64_t)overflow;
    stats->saturated += (uint64_t)saturated;
    stats->underflow += (uint64_t)underflow;
    stats->subnormal += (uint64_t)(small - zero);
    stats->zero += (uint64_t)zero;
    stats->nan += (uint64_t)nan;
}

ULP_INLINE void count_mode(piece p, const ulp_core *core, uint32_t mode, ulp_stats *stats) {
    uint32_t magnitude[ULP_PIECE];
    if (core->shape == ULP_SHAPE_NARROW && ulp_narrow_knows(mode))
        magnitudes(magnitude, p, core, mode, ULP_SHAPE_NARROW);
    else if (loses_alike(p, core)) magnitudes(magnitude, p, core, mode, ULP_SHAPE_WIDE);
    else magnitudes(magnitude, p, core, mode, ULP_SHAPE_ANY);
    if (core->symmetric) count_run(p, magnitude, core, stats, 1);
    else count_run(p, magnitude, core, stats, 0);
}

/* One instance for each mode, with and without counting. */
static void round_piece(piece p, const ulp_core *core, ulp_stats *stats) {
    switch (core->mode) {
#define CASE(id, name, meaning, stochastic, inward)                                                                    \
    case id:                                                                                                           \
        if (stats == NULL) round_mode(p, core, id);                                                                    \
        else count_mode(p, core, id, stats);                                                                           \
        break;
        ULP_MODES(CASE)
#undef CASE
    default: break;
    }
}

/* ---- the work of one thread: elements begin .. end - 1 ---- */

static void round_core_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    ulp_stats stats = {0};
    uint32_t words[ULP_PIECE];
    const int stochastic = ulp_mode_is_stochastic(w->core.mode);
    for (size_t at = begin; at < end; at += ULP_PIECE) {
        size_t n = end - at < ULP_PIECE ? end - at : ULP_PIECE;
        if (stochastic)
            ULP_CPU(ulp_words)(words, n, w->how.stream.seed, w->how.stream.stream, w->how.stream.first + at);
        round_piece((piece){w->y + at, w->x + at, n, words}, &w->core, w->how.stats == NULL ? NULL : &stats);
    }
    if (w->how.stats != NULL) ulp_stats_add(w->how.stats, &stats);
}

/* ---- binary64 elements ---- */

/* y may be x. Rounds without overflow first, and once more with it where a value was out of range, infinite or NaN. */
ULP_INLINE void round64_run(double *y, const double *x, size_t n, const uint32_t *words, const ulp_core *core,
                            uint32_t mode) {
    const ulp_core c = *core;
    double z[ULP_PIECE];
    uint64_t beyond = 0;
    if (c.watched) {
        for (size_t i = 0; i < n; i++)
            z[i] = ulp_core_watched64(x[i], &c, mode, ulp_mode_is_stochastic(mode) ? words[i] : 0u, &beyond);
        if (beyond >> 63 == 0) {
            memcpy(y, z, n * sizeof *y);
            return;
        }
    }
    for (size_t i = 0; i < n; i++)
        y[i] = ulp_core_round64(x[i], &c, mode, ulp_mode_is_stochastic(mode) ? words[i] : 0u);
}

static void round64_core_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    uint32_t words[ULP_PIECE];
    for (size_t at = begin; at < end; at += ULP_PIECE) {
        const size_t n = end - at < ULP_PIECE ? end - at : ULP_PIECE;
        if (ulp_mode_is_stochastic(w->core.mode))
            ULP_CPU(ulp_words)(words, n, w->how.stream.seed, w->how.stream.stream, w->how.stream.first + at);
        switch (w->core.mode) {
#define CASE(id, name, meaning, stochastic, inward)                                                                    \
    case id: round64_run(w->y64 + at, w->x64 + at, n, words, &w->core, id); break;
            ULP_MODES(CASE)
#undef CASE
        default: break;
        }
    }
}

/* Any format, any rule, floats or doubles: the scalar definition, element by element. */
static void round_scalar_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    ulp_stats stats = {0};
    const int stochastic = ulp_mode_is_stochastic(w->how.rule.mode);
    for (size_t i = begin; i < end; i++) {
        double x = w->x64 != NULL ? w->x64[i] : (double)w->x[i];
        uint32_t word = stochastic ? ulp_random_word(w->how.stream, i) : 0;
        double y = ulp_round(x, w->how.format, w->how.rule, word);
        if (w->y64 != NULL) w->y64[i] = y;
        else w->y[i] = (float)y;
        if (w->how.stats != NULL) ulp_stats_count(&stats, ulp_exact_of(x), y, w->how.format, w->how.rule, word);
    }
    if (w->how.stats != NULL) ulp_stats_add(w->how.stats, &stats);
}

ulp_status ULP_CPU(ulp_cpu_round)(float *y, const float *x, size_t n, ulp_rounding how) {
    work w = {.y = y, .x = x, .how = how};
    const int vector = ulp_core_init(&w.core, how.format, how.rule);
    ulp_parallel_for(n, ULP_GRAIN, vector ? round_core_part : round_scalar_part, &w);
    return ULP_OK;
}

ulp_status ULP_CPU(ulp_cpu_round64)(double *y, const double *x, size_t n, ulp_rounding how) {
    work w = {.y64 = y, .x64 = x, .how = how};
    const int vector = how.stats == NULL && ulp_core_init(&w.core, how.format, how.rule);
    ulp_parallel_for(n, ULP_GRAIN, vector ? round64_core_part : round_scalar_part, &w);
    return ULP_OK;
}
