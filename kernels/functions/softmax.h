/* softmax.h - the parts of softmax with cross-entropy, in binary64: one definition for every backend.
 *
 * For a row z (C): p = e^(z - largest) / sum with a relative error below 2^-48. The sum runs in the order of the
 * columns. loss = log(sum) - (z[label] - largest), which does not underflow.
 */
#ifndef ULP_SOFTMAX_H
#define ULP_SOFTMAX_H

#include "elementary.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The largest of z (C), for C of at least 1. NaN if z[0] is NaN. */
ULP_CORE double ulp_softmax_largest(const float *z, size_t C) {
    double largest = (double)z[0];
    for (size_t c = 1; c < C; c++) largest = (double)z[c] > largest ? (double)z[c] : largest;
    return largest;
}

ULP_CORE double ulp_softmax_sum(const double *e, size_t C) {
    double sum = 0.0;
    for (size_t c = 0; c < C; c++) sum += e[c];
    return sum;
}

/* The loss of a row. NaN for a label that is not a column. */
ULP_CORE double ulp_softmax_loss(const float *z, size_t label, size_t C, double largest, double sum) {
    return label < C ? ulp_quieted(ulp_log(sum) - ((double)z[label] - largest)) : ulp_quiet_nan();
}

/* The gradient of the mean loss of B rows, times scale, in a column with probability p. hit is 1 in the label's
 * column. */
ULP_CORE double ulp_softmax_slope(float p, uint32_t hit, double scale, size_t B) {
    return ulp_quieted(((double)p - (double)hit) * scale / (double)B);
}

#ifdef __cplusplus
}
#endif
#endif
