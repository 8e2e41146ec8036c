/* spread.c - mean, standard deviation and quantiles of many runs, as cells of a row; which steps of a long run have one. */
#include "spread.h"

#include <math.h>
#include <stdlib.h>

static int compare_values(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    if (isnan(x) || isnan(y)) return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

void ulp_put_spread(ulp_rows *rows, float *value, size_t n) {
    static const double quantiles[] = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 1};
    double total = 0, squares = 0;
    for (size_t i = 0; i < n; i++) total += (double)value[i];
    const double mean = total / (double)n;
    for (size_t i = 0; i < n; i++) squares += ((double)value[i] - mean) * ((double)value[i] - mean);
    qsort(value, n, sizeof *value, compare_values);
    ulp_put_number(rows, mean);
    ulp_put_number(rows, n > 1 ? sqrt(squares / (double)(n - 1)) : 0);
    for (size_t q = 0; q < sizeof quantiles / sizeof quantiles[0]; q++)
        ulp_put_number(rows, (double)value[(size_t)(quantiles[q] * (double)(n - 1) + 0.5)]);
}

void ulp_put_no_spread(ulp_rows *rows) { ulp_put_nones(rows, ULP_SPREAD_CELLS); }

int ulp_is_thinned_row(int64_t n) {
    int64_t stride = 1;
    while (n >> 5 >= stride) stride *= 2;
    return n % stride == 0;
}
