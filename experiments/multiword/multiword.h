/* multiword.h - settings, points and rows of multiword, shared by its products and its claims. */
#ifndef ULP_EXPERIMENT_MULTIWORD_H
#define ULP_EXPERIMENT_MULTIWORD_H

#include "experiments/harness/experiment.h"

typedef struct settings {
    ulp_datapath_list datapaths;
    ulp_integer_list words, lengths;
    int64_t size;
    double decades;
    const ulp_backend *backend;
    uint64_t seed;
} settings;

/* All products of a unit with sums of n products. */
typedef struct point {
    const ulp_datapath *datapath;
    int64_t n;
} point;

/* The product of two matrices with `words` words for each operand. error: the largest sum of errors in a row of the
 * result, divided by the norms of both matrices, with words rounded to nearest. truncated: with words rounded toward
 * zero. small_first: to nearest, and the smallest words are added first. */
typedef struct row {
    const char *datapath, *format;
    int64_t words, n, sums;
    double error, truncated, small_first;
} row;

#endif
