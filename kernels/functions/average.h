/* average.h - the mean of a window, in binary64: one definition for every backend.
 *
 * The sum starts at +0 and runs row by row. pool.h defines windows; K has no upper bound here.
 */
#ifndef ULP_AVERAGE_H
#define ULP_AVERAGE_H

#include "elementary.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The mean of the window of K x K at x, whose rows are w elements apart. */
ULP_CORE double ulp_average_value(const float *x, size_t w, size_t K) {
    double sum = 0.0;
    for (size_t row = 0; row < K; row++)
        for (size_t column = 0; column < K; column++) sum += (double)x[row * w + column];
    return ulp_quieted(sum / (double)(K * K));
}

/* The gradient of a pixel in a window whose mean has the gradient dy. */
ULP_CORE double ulp_average_slope(float dy, size_t K) { return ulp_quieted((double)dy / (double)(K * K)); }

#ifdef __cplusplus
}
#endif
#endif
