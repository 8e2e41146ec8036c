/* sequence.h - sequences: (c,1,T), c features at T time steps; how layers bring them into the order of time.
 *
 * A batch of sequences is (B,c,T) in memory: a feature's time steps are neighbours. A step of all samples,
 * (B,c), is one matrix where time comes first: (T,B,c), the transpose of a (B c, T) matrix.
 */
#ifndef ULP_SEQUENCE_H
#define ULP_SEQUENCE_H

#include "layer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most time steps of a layer that tells them apart by the lane of its streams: 8 lanes each, 12 bits in all. */
enum { ULP_STEPS_MAX = 512 };

/* Whether d is a sequence. */
static inline int ulp_dims_is_sequence(ulp_dims d) { return d.h == 1; }

/* y (count,n,m) = the transposes of x (count,m,n), an exact move; backend memory. */
ulp_status ulp_transpose(const ulp_backend *backend, float *y, const float *x, size_t count, size_t m, size_t n);

/* The same on host memory in binary64, for forward64. */
void ulp_transpose64(double *y, const double *x, size_t count, size_t m, size_t n);

#ifdef __cplusplus
}
#endif
#endif
