/* spread.h - what is told of many or long runs: mean, standard deviation and quantiles; steps thinned by octaves. */
#ifndef ULP_SPREAD_H
#define ULP_SPREAD_H

#include "harness.h"

/* The columns that ulp_put_spread() fills, for ulp_experiment.columns. */
#define ULP_SPREAD_COLUMNS "mean,sd,min,q05,q25,median,q75,q95,max"
enum { ULP_SPREAD_CELLS = 9 };

/* Of value (n), n >= 1, which is sorted: mean and sd (n - 1 below the root; 0 of one run) in binary64, summed in the
 * order of the runs; quantiles are values that occurred, nearest rank. */
void ulp_put_spread(ulp_rows *rows, float *value, size_t n);

/* Empty cells in their place. */
void ulp_put_no_spread(ulp_rows *rows);

/* Whether step n of a long run has a row: all of the first 32 do, then 16 in every octave, powers of two among them. */
int ulp_is_thinned_row(int64_t n);

#endif
