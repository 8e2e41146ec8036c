/* ranks.h - a sweep over MPI ranks. */
#ifndef ULP_SWEEP_RANKS_H
#define ULP_SWEEP_RANKS_H

#include "sweep.h"

/* Run a sweep under mpirun: rank 0 assigns points and writes files, the other ranks compute. */
void ulp_ranks_sweep(ulp_sweep *s);

#endif
