/* gan.c - the steps and the checkpoints of a generative adversarial network; see gan.h. */
#include "gan.h"

#include <stdlib.h>

#include "sim/losses/logistic.h"
#include "sim/normal.h"
#include "sim/train/learner.h"
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

static ulp_status take_rules(ulp_trainer *p, const ulp_player_options *o, uint64_t seed, const ulp_gan_options *of,
                             ulp_error *error) {
    if (o->optimizer && o->optimizer->accumulate)
        return ulp_fail(error, ULP_UNSUPPORTED, "optimizer: accumulate=%u: two networks learn from whole batches",
                        (unsigned)o->optimizer->accumulate);
    const ulp_train_options rules = {.policy = o->policy, .scaler = o->scaler, .optimizer = o->optimizer};
    ULP_TRY(ulp_learner_take(p, &rules, error));
    ULP_TRY(ulp_net_copy(&p->model.net, o->net));
    ULP_TRY(ulp_learner_fit(p, error));
    p->batch = of->batch;
    p->counting = of->counting;
    return ulp_learner_run_on(p, of->backend, seed, error);
}

/* Take the options of a network, and check that they fit each other and the backend; `name` begins the sentence of a
 * failure. */
static ulp_status take_player(ulp_trainer *p, const ulp_player_options *o, uint64_t seed, const ulp_gan_options *of,
                              const char *name, ulp_error *error) {
    if (!o->net) return ulp_fail(error, ULP_BAD_ARGUMENT, "%s: no net", name);
    const ulp_status status = take_rules(p, o, seed, of, error);
    return status == ULP_OK ? ULP_OK : ulp_fail_within(error, status, "%s", name);
}

static ulp_status take_options(ulp_gan *g, const ulp_gan_options *options, ulp_error *error) {
    ulp_gan_options o = *options;
    const ulp_status status = o.backend ? ULP_OK : ulp_backend_get(&o.backend, NULL);
    if (status != ULP_OK) return ulp_fail(error, status, "no backend");
    if (o.batch < 1 || o.batch > g->data->n_train)
        return ulp_fail(error, ULP_BAD_ARGUMENT, "a batch of %zu samples: must be from 1 to %zu, the training part",
                        o.batch, g->data->n_train);
    if (o.seed >= BORDER_SEED)
        return ulp_fail(error, ULP_BAD_ARGUMENT, "a seed of %llu: must be below 2^62", (unsigned long long)o.seed);
    g->batch = o.batch;
    g->discriminator.data = g->data;
    ULP_TRY(take_player(&g->discriminator, &o.discriminator, o.seed, &o, "discriminator", error));
    ULP_TRY(take_player(&g->generator, &o.generator, o.seed + GENERATOR_SEED, &o, "generator", error));
    return check_shapes(g, error);
}

static void carve_generator(void *own, ulp_arena *arena) {
    ulp_trainer *p = own;
    ulp_optimizer_carve(&p->optimizer, arena, p->model.net.params);
}

static void carve_discriminator(void *own, ulp_arena *arena) {
    ulp_gan *g = own;
    carve_generator(&g->discriminator, arena);
    g->border = ulp_arena_take(arena, 2 * g->batch * g->data->features);
    g->row = ulp_arena_take(arena, 2 * g->batch);
}

/* Give the model of a network room for so many samples with and without a backward pass. */
static ulp_status make_room(ulp_trainer *p, size_t batch, size_t room) {
    ulp_net net = p->model.net;
    const ulp_status status = ulp_model_init(&p->model, &net, batch, room);
    ulp_net_release(&net);
    return status;
}

static ulp_status start(ulp_gan *g, const ulp_gan_options *o) {
    const size_t room = ulp_larger(g->batch, MAKE_BATCH), latents = room * ulp_dims_size(g->generator.model.net.in);
    g->host = calloc(ulp_larger(latents, 2 * g->batch), sizeof *g->host);
    g->exact = calloc(2 * g->batch, sizeof *g->exact);
    if (!g->host || !g->exact) return ULP_NO_MEMORY;
    ULP_TRY(make_room(&g->generator, g->batch, room));
    ULP_TRY(make_room(&g->discriminator, 2 * g->batch, 2 * g->batch));
    ULP_TRY(ulp_learner_start(&g->generator, carve_generator, &g->generator, o->init_std, o->clock));
    return ulp_learner_start(&g->discriminator, carve_discriminator, g, o->init_std, o->clock);
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
    ulp_learner_release(&g->generator);
    ulp_learner_release(&g->discriminator);
    free(g->host);
    free(g->exact);
    free(g);
}

/* ---- inputs ---- */

