/* spread.h - what is told of many or long runs: least, median, most, mean, deviation, quantiles; steps thinned by
 * octaves. */
#ifndef ULP_CLAIMS_SPREAD_H
#define ULP_CLAIMS_SPREAD_H

#include <stddef.h>
#include <stdint.h>

/* ---- few numbers: a setting over its seeds ---- */

typedef struct ulp_spread {
    double least, median, most, mean; /* NaN if n is 0; the median of an even n lies between the middle two */
    double sd;                        /* n - 1 below the root; 0 of one number */
    int n, lost;                      /* numbers; NaN and empty cells, which are left out */
} ulp_spread;

/* Numbers that are collected one by one. {0} is empty. */
typedef struct ulp_numbers {
    double *at; /* (count) */
    size_t count, room;
    int lost;
} ulp_numbers;

void ulp_numbers_add(ulp_numbers *numbers, double x);

/* Their spread; the collection is empty afterwards. */
ulp_spread ulp_numbers_take(ulp_numbers *numbers);

/* ---- many numbers: the runs of a stochastic mode ---- */

/* --runs and --paths, bound to fields (int64_t) of the settings `s`. */
#define ULP_OPTION_RUNS(s, field, value_, quick_, full_)                                                               \
    {                                                                                                                  \
        .name = "runs", .type = &ulp_type_integer, ULP_AT(s, field), .value = value_, .quick = quick_, .full = full_,  \
        .help = "runs of every stochastic mode", .min = 1, .max = 1e6                                                  \
    }
#define ULP_OPTION_PATHS(s, field, value_)                                                                             \
    {                                                                                                                  \
        .name = "paths", .type = &ulp_type_integer, ULP_AT(s, field), .value = value_,                                 \
        .help = "stochastic runs that are written one by one", .max = 1000                                             \
    }

enum { ULP_QUANTILES = 7 };

/* Mean and sd (n - 1 below the root; 0 of one run) in binary64, summed in the order of the runs; quantiles are values
 * that occurred, nearest rank: min, 5 %, 25 %, median, 75 %, 95 %, max. */
typedef struct ulp_distribution {
    double mean, sd, quantile[ULP_QUANTILES];
} ulp_distribution;

ulp_distribution ulp_distribution_of(const double *value, size_t n); /* n >= 1 */

/* The columns of a row struct's ulp_distribution `field`. */
#define ULP_QUANTILE_COLUMNS_OF(row, field)                                                                            \
    ULP_COLUMN_AS(row, field.quantile[0], "min"), ULP_COLUMN_AS(row, field.quantile[1], "q05"),                        \
        ULP_COLUMN_AS(row, field.quantile[2], "q25"), ULP_COLUMN_AS(row, field.quantile[3], "median"),                 \
        ULP_COLUMN_AS(row, field.quantile[4], "q75"), ULP_COLUMN_AS(row, field.quantile[5], "q95"),                    \
        ULP_COLUMN_AS(row, field.quantile[6], "max")
#define ULP_DISTRIBUTION_COLUMNS_OF(row, field)                                                                        \
    ULP_COLUMN_AS(row, field.mean, "mean"), ULP_COLUMN_AS(row, field.sd, "sd"), ULP_QUANTILE_COLUMNS_OF(row, field)

/* Ascending, NaN last. */
void ulp_sort_numbers(double *value, size_t n);

/* Whether step n of a long run has a row: all of the first 32 do, then 16 in every octave, powers of two among them. */
int ulp_is_thinned_row(int64_t n);

#endif
