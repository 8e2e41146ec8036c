/* sum_growth.h - settings, points and rows of sum_growth, and the lengths of the sums. */
#ifndef ULP_EXPERIMENT_SUM_GROWTH_H
#define ULP_EXPERIMENT_SUM_GROWTH_H

#include "experiments/harness/experiment.h"

typedef struct settings {
    ulp_format_list formats;
    ulp_rule_list modes;
    uint64_t data, seed;
    double longest, delta;
    int64_t runs;
    const ulp_backend *backend;
} settings;

enum { POSITIVE, SIGNED, DOT_POSITIVE, DOT_SIGNED, HARMONIC, DATA_COUNT };
#define DATA_WORDS "positive signed dot-positive dot-signed harmonic"

/* A point of the plan: all modes on the same terms. */
typedef struct point {
    const ulp_format *format;
    int data;
} point;

typedef struct row {
    const char *format;
    int data;
    const char *mode;
    int64_t n;
    double least_error, median, rms, most_error; /* of all runs; Inf for a sum that left the format's range */
    double gamma, linear, likely, lambda;        /* bounds; an empty cell means no bound */
    int64_t within;
    double least, most, exact;
} row;

/* The longest sum has growth_length(growth_quarters(s)) terms, the shortest growth_length(4) = 10. */
static inline int growth_quarters(const settings *s) { return (int)(4 * s->longest); }

/* 10^(q / 4), rounded to a whole number. */
static inline size_t growth_length(int q) {
    static const size_t mantissas[] = {10000000, 17782794, 31622777, 56234133};
    size_t scale = 1;
    for (int i = q / 4; i < 7; i++) scale *= 10;
    return (mantissas[q % 4] + scale / 2) / scale;
}

/* Whether the errors of a rule are unbiased, so that the likely bound is a theorem. With few random bits errors have a
 * bias, which sr_bits.c measures. */
static inline int growth_is_unbiased(ulp_rule rule) {
    return ulp_mode_is_stochastic(rule.mode) && (rule.random_bits == 0 || rule.random_bits == 32);
}

#endif
