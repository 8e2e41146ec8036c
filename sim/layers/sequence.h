/* sequence.h - sequences of shape (c,1,T), c features at T time steps, and transposes that order them by time.
 *
 * A batch of sequences lies in memory as (B,c,T): the time steps of a feature are neighbours. Its transpose, as a
 * matrix (B c, T), is (T,B,c). There each time step of all samples is one matrix (B,c).
 */
#ifndef ULP_SEQUENCE_H
#define ULP_SEQUENCE_H

#include "layer.h"

/* The largest number of time steps of a recurrent layer: each step has 8 lanes of the layer's streams, and a lane has
 * 12 bits. */
enum { ULP_STEPS_MAX = 512 };

/* Whether d is a sequence. */
static inline int ulp_dims_is_sequence(ulp_dims d) { return d.h == 1; }

/* y (count,n,m) = the transposes of x (count,m,n), backend memory. No value is changed. */
ulp_status ulp_transpose(const ulp_backend *backend, float *y, const float *x, size_t count, size_t m, size_t n);

#endif
