/* training.c - rows of training steps: the network of Gupta et al. 2015 and small networks, in several policies. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

/* A network, its batch, the side of its images, and the policy. The first policy of a network is its yardstick. The
 * networks except the first are those of the experiments. */
static const struct lesson {
    const char *name, *net;
    size_t batch, side;
    const char *policy_name, *policy;
    int scale;
} lessons[] = {
    {"784-1000-1000-10", "fc1000 relu fc1000 relu fc10", 100, 28, "fp32", "fp32", 0},
    {"784-1000-1000-10", "fc1000 relu fc1000 relu fc10", 100, 28, "q8.8/rne",
     "weight=q8.8,act=q8.8,out=fp32,agrad=q8.8,wgrad=q8.8", 7},
    {"784-1000-1000-10", "fc1000 relu fc1000 relu fc10", 100, 28, "q8.8/sra",
     "weight=q8.8/sra,act=q8.8/sra,out=fp32,agrad=q8.8/sra,wgrad=q8.8/sra", 7},
    {"conv", "conv8@3p1 relu pool2 conv16@3p1 relu pool2 fc10", 32, 8, "fp32", "fp32", 0},
    {"conv", "conv8@3p1 relu pool2 conv16@3p1 relu pool2 fc10", 32, 8, "mixed:fp16", "mixed:fp16", 8},
    {"gru", "rows gru16 last fc10", 32, 8, "fp32", "fp32", 0},
    {"gru", "rows gru16 last fc10", 32, 8, "mixed:fp16", "mixed:fp16", 8},
    {"lstm", "rows lstm16 last fc10", 32, 8, "fp32", "fp32", 0},
    {"lstm", "rows lstm16 last fc10", 32, 8, "mixed:fp16", "mixed:fp16", 8},
};
enum { LESSONS = sizeof lessons / sizeof *lessons, SAMPLES = 1000 };

/* Images of which a fifth of the pixels is not 0, with labels that do not depend on them: the time of a step does not
 * depend on what is learned. */
static ulp_status make_data(ulp_data *data, size_t side) {
    uint32_t state = 1;
    *data = (ulp_data){.name = "made",
                       .n = SAMPLES + 100,
                       .n_train = SAMPLES,
                       .dims = {1, side, side},
                       .features = side * side,
                       .classes = 10,
                       .labels = 1,
                       .white = 255};
    data->pixel = malloc(data->n * data->features);
    data->label = malloc(data->n);
    if (!data->pixel || !data->label) return ULP_NO_MEMORY;
    for (size_t i = 0; i < data->n * data->features; i++) {
        state = state * 1664525u + 1013904223u;
        data->pixel[i] = (uint8_t)((state >> 8) % 5 ? 0 : state >> 24);
    }
    for (size_t i = 0; i < data->n; i++) data->label[i] = (uint8_t)(i % 10);
    return ULP_OK;
}

static ulp_status open_trainer(ulp_trainer **to, const ulp_task *task, const ulp_data *data, const struct lesson *l) {
    const bench *b = task->context;
    ulp_error error = {0};
    ulp_net net = {0};
    ulp_policy policy;
    const ulp_scaler_rule scaler = l->scale ? ulp_scaler_static(l->scale) : *ulp_scaler_rule_find("none");
    ulp_optimizer_rule optimizer = ulp_optimizer_rule_of(ulp_optimizer_kind_find("sgd"));
    optimizer.rate = 0.01;
    const ulp_train_options o = {.net = &net,
                                 .policy = &policy,
                                 .scaler = &scaler,
                                 .optimizer = &optimizer,
                                 .batch = l->batch,
                                 .seed = 1,
                                 .backend = b->backend};
    ulp_status status = ulp_policy_parse(&policy, l->policy, &error);
    if (status == ULP_OK) status = ulp_net_parse(&net, l->net, data->dims, &error);
    if (status == ULP_OK) status = ulp_trainer_new(to, data, &o, &error);
    ulp_net_release(&net);
    return status == ULP_OK ? status : ulp_task_fail(task, status, "training %s: %s", l->net, error.text);
}

static ulp_status run_step(const job *j) { return ulp_trainer_step(j->trainer, NULL); }

static job step(const bench *b, ulp_trainer *trainer, const struct lesson *l, int threads) {
    job j = {.what = "step",
             .by = "ulplab",
             .threads = threads,
             .unit = STEPS,
             .n = l->batch,
             .amount = 1,
             .run = run_step,
             .b = b,
             .trainer = trainer};
    job_name(&j, l->name, l->policy_name, NULL);
    return j;
}

static void add_peers(group *g, const bench *b, size_t ours) {
    const peer_offer *offer;
    const job *mine = &g->jobs[ours];
    for (size_t at = 0; (offer = peers_find(b->peers, &at, "step", mine->of, mine->mode)) != NULL;) {
        job theirs = g->jobs[ours];
        theirs.offer = offer;
        job_name(&theirs, NULL, NULL, offer->by);
        group_compare(g, ours, group_add(g, &theirs), offer->by, TIME);
        mine = &g->jobs[ours];
    }
}

/* Adds the products of the first network and the steps of all lessons on some number of threads. `m` has room for three
 * matrices; added[i] gets the number of the job of lesson i. */
static void add_steps(group *g, const bench *b, ulp_trainer *const trainers[LESSONS], float *m, int threads,
                      size_t *added) {
    size_t fp32 = 0;
    (void)m;
#if defined(ULP_WITH_BLAS)
    const job alone = roof_step(b, m, m + ROOF_STEP_FLOATS, m + 2 * ROOF_STEP_FLOATS, lessons[0].batch, threads);
    const size_t products = group_add(g, &alone);
#endif
    for (size_t i = 0; i < LESSONS; i++) {
        const job j = step(b, trainers[i], &lessons[i], threads);
        added[i] = group_add(g, &j);
#if defined(ULP_WITH_BLAS)
        if (lessons[i].side == 28) group_compare(g, added[i], products, "its products", TIME);
#endif
        add_peers(g, b, added[i]);
        if (i == 0 || lessons[i].name != lessons[i - 1].name) fp32 = added[i];
        else group_compare(g, added[i], fp32, "fp32", TIME);
    }
}

ulp_status put_training(const ulp_task *task) {
    const bench *b = task->context;
    ulp_data large, small;
    ulp_trainer *trainers[LESSONS] = {0};
    size_t one[LESSONS], all[LESSONS];
    group g = {0};
    float *m = b->backend->alloc(3 * ROOF_STEP_FLOATS * sizeof *m);
    ulp_status status = make_data(&large, 28);
    const ulp_status also = make_data(&small, 8);
    if (status == ULP_OK) status = m ? also : ULP_NO_MEMORY;
    for (size_t i = 0; m && i < 3 * ROOF_STEP_FLOATS; i++) m[i] = 0.5f;
    for (int i = 0; i < LESSONS && status == ULP_OK; i++)
        status = open_trainer(&trainers[i], task, lessons[i].side == 8 ? &small : &large, &lessons[i]);
    if (status == ULP_OK) {
        add_steps(&g, b, trainers, m, 1, one);
        if (b->threads > 1) {
            add_steps(&g, b, trainers, m, b->threads, all);
            for (int i = 0; i < LESSONS; i++) group_compare(&g, all[i], one[i], "one thread", SPEED);
        }
        status = group_measure(task, &g);
    }
    for (int i = 0; i < LESSONS; i++)
        if (trainers[i]) ulp_trainer_free(trainers[i]);
    b->backend->release(m);
    ulp_data_release(&large);
    ulp_data_release(&small);
    return status;
}
