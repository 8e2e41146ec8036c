/* cartoon_sgd.h - settings of cartoon_sgd, and the rounded rate. */
#ifndef ULP_EXPERIMENT_CARTOON_SGD_H
#define ULP_EXPERIMENT_CARTOON_SGD_H

#include "experiments/harness/sums.h"

typedef struct settings {
    ulp_sum_settings sums;
    double rate;
    int64_t updates;
} settings;

enum { EVERY = 10 /* updates between two rows of a spread */ };
static const ulp_sum_cures cures = {{ULP_CURE_KAHAN, ULP_CURE_MASTER}, 2};

/* --rate rounded to nearest even: to binary32 with a master copy, else to the format. */
static inline double rate_in(const settings *s, const ulp_format *format, ulp_cure cure) {
    return cure == ULP_CURE_MASTER ? (double)(float)s->rate : ulp_round(s->rate, format, (ulp_rule){0}, 0);
}

#endif
