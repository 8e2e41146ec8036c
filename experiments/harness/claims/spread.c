/* spread.c - mean, standard deviation and quantiles of many runs, as cells of a row; which steps of a long run have
 * one. */
#include "spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/harness/run.h"

static int compare_numbers(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    if (isnan(x) || isnan(y)) return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

void ulp_sort_numbers(double *value, size_t n) { qsort(value, n, sizeof *value, compare_numbers); }

/* Sorts value (n) and frees it. */
static ulp_distribution take(double *value, size_t n) {
    static const double ranks[ULP_QUANTILES] = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 1};
    ulp_distribution d;
    double total = 0, squares = 0;
    for (size_t i = 0; i < n; i++) total += value[i];
    d.mean = total / (double)n;
    for (size_t i = 0; i < n; i++) squares += (value[i] - d.mean) * (value[i] - d.mean);
    d.sd = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
    ulp_sort_numbers(value, n);
    for (int q = 0; q < ULP_QUANTILES; q++) d.quantile[q] = value[(size_t)(ranks[q] * (double)(n - 1) + 0.5)];
    free(value);
    return d;
}

ulp_distribution ulp_distribution_of(const double *value, size_t n) {
    double *copy = ulp_grow(NULL, n * sizeof *copy);
    memcpy(copy, value, n * sizeof *copy);
    return take(copy, n);
}

void ulp_put_quantiles(ulp_rows *rows, const ulp_distribution *d) {
    for (int q = 0; q < ULP_QUANTILES; q++) ulp_put_number(rows, d->quantile[q]);
}

void ulp_put_spread(ulp_rows *rows, const float *value, size_t n) {
    double *copy = ulp_grow(NULL, n * sizeof *copy);
    for (size_t i = 0; i < n; i++) copy[i] = (double)value[i];
    const ulp_distribution d = take(copy, n);
    ulp_put_number(rows, d.mean);
    ulp_put_number(rows, d.sd);
    ulp_put_quantiles(rows, &d);
}

void ulp_put_no_spread(ulp_rows *rows) { ulp_put_nones(rows, ULP_SPREAD_CELLS); }

int ulp_is_thinned_row(int64_t n) {
    int64_t stride = 1;
    while (n >> 5 >= stride) stride *= 2;
    return n % stride == 0;
}
