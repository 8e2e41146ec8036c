/* gradient_underflow.h - what the rows and the claims of gradient_underflow.c share: names of stages and of gradients. */
#ifndef ULP_EXPERIMENT_GRADIENT_UNDERFLOW_H
#define ULP_EXPERIMENT_GRADIENT_UNDERFLOW_H

#include "experiments/harness/harness.h"
#include "experiments/harness/watch.h"

enum { STAGES = ULP_WATCH_STAGES, ALL = ULP_WATCH_ALL, KINDS = ULP_WATCH_KINDS };
extern const char *const stage_names[STAGES], *const kind_names[KINDS];

/* Prints the tables and tests the claims. */
void gradient_underflow_check(ulp_run *run, const void *context);

#endif
