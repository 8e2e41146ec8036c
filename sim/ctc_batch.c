/* ctc_batch.c - the loss of a batch of label sequences (ctc.h), in logarithms (ctc) and in probabilities (ctc-linear).
 *
 * z has the shape (C,1,T), C = classes + 1; the blank is the last output. These numbers are rounded at ULP_AT_LOSS:
 *
 *  - as layer 0: log softmax or softmax of every step
 *  - as layer 1: each sample's loss
 *  - as layers 2 and 3: every operation of alpha and beta; observers do not see them
 *
 * The gradient of a sample is 2^scale (softmax - expected) / B, rounded once at ULP_AT_AGRAD. Its softmax comes from
 * the rounded numbers of layer 0. The gradient is NaN where the sample's loss is not finite. Alpha and beta are not
 * rescaled from step to step, so the linear form underflows where its format does. Scores are computed in logarithms in
 * binary64.
 */
#include <string.h>

#include "ctc.h"
#include "ctc_batch.h"
#include "fail.h"
#include "kernels/functions/elementary.h"

ulp_status ulp_ctc_check(ulp_dims out, const ulp_data *data, char *error, size_t error_size) {
    if (data->classes < 1 || data->labels < 1 || data->labels > ULP_LABELS_MAX)
        return ulp_fail(error, error_size, ULP_BAD_ARGUMENT, "loss ctc takes 1 to %d labels per sample, not %zu",
                        ULP_LABELS_MAX, data->labels);
    if (out.h == 1 && out.c == data->classes + 1) return ULP_OK;
    return ulp_fail(error, error_size, ULP_BAD_ARGUMENT,
                    "for loss ctc the net ends with a sequence of %zu x 1 x steps, one more than the classes of the "
                    "data; it is %zu x %zu x %zu",
                    data->classes + 1, out.c, out.h, out.w);
}

/* The number of doubles for one sample: p and e (C,T), alpha and beta (T,S). */
size_t ulp_ctc_scratch(const ulp_loss *loss) {
    return 2 * ulp_dims_size(loss->out) + 2 * loss->out.w * (2 * loss->labels + 1);
}

/* y (C,T) = log softmax of each column of z (C,T); if linear, softmax. */
static void normalise(double *y, const float *z, size_t C, size_t T, int linear) {
    for (size_t t = 0; t < T; t++, y++, z++) {
        double max = (double)z[0], sum = 0.0;
        for (size_t c = 1; c < C; c++) max = (double)z[c * T] > max ? (double)z[c * T] : max;
        for (size_t c = 0; c < C; c++) sum += y[c * T] = ulp_exp((double)z[c * T] - max);
        double log = ulp_log(sum);
        for (size_t c = 0; c < C; c++) y[c * T] = linear ? y[c * T] / sum : (double)z[c * T] - max - log;
    }
}

/* The loss of one sample from p (C,T); e (C,T) = the expected shares, or NULL. */
static double sample_loss(const ulp_loss *loss, double *e, const double *p, const uint8_t *label, ulp_ctc_form form) {
    const ulp_ctc_task task = {
        .label = label, .L = ulp_label_count(label, loss->labels), .C = loss->out.c, .T = loss->out.w};
    const size_t C = task.C, T = task.T;
    double *alpha = loss->scratch + 2 * C * T, *beta = alpha + T * (2 * loss->labels + 1);
    double P = ulp_ctc_alpha(alpha, p, &task, &form);
    if (e) {
        form.stream.stream = (form.stream.stream & ~((uint64_t)0xffff << 40)) | (uint64_t)3 << 40;
        ulp_ctc_beta(beta, p, &task, &form);
        ulp_ctc_expected(e, alpha, beta, P, &task, &form);
    }
    return ulp_ctc_loss(P, &form);
}

/* loss->host_exact (B,C,T) = the gradients, loss->host (B) = the losses, from the rounded p in loss->host_z. */
static void samples(const ulp_loss *loss, ulp_pass *pass, const uint8_t *label, int linear) {
    const ulp_pass_now *now = &pass->now;
    size_t C = loss->out.c, T = loss->out.w, n = C * T;
    double *p = loss->scratch, *e = p + n, scale = ulp_scale(1.0, now->scales.log2);
    const ulp_cast *cast = &pass->run.policy->at[ULP_AT_LOSS];
    ulp_ctc_form form = {.linear = linear, .cast = cast};
    form.stats = now->counting && !ulp_cast_is_identity(cast) ? &pass->counts.rounded[ULP_AT_LOSS] : NULL;
    form.stream =
        (ulp_stream){pass->run.seed, ulp_stream_id(ULP_AT_LOSS, now->evaluation, 2, now->step & 0xfffffffu), 0};
    for (size_t b = 0; b < now->B; b++) {
        for (size_t i = 0; i < n; i++) p[i] = (double)loss->host_z[b * n + i];
        form.stream.first = ulp_pass_first_word(pass) + (now->first + b) * ulp_ctc_words(loss->labels, T);
        loss->host[b] = sample_loss(loss, e, p, label + b * loss->labels, form);
        for (size_t i = 0; i < n; i++)
            loss->host_exact[b * n + i] = ((linear ? p[i] : ulp_exp(p[i])) - e[i]) * scale / (double)now->B;
    }
}

ulp_status ulp_ctc_step(const ulp_loss *loss, ulp_pass *pass, const ulp_loss_batch *batch, double *mean, int linear) {
    const ulp_backend *backend = pass->run.backend;
    size_t C = loss->out.c, T = loss->out.w, n = C * T, B = pass->now.B;
    const ulp_site p_site = ulp_site_of(ULP_AT_LOSS, 0, n), dz_site = ulp_site_of(ULP_AT_AGRAD, batch->layer, n);
    ulp_status status = backend->download(loss->host_z, batch->z, B * n * sizeof(float));
    if (status != ULP_OK) return status;
    for (size_t b = 0; b < B; b++) normalise(loss->host_exact + b * n, loss->host_z + b * n, C, T, linear);
    status = ulp_pass_round_host(pass, p_site, loss->p, loss->host_exact, B * n);
    if (status == ULP_OK) status = backend->download(loss->host_z, loss->p, B * n * sizeof(float));
    if (status != ULP_OK) return status;
    samples(loss, pass, batch->label, linear);
    status = ulp_pass_round_host(pass, dz_site, batch->dz, loss->host_exact, B * n);
    if (status == ULP_OK) status = backend->upload(loss->wide, loss->host, B * sizeof(double));
    return status == ULP_OK ? ulp_loss_mean(loss, pass, mean) : status;
}

ulp_status ulp_ctc_score(const ulp_loss *loss, ulp_pass *pass, ulp_score *sum, const float *z, const uint8_t *label) {
    size_t C = loss->out.c, T = loss->out.w, n = C * T;
    uint8_t *decoded = (uint8_t *)(loss->scratch + n); /* (T) bytes in the place of e */
    ulp_ctc_form form = {0};
    ulp_status status = pass->run.backend->download(loss->host_z, z, pass->now.B * n * sizeof *z);
    for (size_t b = 0; b < pass->now.B && status == ULP_OK; b++) {
        const uint8_t *want = label + b * loss->labels;
        size_t L = ulp_label_count(want, loss->labels);
        normalise(loss->scratch, loss->host_z + b * n, C, T, 0);
        sum->loss += sample_loss(loss, NULL, loss->scratch, want, form);
        size_t edits = ulp_edit_distance(decoded, ulp_ctc_decode(decoded, loss->host_z + b * n, C, T), want, L);
        sum->right += edits == 0;
        sum->labels += L;
        sum->edits += edits;
    }
    return status;
}
