/* ode.h - what the problems and the claims of ode.c share. */
#ifndef ULP_EXPERIMENT_ODE_H
#define ULP_EXPERIMENT_ODE_H

#include "experiments/harness/harness.h"

enum { DECAY, SCAN, CIRCLE, PATH, KIND_COUNT };
extern const char *const ode_kinds[KIND_COUNT];

#define ODE_START 0x1p-6 /* y0 */

/* 10^(k / 3), rounded to a whole number; k is from 3 to ode_thirds(run). */
int64_t ode_steps(int k);
int ode_thirds(const ulp_run *run);

/* Prints the table and tests the claims. */
void ode_check(ulp_run *run, const void *context);

#endif
