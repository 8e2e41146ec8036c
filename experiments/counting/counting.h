/* counting.h - settings and rows of counting, and the number at which a count is predicted to stop. */
#ifndef ULP_EXPERIMENT_COUNTING_H
#define ULP_EXPERIMENT_COUNTING_H

#include "experiments/harness/claims/spread.h"
#include "experiments/harness/sums.h"

typedef struct settings {
    ulp_format_list formats;
    ulp_rule_list modes;
    int64_t limit, terms, runs, paths, chunk;
    uint64_t seed;
    const ulp_backend *backend;
} settings;

/* Kinds of rows: the path of a sum; its end (stop, or open if the sum still moves after --limit additions); the spread
 * of all runs of a stochastic mode. */
enum { PATH, STOP, OPEN, SPREAD };
#define WHAT_WORDS "path stop open spread"

typedef struct row {
    ulp_sum_key key;
    int64_t n;
    double value;
    ulp_code code;
    double predicted;
    ulp_distribution runs;
} row;

enum { CURES = 3 };
static const ulp_cure cures[CURES] = {ULP_CURE_CHUNKS, ULP_CURE_KAHAN, ULP_CURE_MASTER};

/* The rounded value of every number far beyond the format's range: a sum that leaves the range stays there. */
static inline double end_of(const ulp_format *format, ulp_rule rule) {
    return ulp_round(4 * format->max, format, rule, 0);
}

/* The value where a deterministic count stops, in chunks of `chunk` ones under ULP_CURE_CHUNKS. Returns 1, or 0 if
 * nothing is predicted. */
int predict(double *value, const ulp_format *f, ulp_rule rule, ulp_cure cure, int64_t chunk);

#endif
