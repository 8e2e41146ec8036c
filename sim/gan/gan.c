/* gan.c - the steps and the checkpoints of a generative adversarial network; see gan.h. */
#include "gan.h"

#include <stdlib.h>

#include "sim/losses/logistic.h"
#include "sim/normal.h"
#include "sim/train/saved.h"

enum { MAKE_BATCH = 256 }; /* samples that are made at a time */

#define GENERATOR_SEED ((uint64_t)1 << 63)
#define BORDER_SEED ((uint64_t)1 << 62) /* of the discriminator in the pass of the generator's loss */

/* ---- start ---- */

/* Check that the shapes of the two networks fit each other and the data. */
static ulp_status check_shapes(const ulp_gan *g, ulp_error *error) {
    const ulp_dims made = g->generator.model.net.out, in = g->discriminator.model.net.in, data = g->data->dims;
    const size_t out = ulp_dims_size(g->discriminator.model.net.out);
    if (!ulp_dims_equal(in, data))
        return ulp_fail(error, ULP_BAD_ARGUMENT,
                        "the discriminator takes inputs of %zu x %zu x %zu (channels, height, width), the data have "
                        "%zu x %zu x %zu",
                        in.c, in.h, in.w, data.c, data.h, data.w);
    if (!ulp_dims_equal(made, in))
        return ulp_fail(error, ULP_BAD_ARGUMENT,
                        "the generator makes samples of %zu x %zu x %zu (channels, height, width), the discriminator "
                        "takes %zu x %zu x %zu",
                        made.c, made.h, made.w, in.c, in.h, in.w);
    if (out != 1)
        return ulp_fail(error, ULP_BAD_ARGUMENT,
                        "the discriminator ends in one number, for example with fc1; this one has %zu outputs", out);
    return ULP_OK;
}

static ulp_status take_options(ulp_gan *g, const ulp_gan_options *o, ulp_error *error) {
    ulp_pass_run run = {.backend = o->backend, .seed = o->seed};
    const ulp_status status = o->backend ? ULP_OK : ulp_backend_get(&run.backend, NULL);
    if (status != ULP_OK) return ulp_fail(error, status, "no backend");
    if (o->batch < 1 || o->batch > g->data->n_train)
        return ulp_fail(error, ULP_BAD_ARGUMENT, "a batch of %zu samples: must be from 1 to %zu, the training part",
                        o->batch, g->data->n_train);
    if (o->seed >= BORDER_SEED)
        return ulp_fail(error, ULP_BAD_ARGUMENT, "a seed of %llu: must be below 2^62", (unsigned long long)o->seed);
    g->batch = o->batch;
    g->counting = o->counting;
    ULP_TRY(ulp_player_take(&g->discriminator, &o->discriminator, &run, "discriminator", error));
    run.seed += GENERATOR_SEED;
    ULP_TRY(ulp_player_take(&g->generator, &o->generator, &run, "generator", error));
    return check_shapes(g, error);
}

static ulp_status allocate(ulp_gan *g, double std) {
    const size_t room = ulp_larger(g->batch, MAKE_BATCH),
                 widest = ulp_larger(g->data->features, ulp_dims_size(g->generator.model.net.in));
    g->order = calloc(g->data->n_train, sizeof *g->order);
    g->host = calloc(room * widest + 2 * g->batch, sizeof *g->host);
    g->exact = calloc(2 * g->batch, sizeof *g->exact);
    if (!g->order || !g->host || !g->exact) return ULP_NO_MEMORY;
    ULP_TRY(ulp_player_start(&g->generator, g->batch, room, std));
    ULP_TRY(ulp_player_start(&g->discriminator, 2 * g->batch, 2 * g->batch, std));
    g->row = g->generator.pass.run.backend->alloc(2 * g->batch * sizeof *g->row);
    return g->row ? ULP_OK : ULP_NO_MEMORY;
}

