/* stats.h - where the magnitudes of a tensor lie: counts per power of two, and the usual moments.
 *
 * Exact for binary32 values: bin e counts 2^e <= |x| < 2^(e+1), from the least subnormal to the largest
 * number, so that every threshold that is a power of two can be answered from the counts.
 */
#ifndef ULP_STATS_H
#define ULP_STATS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { ULP_BIN_MIN = -149, ULP_BIN_MAX = 127, ULP_BIN_COUNT = ULP_BIN_MAX - ULP_BIN_MIN + 1 };

typedef struct ulp_histogram {
    uint64_t count; /* everything that was added */
    uint64_t zero, inf, nan;
    uint64_t bin[ULP_BIN_COUNT]; /* bin[e - ULP_BIN_MIN] */
    double min, max;             /* least and largest finite value; min > max: none yet */
    double sum, sum_squares;     /* of the finite values, in the order in which they came */
} ulp_histogram;

void ulp_histogram_clear(ulp_histogram *h);

/* Add x (n). */
void ulp_histogram_add(ulp_histogram *h, const float *x, size_t n);

/* h += other. */
void ulp_histogram_merge(ulp_histogram *h, const ulp_histogram *other);

/* How many non-zero finite values have |x| < 2^e, and |x| >= 2^e. */
uint64_t ulp_histogram_below(const ulp_histogram *h, int e);
uint64_t ulp_histogram_from(const ulp_histogram *h, int e);

/* Mean of the finite values; 0 if there are none. */
double ulp_histogram_mean(const ulp_histogram *h);

#ifdef __cplusplus
}
#endif
#endif
