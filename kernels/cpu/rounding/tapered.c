/* tapered.c - rounding of arrays to posits and takums by kernels/rounding/tapered.h, with optional counting. */
#include "kernels/cpu/cpu.h"

#include <string.h>

#include "kernels/rounding/count.h"
#include "kernels/rounding/tapered.h"
#include "kernels/cpu/philox.h"

/* A piece of the arrays, and the random words of its elements. */
typedef struct floats {
    float *y;
    const float *x; /* not y */
    size_t n;
    const uint32_t *words;
} floats;

typedef struct doubles {
    double *y;
    const double *x; /* not y */
    size_t n;
    const uint32_t *words;
} doubles;

ULP_INLINE void float_run(const floats *p, const ulp_tapered *of, uint32_t mode) {
    const ulp_tapered t = *of;
    float *restrict y = p->y;
    const float *restrict x = p->x;
    const uint32_t *restrict words = p->words;
    for (size_t i = 0; i < p->n; i++)
        y[i] = ulp_from_bits32(
            ulp_tapered_round(ulp_bits32(x[i]), &t, mode, ulp_mode_is_stochastic(mode) ? words[i] : 0u));
}

ULP_INLINE void double_run(const doubles *p, const ulp_tapered *of, int is_takum, uint32_t mode) {
    const ulp_tapered t = *of;
    double *restrict y = p->y;
    const double *restrict x = p->x;
    const uint32_t *restrict words = p->words;
    for (size_t i = 0; i < p->n; i++)
        y[i] = ulp_tapered_round64(x[i], &t, is_takum, mode, ulp_mode_is_stochastic(mode) ? words[i] : 0u);
}

static void round_floats(const floats *p, const ulp_tapered *t, int is_takum, uint32_t mode) {
    (void)is_takum; /* one text serves both kinds */
    switch (mode) {
#define CASE(id, name, meaning, stochastic, inward)                                                                    \
    case id: float_run(p, t, id); break;
        ULP_MODES(CASE)
#undef CASE
    default: break;
    }
}

static void round_doubles(const doubles *p, const ulp_tapered *t, int is_takum, uint32_t mode) {
    switch (mode) {
#define CASE(id, name, meaning, stochastic, inward)                                                                    \
    case id:                                                                                                           \
        if (is_takum) double_run(p, t, 1, id);                                                                         \
        else double_run(p, t, 0, id);                                                                                  \
        break;
        ULP_MODES(CASE)
#undef CASE
    default: break;
    }
}

/* ---- counts ---- */

/* No finite value overflows or underflows, and no value is subnormal. An infinite input saturates by the policy sat. */
static void count_floats(const floats *p, ulp_stats *stats) {
    int32_t zero = 0, nan = 0, saturated = 0;
    for (size_t i = 0; i < p->n; i++) {
        const uint32_t y = ulp_bits32(p->y[i]) & 0x7fffffffu, x = ulp_bits32(p->x[i]) & 0x7fffffffu;
        zero += y == 0;
        nan += y > 0x7f800000u;
        saturated += (x == 0x7f800000u) & (y < 0x7f800000u) & (y != 0);
    }
    stats->zero += (uint64_t)zero;
    stats->nan += (uint64_t)nan;
    stats->saturated += (uint64_t)saturated;
}

static void count_doubles(const doubles *p, ulp_stats *stats) {
    for (size_t i = 0; i < p->n; i++) {
        const double y = p->y[i], x = p->x[i];
        stats->zero += y == 0.0;
        stats->nan += y != y;
        stats->saturated += (x - x != 0.0) & (x == x) & (y == y) & (y != 0.0);
    }
}

/* ---- arrays ---- */

#define ARRAY(name, number, piece, round, count_piece)                                                                 \
    void ULP_CPU(name)(number * y, const number *x, size_t n, ulp_rounding how) {                                      \
        const ulp_tapered t = ulp_tapered_of(how.format, how.rule);                                                    \
        number held[ULP_PIECE];                                                                                        \
        uint32_t words[ULP_PIECE];                                                                                     \
        philox source;                                                                                                 \
        ulp_stats stats = {0};                                                                                         \
        philox_begin(&source, how.stream.seed, how.stream.stream);                                                     \
        for (size_t at = 0; at < n; at += ULP_PIECE) {                                                                 \
            piece p = {y + at, x + at, n - at < ULP_PIECE ? n - at : ULP_PIECE, words};                                \
            if (y == x) p.x = memcpy(held, p.x, p.n * sizeof *held);                                                   \
            if (ulp_mode_is_stochastic(how.rule.mode))                                                                 \
                ULP_CPU(ulp_philox_words)(words, ULP_PIECE, &source, how.stream.first + at);                           \
            round(&p, &t, how.format->taper == ULP_TAPER_TAKUM, how.rule.mode);                                        \
            if (how.stats != NULL) count_piece(&p, &stats);                                                            \
        }                                                                                                              \
        stats.count = n;                                                                                               \
        if (how.stats != NULL) ulp_stats_add(how.stats, &stats);                                                       \
    }
ARRAY(ulp_round_tapered32, float, floats, round_floats, count_floats)
ARRAY(ulp_round_tapered64, double, doubles, round_doubles, count_doubles)
