/* op.h - the elementwise pieces of a network, on host arrays; their results are not rounded yet.
 *
 * relu is exact. tanh and softmax are computed in binary64 by elementary.h; the caller rounds them once.
 * NaN passes through all of them.
 */
#ifndef ULP_OP_H
#define ULP_OP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* y (n) = max(x, 0); -0 gives -0, NaN gives NaN. */
void ulp_relu_forward(float *y, const float *x, size_t n);
/* dx (n) = dy where y > 0 (or NaN), else 0. */
void ulp_relu_backward(float *dx, const float *dy, const float *y, size_t n);

/* y (n) = tanh(x), within ULP_TANH_BOUND. */
void ulp_tanh_forward(double *y, const float *x, size_t n);
/* dx (n) = dy (1 - y^2), relative error below 2^-51. */
void ulp_tanh_backward(double *dx, const float *dy, const float *y, size_t n);

/* p (B,C) = softmax of the rows of z (B,C), relative error below 2^-48; loss (B) = -log p[label] as
 * log(sum) - (z[label] - max), which does not underflow. */
void ulp_softmax_forward(double *p, double *loss, const float *z, const uint8_t *label, size_t B, size_t C);
/* dz (B,C) = scale (p - t) / B, t one in the label's column: the gradient of the mean loss times scale. */
void ulp_softmax_backward(double *dz, const float *p, const uint8_t *label, size_t B, size_t C, double scale);

/* The place of the largest of z (n), `stride` apart, the first one if several; n if there is NaN. */
size_t ulp_place_of_largest(const float *z, size_t n, size_t stride);

/* How many rows have their largest z in the label's column, the first one if several; a row with NaN has none. Labels are below C. */
size_t ulp_count_right(const float *z, const uint8_t *label, size_t B, size_t C);

#ifdef __cplusplus
}
#endif
#endif
