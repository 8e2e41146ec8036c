/* histogram_rows.h - a histogram of magnitudes as rows: `bin` for every power of two that occurs, `zero` for what is
 * zero.
 *
 *     for (int e = ULP_BIN_ZERO; e <= ULP_BIN_MAX; e++) {
 *         if (ulp_bin_count(h, e) == 0) continue;
 *         put_key(rows, ..., ulp_bin_word(e));
 *         ulp_put_bin(rows, h, e);
 *         ... and what else a row of the experiment has
 *     }
 */
#ifndef ULP_BINS_H
#define ULP_BINS_H

#include "experiments/harness/harness.h"

#include "sim/stats.h"

enum { ULP_BIN_ZERO = ULP_BIN_MIN - 1 }; /* beside the exponents: the zeros */

uint64_t ulp_bin_count(const ulp_histogram *h, int e);
const char *ulp_bin_word(int e);

/* Three cells: e, empty for the zeros; how many; their share of everything that was added. */
void ulp_put_bin(ulp_rows *rows, const ulp_histogram *h, int e);

#endif
