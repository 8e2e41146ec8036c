/* block_fma.h - settings, points and rows of block_fma, shared by its products and its claims. */
#ifndef ULP_EXPERIMENT_BLOCK_FMA_H
#define ULP_EXPERIMENT_BLOCK_FMA_H

#include "experiments/harness/experiment.h"

/* The model of the paper: blocks of 4 products, each rounded once and to nearest. */
#define NEAREST "block4:binary32:rne"

typedef struct settings {
    ulp_datapath_list datapaths;
    ulp_integer_list sizes;
    int64_t outputs, seeds;
    uint64_t seed;
    const ulp_backend *backend;
} settings;

/* The data: U[0,1] and U[-1,1]. */
enum { POSITIVE, SIGNED, KINDS };
#define DATA_WORDS "positive signed"
static const char *const data_names[KINDS] = {"positive", "signed"};

typedef struct point {
    int data;
    int64_t n;
    uint64_t seed;
} point;

typedef struct row {
    int data;
    int64_t n, seed;
    const char *datapath;
    int64_t outputs;
    double max_error, mean_error, drift;
} row;

#endif
