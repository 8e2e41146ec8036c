/* loss.c - the loss of a batch; see loss.h. */
#include "loss.h"

#include <string.h>

#include "op.h"

ulp_status ulp_loss_step(ulp_pass *pass, const ulp_loss_scratch *scratch, size_t layer, float *dz, double *mean,
                         const float *z, const uint8_t *label, size_t C) {
    const ulp_backend *backend = pass->backend;
    size_t B = pass->B;
    ulp_status status = backend->download(pass->host_a, z, B * C * sizeof *z);
    if (status != ULP_OK) return status;
    ulp_softmax_forward(pass->host_wide, scratch->host, pass->host_a, label, B, C);
    status = ulp_pass_round_wide(pass, ULP_AT_LOSS, 0, scratch->p, B * C, C);
    memcpy(pass->host_wide, scratch->host, B * sizeof(double));
    if (status == ULP_OK) status = ulp_pass_round_wide(pass, ULP_AT_LOSS, 1, scratch->row, B, 1);
    if (status == ULP_OK) status = backend->download(pass->host_a, scratch->row, B * sizeof(float));
    if (status != ULP_OK) return status;
    *mean = 0.0;
    for (size_t b = 0; b < B; b++) *mean += (double)pass->host_a[b];
    *mean /= (double)B;
    status = backend->download(pass->host_a, scratch->p, B * C * sizeof(float));
    if (status != ULP_OK) return status;
    ulp_softmax_backward(pass->host_wide, pass->host_a, label, B, C, ulp_scale(1.0, pass->scale_log2));
    return ulp_pass_round_wide(pass, ULP_AT_AGRAD, layer, dz, B * C, C);
}

ulp_status ulp_loss_score(ulp_pass *pass, const ulp_loss_scratch *scratch, double *loss, size_t *right, const float *z,
                          const uint8_t *label, size_t C) {
    ulp_status status = pass->backend->download(pass->host_a, z, pass->B * C * sizeof *z);
    if (status != ULP_OK) return status;
    ulp_softmax_forward(pass->host_wide, scratch->host, pass->host_a, label, pass->B, C);
    for (size_t b = 0; b < pass->B; b++) *loss += scratch->host[b];
    *right += ulp_count_right(pass->host_a, label, pass->B, C);
    return ULP_OK;
}
