/* harmonic.h - settings of harmonic, and the term at which a sum is predicted to stop. */
#ifndef ULP_EXPERIMENT_HARMONIC_H
#define ULP_EXPERIMENT_HARMONIC_H

#include "experiments/harness/sums.h"

typedef struct settings {
    ulp_sum_settings sums;
    int64_t limit, terms;
} settings;

static const ulp_sum_cures cures = {{ULP_CURE_KAHAN, ULP_CURE_MASTER}, 2};

/* The least i with 1 / i <= spacing(H_i) / 2; 0 if there is no such i up to `limit` with H_i in the format's range. */
int64_t predict(const ulp_format *format, int64_t limit);

#endif
