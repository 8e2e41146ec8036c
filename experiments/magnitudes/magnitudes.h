/* magnitudes.h - what the rows and the claims of magnitudes.c share: the tensors that are looked at, and when. */
#ifndef ULP_EXPERIMENT_MAGNITUDES_H
#define ULP_EXPERIMENT_MAGNITUDES_H

#include "experiments/harness/harness.h"

enum { INITIAL, TRAINED, STAGES };
enum { INPUT, WEIGHT, ACT, AGRAD, WGRAD, UPDATE, KINDS };
extern const char *const stage_names[STAGES], *const kind_names[KINDS];

/* Prints the table and tests the claims. */
void magnitudes_check(ulp_run *run, const void *context);

#endif
