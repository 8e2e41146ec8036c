/* gradient_underflow.h - what the rows and the claims of gradient_underflow.c share: names of stages and of gradients.
 */
#ifndef ULP_EXPERIMENT_GRADIENT_UNDERFLOW_H
#define ULP_EXPERIMENT_GRADIENT_UNDERFLOW_H

#include "experiments/harness/harness.h"
#include "experiments/harness/training/gradient_counts.h"

extern const char *const gradient_stage_names[ULP_WATCH_STAGES], *const gradient_kind_names[ULP_WATCH_KINDS];

/* Prints the tables and tests the claims. */
void gradient_underflow_check(ulp_run *run, const void *context);

#endif
