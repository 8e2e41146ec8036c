/* elementary.h - exp, log, tanh, sigmoid and normal variates in binary64 with the same bits on every machine.
 *
 * libm's versions differ between machines in the last bit. These are built from + - * /, sqrt (all
 * correctly rounded by IEEE 754-2019) and integer operations on bits, in a fixed order, without fma.
 * The remainders of the polynomials are far below the bounds, which are measured in tests/t_elementary.c.
 */
#ifndef ULP_ELEMENTARY_H
#define ULP_ELEMENTARY_H

#include "formats/rng.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Error bounds in units of the last place of the result, normal results. */
#define ULP_EXP_BOUND 1.25
#define ULP_LOG_BOUND 1.0
#define ULP_SIGMOID_BOUND 4.0 /* from that of exp, of which a quotient just below a power of two has twice as many */
#define ULP_TANH_BOUND 6.0 /* near 0.17, where 1 - 2 / (e^2x + 1) cancels most */

/* e^x; 0 below -745.13, Inf above 709.78; subnormal results have one more rounding: 2 ulp. NaN gives NaN. */
double ulp_exp(double x);

/* Natural logarithm; -Inf at 0, NaN below and at NaN. */
double ulp_log(double x);

double ulp_tanh(double x);

/* 1 / (1 + e^-x); subnormal results as those of ulp_exp. */
double ulp_sigmoid(double x);

/* cos(2 pi u) for 0 <= u < 1, absolute error below 2^-50. */
double ulp_cos_turn(double u);

/* The i-th normal variate N(0,1) of a stream, by Box and Muller 1958, doi:10.1214/aoms/1177706645, from
 * the words 2 i and 2 i + 1: sqrt(-2 log((w + 1/2) 2^-32)) cos(2 pi w' 2^-32); |result| < 6.77. */
double ulp_random_normal(ulp_stream stream, uint64_t i);

#ifdef __cplusplus
}
#endif
#endif
