/* ranks.h - a sweep over MPI ranks. */
#ifndef ULP_SWEEP_RANKS_H
#define ULP_SWEEP_RANKS_H

#include "sweep.h"

/* Run a sweep under mpirun. Points that have as many ranks as there are processes are computed by all processes
 * together, one after another. Then rank 0 assigns the other points and writes files, and the other ranks compute. */
void ulp_ranks_sweep(ulp_sweep *s);

#endif
