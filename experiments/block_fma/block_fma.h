/* block_fma.h - what the products and the claims of block_fma share: settings, points and rows. */
#ifndef ULP_EXPERIMENT_BLOCK_FMA_H
#define ULP_EXPERIMENT_BLOCK_FMA_H

#include "experiments/harness/experiment.h"

/* Blocks of 4 products, each rounded once and to nearest: the model of the paper. */
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

/* Prints the table and tests the claims. */
void judge(ulp_claims *claims);

#endif
