/* operations.h - the operations of the backend "mpfr", which table.c puts into its table, and their functions. */
#ifndef ULP_MPFR_OPERATIONS_H
#define ULP_MPFR_OPERATIONS_H

#include "oracle.h"

/* ulp_mpfr_NAME for each row NAME of operations.def, which documents it. */
#define ULP_OPERATION(name, cpu, cuda, mpfr, parameters, ...) ulp_status ulp_mpfr_##name parameters;
#include "kernels/operations.def"

/* exp, log, tanh and sigmoid; functions.c says what they compute. */
double ulp_mpfr_exp(double x);
double ulp_mpfr_log(double x);
double ulp_mpfr_tanh(double x);
double ulp_mpfr_sigmoid(double x);

/* gelu.c */
double ulp_mpfr_gelu(double x);
double ulp_mpfr_gelu_slope(double x);
double ulp_mpfr_gelu_tanh(double x);
double ulp_mpfr_gelu_tanh_slope(double x);
double ulp_mpfr_silu(double x);
double ulp_mpfr_silu_slope(double x);

#endif
