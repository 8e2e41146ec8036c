/* harmonic.h - settings and rows of harmonic, and the term at which a sum is predicted to stop. */
#ifndef ULP_EXPERIMENT_HARMONIC_H
#define ULP_EXPERIMENT_HARMONIC_H

#include "experiments/harness/claims/spread.h"
#include "experiments/harness/sums.h"

typedef struct settings {
    ulp_format_list formats;
    ulp_rule_list modes;
    int64_t limit, terms, runs, paths;
    uint64_t seed;
    const ulp_backend *backend;
} settings;

/* Kinds of rows: the path of a sum; its end (stop, or open if the sum still moves after --limit terms); the spread of
 * all runs of a stochastic mode. */
enum { PATH, STOP, OPEN, SPREAD };
#define WHAT_WORDS "path stop open spread"

typedef struct row {
    ulp_sum_key key;
    int64_t n;
    double harmonic, value;
    ulp_code code;
    int64_t predicted;
    ulp_distribution runs;
} row;

enum { CURES = 2 };
static const ulp_cure cures[CURES] = {ULP_CURE_KAHAN, ULP_CURE_MASTER};

/* The least i with 1 / i <= spacing(H_i) / 2; 0 if there is no such i up to `limit` with H_i in the format's range. */
int64_t predict(const ulp_format *format, int64_t limit);

#endif
