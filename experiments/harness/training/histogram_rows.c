/* histogram_rows.c - bins of a histogram as cells of rows; see bins.h. */
#include "histogram_rows.h"

uint64_t ulp_bin_count(const ulp_histogram *h, int e) { return e == ULP_BIN_ZERO ? h->zero : h->bin[e - ULP_BIN_MIN]; }

const char *ulp_bin_word(int e) { return e == ULP_BIN_ZERO ? "zero" : "bin"; }

void ulp_put_bin(ulp_rows *rows, const ulp_histogram *h, int e) {
    uint64_t n = ulp_bin_count(h, e);
    if (e == ULP_BIN_ZERO) ulp_put_none(rows);
    else ulp_put_integer(rows, e);
    ulp_put_integer(rows, (int64_t)n);
    ulp_put_number(rows, (double)n / (double)h->count);
}
