/* histogram_rows.c - the bins of a histogram as cells of rows; see histogram_rows.h. */
#include "histogram_rows.h"

uint64_t ulp_bin_count(const ulp_histogram *h, int e) { return e == ULP_BIN_ZERO ? h->zero : h->bin[e - ULP_BIN_MIN]; }

ulp_bin ulp_bin_of(const ulp_histogram *h, int e) {
    const uint64_t n = ulp_bin_count(h, e);
    return (ulp_bin){e == ULP_BIN_ZERO ? ULP_NO_INTEGER : e, (int64_t)n, (double)n / (double)h->count};
}
