/* step.h - one point of a sweep: taken, computed, finished. Threads and MPI ranks both go by these steps. */
#ifndef ULP_SWEEP_STEP_H
#define ULP_SWEEP_STEP_H

#include "sweep.h"

/* The sweep begins: what is done already, and the progress line. */
void ulp_sweep_started(ulp_sweep *s);

/* The next point that nobody has taken; the plan's count if there is none. With the lock held, or on one thread. */
size_t ulp_sweep_take(ulp_sweep *s, size_t *next);
ulp_status ulp_sweep_compute(ulp_sweep *s, size_t k);

/* A point is computed, with this status and, from another rank, this sentence behind it. With the lock held. */
void ulp_sweep_finish(ulp_sweep *s, size_t k, ulp_status status, const char *failure);

#endif
