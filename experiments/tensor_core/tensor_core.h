/* tensor_core.h - what the probes and the claims of tensor_core share: settings, points, rows. */
#ifndef ULP_EXPERIMENT_TENSOR_CORE_H
#define ULP_EXPERIMENT_TENSOR_CORE_H

#include "experiments/harness/experiment.h"

typedef struct settings {
    ulp_datapath_list datapaths;
    int64_t k, outputs;
    uint64_t seed;
    const ulp_backend *backend;
} settings;

typedef struct point {
    const ulp_datapath *datapath;
} point;

/* Rows: a property by vectors, the sum that stalls, errors of random data of both signs and of positive data. */
enum { PROBE, STALL, SIGNED, POSITIVE };
#define WHAT_WORDS "probe stall signed positive"

typedef struct row {
    const char *datapath;
    int what;
    const char *name, *found;
    double number;
    const char *expected, *verdict;
} row;

#define STALLING "64 + 32 x 2^-8"

/* Prints the table and tests the claims. */
void judge(ulp_claims *claims);

#endif
