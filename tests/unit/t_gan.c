/* t_gan.c - training of two networks: gradients by finite differences, scales, skipped steps, streams, refusals. */

#include "sim/gan/gan.h"
#include "training.h"

enum { B = 6, LATENTS = 5 };

static const char plain_generator[] = "fc12 tanh reshape3x2x2 tconv1@4s4 sigmoid",
                  plain_discriminator[] = "fc7 tanh fc1";

typedef training_texts player_texts; /* from the net to the optimizer */
typedef struct gan_texts {
    player_texts generator, discriminator;
} gan_texts;

static ulp_status read_player(training_types *to, ulp_player_options *o, player_texts from, ulp_dims in) {
    if (!from.policy) from.policy = "fp32";
    if (!from.scaler) from.scaler = "none";
    if (!from.optimizer) from.optimizer = "sgd,rate=0.5";
    const ulp_status status = read_texts(to, &from, in, &error);
    *o = (ulp_player_options){&to->net, &to->policy, &to->scaler, &to->optimizer};
    return status;
}

static ulp_status gan_from_texts(ulp_gan **gan, const gan_texts *texts, ulp_gan_options o, ulp_dims seen) {
    training_types generator = {0}, discriminator = {0};
    *gan = NULL;
    ulp_status status = read_player(&generator, &o.generator, texts->generator, (ulp_dims){LATENTS, 1, 1});
    if (status == ULP_OK) status = read_player(&discriminator, &o.discriminator, texts->discriminator, seen);
    if (status == ULP_OK) status = ulp_gan_new(gan, &digits, &o, &error);
    ulp_net_release(&generator.net);
    ulp_net_release(&discriminator.net);
    return status;
}

static ulp_gan *gan_of(const gan_texts *texts) {
    ulp_gan *gan;
    const ulp_status status =
        gan_from_texts(&gan, texts, (ulp_gan_options){.batch = B, .seed = 5, .counting = 1}, digits.dims);
    if (status != ULP_OK) fail_msg("%s", error.text);
    return gan;
}

static gan_texts texts_of(player_texts generator, player_texts discriminator) {
    gan_texts t = {generator, discriminator};
    t.generator.net = t.generator.net ? t.generator.net : plain_generator;
    t.discriminator.net = t.discriminator.net ? t.discriminator.net : plain_discriminator;
    return t;
}

/* The CPU backend's memory is host memory. */
static const float *weights(const ulp_trainer *p) { return p->optimizer.weight; }
static float *copy_weights(const ulp_trainer *p) {
    float *w = malloc(p->model.net.params * sizeof *w);
    memcpy(w, weights(p), p->model.net.params * sizeof *w);
    return w;
}

static void same_weights(const ulp_trainer *a, const ulp_trainer *b) {
    assert_memory_equal(weights(a), weights(b), a->model.net.params * sizeof(float));
}

/* ---- gradients ---- */

/* A network in binary64, and its loss computed with libm: the generator's if `made` is NULL, else the
 * discriminator's with the made samples. */
typedef struct lesson {
    const ulp_net *generator, *discriminator;
    double *w, *v; /* weights of the two */
    double latents[B * LATENTS], data[B * 64];
} lesson;

static void run64(const ulp_net *net, double *y, const double *x, const double *w) {
    double *scratch = calloc((2 + net->depth) * B * net->widest, sizeof *scratch);
    ulp_net_forward64(net, y, x, w, B, scratch);
    free(scratch);
}

static double loss64(const lesson *l, int of_generator) {
    double made[B * 64], z_made[B], z_data[B], sum = 0;
    run64(l->generator, made, l->latents, l->w);
    run64(l->discriminator, z_made, made, l->v);
    run64(l->discriminator, z_data, l->data, l->v);
    for (size_t b = 0; b < B; b++)
        sum += of_generator ? log(1 + exp(-z_made[b])) : log(1 + exp(-z_data[b])) + log(1 + exp(z_made[b]));
    return sum / (double)B;
}

/* The change of the weights of a network in a step with rate 1, against finite differences of its loss. */
static void check_change(lesson *l, const ulp_trainer *p, const float *before, double *w, int of_generator) {
    for (size_t i = 0; i < p->model.net.params; i++) {
        const double at = w[i], h = 1e-5;
        w[i] = at + h;
        const double up = loss64(l, of_generator);
        w[i] = at - h;
        const double want = (up - loss64(l, of_generator)) / (2 * h), have = (double)before[i] - (double)weights(p)[i];
        w[i] = at;
        if (!(fabs(have - want) < 2e-6)) fail_msg("%d, weight %zu: %g, not %g", of_generator, i, have, want);
    }
}

