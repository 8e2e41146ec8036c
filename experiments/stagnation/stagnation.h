/* stagnation.h - settings of stagnation. */
#ifndef ULP_EXPERIMENT_STAGNATION_H
#define ULP_EXPERIMENT_STAGNATION_H

#include "experiments/harness/sums.h"

typedef struct settings {
    ulp_sum_settings sums;
    double start, term;
    int64_t steps;
} settings;

static const ulp_sum_cures cures = {{ULP_CURE_MASTER, ULP_CURE_KAHAN, ULP_CURE_FIRST}, 3};

/* --start or --term rounded to nearest even in the format. */
static inline double rounded(double value, const ulp_format *format) {
    return ulp_round(value, format, (ulp_rule){0}, 0);
}

#endif
