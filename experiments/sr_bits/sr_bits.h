/* sr_bits.h - what the measurements and the claims of sr_bits.c share. */
#ifndef ULP_EXPERIMENT_SR_BITS_H
#define ULP_EXPERIMENT_SR_BITS_H

#include "experiments/harness/harness.h"

enum { BELOW_ONE, ONES, LATTICE, MIDPOINTS, INPUT_COUNT };
extern const char *const sr_bits_inputs[INPUT_COUNT];

enum { A, B, C, MODE_COUNT };
extern const char *const sr_bits_modes[MODE_COUNT];

/* Prints the table and tests the claims. */
void sr_bits_check(ulp_run *run, const void *context);

#endif
