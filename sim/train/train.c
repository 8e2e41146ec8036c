/* train.c - the training loop; see train.h. */
#include "train.h"

#include <stdlib.h>

#include "kernels/functions/elementary.h"
#include "learner.h"
#include "micro.h"
#include "tail.h"
#include "train_ranks.h"

/* Carve the arrays that do not belong to the model. */
static void carve(void *own, ulp_arena *f) {
    ulp_trainer *t = own;
    ulp_optimizer_carve(&t->optimizer, f, t->model.net.params);
    ulp_loss_carve(&t->loss, f, t->model.batch, t->model.room);
    ulp_micro_carve(t, f);
}

void ulp_trainer_free(ulp_trainer *t) {
    if (!t) return;
    ulp_train_ranks_release(t);
    ulp_tail_release(t);
    ulp_loss_release(&t->loss);
    ulp_learner_release(t);
    free(t);
}

/* ---- start ---- */

/* Check that a net that reads tokens gets tokens, each of which is in its table. */
static ulp_status check_tokens(const ulp_net *net, const ulp_data *data, ulp_error *error) {
    const ulp_layer *table = net->layers;
    if (!table->kind->reads_tokens) return ULP_OK;
    const size_t entries = table->params / table->out.w;
    if (!data->tokens)
        return ulp_fail(error, ULP_BAD_ARGUMENT, "net: '%s' reads numbers of tokens, and the samples of %s are images",
                        table->word, data->name);
    if (data->classes <= entries) return ULP_OK;
    return ulp_fail(error, ULP_BAD_ARGUMENT, "net: the table of '%s' has tokens 0 to %zu, and %s has tokens 0 to %zu",
                    table->word, entries - 1, data->name, data->classes - 1);
}

/* Take net and batch from the options, and check that they fit the data. */
static ulp_status take_net(ulp_trainer *t, const ulp_train_options *o, ulp_error *error) {
    const ulp_dims dims = t->data->dims;
    if (o->batch < 1 || o->batch > t->data->n_train)
        return ulp_fail(error, ULP_BAD_ARGUMENT, "a batch of %zu samples: must be from 1 to %zu, the training part",
                        o->batch, t->data->n_train);
    if (!o->net) return ulp_fail(error, ULP_BAD_ARGUMENT, "no net");
    if (!ulp_dims_equal(o->net->in, dims))
        return ulp_fail(
            error, ULP_BAD_ARGUMENT,
            "the net takes inputs of %zu x %zu x %zu (channels, height, width), the data have %zu x %zu x %zu",
            o->net->in.c, o->net->in.h, o->net->in.w, dims.c, dims.h, dims.w);
    ULP_TRY(check_tokens(o->net, t->data, error));
    ULP_TRY(ulp_train_ranks_take(t, o, error));
    ULP_TRY(ulp_micro_take(t, error));
    const ulp_status status =
        ulp_model_init(&t->model, o->net, t->batch / t->ranks / t->micro, ulp_score_batch(o->net));
    return status == ULP_OK ? ULP_OK : ulp_fail(error, status, "no memory for a net");
}

static ulp_status take_options(ulp_trainer *t, const ulp_train_options *o, ulp_error *error) {
    ULP_TRY(ulp_learner_take(t, o, error));
    ULP_TRY(take_net(t, o, error));
    ULP_TRY(ulp_learner_fit(t, error));
    ULP_TRY(ulp_loss_init(&t->loss, o->loss, t->model.net.out, t->data, error));
    t->observer = o->observer;
    t->counting = o->counting;
    ULP_TRY(ulp_learner_run_on(t, o->backend, o->seed, error));
    return ulp_tail_take(t, o, error);
}

/* A trainer with its options, but without tensors. ulp_trainer_free() frees it, also after a failure. */
static ulp_status begin(ulp_trainer **trainer, const ulp_data *data, const ulp_train_options *options,
                        ulp_error *error) {
    ulp_error_clear(error);
    *trainer = calloc(1, sizeof **trainer);
    if (!*trainer) return ulp_fail(error, ULP_NO_MEMORY, "no memory for a training run");
    (*trainer)->data = data;
    return take_options(*trainer, options, error);
}

ulp_status ulp_train_check(const ulp_data *data, const ulp_train_options *options, ulp_error *error) {
    ulp_trainer *t;
    ulp_status status = begin(&t, data, options, error);
    ulp_trainer_free(t);
    return status;
}

/* Make the tensors of a trainer and fill them for step 0. */
static ulp_status start(ulp_trainer *t, const ulp_train_options *o) {
    ULP_TRY(ulp_loss_ready(&t->loss, t->model.room));
    ULP_TRY(ulp_train_ranks_alloc(t));
    ulp_tail_reserve(t);
    return ulp_learner_start(t, carve, t, o->init_std, o->clock);
}

ulp_status ulp_trainer_new(ulp_trainer **trainer, const ulp_data *data, const ulp_train_options *options,
                           ulp_error *error) {
    ulp_trainer *t;
    *trainer = NULL;
    ulp_status status = begin(&t, data, options, error);
    if (status == ULP_OK) status = start(t, options);
    if (status != ULP_OK) {
        const size_t params = t ? t->model.net.params : 0;
        ulp_trainer_free(t);
        return status == ULP_NO_MEMORY
                   ? ulp_fail_default(error, status, "%s: the net has %zu parameters", ulp_status_text(status), params)
                   : ulp_fail_default(error, status, "%s", ulp_status_text(status));
    }
    *trainer = t;
    return ULP_OK;
}

