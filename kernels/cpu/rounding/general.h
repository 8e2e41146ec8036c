/* general.h - rounding of arrays to the formats and rules that ulp_general_offers, without counts. */
#ifndef ULP_CPU_GENERAL_H
#define ULP_CPU_GENERAL_H

#include "kernels/cpu/cpu.h"

/* y (n) = x (n) rounded. y may be x. */
void ULP_CPU(ulp_round_general32)(float *y, const float *x, size_t n, ulp_rounding how);
void ULP_CPU(ulp_round_general64)(double *y, const double *x, size_t n, ulp_rounding how);

#endif
