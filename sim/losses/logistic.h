/* logistic.h - the logistic loss of a network with one output per sample, for two classes.
 *
 * With the output z and p = 1 / (1 + e^-z), the loss is -log p for a sample of class 1 and -log(1 - p) for a sample of
 * class 0. The rounding points are those of every loss (loss.h): p and the loss of each sample are computed in binary64
 * and rounded once at ULP_AT_LOSS, as layers 0 and 1 of its random streams, and the gradient (p - class) 2^scale / n,
 * computed from the rounded p, is rounded once at ULP_AT_AGRAD.
 */
#ifndef ULP_LOGISTIC_H
#define ULP_LOGISTIC_H

#include "sim/pass.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One batch of pass->now.B samples. */
typedef struct ulp_logistic {
    size_t layer;   /* tensor number of the net's output */
    size_t ones;    /* the first `ones` samples are of class 1, the rest of class 0 */
    double n;       /* the sums of losses and of gradients are divided by n */
    const float *z; /* (B) backend memory */
    float *dz;      /* (B) backend memory: the gradient */
    float *row;     /* (B) backend memory, scratch */
    float *host;    /* (B) host memory, scratch */
    double *exact;  /* (B) host memory, scratch */
} ulp_logistic;

/* Compute dz, the sum of the rounded losses divided by n, and the number of samples on the right side of p = 1/2. */
ulp_status ulp_logistic_step(ulp_pass *pass, const ulp_logistic *batch, double *mean, size_t *right);

#ifdef __cplusplus
}
#endif
#endif