/* A run with its options, but without tensors. ulp_gan_free() frees it, also after a failure. */
static ulp_status begin(ulp_gan **gan, const ulp_data *data, const ulp_gan_options *options, ulp_error *error) {
    ulp_error_clear(error);
    *gan = calloc(1, sizeof **gan);
    if (!*gan) return ulp_fail(error, ULP_NO_MEMORY, "no memory for a training run");
    (*gan)->data = data;
    return take_options(*gan, options, error);
}

ulp_status ulp_gan_check(const ulp_data *data, const ulp_gan_options *options, ulp_error *error) {
    ulp_gan *g;
    ulp_status status = begin(&g, data, options, error);
    ulp_gan_free(g);
    return status;
}

static ulp_status start_profile(ulp_player *p, double (*clock)(void)) {
    p->pass.run.profile = &p->profile;
    return ulp_profile_init(&p->profile, p->model.net.count, clock);
}

static ulp_status start(ulp_gan *g, const ulp_gan_options *o) {
    ULP_TRY(allocate(g, o->init_std));
    if (o->clock) ULP_TRY(start_profile(&g->generator, o->clock));
    if (o->clock) ULP_TRY(start_profile(&g->discriminator, o->clock));
    return ULP_OK;
}

ulp_status ulp_gan_new(ulp_gan **gan, const ulp_data *data, const ulp_gan_options *options, ulp_error *error) {
    ulp_gan *g;
    *gan = NULL;
    ulp_status status = begin(&g, data, options, error);
    if (status == ULP_OK && (status = start(g, options)) != ULP_OK)
        ulp_fail(error, status, "%s", ulp_status_text(status));
    if (status == ULP_OK) *gan = g;
    else ulp_gan_free(g);
    return status;
}

void ulp_gan_free(ulp_gan *g) {
    if (!g) return;
    if (g->row) g->generator.pass.run.backend->release(g->row);
    ulp_player_release(&g->generator);
    ulp_player_release(&g->discriminator);
    free(g->order);
    free(g->host);
    free(g->exact);
    free(g);
}

/* ---- inputs ---- */

/* Round the first tensor of a network. */
static ulp_status round_input(ulp_player *p) {
    const size_t n = ulp_dims_size(p->model.net.in);
    return ulp_pass_round(&p->pass, ulp_site_of(ULP_AT_ACT, 0, n), p->model.tensor[0], p->pass.now.B * n);
}

/* Put the latent vectors of the pass into the generator, and compute its output. */
static ulp_status make(ulp_gan *g) {
    ulp_player *p = &g->generator;
    const ulp_pass *pass = &p->pass;
    const size_t n = pass->now.B * ulp_dims_size(p->model.net.in);
    const uint64_t step = pass->now.evaluation ? 0 : pass->now.step, first = pass->now.first;
    const ulp_stream stream = {pass->run.seed, ulp_stream_id(ULP_USE_LATENT, pass->now.evaluation, 0, step), 0};
    for (size_t i = 0; i < n; i++)
        g->host[i] = (float)ulp_random_normal(stream, first * ulp_dims_size(p->model.net.in) + i);
    ULP_TRY(pass->run.backend->upload(p->model.tensor[0], g->host, n * sizeof *g->host));
    ULP_TRY(round_input(p));
    return ulp_model_forward(&p->model, &p->pass, p->optimizer.weight);
}

/* The rows of the data set that belong to the batch of step g->step. */
static const uint32_t *batch_rows(ulp_gan *g) {
    const uint64_t per_epoch = g->data->n_train / g->batch, epoch = g->step / per_epoch;
    if (g->epoch != epoch + 1) {
        const ulp_stream stream = {g->discriminator.pass.run.seed, ulp_stream_id(ULP_USE_SHUFFLE, 0, 0, epoch), 0};
        ulp_permutation(g->order, g->data->n_train, stream);
        g->epoch = epoch + 1;
    }
    return g->order + (g->step % per_epoch) * g->batch;
}

