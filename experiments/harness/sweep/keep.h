/* keep.h - finished points in files: OUT.part of a run that goes on, shards, and the files that belong to a point. */
#ifndef ULP_SWEEP_KEEP_H
#define ULP_SWEEP_KEEP_H

#include "sweep.h"

/* Appends a finished point to OUT.part: -1, or the exit status after a message. */
int ulp_keep_point(ulp_sweep *s, size_t k);

/* Removes the file that belongs to a point, if there is one. */
void ulp_keep_forget(const ulp_sweep *s, size_t k);

#endif
