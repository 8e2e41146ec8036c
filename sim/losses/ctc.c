/* ctc.c - the loss of label sequences whose sums over paths are logarithms; see kernels/functions/ctc.h. */
#include "sim/losses/ctc_batch.h"

static ulp_status step(const ulp_loss *loss, ulp_pass *pass, const ulp_loss_batch *batch, double *mean) {
    return ulp_ctc_step(loss, pass, batch, mean, 0);
}

extern const ulp_loss_kind ulp_loss_ctc;
const ulp_loss_kind ulp_loss_ctc = {
    .name = "ctc",
    .what = "label sequences, sums over paths in logarithms",
    .check = ulp_ctc_check,
    .scratch = ulp_ctc_scratch,
    .work = ulp_ctc_work,
    .step = step,
    .score = ulp_ctc_score,
};
