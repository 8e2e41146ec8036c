/* upsample.h - up-sampling: a pixel becomes a window of equal pixels; one definition of the gradient for every backend.
 *
 * The gradient of a pixel is the exact sum of the gradients of its window. pool.h defines windows; K has no upper bound
 * here.
 */
#ifndef ULP_UPSAMPLE_H
#define ULP_UPSAMPLE_H

#include "elementary.h"
#include "kernels/products/wide_sum.h"
#include "formats/round.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The exact sum of the window of K x K at dy, whose rows are w elements apart, as one binary64 number that rounds like
 * the sum: the sum itself where no addition in binary64 has an error, else the sum rounded to odd. */
ULP_FN double ulp_upsample_slope(const float *dy, size_t w, size_t K, const ulp_format *binary64) {
    double sum = (double)dy[0];
    int exact = 1;
    for (size_t j = 1; j < K; j++) exact &= ulp_two_sum(sum, (double)dy[j], &sum) == 0.0;
    for (size_t i = 1; i < K; i++)
        for (size_t j = 0; j < K; j++) exact &= ulp_two_sum(sum, (double)dy[i * w + j], &sum) == 0.0;
    if (exact) return ulp_quieted(sum);
    ulp_wide wide;
    const ulp_rule odd = {ULP_RO, ULP_OVERFLOW_DEFAULT, 0};
    ulp_wide_clear(&wide);
    for (size_t i = 0; i < K; i++)
        for (size_t j = 0; j < K; j++) ulp_wide_add(&wide, (double)dy[i * w + j], 1.0);
    return ulp_round_exact(ulp_wide_exact(&wide), binary64, odd, 0);
}

#ifdef __cplusplus
}
#endif
#endif
