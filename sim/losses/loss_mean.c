/* loss_mean.c - the rounded losses of a batch and their mean; apart from loss.c, which names kinds; see loss.h. */
#include "loss.h"

ulp_status ulp_loss_mean(const ulp_loss *loss, ulp_pass *pass, double *mean) {
    size_t B = pass->now.B * loss->rows;
    ULP_TRY(ulp_pass_round64(pass, ulp_site_of(ULP_AT_LOSS, 1, loss->rows), loss->row, loss->wide, B));
    ULP_TRY(pass->run.backend->download(loss->host_z, loss->row, B * sizeof(float)));
    *mean = 0.0;
    for (size_t b = 0; b < B; b++) *mean += (double)loss->host_z[b];
    *mean /= (double)B;
    return ULP_OK;
}
