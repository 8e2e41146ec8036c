/* spread.h - what is told of many or long runs: mean, standard deviation and quantiles; steps thinned by octaves. */
#ifndef ULP_SPREAD_H
#define ULP_SPREAD_H

#include "experiments/harness/harness.h"

/* Options of experiments with stochastic runs. */
#define ULP_TAKES_RUNS(default_, quick_, full_)                                                                        \
    {                                                                                                                  \
        .name = "runs", .type = ULP_OPTION_INTEGER, .value = default_, .quick = quick_, .full = full_,                 \
        .help = "runs of every stochastic mode", .min = 1, .max = 1e6                                                  \
    }
#define ULP_TAKES_PATHS(default_)                                                                                      \
    {                                                                                                                  \
        .name = "paths", .type = ULP_OPTION_INTEGER, .value = default_,                                                \
        .help = "stochastic runs that are written one by one", .max = 1000                                             \
    }

/* The columns that ulp_put_spread() fills, for ulp_experiment.columns. */
#define ULP_QUANTILE_COLUMNS "min,q05,q25,median,q75,q95,max"
#define ULP_SPREAD_COLUMNS "mean,sd," ULP_QUANTILE_COLUMNS
enum { ULP_QUANTILES = 7, ULP_SPREAD_CELLS = 2 + ULP_QUANTILES };

/* Mean and sd (n - 1 below the root; 0 of one run) in binary64, summed in the order of the runs; quantiles are values
 * that occurred, nearest rank. */
typedef struct ulp_distribution {
    double mean, sd, quantile[ULP_QUANTILES];
} ulp_distribution;

ulp_distribution ulp_distribution_of(const double *value, size_t n); /* n >= 1 */
void ulp_put_quantiles(ulp_rows *rows, const ulp_distribution *d);

/* All cells of value (n), n >= 1; empty cells in their place. */
void ulp_put_spread(ulp_rows *rows, const float *value, size_t n);
void ulp_put_no_spread(ulp_rows *rows);

/* Ascending, NaN last. */
void ulp_sort_numbers(double *value, size_t n);

/* Whether step n of a long run has a row: all of the first 32 do, then 16 in every octave, powers of two among them. */
int ulp_is_thinned_row(int64_t n);

#endif
