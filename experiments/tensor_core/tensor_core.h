/* tensor_core.h - settings, points and rows of tensor_core, shared by its probes and its claims. */
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

/* Rows: a property found by vectors, the sum that stalls, errors on data of both signs, errors on positive data. */
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

#endif
