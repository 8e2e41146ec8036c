/* ctc_linear.c - the loss of label sequences whose sums over paths are probabilities; see kernels/functions/ctc.h. */
#include "sim/losses/ctc_batch.h"

static ulp_status step(const ulp_loss *loss, ulp_pass *pass, const ulp_loss_batch *batch, double *mean) {
    return ulp_ctc_step(loss, pass, batch, mean, 1);
}

extern const ulp_loss_kind ulp_loss_ctc_linear;
const ulp_loss_kind ulp_loss_ctc_linear = {
    .name = "ctc-linear",
    .what = "label sequences, sums over paths of probabilities",
    .check = ulp_ctc_check,
    .scratch = ulp_ctc_scratch,
    .work = ulp_ctc_work,
    .step = step,
    .score = ulp_ctc_score,
};
