/* tapered.h - rounding of arrays to posits and takums, for formats that ulp_tapered_offers. */
#ifndef ULP_CPU_TAPERED_H
#define ULP_CPU_TAPERED_H

#include "kernels/cpu/cpu.h"

/* y (n) = x (n) rounded, with counts. Element 0 has the index how.stream.first. y may be x. */
void ULP_CPU(ulp_round_tapered32)(float *y, const float *x, size_t n, ulp_rounding how);
void ULP_CPU(ulp_round_tapered64)(double *y, const double *x, size_t n, ulp_rounding how);

#endif
