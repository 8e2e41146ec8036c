/* ctc.c - the losses of label sequences: sums over paths of logarithms (ctc) and of probabilities (ctc-linear).
 *
 * kernels/functions/ctc.h has the sums over paths. z has the shape (C,1,T), C = classes + 1; the blank is the last
 * output. These numbers are rounded at ULP_AT_LOSS:
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
#include "answers.h"
#include "loss.h"

static ulp_status check(ulp_dims out, const ulp_data *data, ulp_error *error) {
    if (data->positions)
        return ulp_fail(error, ULP_BAD_ARGUMENT,
                        "loss ctc takes sequences of labels without positions; the labels of %s belong to positions",
                        data->name);
    if (data->classes < 1 || data->labels < 1 || data->labels > ULP_LABELS_MAX)
        return ulp_fail(error, ULP_BAD_ARGUMENT, "loss ctc takes 1 to %d labels per sample, not %zu", ULP_LABELS_MAX,
                        data->labels);
    if (out.h == 1 && out.c == data->classes + 1) return ULP_OK;
    return ulp_fail(error, ULP_BAD_ARGUMENT,
                    "for loss ctc the net ends with a sequence of %zu x 1 x steps, one more than the classes of the "
                    "data; it is %zu x %zu x %zu",
                    data->classes + 1, out.c, out.h, out.w);
}

extern const ulp_loss_kind ulp_loss_ctc_linear;

/* The numbers of alpha or beta of one sample. */
static size_t sums_of(const ulp_loss *loss) { return loss->out.w * (2 * loss->labels + 1); }

/* For a score: p (C,T), alpha (T,S), and the decoded labels (T), which are bytes. */
static size_t scratch(const ulp_loss *loss) { return ulp_dims_size(loss->out) + sums_of(loss) + loss->out.w; }

/* For a step: alpha and beta (T,S), and q (S). */
static size_t work(const ulp_loss *loss) { return 2 * sums_of(loss) + 2 * loss->labels + 1; }

/* loss->exact (B,C,T) = the gradients, loss->wide (B) = the losses, from the rounded probabilities loss->p. */
static ulp_status sums_over_paths(const ulp_loss *loss, ulp_pass *pass, ulp_sequences sequences, int linear) {
    const ulp_pass_now *now = &pass->now;
    const ulp_cast *cast = &pass->run.policy->at[ULP_AT_LOSS];
    const uint64_t step = now->step & 0xfffffffu;
    ulp_path_sums sums = {.linear = (uint8_t)linear, .scale = ulp_loss_factor(pass)};
    sums.rounding = (ulp_rounding){.format = &cast->format, .rule = cast->rule};
    if (now->counting && !ulp_cast_is_identity(cast)) sums.rounding.stats = &pass->counts.rounded[ULP_AT_LOSS];
    sums.rounding.stream =
        (ulp_stream){pass->run.seed, ulp_stream_id(ULP_AT_LOSS, now->evaluation, 2, step),
                     ulp_pass_first_word(pass) + now->first * ulp_ctc_words(sequences.L, sequences.T)};
    sums.beta_stream = ulp_stream_id(ULP_AT_LOSS, now->evaluation, 3, step);
    return ulp_backend_ctc(pass->run.backend, loss->exact, loss->wide, loss->work, loss->p, sequences, &sums);
}

static ulp_status step(const ulp_loss *loss, ulp_pass *pass, const ulp_loss_batch *batch, double *mean) {
    const int linear = loss->kind == &ulp_loss_ctc_linear;
    const ulp_backend *backend = pass->run.backend;
    const size_t B = pass->now.B, n = ulp_dims_size(loss->out);
    const ulp_sequences sequences = {loss->label, B, loss->out.c, loss->out.w, loss->labels};
    const ulp_site p_site = ulp_site_of(ULP_AT_LOSS, 0, n), dz_site = ulp_site_of(ULP_AT_AGRAD, batch->layer, n);
    ULP_TRY(backend->upload(loss->label, batch->label, B * loss->labels));
    ULP_TRY(ulp_backend_ctc_outputs(backend, loss->exact, batch->z, sequences, linear));
    ULP_TRY(ulp_pass_round64(pass, p_site, loss->p, loss->exact, B * n));
    ULP_TRY(sums_over_paths(loss, pass, sequences, linear));
    ULP_TRY(ulp_pass_round64(pass, dz_site, batch->dz, loss->exact, B * n));
    return ulp_loss_mean(loss, pass, mean);
}

static ulp_status score(const ulp_loss *loss, ulp_pass *pass, ulp_score *sum, const float *z, const uint8_t *label) {
    const size_t C = loss->out.c, T = loss->out.w, n = C * T;
    const ulp_ctc_form form = {0};
    double *p = loss->scratch, *alpha = p + n;
    uint8_t *decoded = (uint8_t *)(alpha + sums_of(loss));
    ULP_TRY(pass->run.backend->download(loss->host_z, z, pass->now.B * n * sizeof *z));
    for (size_t b = 0; b < pass->now.B; b++) {
        const uint8_t *want = label + b * loss->labels;
        const float *own = loss->host_z + b * n;
        const ulp_ctc_task task = {want, ulp_label_count(want, loss->labels), C, T};
        for (size_t t = 0; t < T; t++) ulp_ctc_outputs(p + t, own + t, C, T, 0);
        sum->loss += ulp_ctc_loss(ulp_ctc_alpha(alpha, p, &task, &form), &form);
        const size_t edits = ulp_edit_distance(decoded, ulp_ctc_decode(decoded, own, C, T), want, task.L);
        sum->right += edits == 0;
        sum->labels += task.L;
        sum->edits += edits;
    }
    return ULP_OK;
}

const ulp_loss_kind ulp_loss_ctc = {
    .name = "ctc",
    .what = "label sequences, sums over paths in logarithms",
    .check = check,
    .scratch = scratch,
    .work = work,
    .step = step,
    .score = score,
};

const ulp_loss_kind ulp_loss_ctc_linear = {
    .name = "ctc-linear",
    .what = "label sequences, sums over paths of probabilities",
    .check = check,
    .scratch = scratch,
    .work = work,
    .step = step,
    .score = score,
};
