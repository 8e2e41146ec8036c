/* sum_growth.h - what the sums and the claims of sum_growth.c share. */
#ifndef ULP_EXPERIMENT_SUM_GROWTH_H
#define ULP_EXPERIMENT_SUM_GROWTH_H

#include "experiments/harness/harness.h"

enum { POSITIVE, SIGNED, DOT_POSITIVE, DOT_SIGNED, HARMONIC, DATA_COUNT };
extern const char *const growth_data[DATA_COUNT];

/* The longest sum has growth_length(growth_quarters(run)) terms, the shortest growth_length(4) = 10. */
int growth_quarters(const ulp_run *run);

/* 10^(q / 4), rounded to a whole number. */
size_t growth_length(int q);

/* With few random bits errors have a bias, and the likely bound is no theorem; sr_bits.c is about that. */
int growth_is_unbiased(ulp_rule rule);

/* Prints the table and tests the claims. */
void growth_check(ulp_run *run, const void *context);

#endif