TEST(gradients) {
    for (int of_generator = 0; of_generator <= 1; of_generator++) {
        const gan_texts t = texts_of((player_texts){.optimizer = of_generator ? "sgd,rate=1" : "sgd,rate=0"},
                                     (player_texts){.optimizer = of_generator ? "sgd,rate=0" : "sgd,rate=1"});
        ulp_gan *gan = gan_of(&t);
        ulp_gan_report r;
        float *g = copy_weights(&gan->generator), *d = copy_weights(&gan->discriminator);
        lesson l = {.generator = &gan->generator.model.net, .discriminator = &gan->discriminator.model.net};
        l.w = calloc(l.generator->params, sizeof *l.w);
        l.v = calloc(l.discriminator->params, sizeof *l.v);
        for (size_t i = 0; i < l.generator->params; i++) l.w[i] = (double)g[i];
        for (size_t i = 0; i < l.discriminator->params; i++) l.v[i] = (double)d[i];
        assert_ok(ulp_gan_step(gan, &r));
        for (size_t i = 0; i < B * LATENTS; i++) l.latents[i] = (double)gan->generator.model.tensor[0][i];
        for (size_t i = 0; i < B * 64; i++)
            l.data[i] = digits.pixel[gan->discriminator.order[i / 64] * 64 + i % 64] / 16.0;
        if (of_generator) check_change(&l, &gan->generator, g, l.w, 1);
        else check_change(&l, &gan->discriminator, d, l.v, 0);
        assert_true(fabs(r.discriminator.loss - loss64(&l, 0)) < 1e-5);
        assert_true(of_generator == 0 || fabs(r.generator.loss - loss64(&l, 1)) < 1e-5);
        assert_true(r.generator.wgrad_all.count > 0 && r.discriminator.wgrad_all.count > r.generator.wgrad_all.zero);
        free(g), free(d), free(l.w), free(l.v);
        ulp_gan_free(gan);
    }
}

/* ---- scales and skipped steps ---- */

/* In binary32 a loss scale changes nothing, whoever has it. */
TEST(scales) {
    static const char *const scalers[][2] = {
        {"static:9", "none"}, {"none", "static:-7"}, {"static:-20", "static:30"}, {"layer,init=5", "layer,init=11"}};
    for (size_t i = 0; i < COUNT_OF(scalers); i++) {
        const gan_texts plain = texts_of((player_texts){0}, (player_texts){0}),
                        t = texts_of((player_texts){.scaler = scalers[i][0]}, (player_texts){.scaler = scalers[i][1]});
        ulp_gan *a = gan_of(&plain), *b = gan_of(&t);
        for (int k = 0; k < 20; k++) {
            ulp_gan_report ra, rb;
            assert_ok(ulp_gan_step(a, &ra));
            assert_ok(ulp_gan_step(b, &rb));
            assert_true(ra.generator.loss == rb.generator.loss && ra.discriminator.loss == rb.discriminator.loss);
        }
        same_weights(&a->generator, &b->generator);
        same_weights(&a->discriminator, &b->discriminator);
        ulp_gan_free(a), ulp_gan_free(b);
    }
}

/* An overflow skips the step of the network whose loss overflows, and of no other; its scale alone is reduced. */
TEST(overflow) {
    for (int who = 0; who <= 1; who++) {
        const player_texts high = {.policy = "mixed:fp16", .scaler = "pytorch,init=60"}, low = {.policy = "mixed:fp16"};
        const gan_texts t = texts_of(who ? high : low, who ? low : high);
        ulp_gan *gan = gan_of(&t);
        float *g = copy_weights(&gan->generator), *d = copy_weights(&gan->discriminator);
        ulp_gan_report r;
        assert_ok(ulp_gan_step(gan, &r));
        const ulp_trainer *skips = who ? &gan->generator : &gan->discriminator,
                          *learns = who ? &gan->discriminator : &gan->generator;
        const ulp_step *skipped = who ? &r.generator : &r.discriminator, *made = who ? &r.discriminator : &r.generator;
        assert_true(skipped->skipped && skipped->overflow && skipped->scale_log2 == 60 && skips->scaler.log2 == 59);
        assert_true(!made->skipped && !made->overflow && learns->scaler.log2 == 0);
        assert_memory_equal(weights(skips), who ? g : d, skips->model.net.params * sizeof *g);
        assert_memory_not_equal(weights(learns), who ? d : g, learns->model.net.params * sizeof *g);
        free(g), free(d);
        ulp_gan_free(gan);
    }
}

