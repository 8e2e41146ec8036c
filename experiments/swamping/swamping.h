/* swamping.h - settings, points and rows of swamping, shared by its sums and its claims. */
#ifndef ULP_EXPERIMENT_SWAMPING_H
#define ULP_EXPERIMENT_SWAMPING_H

#include "experiments/harness/experiment.h"

typedef struct settings {
    ulp_format_list formats;
    ulp_rule_list modes;
    ulp_integer_list chunks;
    int64_t longest, seeds;
    uint64_t seed;
    const ulp_backend *backend;
} settings;

/* A series of sums of growing length. Chunk 0 without a rule: the terms are summed in binary32. */
typedef struct point {
    const ulp_format *format;
    const ulp_named_rule *rule;
    int64_t chunk;
    uint64_t seed;
    size_t data; /* the number of the format and the seed, from 0 */
} point;

typedef struct row {
    const char *format, *datapath, *mode;
    int64_t chunk, seed, n;
    double sum;
    ulp_code code;
    double exact, error;
} row;

enum { SHORTEST = 4, LONGEST = 24 };

#endif
