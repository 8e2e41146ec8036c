/* stagnation.h - settings and rows of stagnation. */
#ifndef ULP_EXPERIMENT_STAGNATION_H
#define ULP_EXPERIMENT_STAGNATION_H

#include "experiments/harness/claims/spread.h"
#include "experiments/harness/sums.h"

typedef struct settings {
    ulp_format_list formats;
    ulp_rule_list modes;
    double start, term;
    int64_t steps, runs, paths;
    uint64_t seed;
} settings;

/* Kinds of rows: the path of one run; the spread of all runs of a stochastic mode, where value is the mean. */
enum { PATH, SPREAD };
#define WHAT_WORDS "path spread"

typedef struct row {
    ulp_sum_key key;
    int64_t step;
    double value;
    ulp_code code;
    ulp_distribution runs; /* the mean of the runs is in the column value */
} row;

enum { CURES = 3 };
static const ulp_cure cures[CURES] = {ULP_CURE_MASTER, ULP_CURE_KAHAN, ULP_CURE_FIRST};

/* --start or --term rounded to nearest even in the format. */
static inline double rounded(double value, const ulp_format *format) {
    return ulp_round(value, format, (ulp_rule){0}, 0);
}

#endif