/* Put the batch of the step into the discriminator, at the beginning of its first tensor. */
static ulp_status put_data(ulp_gan *g) {
    const ulp_data *d = g->data;
    const uint32_t *rows = batch_rows(g);
    const float white = (float)d->white;
    for (size_t b = 0; b < g->batch; b++)
        for (size_t i = 0; i < d->features; i++)
            g->host[b * d->features + i] = (float)d->pixel[rows[b] * d->features + i] / white;
    return g->discriminator.pass.run.backend->upload(g->discriminator.model.tensor[0], g->host,
                                                     g->batch * d->features * sizeof *g->host);
}

/* Put the made samples into the discriminator, after `skip` samples. */
static ulp_status put_made(ulp_gan *g, size_t skip) {
    const ulp_model *from = &g->generator.model, *to = &g->discriminator.model;
    const size_t n = g->data->features;
    return ulp_tensor_copy(g->generator.pass.run.backend, to->tensor[0] + skip * n, from->tensor[from->net.count],
                           g->batch * n);
}

/* ---- steps ---- */

/* Run the discriminator forward, its loss with so many samples of class 1, and backward. The gradient of its input goes
 * to `input_gradient` (NULL: not wanted). */
static ulp_status judge(ulp_gan *g, size_t ones, float *input_gradient, double *loss, size_t *right) {
    ulp_player *p = &g->discriminator;
    const size_t out = p->model.net.count;
    const ulp_logistic batch = {.layer = out,
                                .ones = ones,
                                .n = (double)g->batch,
                                .z = p->model.tensor[out],
                                .dz = p->model.grad[out],
                                .row = g->row,
                                .host = g->host,
                                .exact = g->exact};
    double began = ulp_profile_enter(&p->profile, p->profile.layers + ULP_TIME_INPUT);
    ULP_TRY(round_input(p));
    ulp_profile_leave(&p->profile, began);
    ULP_TRY(ulp_model_forward(&p->model, &p->pass, p->optimizer.weight));
    began = ulp_profile_enter(&p->profile, p->profile.layers + ULP_TIME_LOSS);
    ULP_TRY(ulp_logistic_step(&p->pass, &batch, loss, right));
    ulp_profile_leave(&p->profile, began);
    p->model.grad[0] = input_gradient;
    const ulp_status status = ulp_model_backward(&p->model, &p->pass, p->optimizer.weight);
    p->model.grad[0] = NULL;
    return status;
}

/* The discriminator learns to tell the data from the made samples. */
static ulp_status step_discriminator(ulp_gan *g, ulp_gan_report *r) {
    size_t right = 0;
    ulp_player_begin(&g->discriminator, g->step, 2 * g->batch, g->counting);
    ULP_TRY(put_data(g));
    ULP_TRY(put_made(g, g->batch));
    ULP_TRY(judge(g, g->batch, NULL, &r->discriminator.loss, &right));
    r->right = (double)right / (2.0 * (double)g->batch);
    return ulp_player_update(&g->discriminator, &r->discriminator);
}

/* The generator learns to be taken for the data. */
static ulp_status step_generator(ulp_gan *g, ulp_gan_report *r) {
    ulp_player *p = &g->generator, *other = &g->discriminator;
    const size_t out = p->model.net.count, n = g->data->features;
    size_t right;
    ULP_TRY(put_made(g, 0));
    other->pass.run.seed += BORDER_SEED;
    other->pass.now.B = g->batch;
    other->pass.now.counting = 0;
    other->pass.now.scales = (ulp_pass_scales){.log2 = p->pass.now.scales.log2};
    const ulp_status judged = judge(g, g->batch, other->input_gradient, &r->generator.loss, &right);
    other->pass.run.seed -= BORDER_SEED;
    ULP_TRY(judged);
    ULP_TRY(ulp_tensor_copy(p->pass.run.backend, p->model.grad[out], other->input_gradient, g->batch * n));
    ULP_TRY(ulp_pass_round(&p->pass, ulp_site_of(ULP_AT_AGRAD, out, n), p->model.grad[out], g->batch * n));
    ULP_TRY(ulp_model_backward(&p->model, &p->pass, p->optimizer.weight));
    return ulp_player_update(p, &r->generator);
}

