/* hardware_sr.h - settings, points and rows of hardware_sr, shared by its counts and its claims. */
#ifndef ULP_EXPERIMENT_HARDWARE_SR_H
#define ULP_EXPERIMENT_HARDWARE_SR_H

#include "experiments/harness/experiment.h"
#include "formats/conversion.h"

typedef struct settings {
    int64_t fractions;
} settings;

typedef struct point {
    const ulp_conversion *conversion;
    int negative;
} point;

/* A value lies nu of the way from one number of the format to the next. up: of all `words` of random bits, how many
 * round it away from zero; bias = up / words - nu. variance: of the number of values of a pair that round up, if both
 * values of the pair lie there. NaN for conversions of one value. */
typedef struct row {
    const char *conversion;
    int64_t bits;
    double value, nu;
    int64_t up, words;
    double probability, bias, variance;
} row;

#endif
