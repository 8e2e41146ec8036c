/* spread.h - statistics of many runs (mean, deviation, quantiles), and the choice of steps of a long run. */
#ifndef ULP_CLAIMS_SPREAD_H
#define ULP_CLAIMS_SPREAD_H

#include "claims.h"

/* ---- few numbers, as the results of a setting under several seeds ---- */

typedef struct ulp_spread {
    double least, median, most, mean; /* NaN if n is 0; for even n the median is the mean of the two middle numbers */
    double sd;                        /* standard deviation with the divisor n - 1; 0 if n is 1 */
    int n, lost;                      /* n counts the numbers, lost the NaN and empty cells, which are left out */
} ulp_spread;

/* A collection of numbers. {0} is empty. */
typedef struct ulp_numbers {
    double *at; /* (count) */
    size_t count, room;
    int lost;
} ulp_numbers;

void ulp_numbers_add(ulp_numbers *numbers, double x);

/* The spread of the numbers; the collection is empty after the call. */
ulp_spread ulp_numbers_take(ulp_numbers *numbers);

/* Adds three lines to NAME.summary.csv: `middle`, which is the median or the mean, as the quantity, and the ends of the
 * spread as "least QUANTITY" and "largest QUANTITY". */
void ulp_summary_spread(ulp_claims *c, const char *quantity, double middle, const ulp_spread *s, const char *of, ...)
    ULP_PRINTF(5, 6);

/* ---- many numbers, as the runs of a stochastic mode ---- */

/* The options --runs and --paths, bound to fields (int64_t) of the settings `s`. */
#define ULP_OPTION_RUNS(s, field, value_, quick_, full_)                                                               \
    ULP_OPTION_AS(s, field, "runs", integer, value_, .quick = quick_, .full = full_,                                   \
                  .help = "runs of every stochastic mode", .min = 1, .max = 1e6)
#define ULP_OPTION_PATHS(s, field, value_)                                                                             \
    ULP_OPTION_AS(s, field, "paths", integer, value_, .help = "stochastic runs that are written one by one",           \
                  .max = 1000)

enum { ULP_QUANTILES = 7 };

/* Mean and standard deviation (divisor n - 1; 0 for one run) are binary64 sums in the order of the runs. Each quantile
 * is one of the values, by nearest rank: min, 5 %, 25 %, median, 75 %, 95 %, max. */
typedef struct ulp_distribution {
    double mean, sd, quantile[ULP_QUANTILES];
} ulp_distribution;

ulp_distribution ulp_distribution_of(const double *value, size_t n); /* n >= 1 */

/* The columns for the ulp_distribution `field` of a row struct. */
#define ULP_QUANTILE_COLUMNS_OF(row, field)                                                                            \
    ULP_COLUMN_AS(row, field.quantile[0], "min"), ULP_COLUMN_AS(row, field.quantile[1], "q05"),                        \
        ULP_COLUMN_AS(row, field.quantile[2], "q25"), ULP_COLUMN_AS(row, field.quantile[3], "median"),                 \
        ULP_COLUMN_AS(row, field.quantile[4], "q75"), ULP_COLUMN_AS(row, field.quantile[5], "q95"),                    \
        ULP_COLUMN_AS(row, field.quantile[6], "max")
#define ULP_DISTRIBUTION_COLUMNS_OF(row, field)                                                                        \
    ULP_COLUMN_AS(row, field.mean, "mean"), ULP_COLUMN_AS(row, field.sd, "sd"), ULP_QUANTILE_COLUMNS_OF(row, field)

/* Sort value (n) in ascending order; NaN come last. */
void ulp_sort_numbers(double *value, size_t n);

/* Whether step n of a long run has a row: each of the first 32 steps has one, then 16 steps of every octave, with all
 * powers of two. */
int ulp_is_thinned_row(int64_t n);

#endif
