/* functions.h - exp, log, tanh and sigmoid of the backend "mpfr"; functions.c says what they compute. */
#ifndef ULP_MPFR_FUNCTIONS_H
#define ULP_MPFR_FUNCTIONS_H

double ulp_mpfr_exp(double x);
double ulp_mpfr_log(double x);
double ulp_mpfr_tanh(double x);
double ulp_mpfr_sigmoid(double x);

#endif
