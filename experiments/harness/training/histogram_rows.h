/* histogram_rows.h - a histogram of magnitudes as rows: one per power of two that occurs, and one for the zeros.
 *
 *     struct row { ...; ulp_bin bin; ... };      columns: ..., ULP_BIN_COLUMNS_OF(row, bin), ...
 *
 *     for (int e = ULP_BIN_ZERO; e <= ULP_BIN_MAX; e++) {
 *         if (ulp_bin_count(h, e) == 0) continue;
 *         row r = ...;
 *         r.what = e == ULP_BIN_ZERO ? ZERO : BIN;
 *         r.bin = ulp_bin_of(h, e);
 *         ulp_row_put(rows, &r);
 *     }
 */
#ifndef ULP_TRAINING_HISTOGRAM_ROWS_H
#define ULP_TRAINING_HISTOGRAM_ROWS_H

#include "experiments/harness/table/table.h"
#include "sim/stats.h"

enum { ULP_BIN_ZERO = ULP_BIN_MIN - 1 }; /* the bin of the zeros, in addition to the exponents */

/* The cells of a bin: the exponent x with 2^x <= |value| < 2^(x+1), empty for the zeros; the number of values in the
 * bin; their share of all values in the histogram. */
typedef struct ulp_bin {
    int64_t x, count;
    double share;
} ulp_bin;

#define ULP_BIN_COLUMNS_OF(row, field) ULP_COLUMNS_OF(row, field, x, count, share)

uint64_t ulp_bin_count(const ulp_histogram *h, int e);
ulp_bin ulp_bin_of(const ulp_histogram *h, int e);

#endif
