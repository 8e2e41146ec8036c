/* stats.h - a histogram of the magnitudes of a tensor, with one bin per power of two, and sums for mean and variance.
 *
 * Bin e counts the values with 2^e <= |x| < 2^(e+1). The bins reach from the least subnormal binary32 number to the
 * largest binary32 number, so the counts below and above every power of two are exact.
 */
#ifndef ULP_STATS_H
#define ULP_STATS_H

#include <stddef.h>
#include <stdint.h>

#include "formats/c_linkage.h"

ULP_C_BEGIN

enum { ULP_BIN_MIN = -149, ULP_BIN_MAX = 127, ULP_BIN_COUNT = ULP_BIN_MAX - ULP_BIN_MIN + 1 };

typedef struct ulp_histogram {
    uint64_t count; /* all values, with zero, Inf and NaN */
    uint64_t zero, inf, nan;
    uint64_t bin[ULP_BIN_COUNT]; /* bin[e - ULP_BIN_MIN] */
    double min, max;             /* least and largest finite value; min > max: no finite value yet */
    double sum, sum_squares;     /* binary64 sums of the finite values, in the order of their addition */
} ulp_histogram;

void ulp_histogram_clear(ulp_histogram *h);

/* Add x (n). */
void ulp_histogram_add(ulp_histogram *h, const float *x, size_t n);

/* h += other. */
void ulp_histogram_merge(ulp_histogram *h, const ulp_histogram *other);

/* The number of non-zero finite values with |x| < 2^e, and with |x| >= 2^e. */
uint64_t ulp_histogram_below(const ulp_histogram *h, int e);
uint64_t ulp_histogram_from(const ulp_histogram *h, int e);

/* Mean of the finite values; 0 if there are none. */
double ulp_histogram_mean(const ulp_histogram *h);

ULP_C_END
#endif
