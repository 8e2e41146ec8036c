/* loss.h - softmax cross-entropy on the net's output: the mean over the batch, its gradient, its score.
 *
 * Softmax runs in binary64; its probabilities and each sample's loss are rounded once at ULP_AT_LOSS (layers
 * 0 and 1 of its streams), the gradient 2^scale (p - t) / B once at ULP_AT_AGRAD. The reported mean is
 * the binary64 sum of the rounded losses, samples ascending, over B.
 */
#ifndef ULP_LOSS_H
#define ULP_LOSS_H

#include "sim/pass.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What loss_step needs besides the pass: backend memory. */
typedef struct ulp_loss_scratch {
    float *p;   /* (B,C) */
    float *row; /* (B) */
    double *host; /* (B) host memory */
} ulp_loss_scratch;

/* dz (B,C), tensor number `layer`, and the mean loss, from the logits z (B,C) and label (B), host memory. */
ulp_status ulp_loss_step(ulp_pass *pass, const ulp_loss_scratch *scratch, size_t layer, float *dz, double *mean,
                         const float *z, const uint8_t *label, size_t C);

/* Add to *loss the unrounded binary64 losses of the batch and to *right the number of right answers. */
ulp_status ulp_loss_score(ulp_pass *pass, const ulp_loss_scratch *scratch, double *loss, size_t *right, const float *z,
                          const uint8_t *label, size_t C);

#ifdef __cplusplus
}
#endif
#endif
