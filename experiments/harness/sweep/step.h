/* step.h - the steps of a point (take, compute, finish), which threads and MPI ranks share. */
#ifndef ULP_SWEEP_STEP_H
#define ULP_SWEEP_STEP_H

#include "sweep.h"

/* Begin a sweep: count the points that are done already, and start the progress line. */
void ulp_sweep_started(ulp_sweep *s);

/* Take the next free point; returns the plan's count if there is none. Call it with the lock held, or on one thread. */
size_t ulp_sweep_take(ulp_sweep *s, size_t *next);
ulp_status ulp_sweep_compute(ulp_sweep *s, size_t k);

/* Record the result of a point: its status and, if another rank computed it, the sentence of a failure. Call it with
 * the lock held. */
void ulp_sweep_finish(ulp_sweep *s, size_t k, ulp_status status, const char *failure);

#endif
