/* order.h - what the sums and the claims of order share: settings, points, rows. */
#ifndef ULP_EXPERIMENT_ORDER_H
#define ULP_EXPERIMENT_ORDER_H

#include "experiments/harness/experiment.h"

typedef struct settings {
    ulp_datapath_list datapaths;
    int64_t k, orders;
    ulp_integer_list slices;
    uint64_t seed;
    const ulp_backend *backend;
} settings;

enum { NORMAL, UNIFORM, DATA_COUNT };
#define DATA_WORDS "normal uniform"
enum { ANY, INSIDE, SLICES, ALONE, KIND_COUNT };
#define KIND_WORDS "any inside slices alone"

typedef struct point {
    const ulp_datapath *datapath;
    int data, kind;
} point;

typedef struct row {
    int kind, data;
    const char *datapath;
    int64_t number;
    double value;
    ulp_code code;
    double error;
} row;

/* Whether one step of a datapath adds several products as a set. */
int has_blocks(const ulp_datapath *d);

/* Whether a datapath adds products one by one, in one format. */
int is_serial(const ulp_datapath *d);

/* Prints the table and tests the claims. */
void judge(ulp_claims *claims);

#endif