/* ---- one pass ---- */

/* Copy the samples of the pass to tensor 0, and round them. */
static ulp_status gather(ulp_trainer *t, const uint32_t *rows) {
    ULP_TRY(ulp_learner_gather(t, rows, t->pass.now.B));
    return ulp_learner_round_input(t);
}

/* Run the forward and the backward pass of the samples of rank or micro-batch pass.now.rank; *mean is their mean loss.
 */
static ulp_status forward_backward(ulp_trainer *t, double *mean) {
    const size_t out = t->model.net.count;
    const ulp_loss_batch batch = {.layer = out, .z = t->model.tensor[out], .dz = t->model.grad[out], .label = t->label};
    double began = ulp_learner_enter(t, ULP_TIME_INPUT);
    ULP_TRY(gather(t, ulp_learner_rows(t) + t->pass.now.rank * t->model.batch));
    ulp_profile_leave(&t->profile, began);
    ULP_TRY(ulp_model_forward(&t->model, &t->pass, t->optimizer.weight));
    began = ulp_learner_enter(t, ULP_TIME_LOSS);
    ULP_TRY(t->loss.kind->step(&t->loss, &t->pass, &batch, mean));
    ulp_profile_leave(&t->profile, began);
    return ulp_model_backward(&t->model, &t->pass, t->optimizer.weight);
}

/* The same for all micro-batches of a rank. */
static ulp_status step_of_rank(ulp_trainer *t, double *mean) { return ulp_micro_step(t, forward_backward, mean); }

ulp_status ulp_trainer_step(ulp_trainer *t, ulp_step *report) {
    ulp_step r = {0};
    ULP_TRY(ulp_tail_enter(t));
    ulp_learner_begin(t, t->model.batch);
    ULP_TRY(t->ranks > 1 ? ulp_train_ranks_step(t, step_of_rank, &r.loss) : step_of_rank(t, &r.loss));
    ULP_TRY(ulp_learner_update(t, &r));
    if (report) *report = r;
    return ULP_OK;
}

ulp_status ulp_trainer_score(ulp_trainer *t, ulp_part part, ulp_score *score) {
    size_t begin = part == ULP_TRAIN_PART ? 0 : t->data->n_train,
           end = part == ULP_TRAIN_PART ? t->data->n_train : t->data->n;
    ulp_pass *pass = &t->pass;
    ulp_score sum = {.n = end - begin};
    const size_t most = ulp_score_batch(&t->model.net);
    for (size_t at = begin; at < end; at += most) {
        const size_t B = end - at < most ? end - at : most;
        pass->now = (ulp_pass_now){.step = t->step, .evaluation = 1, .B = B, .first = at};
        ULP_TRY(gather(t, NULL));
        ULP_TRY(ulp_model_forward(&t->model, pass, t->optimizer.weight));
        ULP_TRY(t->loss.kind->score(&t->loss, pass, &sum, t->model.tensor[t->model.net.count], t->label));
    }
    const double losses = (double)(sum.n * t->loss.rows);
    if (sum.n) {
        sum.loss /= losses;
        sum.bits = sum.loss / ulp_log(2.0);
        sum.accuracy = (double)sum.right / losses;
    }
    if (sum.labels) sum.label_error = (double)sum.edits / (double)sum.labels;
    *score = sum;
    return ULP_OK;
}

ulp_status ulp_trainer_weights(const ulp_trainer *t, float *w, float *master) {
    size_t bytes = t->model.net.params * sizeof(float);
    if (w) ULP_TRY(t->pass.run.backend->download(w, t->optimizer.weight, bytes));
    return master ? ulp_optimizer_masters(&t->optimizer, t->pass.run.backend, master) : ULP_OK;
}

/* ---- a whole run ---- */

static int is_finite(double x) { return x - x == 0.0; }

/* Whether the weights are NaN: every later update leaves them NaN, so the rest of the run is known. */
static int weights_are_nan(const ulp_step *s) { return s->loss != s->loss && s->overflow && !s->skipped; }

static ulp_status train(ulp_train_result *r, ulp_trainer *t, uint64_t steps) {
    for (uint64_t i = 0; i < steps; i++) {
        ulp_step s;
        ULP_TRY(ulp_trainer_step(t, &s));
        r->last_loss = s.loss;
        r->diverged |= !s.skipped && !is_finite(s.loss);
        if (weights_are_nan(&s)) break;
    }
    ULP_TRY(ulp_trainer_score(t, ULP_TRAIN_PART, &r->train));
    return ulp_trainer_score(t, ULP_TEST_PART, &r->test);
}

ulp_status ulp_train_run(ulp_train_result *result, const ulp_data *data, const ulp_train_options *options,
                         uint64_t steps, ulp_error *error) {
    ulp_trainer *t;
    ulp_train_result r = {0};
    ULP_TRY(ulp_trainer_new(&t, data, options, error));
    const ulp_status status = train(&r, t, steps);
    r.steps = t->step;
    r.skipped = t->scaler.skipped;
    r.overflows = t->scaler.overflows;
    ulp_trainer_free(t);
    if (status != ULP_OK) return ulp_fail(error, status, "%s", ulp_status_text(status));
    *result = r;
    return ULP_OK;
}
