/* fp8_accumulation.h - settings, ways to sum, points and rows, shared by the products and the claims. */
#ifndef ULP_EXPERIMENT_FP8_ACCUMULATION_H
#define ULP_EXPERIMENT_FP8_ACCUMULATION_H

#include "experiments/harness/experiment.h"

enum { SCALING_NONE, SCALING_AMAX };
#define SCALING_WORDS "none amax"

typedef struct settings {
    ulp_datapath_list datapaths;
    ulp_integer_list bits, promote;
    int64_t k, outputs, seeds;
    int scaling;
    uint64_t seed;
    const ulp_backend *backend;
} settings;

enum { UNIFORM, NORMAL, CONSTANT, KINDS };
#define DATA_WORDS "uniform normal constant"

enum { SUM_LENGTH = 32768 }; /* products in the sum of constants */

/* How a way to sum is selected: by the name of its datapath, by its number of bits or by its promotion interval. */
typedef enum kind { BY_NAME, BY_BITS, BY_PROMOTE } kind;

/* A way to sum. */
typedef struct way {
    ulp_datapath datapath;
    char name[ULP_DATAPATH_NAME_MAX]; /* of the datapath; for bits with F and kept also at the unit's own values */
    kind by;
    int64_t number; /* bits, or products in an interval; BY_NAME: ULP_NO_INTEGER */
} way;

enum { WAYS_MAX = 256 };

/* The ways to sum, which all points share: first the datapaths, then the bits, then the intervals. */
typedef struct ways {
    way *at; /* (count) */
    size_t count;
} ways;

typedef struct point {
    int data;
    uint64_t seed; /* of the random data */
} point;

typedef struct row {
    int data;
    int64_t seed;
    const char *datapath;
    int64_t bits, promote, k;
    double sum;
    ulp_code code;
    double mean_error, norm_error, max_error, drift, cast;
} row;

#endif
