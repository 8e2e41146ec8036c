/* normal.h - normal variates with the same bits on every machine. */
#ifndef ULP_NORMAL_H
#define ULP_NORMAL_H

#include "formats/rng.h"

ULP_C_BEGIN

/* cos(2 pi u) for 0 <= u < 1, absolute error below 2^-50. */
double ulp_cos_turn(double u);

/* The i-th normal variate N(0,1) of a stream, by Box and Muller 1958, doi:10.1214/aoms/1177706645. With w and w', the
 * words 2 i and 2 i + 1, it is sqrt(-2 log((w + 1/2) 2^-32)) cos(2 pi w' 2^-32); |result| < 6.77. */
double ulp_random_normal(ulp_stream stream, uint64_t i);

ULP_C_END
#endif
