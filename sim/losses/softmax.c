/* softmax.c - softmax cross-entropy of single labels: gradient (p - t) / B, t one in the label's column. */
#include "sim/loss.h"

#include "sim/argmax.h"
#include "sim/fail.h"

static ulp_status softmax_check(ulp_dims out, const ulp_data *data, char *error, size_t error_size) {
    if (data->labels != 1)
        return ulp_fail(error, error_size, ULP_BAD_ARGUMENT,
                        "loss softmax takes one label per sample; %s has up to %zu", data->name, data->labels);
    if (ulp_dims_size(out) == data->classes) return ULP_OK;
    return ulp_fail(error, error_size, ULP_BAD_ARGUMENT,
                    "the net's last layer needs one output per class of the data: it has %zu, %s has %zu classes",
                    ulp_dims_size(out), data->name, data->classes);
}

/* pass->wide (B,C) = the probabilities, loss->wide (B) = the losses. */
static ulp_status forward(const ulp_loss *loss, ulp_pass *pass, const float *z, const uint8_t *label) {
    const ulp_backend *backend = pass->backend;
    ulp_status status = backend->upload(loss->label, label, pass->B);
    return status == ULP_OK ? ulp_backend_softmax(backend, pass->wide, loss->wide, z,
                                                  (ulp_labels){loss->label, pass->B, loss->classes})
                            : status;
}

static ulp_status softmax_step(const ulp_loss *loss, ulp_pass *pass, size_t layer, float *dz, double *mean,
                               const float *z, const uint8_t *label) {
    size_t B = pass->B, C = loss->classes;
    ulp_status status = forward(loss, pass, z, label);
    if (status == ULP_OK) status = ulp_pass_round_from(pass, ULP_AT_LOSS, 0, loss->p, pass->wide, B * C, C);
    if (status == ULP_OK) status = ulp_loss_mean(loss, pass, mean);
    if (status == ULP_OK)
        status = ulp_backend_softmax_slope(pass->backend, pass->wide, loss->p, (ulp_labels){loss->label, B, C},
                                           ulp_scale(1.0, pass->scale_log2));
    return status == ULP_OK ? ulp_pass_round_from(pass, ULP_AT_AGRAD, layer, dz, pass->wide, B * C, C) : status;
}

static ulp_status softmax_score(const ulp_loss *loss, ulp_pass *pass, ulp_score *sum, const float *z,
                                const uint8_t *label) {
    size_t B = pass->B, C = loss->classes;
    ulp_status status = forward(loss, pass, z, label);
    if (status == ULP_OK) status = pass->backend->download(loss->host, loss->wide, B * sizeof(double));
    if (status == ULP_OK) status = pass->backend->download(pass->host_a, z, B * C * sizeof *z);
    if (status != ULP_OK) return status;
    for (size_t b = 0; b < B; b++) sum->loss += loss->host[b];
    size_t right = ulp_count_right(pass->host_a, label, B, C);
    sum->right += right;
    sum->labels += B;
    sum->edits += B - right;
    return ULP_OK;
}

extern const ulp_loss_kind ulp_loss_softmax;
const ulp_loss_kind ulp_loss_softmax = {
    .name = "softmax",
    .what = "cross-entropy of one label per sample",
    .check = softmax_check,
    .step = softmax_step,
    .score = softmax_score,
};