/* Divergence is a result: the loss is NaN, and no step fails. */
TEST(divergence) {
    const player_texts wild = {.policy = "fp16", .optimizer = "sgd,rate=1e6"};
    const gan_texts t = texts_of(wild, wild);
    ulp_gan *gan = gan_of(&t);
    ulp_gan_report r = {0};
    float made[64];
    for (int i = 0; i < 8; i++) assert_ok(ulp_gan_step(gan, &r));
    assert_true(!isfinite(r.discriminator.loss) && !isfinite(r.generator.loss));
    assert_ok(ulp_gan_make(gan, made, 0, 1));
    ulp_gan_free(gan);
}

/* ---- rounding at the border, streams ---- */

static size_t values_outside(const float *x, size_t n, const char *format) {
    ulp_format f;
    size_t outside = 0;
    assert_ok(ulp_format_parse(&f, format));
    for (size_t i = 0; i < n; i++) outside += ulp_round((double)x[i], &f, (ulp_rule){0}, 0) != (double)x[i];
    return outside;
}

TEST(border) {
    const gan_texts t = texts_of((player_texts){.policy = "fp32,act=fp16,agrad=e5m2"},
                                 (player_texts){.policy = "fp32,act=bf16,agrad=e6m9"});
    const size_t n = B * 64;
    ulp_gan *gan = gan_of(&t);
    const ulp_model *g = &gan->generator.model, *d = &gan->discriminator.model;
    assert_ok(ulp_gan_step(gan, NULL));
    const float *made = g->tensor[g->net.count], *seen = d->tensor[0], *at = gan->border,
                *gradient = g->grad[g->net.count];
    assert_true(values_outside(made, n, "fp16") == 0 && values_outside(made, n, "bf16") > 0);
    assert_true(values_outside(seen, 2 * n, "bf16") == 0);
    assert_true(values_outside(at, n, "e6m9") == 0 && values_outside(at, n, "e5m2") > 0);
    assert_true(values_outside(gradient, n, "e5m2") == 0);
    for (size_t i = 0; i < n; i++) assert_true(fabsf(seen[i] - made[i]) <= 0x1p-8f * made[i]);
    assert_null(d->grad[0]);
    ulp_gan_free(gan);
}

/* Runs do not depend on threads or on the making of samples, and samples in pieces are those of one call. */
TEST(streams) {
    const char *policy = "fp16,mode=sr,acc=serial:fp16:sr";
    const gan_texts t = texts_of((player_texts){.policy = policy}, (player_texts){.policy = policy});
    ulp_gan *a = gan_of(&t), *b = gan_of(&t);
    static float whole[300 * 64], part[300 * 64];
    for (int i = 0; i < 5; i++) {
        ulp_threads_set(1);
        assert_ok(ulp_gan_step(a, NULL));
        ulp_threads_set(3);
        assert_ok(ulp_gan_step(b, NULL));
        assert_ok(ulp_gan_make(b, whole, 0, 300));
    }
    same_weights(&a->generator, &b->generator);
    same_weights(&a->discriminator, &b->discriminator);
    assert_ok(ulp_gan_make(a, part, 0, 7));
    assert_ok(ulp_gan_make(a, part + 7 * 64, 7, 293));
    assert_memory_equal(whole, part, sizeof whole);
    ulp_threads_set(0);
    ulp_gan_free(a), ulp_gan_free(b);
}

/* Two networks of the same words have different weights; the latent vectors of two steps and of tests differ. */
TEST(seeds) {
    const gan_texts t =
        texts_of((player_texts){.net = "fc64 fc64 reshape1x8x8"}, (player_texts){.net = "fc5 fc64 fc64 fc1"});
    ulp_gan *gan = gan_of(&t);
    const ulp_layer *g = gan->generator.model.net.layers, *d = gan->discriminator.model.net.layers;
    float first[B * LATENTS], made[64 * B];
    for (size_t i = 0; i < 64 * 64; i++)
        assert_true(weights(&gan->generator)[g[1].first_param + i] !=
                    weights(&gan->discriminator)[d[1].first_param + i]);
    assert_ok(ulp_gan_step(gan, NULL));
    memcpy(first, gan->generator.model.tensor[0], sizeof first);
    assert_ok(ulp_gan_step(gan, NULL));
    for (size_t i = 0; i < B * LATENTS; i++) assert_true(gan->generator.model.tensor[0][i] != first[i]);
    assert_ok(ulp_gan_make(gan, made, 0, B));
    for (size_t i = 0; i < B * LATENTS; i++) assert_true(gan->generator.model.tensor[0][i] != first[i]);
    ulp_gan_free(gan);
}

/* ---- checkpoints ---- */

