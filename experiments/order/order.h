/* order.h - settings, points and rows of order, shared by its sums and its claims. */
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

/* Whether a datapath adds several products as a set in one step. */
static inline int has_blocks(const ulp_datapath *d) { return d->step > 1 && !d->fused.late && d->fused.group == 0; }

/* Whether a datapath adds products one by one, in one format. */
static inline int is_serial(const ulp_datapath *d) {
    return d->kind == ULP_SERIAL && d->length == 1 && !d->has_inputs && d->promote == 0;
}

#endif
