/* counting.h - settings of counting, and the number at which a count is predicted to stop. */
#ifndef ULP_EXPERIMENT_COUNTING_H
#define ULP_EXPERIMENT_COUNTING_H

#include "experiments/harness/sums.h"

typedef struct settings {
    ulp_sum_settings sums;
    int64_t limit, terms, chunk;
} settings;

static const ulp_sum_cures cures = {{ULP_CURE_CHUNKS, ULP_CURE_KAHAN, ULP_CURE_MASTER}, 3};

/* The rounded value of every number far beyond the format's range: a sum that leaves the range stays there. */
static inline double end_of(const ulp_format *format, ulp_rule rule) {
    return ulp_round(4 * format->max, format, rule, 0);
}

/* The value where a deterministic count stops, in chunks of `chunk` ones under ULP_CURE_CHUNKS. Returns 1, or 0 if
 * nothing is predicted. */
int predict(double *value, const ulp_format *f, ulp_rule rule, ulp_cure cure, int64_t chunk);

#endif
