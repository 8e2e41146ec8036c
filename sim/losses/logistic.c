/* logistic.c - the logistic loss and its gradient; see logistic.h. */
#include "logistic.h"

#include "formats/exact.h"
#include "kernels/functions/elementary.h"

/* log(1 + e^x). The absolute error is below 2^-52 max(1, x). */
static double log_one_plus_exp(double x) { return (x > 0.0 ? x : 0.0) + ulp_log(1.0 + ulp_exp(x > 0.0 ? -x : x)); }

/* Round batch->exact (B) as a tensor of the loss, and fetch the result to batch->host. */
static ulp_status round_loss(ulp_pass *pass, const ulp_logistic *batch, size_t layer) {
    const size_t B = pass->now.B;
    ULP_TRY(ulp_pass_round_host(pass, ulp_site_of(ULP_AT_LOSS, layer, 1), batch->row, batch->exact, B));
    return pass->run.backend->download(batch->host, batch->row, B * sizeof *batch->host);
}

ulp_status ulp_logistic_step(ulp_pass *pass, const ulp_logistic *batch, double *mean, size_t *right) {
    const size_t B = pass->now.B;
    const double scale = ulp_scale(1.0, pass->now.scales.log2);
    double *exact = batch->exact;
    *right = 0;
    *mean = 0.0;
    ULP_TRY(pass->run.backend->download(batch->host, batch->z, B * sizeof *batch->host));
    for (size_t b = 0; b < B; b++) {
        const double z = (double)batch->host[b];
        exact[b] = log_one_plus_exp(b < batch->ones ? -z : z);
        *right += b < batch->ones ? z > 0.0 : z < 0.0;
    }
    ULP_TRY(round_loss(pass, batch, 1));
    for (size_t b = 0; b < B; b++) *mean += (double)batch->host[b] / batch->n;
    ULP_TRY(pass->run.backend->download(batch->host, batch->z, B * sizeof *batch->host));
    for (size_t b = 0; b < B; b++) exact[b] = ulp_sigmoid((double)batch->host[b]);
    ULP_TRY(round_loss(pass, batch, 0));
    for (size_t b = 0; b < B; b++)
        exact[b] = ((double)batch->host[b] - (b < batch->ones ? 1.0 : 0.0)) * scale / batch->n;
    return ulp_pass_round_host(pass, ulp_site_of(ULP_AT_AGRAD, batch->layer, 1), batch->dz, exact, B);
}
