/* softmax.c - softmax cross-entropy of single labels, with the gradient (p - t) / B; t is 1 for the label, else 0.
 *
 * Where labels belong to positions, the net's output has the shape (1,T,C): a row of C outputs for each of the T labels
 * of a sample. Then B T takes the place of B.
 */
#include "sim/losses/loss.h"

#include "sim/losses/answers.h"

static ulp_status check_positions(ulp_dims out, const ulp_data *data, ulp_error *error) {
    if (ulp_dims_equal(out, (ulp_dims){1, data->labels, data->classes})) return ULP_OK;
    return ulp_fail(
        error, ULP_BAD_ARGUMENT,
        "the net has to end with a row of outputs for each label, 1 x %zu x %zu, since %s has %zu labels of "
        "%zu classes per sample; it ends with %zu x %zu x %zu",
        data->labels, data->classes, data->name, data->labels, data->classes, out.c, out.h, out.w);
}

static ulp_status softmax_check(ulp_dims out, const ulp_data *data, ulp_error *error) {
    if (data->positions) return check_positions(out, data, error);
    if (data->labels != 1)
        return ulp_fail(error, ULP_BAD_ARGUMENT, "loss softmax takes one label per sample; %s has up to %zu",
                        data->name, data->labels);
    if (ulp_dims_size(out) == data->classes) return ULP_OK;
    return ulp_fail(error, ULP_BAD_ARGUMENT,
                    "the net's last layer needs one output per class of the data: it has %zu, %s has %zu classes",
                    ulp_dims_size(out), data->name, data->classes);
}

/* The labels of the batch, one for each row of outputs. */
static ulp_labels labels_of(const ulp_loss *loss, const ulp_pass *pass) {
    return (ulp_labels){loss->label, pass->now.B * loss->rows, loss->classes};
}

/* loss->exact (B,rows,C) = the probabilities, loss->wide (B,rows) = the losses. */
static ulp_status forward(const ulp_loss *loss, const ulp_pass *pass, const float *z, const uint8_t *label) {
    const ulp_backend *backend = pass->run.backend;
    const ulp_labels labels = labels_of(loss, pass);
    ULP_TRY(backend->upload(loss->label, label, labels.B));
    return ulp_backend_softmax(backend, loss->exact, loss->wide, z, labels);
}

static ulp_status softmax_step(const ulp_loss *loss, ulp_pass *pass, const ulp_loss_batch *batch, double *mean) {
    const size_t row = loss->rows * loss->classes, n = pass->now.B * row;
    const ulp_site p_site = ulp_site_of(ULP_AT_LOSS, 0, row), dz_site = ulp_site_of(ULP_AT_AGRAD, batch->layer, row);
    const double scale = ulp_loss_factor(pass);
    ULP_TRY(forward(loss, pass, batch->z, batch->label));
    ULP_TRY(ulp_pass_round64(pass, p_site, loss->p, loss->exact, n));
    ULP_TRY(ulp_loss_mean(loss, pass, mean));
    ULP_TRY(ulp_backend_softmax_slope(pass->run.backend, loss->exact, loss->p, labels_of(loss, pass), scale));
    return ulp_pass_round64(pass, dz_site, batch->dz, loss->exact, n);
}

static ulp_status softmax_score(const ulp_loss *loss, ulp_pass *pass, ulp_score *sum, const float *z,
                                const uint8_t *label) {
    const size_t B = pass->now.B * loss->rows, C = loss->classes;
    ULP_TRY(forward(loss, pass, z, label));
    ULP_TRY(pass->run.backend->download(loss->host, loss->wide, B * sizeof(double)));
    ULP_TRY(pass->run.backend->download(loss->host_z, z, B * C * sizeof *z));
    for (size_t b = 0; b < B; b++) sum->loss += loss->host[b];
    size_t right = ulp_count_right(loss->host_z, label, B, C);
    sum->right += right;
    sum->labels += B;
    sum->edits += B - right;
    return ULP_OK;
}

const ulp_loss_kind ulp_loss_softmax = {
    .name = "softmax",
    .what = "cross-entropy of one label per sample, or per position",
    .check = softmax_check,
    .step = softmax_step,
    .score = softmax_score,
};
