/* serial_any.h - sums with every partial sum rounded, k ascending, in binary64 lanes and without any condition.
 *
 * kernels/rounding/core.h, or in mode rne kernels/rounding/nearest.h, rounds the exact sum folded to odd.
 */
#ifndef ULP_CPU_SERIAL_ANY_H
#define ULP_CPU_SERIAL_ANY_H

#include "lanes.h"

ULP_INLINE void serial_run(double *restrict acc, double a, const double *restrict b, const ulp_core *core,
                           const uint32_t *restrict words, uint32_t mode) {
    const ulp_core c = *core;
    for (size_t j = 0; j < LANES; j++)
        acc[j] = ulp_core_round64(ulp_odd_sum(a * b[j], acc[j], mode), &c, mode,
                                  ulp_mode_is_stochastic(mode) ? words[j] : 0u);
}

static void serial_step(double *acc, double a, const double *b, const ulp_core *core, const uint32_t *words) {
    switch (core->mode) {
#define CASE(id, name, meaning, stochastic, inward)                                                                    \
    case id: serial_run(acc, a, b, core, words, id); break;
        ULP_MODES(CASE)
#undef CASE
    default: break;
    }
}

/* Adds a product to sums without overflow. The sign bit of the result is set if a value was out of range, infinite or
 * NaN. */
ULP_INLINE uint64_t watched_run(double *restrict acc, double a, const double *restrict b, const ulp_core *core,
                                const uint32_t *restrict words, uint32_t mode) {
    const ulp_core c = *core;
    uint64_t beyond = 0;
    for (size_t j = 0; j < LANES; j++)
        acc[j] = ulp_core_watched64(ulp_odd_sum(a * b[j], acc[j], mode), &c, mode,
                                    ulp_mode_is_stochastic(mode) ? words[j] : 0u, &beyond);
    return beyond;
}

static uint64_t watched_step(double *acc, double a, const double *b, const ulp_core *core, const uint32_t *words) {
    switch (core->mode) {
#define CASE(id, name, meaning, stochastic, inward)                                                                    \
    case id: return watched_run(acc, a, b, core, words, id);
        ULP_MODES(CASE)
#undef CASE
    default: return ~(uint64_t)0;
    }
}

/* Adds products to sums: without overflow, and once more with it if a value was out of range. words (k, LANES) in the
 * stochastic modes */
static void serial_products(double *sums, const lanes_products *of, const ulp_core *core, const uint32_t *words) {
    double before[LANES];
    uint64_t beyond = 0;
    memcpy(before, sums, sizeof before);
    if (core->watched) {
        for (size_t k = 0; k < of->k; k++)
            beyond |= watched_step(sums, of->a[k], of->b + k * LANES, core, words + k * LANES);
        if (beyond >> 63 == 0) return;
        memcpy(sums, before, sizeof before);
    }
    for (size_t k = 0; k < of->k; k++) serial_step(sums, of->a[k], of->b + k * LANES, core, words + k * LANES);
}

/* Mode rne. `range` is OPEN or CLOSED. */
ULP_INLINE void nearest_run(double *restrict sums, const lanes_products *of, const ulp_nearest *constants, int range) {
    const ulp_nearest n = *constants;
    double acc[LANES];
    for (int j = 0; j < LANES; j++) acc[j] = sums[j];
    for (size_t i = 0; i < of->k; i++) {
        const double *restrict b = of->b + i * LANES;
        for (int j = 0; j < LANES; j++)
            acc[j] = ulp_nearest64(ulp_odd_sum(of->a[i] * b[j], acc[j], ULP_RNE), &n, range);
    }
    for (int j = 0; j < LANES; j++) sums[j] = acc[j];
}

static void nearest_open(double *sums, const lanes_products *of, const ulp_nearest *n) {
    nearest_run(sums, of, n, ULP_RANGE_OPEN);
}

static void nearest_closed(double *sums, const lanes_products *of, const ulp_nearest *n) {
    nearest_run(sums, of, n, ULP_RANGE_CLOSED);
}

/* Adds products to sums (LANES). range: of `nearest`; core.h rounds where it is neither OPEN nor CLOSED. words (k,
 * LANES) in the stochastic modes */
static void add_folded(double *sums, const lanes_products *of, const ulp_core *core, const ulp_nearest *nearest,
                       int range, const uint32_t *words) {
    if (range == ULP_RANGE_OPEN) nearest_open(sums, of, nearest);
    else if (range == ULP_RANGE_CLOSED) nearest_closed(sums, of, nearest);
    else serial_products(sums, of, core, words);
}

#endif
