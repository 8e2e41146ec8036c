/* optim.h - stochastic gradient descent with momentum and weight decay, every operation rounded once.
 *
 *   g <- dw 2^-k           into the state format (exact in binary32, but for its subnormals)
 *   g <- decay w + g       into the state format, if decay is not 0; w are the master weights if there are any
 *   v <- momentum v + g    into the state format, if momentum is not 0; else v is g
 *   w <- -rate v + w       into the master format, then weights = round(w) into the weight format;
 *                          without master weights directly into the weight format
 *
 * Each right hand side is one fused operation: its exact value is rounded. Rate, momentum and decay are
 * binary32 numbers. Bias and weights are treated alike. v is PyTorch's momentum buffer.
 */
#ifndef ULP_OPTIM_H
#define ULP_OPTIM_H

#include "sim/pass.h"
#include "sim/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ulp_sgd {
    double rate, momentum, decay;
} ulp_sgd;

typedef struct ulp_constant {
    float *at; /* (n) */
    float value;
} ulp_constant;

typedef struct ulp_optimizer {
    ulp_sgd sgd; /* may be changed between steps */
    size_t n;
    float *weight;   /* (n) */
    float *master;   /* (n), or NULL without master weights */
    float *momentum; /* (n), or NULL where sgd.momentum was 0 from the start */
    float *grad;     /* (n) unscaled; scratch of the check for Inf and NaN */
    ulp_constant rate, mu, decay, unscale; /* a constant in every element: the backend's operations take arrays */
} ulp_optimizer;

/* Carve the arrays for n parameters (tensor.h says how: runs twice). */
void ulp_optimizer_carve(ulp_optimizer *optimizer, ulp_family *family, size_t n, const ulp_policy *policy);

/* Start from w (n), host memory: rounded to master weights, if any, and those to weights. */
ulp_status ulp_optimizer_start(ulp_optimizer *optimizer, ulp_pass *pass, const float *w);

/* Whether dw (n) holds Inf or NaN. */
ulp_status ulp_optimizer_overflow(ulp_optimizer *optimizer, ulp_pass *pass, const float *dw, int *overflow);

/* One update from dw (n), which carries the factor 2^pass->scale_log2. */
ulp_status ulp_optimizer_step(ulp_optimizer *optimizer, ulp_pass *pass, const float *dw);

#ifdef __cplusplus
}
#endif
#endif
