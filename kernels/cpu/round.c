/* round.c - rounding of whole arrays, with optional counting. */
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

ULP_INLINE void round_mode(piece p, const ulp_core *core, uint32_t mode) {
    if (core->shape == ULP_SHAPE_WIDE) {
        if (core->symmetric) round_run(p, core, mode, ULP_SHAPE_WIDE, 1);
        else round_run(p, core, mode, ULP_SHAPE_WIDE, 0);
    } else if (core->shape == ULP_SHAPE_NARROW && ulp_narrow_knows(mode)) {
        if (core->symmetric) round_run(p, core, mode, ULP_SHAPE_NARROW, 1);
        else round_run(p, core, mode, ULP_SHAPE_NARROW, 0);
    } else {
        round_run(p, core, mode, ULP_SHAPE_ANY, 0);
    }
}

/* Short loops that each vectorise: the magnitudes, the counts of the inputs, the results, the counts of the results. */
ULP_INLINE void count_mode(piece p, const ulp_core *core, uint32_t mode, ulp_stats *stats) {
    const ulp_core c = *core;
    const size_t n = p.n;
    const float *x = p.x;
    float *y = p.y;
    uint32_t magnitude[ULP_PIECE];
    uint32_t overflow = 0, saturated = 0, underflow = 0, subnormal = 0, zero = 0, nan = 0;
    if (c.shape == ULP_SHAPE_NARROW && ulp_narrow_knows(mode))
        for (size_t i = 0; i < n; i++) magnitude[i] = ulp_core_narrow(ulp_bits32(x[i]), &c, mode);
    else
        for (size_t i = 0; i < n; i++)
            magnitude[i] = ulp_core_any(ulp_bits32(x[i]), &c, mode, ulp_mode_is_stochastic(mode) ? p.words[i] : 0u);
    for (size_t i = 0; i < n; i++) {
        uint32_t u = ulp_bits32(x[i]), a = u & 0x7fffffffu, limit = ulp_by_sign(c.limit, u & 0x80000000u);
        overflow += (magnitude[i] > limit ? 1u : 0u) & (a < 0x7f800000u ? 1u : 0u);
        underflow += (magnitude[i] == 0 ? 1u : 0u) & (a - 1u < 0x7f7fffffu ? 1u : 0u);
    }
    for (size_t i = 0; i < n; i++) y[i] = ulp_from_bits32(ulp_core_finish(ulp_bits32(x[i]), magnitude[i], &c, 0));
    for (size_t i = 0; i < n; i++) {
        uint32_t r = ulp_bits32(y[i]), size = r & 0x7fffffffu, limit = ulp_by_sign(c.limit, r & 0x80000000u);
        saturated += (uint32_t)(size == limit) & (uint32_t)(magnitude[i] > limit);
        subnormal += (uint32_t)(size - 1u < c.min_normal - 1u);
        zero += (uint32_t)(size == 0);
        nan += (uint32_t)(size > 0x7f800000u);
    }
    stats->count += n;
    stats->overflow += overflow;
    stats->saturated += saturated;
    stats->underflow += underflow;
    stats->subnormal += subnormal;
    stats->zero += zero;
    stats->nan += nan;
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
    ulp_parallel_for(n, ULP_GRAIN, round_scalar_part, &w);
    return ULP_OK;
}
