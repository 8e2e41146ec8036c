/* cartoon_sgd.h - settings and rows of cartoon_sgd, and the rounded rate. */
#ifndef ULP_EXPERIMENT_CARTOON_SGD_H
#define ULP_EXPERIMENT_CARTOON_SGD_H

#include "experiments/harness/claims/spread.h"
#include "experiments/harness/sums.h"

typedef struct settings {
    ulp_format_list formats;
    ulp_rule_list modes;
    double rate;
    int64_t updates, runs, paths;
    uint64_t seed;
} settings;

/* Kinds of rows: the path of a weight; its end (stop, or open if the weight still moves after --updates updates); the
 * spread of all runs of a stochastic mode. */
enum { PATH, STOP, OPEN, SPREAD };
#define WHAT_WORDS "path stop open spread"

typedef struct row {
    ulp_sum_key key;
    int64_t update;
    double weight, value;
    ulp_code code;
    ulp_distribution runs;
} row;

enum { CURES = 2, EVERY = 10 /* updates between two rows of a spread */ };
static const ulp_cure cures[CURES] = {ULP_CURE_KAHAN, ULP_CURE_MASTER};

/* --rate rounded to nearest even: to binary32 with a master copy, else to the format. */
static inline double rate_in(const settings *s, const ulp_format *format, ulp_cure cure) {
    return cure == ULP_CURE_MASTER ? (double)(float)s->rate : ulp_round(s->rate, format, (ulp_rule){0}, 0);
}

#endif