ulp_status ulp_gan_step(ulp_gan *g, ulp_gan_report *report) {
    ulp_gan_report r = {.step = g->step};
    ulp_player_begin(&g->generator, g->step, g->batch, g->counting);
    ULP_TRY(make(g));
    ULP_TRY(step_discriminator(g, &r));
    ULP_TRY(step_generator(g, &r));
    g->step++;
    if (report) *report = r;
    return ULP_OK;
}

ulp_status ulp_gan_make(ulp_gan *g, float *x, size_t first, size_t n) {
    ulp_player *p = &g->generator;
    const size_t features = g->data->features, out = p->model.net.count;
    for (size_t at = 0; at < n; at += MAKE_BATCH) {
        const size_t B = n - at < MAKE_BATCH ? n - at : MAKE_BATCH;
        p->pass.now = (ulp_pass_now){.step = g->step, .evaluation = 1, .B = B, .first = first + at};
        ULP_TRY(make(g));
        ULP_TRY(p->pass.run.backend->download(x + at * features, p->model.tensor[out], B * features * sizeof *x));
    }
    return ULP_OK;
}

/* ---- checkpoints ---- */

static ulp_learning learning_of(const ulp_player *player) {
    ulp_player *p = (ulp_player *)player; /* saving reads the fields, loading writes them */
    return (ulp_learning){.net = &p->model.net,
                          .policy = p->policy,
                          .start_rule = &p->start_rule,
                          .scaler = &p->scaler,
                          .scales = &p->loss_scales,
                          .optimizer = &p->optimizer,
                          .history = &p->pass.history};
}

static int visit_state(const void *run, ulp_state_visitor visit, void *context) {
    ulp_gan *g = (ulp_gan *)run;
    const ulp_learning generator = learning_of(&g->generator), discriminator = learning_of(&g->discriminator);
    return visit(context, &g->step, sizeof g->step) && ulp_learning_visit(&generator, visit, context) &&
           ulp_learning_visit(&discriminator, visit, context);
}

static ulp_status describe(ulp_lines *lines, const void *run) {
    const ulp_gan *g = run;
    const ulp_learning generator = learning_of(&g->generator), discriminator = learning_of(&g->discriminator);
    ulp_lines_add(lines, "generator\n");
    ULP_TRY(ulp_learning_describe(lines, &generator));
    ulp_lines_add(lines, "discriminator\n");
    ULP_TRY(ulp_learning_describe(lines, &discriminator));
    ulp_lines_add(lines, "seed: %llu\n", (unsigned long long)g->discriminator.pass.run.seed);
    ulp_lines_add(lines, "batch: %zu\n", g->batch);
    ulp_lines_add(lines, "data: %s, crc32 %08x, %zu for training of %zu\n", g->data->name, (unsigned)g->data->checksum,
                  g->data->n_train, g->data->n);
    return ULP_OK;
}

static const ulp_arena *arena(const void *run, size_t i) {
    const ulp_gan *g = run;
    return i == 0 ? &g->generator.arena : i == 1 ? &g->discriminator.arena : NULL;
}

static const ulp_saved_kind gan_kind = {describe, visit_state, arena};

ulp_status ulp_gan_save(const ulp_gan *g, const char *path, const void *note, size_t note_bytes, ulp_error *error) {
    return ulp_saved_write(&gan_kind, g, path, note, note_bytes, error);
}

ulp_status ulp_gan_load(ulp_gan *g, const char *path, void **note, size_t *note_bytes, ulp_error *error) {
    ULP_TRY(ulp_saved_read(&gan_kind, g, g->step, path, note, note_bytes, error));
    g->epoch = 0; /* the next step makes the epoch's order again from the seed */
    return ULP_OK;
}
