/* classifier.c - training the classifier, and its verdict on samples; see gan.h. */
#include "gan.h"

#include <math.h>
#include <stdlib.h>

#include "experiments/harness/training/training.h"
#include "kernels/functions/elementary.h"
#include "sim/gan/frechet.h"

enum { PIECE = 256 }; /* samples that the classifier takes at a time */

/* The weights in backend memory. */
typedef struct weights {
    float *w; /* (n) */
    size_t n;
} weights;

static void carve(void *own, ulp_arena *arena) {
    weights *to = own;
    to->w = ulp_arena_take(arena, to->n);
}

/* The classifier's outputs z (n,classes) and features f (n,features) for x (n,in). */
static ulp_status classify(const classifier *c, float *z, double *f, const float *x, size_t n) {
    ulp_policy binary32;
    ulp_model model;
    ulp_arena arena = {0};
    weights trained = {NULL, c->net->params};
    ulp_pass pass = {.run = {.backend = c->backend, .policy = &binary32}};
    const size_t in = ulp_dims_size(c->net->in), C = c->data->classes, last = c->net->count - 1;
    float *host = calloc(PIECE * c->features, sizeof *host);
    ulp_status status = host ? ulp_policy_parse(&binary32, "fp32", NULL) : ULP_NO_MEMORY;
    if (status == ULP_OK) status = ulp_model_init(&model, c->net, 0, PIECE);
    if (status != ULP_OK) {
        free(host);
        return status;
    }
    status = ulp_model_alloc(&model, &pass, &arena, carve, &trained);
    if (status == ULP_OK) status = c->backend->upload(trained.w, c->w, c->net->params * sizeof *c->w);
    for (size_t at = 0; at < n && status == ULP_OK; at += PIECE) {
        const size_t B = n - at < PIECE ? n - at : PIECE;
        pass.now = (ulp_pass_now){.evaluation = 1, .B = B, .first = at};
        status = c->backend->upload(model.tensor[0], x + at * in, B * in * sizeof *x);
        if (status == ULP_OK) status = ulp_model_forward(&model, &pass, trained.w);
        if (status == ULP_OK) status = c->backend->download(z + at * C, model.tensor[last + 1], B * C * sizeof *z);
        if (status == ULP_OK) status = c->backend->download(host, model.tensor[last], B * c->features * sizeof *host);
        for (size_t i = 0; i < B * c->features; i++) f[at * c->features + i] = (double)host[i];
    }
    ulp_model_release(&model, &pass);
    ulp_arena_release(&arena);
    free(host);
    return status;
}

/* ---- the start ---- */

/* Takes the features of the test part. */
static ulp_status look_at_tests(classifier *c) {
    const ulp_data *d = c->data;
    const size_t n = d->n - d->n_train;
    float *x = calloc(n * d->features, sizeof *x), *z = calloc(n * d->classes, sizeof *z);
    double *f = calloc(n * c->features, sizeof *f);
    for (size_t i = 0; x && i < n * d->features; i++)
        x[i] = (float)d->pixel[d->n_train * d->features + i] / (float)d->white;
    ulp_status status = x && z && f ? classify(c, z, f, x, n) : ULP_NO_MEMORY;
    if (status == ULP_OK) ulp_moments(c->mean, c->covariance, f, n, c->features);
    free(x);
    free(z);
    free(f);
    return status;
}

ulp_status classifier_start(classifier *c, const ulp_plan *plan, const ulp_data *data, const ulp_net *net,
                            uint64_t steps, uint64_t seed, const ulp_backend *backend) {
    ulp_error error;
    ulp_trainer *t = NULL;
    ulp_score score = {0};
    ulp_optimizer_rule adam = ulp_optimizer_rule_of(ulp_optimizer_kind_find("adam"));
    const size_t batch = data->n_train < 32 ? data->n_train : 32;
    adam.rate = 3e-3;
    adam.cosine = (uint32_t)steps;
    const ulp_train_options options = {
        .net = net, .optimizer = &adam, .batch = batch, .seed = seed, .backend = backend};
    *c = (classifier){.data = data, .net = net, .backend = backend};
    ulp_status status = ulp_trainer_new(&t, data, &options, &error);
    if (status != ULP_OK) return ulp_plan_fail(plan, status, "--classifier-net: %s", error.text);
    for (uint64_t i = 0; i < steps && status == ULP_OK; i++) status = ulp_trainer_step(t, NULL);
    if (status == ULP_OK) status = ulp_trainer_score(t, ULP_TEST_PART, &score);
    c->accuracy = score.accuracy;
    c->features = ulp_dims_size(net->layers[net->count - 1].in);
    c->w = calloc(net->params + 1, sizeof *c->w);
    c->mean = calloc(c->features, sizeof *c->mean);
    c->covariance = calloc(c->features * c->features, sizeof *c->covariance);
    if (status == ULP_OK && !(c->w && c->mean && c->covariance)) status = ULP_NO_MEMORY;
    if (status == ULP_OK) status = ulp_trainer_weights(t, c->w, NULL);
    ulp_trainer_free(t);
    if (status == ULP_OK) status = look_at_tests(c);
    return status == ULP_OK ? ULP_OK : ulp_plan_fail(plan, status, "--classifier-net: %s", ulp_status_text(status));
}

void classifier_end(classifier *c) {
    free(c->w);
    free(c->mean);
    free(c->covariance);
}

/* ---- the verdict ---- */

/* The class with the largest output of z (C), and its probability; NaN if an output is NaN. */
static double probability(const float *z, size_t C, size_t *class) {
    double sum = 0;
    *class = 0;
    for (size_t c = 1; c < C; c++)
        if (z[c] > z[*class]) *class = c;
    for (size_t c = 0; c < C; c++) sum += ulp_exp((double)z[c] - (double)z[*class]);
    return 1 / sum;
}

ulp_status classifier_judge(const classifier *c, verdict *v, const float *x, size_t n) {
    const size_t C = c->data->classes, F = c->features;
    float *z = calloc(n * C, sizeof *z);
    double *f = calloc(n * F + F + 5 * F * F, sizeof *f), *mean = f + n * F, *covariance = mean + F;
    size_t *of_class = calloc(C, sizeof *of_class);
    ulp_status status = z && f && of_class ? classify(c, z, f, x, n) : ULP_NO_MEMORY;
    *v = (verdict){0};
    for (size_t i = 0; i < n && status == ULP_OK; i++) {
        size_t class;
        if (!(probability(z + i * C, C, &class) >= SURE)) continue;
        v->sure++;
        of_class[class]++;
    }
    for (size_t k = 0; k < C && status == ULP_OK; k++) v->classes += 5 * C * of_class[k] >= n;
    v->sure /= (double)n;
    if (status == ULP_OK) {
        ulp_moments(mean, covariance, f, n, F);
        v->distance = ulp_frechet_squared(mean, covariance, c->mean, c->covariance, F, covariance + F * F);
    }
    free(z);
    free(f);
    free(of_class);
    return status;
}
