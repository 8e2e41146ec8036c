/* units.h - settings, points and rows of units, shared by its sums and its claims. */
#ifndef ULP_EXPERIMENT_UNITS_H
#define ULP_EXPERIMENT_UNITS_H

#include "experiments/harness/experiment.h"

typedef struct settings {
    ulp_datapath_list datapaths;
    int64_t sums, products, repeats, length;
    uint64_t seed;
} settings;

/* The measurement of a point: which datapaths agree, errors of long sums, f(-x) against -f(x), and directed sums. */
enum { AGREE, ERRORS, NEGATED, DIRECTED, PARTS };
#define PART_WORDS "agree errors negated directed"

/* The data: products of one sign, and of both signs. */
enum { POSITIVE, MIXED, KINDS };
#define DATA_WORDS "positive mixed"
static const char *const data_names[KINDS] = {"positive", "mixed"};

typedef struct point {
    int part, data;
} point;

/* share: of sums with equal bits (agree), or with f(-x) = -f(x) (negated). The errors are relative to the sum of the
 * magnitudes of the products. sum: a directed sum; result and code: what it becomes. */
typedef struct row {
    int part, data;
    const char *datapath, *other;
    int64_t products, sums;
    double share, max_error, mean_error, drift;
    const char *sum;
    double result;
    ulp_code code;
} row;

/* A directed sum: up to four products by place, and a start value. */
typedef struct directed_sum {
    const char *text;
    struct {
        int k;
        double a, b;
    } product[4];
    int count;
    double c;
} directed_sum;

enum { DIRECTED_SUMS = 7 };
extern const directed_sum directed_sums[DIRECTED_SUMS];

#endif
