/* stats.c - histograms of magnitudes, counted by exponent; see stats.h. */
#include "stats.h"

#include <string.h>

void ulp_histogram_clear(ulp_histogram *h) {
    memset(h, 0, sizeof *h);
    h->min = 1.0;
    h->max = -1.0;
}

/* floor(log2 |x|) of a non-zero finite value, from its bits. */
static int exponent_of(uint32_t magnitude) {
    int e = (int)(magnitude >> 23);
    if (e > 0) return e - 127;
    for (e = ULP_BIN_MIN; magnitude > 1; magnitude >>= 1) e++;
    return e;
}

static void see(ulp_histogram *h, double x) {
    if (h->min > h->max) h->min = h->max = x;
    h->min = x < h->min ? x : h->min;
    h->max = x > h->max ? x : h->max;
    h->sum += x;
    h->sum_squares += x * x;
}

void ulp_histogram_add(ulp_histogram *h, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint32_t magnitude;
        memcpy(&magnitude, x + i, sizeof magnitude);
        magnitude &= 0x7fffffffu;
        if (magnitude > 0x7f800000u) {
            h->nan++;
        } else if (magnitude == 0x7f800000u) {
            h->inf++;
        } else {
            if (magnitude) h->bin[exponent_of(magnitude) - ULP_BIN_MIN]++;
            else h->zero++;
            see(h, (double)x[i]);
        }
    }
    h->count += n;
}

void ulp_histogram_merge(ulp_histogram *h, const ulp_histogram *other) {
    h->count += other->count;
    h->zero += other->zero;
    h->inf += other->inf;
    h->nan += other->nan;
    for (size_t i = 0; i < ULP_BIN_COUNT; i++) h->bin[i] += other->bin[i];
    if (other->min <= other->max) {
        int empty = h->min > h->max;
        h->min = empty || other->min < h->min ? other->min : h->min;
        h->max = empty || other->max > h->max ? other->max : h->max;
    }
    h->sum += other->sum;
    h->sum_squares += other->sum_squares;
}

uint64_t ulp_histogram_below(const ulp_histogram *h, int e) {
    uint64_t n = 0;
    for (int i = ULP_BIN_MIN; i < e && i <= ULP_BIN_MAX; i++) n += h->bin[i - ULP_BIN_MIN];
    return n;
}

uint64_t ulp_histogram_from(const ulp_histogram *h, int e) {
    uint64_t n = 0;
    for (int i = e < ULP_BIN_MIN ? ULP_BIN_MIN : e; i <= ULP_BIN_MAX; i++) n += h->bin[i - ULP_BIN_MIN];
    return n;
}

double ulp_histogram_mean(const ulp_histogram *h) {
    uint64_t finite = h->count - h->inf - h->nan;
    return finite ? h->sum / (double)finite : 0.0;
}
