/* norm.h - batch normalisation of channels, in binary64: one definition for every backend.
 *
 * Ioffe and Szegedy 2015, arXiv:1502.03167. For the M = B n numbers x of a channel, where sums start at +0 and run over
 * the samples and, in each sample, over the positions, in ascending order:
 *
 *   mean = sum x / M, variance = sum (x - mean)^2 / M
 *   z = (x - mean) (1 / sqrt(variance + eps)), y = gamma z + beta
 *   dgamma = sum dy z, dbeta = sum dy
 *   dx = gamma (1 / sqrt(variance + eps)) (dy - dbeta / M - z (dgamma / M))
 *
 * Every operation rounds to nearest even in binary64. The callers round the results.
 */
#ifndef ULP_NORM_H
#define ULP_NORM_H

#include "elementary.h"

#include <math.h>

ULP_C_BEGIN

#define ULP_NORM_EPS 1e-5

/* An array (B,c,n): B samples of c channels of n positions. */
typedef struct ulp_channels {
    size_t B, c, n;
} ulp_channels;

/* A normalisation. The arrays are the backend's memory. */
typedef struct ulp_norm {
    ulp_channels shape;
    const float *statistics; /* (2,c): means, variances */
    const float *w;          /* (2,c): gamma, beta; not used for norm_sums */
} ulp_norm;

/* The term of a number in the sum for the variance. */
ULP_CORE double ulp_norm_square(float x, double mean) {
    const double d = (double)x - mean;
    return d * d;
}

ULP_CORE double ulp_norm_inverse(float variance) { return 1.0 / sqrt((double)variance + ULP_NORM_EPS); }

ULP_CORE double ulp_norm_z(float x, double mean, double inverse) { return ((double)x - mean) * inverse; }

ULP_CORE double ulp_norm_value(double z, double gamma, double beta) { return ulp_quieted(gamma * z + beta); }

/* dx. scale = gamma inverse, dbeta_share = dbeta / M, dgamma_share = dgamma / M. */
ULP_CORE double ulp_norm_slope(float dy, double z, double scale, double dbeta_share, double dgamma_share) {
    return ulp_quieted(scale * ((double)dy - dbeta_share - z * dgamma_share));
}

/* The factor that makes a variance of M numbers unbiased; 1 for a single number. */
ULP_CORE double ulp_norm_unbiased(size_t M) { return M < 2 ? 1.0 : (double)M / (double)(M - 1); }

/* A running statistic after a batch. The factor is 1 for a mean, else ulp_norm_unbiased(). */
ULP_CORE double ulp_norm_running(float running, float batch, double factor) {
    return ulp_quieted(0.9 * (double)running + 0.1 * ((double)batch * factor));
}

ULP_C_END
#endif
