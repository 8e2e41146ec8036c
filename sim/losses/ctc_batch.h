/* ctc_batch.h - the functions of ulp_loss_kind that the losses ctc and ctc-linear share. */
#ifndef ULP_CTC_BATCH_H
#define ULP_CTC_BATCH_H

#include "loss.h"

#ifdef __cplusplus
extern "C" {
#endif

ulp_status ulp_ctc_check(ulp_dims out, const ulp_data *data, char *error, size_t error_size);
size_t ulp_ctc_scratch(const ulp_loss *loss);
size_t ulp_ctc_work(const ulp_loss *loss);
ulp_status ulp_ctc_score(const ulp_loss *loss, ulp_pass *pass, ulp_score *sum, const float *z, const uint8_t *label);

/* `linear` says which form of kernels/functions/ctc.h is used: 1 sums probabilities, 0 logarithms. */
ulp_status ulp_ctc_step(const ulp_loss *loss, ulp_pass *pass, const ulp_loss_batch *batch, double *mean, int linear);

#ifdef __cplusplus
}
#endif
#endif
