/* keep.h - the files of a sweep: OUT.part with the finished points, and the checkpoints of points. */
#ifndef ULP_SWEEP_KEEP_H
#define ULP_SWEEP_KEEP_H

#include "sweep.h"

/* Append a finished point, or the line of a point without rows, to OUT.part. */
ulp_status ulp_keep_point(ulp_sweep *s, size_t k, ulp_error *error);

/* Remove the checkpoint of a point, if there is one. */
void ulp_keep_forget(const ulp_sweep *s, size_t k);

#endif