/* A run that goes on from a file gives the bits of a run without interruption; other runs refuse the file. */
TEST(checkpoint) {
    static const char file[] = "t_gan.tmp.ckpt", note[] = "a note";
    const player_texts fp8 = {.policy = "mixed:bf16,weight=e4m3:sat@delayed4,act=e4m3:sat@delayed4,mode=sr",
                              .optimizer = "adam,rate=0.01"},
                       layers = {.net = "fc12 bn relu fc1",
                                 .policy = "mixed:fp16",
                                 .scaler = "layer,init=9",
                                 .optimizer = "sgd,momentum=0.9"};
    const gan_texts t = texts_of(fp8, layers), other = texts_of(fp8, (player_texts){.net = "fc12 bn relu fc1"});
    ulp_gan *whole = gan_of(&t), *first = gan_of(&t), *second = gan_of(&t), *stranger = gan_of(&other);
    void *got;
    size_t n;
    for (int i = 0; i < 9; i++) assert_ok(ulp_gan_step(whole, NULL));
    for (int i = 0; i < 5; i++) assert_ok(ulp_gan_step(first, NULL));
    assert_ok(ulp_gan_save(first, file, note, sizeof note, &error));
    assert_int_equal(ulp_gan_load(first, file, &got, &n, &error), ULP_BAD_ARGUMENT);
    assert_non_null(strstr(error.text, "the run has begun already"));
    assert_int_equal(ulp_gan_load(stranger, file, &got, &n, &error), ULP_BAD_ARGUMENT);
    assert_non_null(strstr(error.text, "is of another run: there 'policy: "));
    assert_null(got);
    assert_ok(ulp_gan_load(second, file, &got, &n, &error));
    assert_int_equal(n, sizeof note);
    assert_memory_equal(got, note, sizeof note);
    free(got);
    for (int i = 0; i < 4; i++) assert_ok(ulp_gan_step(second, NULL));
    assert_int_equal(second->generator.step, 9);
    assert_memory_equal(second->generator.arena.memory, whole->generator.arena.memory, whole->generator.arena.bytes);
    assert_memory_equal(second->discriminator.arena.memory, whole->discriminator.arena.memory,
                        whole->discriminator.arena.bytes);
    remove(file);
    ulp_gan_free(whole), ulp_gan_free(first), ulp_gan_free(second), ulp_gan_free(stranger);
}

/* ---- refusals ---- */

static void refused(const gan_texts *t, ulp_gan_options o, ulp_dims seen, const char *why) {
    ulp_gan *gan;
    assert_int_not_equal(gan_from_texts(&gan, t, o, seen), ULP_OK);
    assert_null(gan);
    if (!strstr(error.text, why)) fail_msg("'%s' does not say '%s'", error.text, why);
}

TEST(refusals) {
    const ulp_gan_options good = {.batch = B, .seed = 1};
    const ulp_dims image = {1, 8, 8};
    const gan_texts plain = texts_of((player_texts){0}, (player_texts){0}),
                    small = texts_of((player_texts){.net = "fc49 reshape1x7x7"}, (player_texts){0}),
                    flat = texts_of((player_texts){.net = "fc64"}, (player_texts){0}),
                    two = texts_of((player_texts){0}, (player_texts){.net = "fc2"}),
                    kahan =
                        texts_of((player_texts){.policy = "mixed:fp16", .optimizer = "sgd,kahan=1"}, (player_texts){0}),
                    layer = texts_of((player_texts){0}, (player_texts){.policy = "fp32,9.act=fp16"});
    refused(&small, good, image,
            "the generator makes samples of 1 x 7 x 7 (channels, height, width), the discriminator takes 1 x 8 x 8");
    refused(&flat, good, image, "the generator makes samples of 64 x 1 x 1 ");
    refused(&two, good, image, "the discriminator ends in one number, for example with fc1; this one has 2 outputs");
    refused(&plain, good, (ulp_dims){1, 4, 4},
            "the discriminator takes inputs of 1 x 4 x 4 (channels, height, width), the data have 1 x 8 x 8");
    refused(&plain, (ulp_gan_options){.batch = 0}, image, "a batch of 0 samples: must be from 1 to 1437");
    refused(&plain, (ulp_gan_options){.batch = 1438}, image, "a batch of 1438 samples");
    refused(&plain, (ulp_gan_options){.batch = B, .seed = (uint64_t)1 << 62}, image, "must be below 2^62");
    refused(&kahan, good, image, "generator: optimizer: kahan=1 takes the place of master weights");
    refused(&layer, good, image, "discriminator: ");
}

TESTS(load_digits, free_digits)