/* Put the latent vectors of the pass into the generator, and compute its output. */
static ulp_status make(ulp_gan *g) {
    ulp_trainer *p = &g->generator;
    const ulp_pass *pass = &p->pass;
    const size_t n = pass->now.B * ulp_dims_size(p->model.net.in);
    const uint64_t step = pass->now.evaluation ? 0 : pass->now.step, first = pass->now.first;
    const ulp_stream stream = {pass->run.seed, ulp_stream_id(ULP_USE_LATENT, pass->now.evaluation, 0, step), 0};
    for (size_t i = 0; i < n; i++)
        g->host[i] = (float)ulp_random_normal(stream, first * ulp_dims_size(p->model.net.in) + i);
    ULP_TRY(pass->run.backend->upload(p->model.tensor[0], g->host, n * sizeof *g->host));
    ULP_TRY(ulp_learner_round_input(p));
    return ulp_model_forward(&p->model, &p->pass, p->optimizer.weight);
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
    ulp_trainer *p = &g->discriminator;
    const size_t out = p->model.net.count;
    const ulp_logistic batch = {.layer = out,
                                .ones = ones,
                                .n = (double)g->batch,
                                .z = p->model.tensor[out],
                                .dz = p->model.grad[out],
                                .row = g->row,
                                .host = g->host,
                                .exact = g->exact};
    double began = ulp_learner_enter(p, ULP_TIME_INPUT);
    ULP_TRY(ulp_learner_round_input(p));
    ulp_profile_leave(&p->profile, began);
    ULP_TRY(ulp_model_forward(&p->model, &p->pass, p->optimizer.weight));
    began = ulp_learner_enter(p, ULP_TIME_LOSS);
    ULP_TRY(ulp_logistic_step(&p->pass, &batch, loss, right));
    ulp_profile_leave(&p->profile, began);
    p->model.grad[0] = input_gradient;
    const ulp_status status = ulp_model_backward(&p->model, &p->pass, p->optimizer.weight);
    p->model.grad[0] = NULL;
    return status;
}

/* The discriminator learns to tell the data from the made samples. */
static ulp_status step_discriminator(ulp_gan *g, ulp_gan_report *r) {
    ulp_trainer *p = &g->discriminator;
    size_t right = 0;
    ulp_learner_begin(p, 2 * g->batch);
    ULP_TRY(ulp_learner_gather(p, ulp_learner_rows(p), g->batch));
    ULP_TRY(put_made(g, g->batch));
    ULP_TRY(judge(g, g->batch, NULL, &r->discriminator.loss, &right));
    r->right = (double)right / (2.0 * (double)g->batch);
    return ulp_learner_update(p, &r->discriminator);
}

/* The generator learns to be taken for the data. */
static ulp_status step_generator(ulp_gan *g, ulp_gan_report *r) {
    ulp_trainer *p = &g->generator, *other = &g->discriminator;
    const size_t out = p->model.net.count, n = g->data->features;
    size_t right;
    ULP_TRY(put_made(g, 0));
    other->pass.run.seed += BORDER_SEED;
    other->pass.now.B = g->batch;
    other->pass.now.counting = 0;
    other->pass.now.scales = (ulp_pass_scales){.log2 = p->pass.now.scales.log2};
    const ulp_status judged = judge(g, g->batch, g->border, &r->generator.loss, &right);
    other->pass.run.seed -= BORDER_SEED;
    ULP_TRY(judged);
    ULP_TRY(ulp_tensor_copy(p->pass.run.backend, p->model.grad[out], g->border, g->batch * n));
    ULP_TRY(ulp_pass_round(&p->pass, ulp_site_of(ULP_AT_AGRAD, out, n), p->model.grad[out], g->batch * n));
    ULP_TRY(ulp_model_backward(&p->model, &p->pass, p->optimizer.weight));
    return ulp_learner_update(p, &r->generator);
}

ulp_status ulp_gan_step(ulp_gan *g, ulp_gan_report *report) {
    ulp_gan_report r = {.step = g->generator.step};
    ulp_learner_begin(&g->generator, g->batch);
    ULP_TRY(make(g));
    ULP_TRY(step_discriminator(g, &r));
    ULP_TRY(step_generator(g, &r));
    if (report) *report = r;
    return ULP_OK;
}

ulp_status ulp_gan_make(ulp_gan *g, float *x, size_t first, size_t n) {
    ulp_trainer *p = &g->generator;
    const size_t features = g->data->features, out = p->model.net.count;
    for (size_t at = 0; at < n; at += MAKE_BATCH) {
        const size_t B = n - at < MAKE_BATCH ? n - at : MAKE_BATCH;
        p->pass.now = (ulp_pass_now){.step = p->step, .evaluation = 1, .B = B, .first = first + at};
        ULP_TRY(make(g));
        ULP_TRY(p->pass.run.backend->download(x + at * features, p->model.tensor[out], B * features * sizeof *x));
    }
    return ULP_OK;
}

/* ---- checkpoints ---- */

static int visit_state(const void *run, ulp_state_visitor visit, void *context) {
    const ulp_gan *g = run;
    return ulp_learner_visit(&g->generator, visit, context) && ulp_learner_visit(&g->discriminator, visit, context);
}

static ulp_status describe(ulp_lines *lines, const void *run) {
    const ulp_gan *g = run;
    ulp_lines_add(lines, "generator\n");
    ULP_TRY(ulp_learner_describe(lines, &g->generator));
    ulp_lines_add(lines, "discriminator\n");
    ULP_TRY(ulp_learner_describe(lines, &g->discriminator));
    ulp_lines_add(lines, "seed: %llu\n", (unsigned long long)g->discriminator.pass.run.seed);
    ulp_lines_add(lines, "batch: %zu\n", g->batch);
    ulp_lines_add_data(lines, g->data);
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
    ULP_TRY(ulp_saved_read(&gan_kind, g, g->generator.step, path, note, note_bytes, error));
    g->discriminator.epoch = 0; /* the next step makes the epoch's order again from the seed */
    return ULP_OK;
}
