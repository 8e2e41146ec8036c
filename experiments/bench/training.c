/* training.c - rows of training steps: networks in several policies, on the CPU and on a device. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

#include "experiments/harness/training/options.h"

/* A network, its batch, the side of its images, and the policy. %d is --units. No batch: --batch. */
typedef struct lesson {
    const char *name, *net; /* without a name a row has the text of the network */
    size_t batch, side;
    const char *policy_name, *policy;
    int scale;
    double momentum;
} lesson;

/* On the CPU: the network of Gupta et al. 2015, and those of the experiments. The first policy of a network is its
 * yardstick. */
static const lesson lessons[] = {
    {"784-1000-1000-10", "fc1000 relu fc1000 relu fc10", 100, 28, "fp32", "fp32", 0, 0},
    {"784-1000-1000-10", "fc1000 relu fc1000 relu fc10", 100, 28, "q8.8/rne",
     "weight=q8.8,act=q8.8,out=fp32,agrad=q8.8,wgrad=q8.8", 7, 0},
    {"784-1000-1000-10", "fc1000 relu fc1000 relu fc10", 100, 28, "q8.8/sra",
     "weight=q8.8/sra,act=q8.8/sra,out=fp32,agrad=q8.8/sra,wgrad=q8.8/sra", 7, 0},
    {"conv", "conv8@3p1 relu pool2 conv16@3p1 relu pool2 fc10", 32, 8, "fp32", "fp32", 0, 0},
    {"conv", "conv8@3p1 relu pool2 conv16@3p1 relu pool2 fc10", 32, 8, "mixed:fp16", "mixed:fp16", 8, 0},
    {"gru", "rows gru16 last fc10", 32, 8, "fp32", "fp32", 0, 0},
    {"gru", "rows gru16 last fc10", 32, 8, "mixed:fp16", "mixed:fp16", 8, 0},
    {"lstm", "rows lstm16 last fc10", 32, 8, "fp32", "fp32", 0, 0},
    {"lstm", "rows lstm16 last fc10", 32, 8, "mixed:fp16", "mixed:fp16", 8, 0},
};
enum { LESSONS = sizeof lessons / sizeof *lessons };

/* On a device, compared with the same step on the CPU. */
static const lesson trainings[] = {
    {NULL, "fc%d relu fc%d relu fc10", 0, 8, "fp32", "fp32", 8, 0.9},
    {NULL, "fc%d relu fc%d relu fc10", 0, 8, "mixed:fp16", "mixed:fp16", 8, 0.9},
    {NULL, "fc%d relu fc%d relu fc10", 0, 8, "mixed:fp16 sr h100-fp16", "mixed:fp16,mode=sr,acc=h100-fp16", 8, 0.9},
    {NULL, "conv32@3p1 relu pool2 conv64@3p1 relu pool2 fc%d relu fc10", 0, 8, "mixed:fp16", "mixed:fp16", 8, 0.9},
};
enum { TRAININGS = sizeof trainings / sizeof *trainings };

/* On a device, the network --net, compared with binary32 by the device's own products: with other products of the
 * device, or with emulated sums. All arrays carry binary32, whatever their format, so the memory traffic of a step is
 * that of binary32, and the rounding of every tensor comes on top: the quotient is a lower bound of what the units of
 * the device can give. The published factors of 3 to 4 (Micikevicius et al. 2018, arXiv:1710.03740) belong to programs
 * whose arrays have 16 bits. In the order of POLICY_WORDS. */
static const struct policy {
    const char *name, *policy;
} policies[] = {
    {"fp32", "fp32,acc=native:fp32"},
    {"fp32-emulated", "fp32"},
    {"tf32", "fp32,weight=tf32,act=tf32,agrad=tf32,acc=native:tf32"},
    {"fp16", "mixed:fp16,acc=native:fp16"},
    {"fp16-mma", "mixed:fp16,acc=native:mma:fp16"},
    {"fp16-emulated", "mixed:fp16,acc=h100-fp16"},
    {"bf16", "mixed:bf16,acc=native:bf16"},
    {"fp8", "mixed:bf16,weight=e4m3,act=e4m3,fwd=native:mma:e4m3,bwd=native:bf16"},
};
enum { POLICIES = sizeof policies / sizeof *policies };

/* ---- trainers ---- */

/* Images of which a fifth of the pixels is not 0, with labels that do not depend on them: the time of a step does not
 * depend on what is learned. */
static ulp_status make_data(ulp_data *data, size_t side, size_t samples) {
    uint32_t state = 1;
    *data = (ulp_data){.name = "made",
                       .n = samples + 100,
                       .n_train = samples,
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

static ulp_status open_trainer(ulp_trainer **to, const ulp_task *task, const ulp_backend *backend, const ulp_data *data,
                               const lesson *l) {
    ulp_error error = {0};
    ulp_net net = {0};
    ulp_policy policy;
    const ulp_scaler_rule scaler = l->scale ? ulp_scaler_static(l->scale) : *ulp_scaler_rule_find("none");
    ulp_optimizer_rule optimizer = ulp_optimizer_rule_of(ulp_optimizer_kind_find("sgd"));
    optimizer.rate = 0.01;
    optimizer.momentum = l->momentum;
    const ulp_train_options o = {.net = &net,
                                 .policy = &policy,
                                 .scaler = &scaler,
                                 .optimizer = &optimizer,
                                 .batch = l->batch,
                                 .seed = 1,
                                 .backend = backend};
    ulp_status status = ulp_policy_parse(&policy, l->policy, &error);
    if (status == ULP_NO_DEVICE) /* this device lacks a product of the policy */
        return ulp_task_fail(task, ULP_UNSUPPORTED, "%s", ulp_after_subject(error.text, "policy"));
    if (status == ULP_OK) status = ulp_net_parse(&net, l->net, data->dims, &error);
    if (status == ULP_OK) status = ulp_trainer_new(to, data, &o, &error);
    ulp_net_release(&net);
    return status == ULP_OK ? status : ulp_task_fail(task, status, "training %s: %s", l->net, error.text);
}

static ulp_status run_step(job *j) { return ulp_trainer_step(j->trainer, NULL); }

static job step(const bench *b, ulp_trainer *trainer, const lesson *l, int threads) {
    job j = job_new(b, "step", run_step, l->batch, STEPS, 1);
    j.threads = threads;
    j.trainer = trainer;
    job_name(&j, l->name ? l->name : l->net, l->policy_name, NULL);
    for (char *c = j.of; *c; c++) /* a cell has no commas */
        if (*c == ',') *c = ' ';
    return j;
}

/* ---- on the CPU ---- */

/* Adds the products of the first network and the steps of all lessons on some number of threads. `m` has room for three
 * matrices; added[i] gets the number of the job of lesson i. */
static void add_steps(group *g, const bench *b, ulp_trainer *const trainers[LESSONS], float *m, int threads,
                      size_t *added) {
    const peer_offer *offer;
    size_t fp32 = 0;
    (void)m;
#if defined(ULP_WITH_BLAS)
    const size_t products =
        group_add(g, roof_step(b, m, m + ROOF_STEP_FLOATS, m + 2 * ROOF_STEP_FLOATS, lessons[0].batch, threads));
#endif
    for (size_t i = 0; i < LESSONS; i++) {
        const job j = step(b, trainers[i], &lessons[i], threads);
        added[i] = group_add(g, j);
#if defined(ULP_WITH_BLAS)
        if (lessons[i].side == 28) group_compare(g, added[i], products, "its products", TIME);
#endif
        for (size_t at = 0; (offer = peers_find(b->peers, &at, "step", j.of, j.mode)) != NULL;)
            group_compare_offer(g, added[i], offer, TIME);
        if (i == 0 || lessons[i].name != lessons[i - 1].name) fp32 = added[i];
        else group_compare(g, added[i], fp32, "fp32", TIME);
    }
}

ulp_status put_training(const ulp_task *task) {
    enum { SAMPLES = 1000 };
    const bench *b = task->context;
    ulp_data large, small;
    ulp_trainer *trainers[LESSONS] = {0};
    size_t one[LESSONS], all[LESSONS];
    group g = {0};
    float *m = b->backend->alloc(3 * ROOF_STEP_FLOATS * sizeof *m);
    ulp_status status = make_data(&large, 28, SAMPLES);
    const ulp_status also = make_data(&small, 8, SAMPLES);
    if (status == ULP_OK) status = m ? also : ULP_NO_MEMORY;
    for (size_t i = 0; m && i < 3 * ROOF_STEP_FLOATS; i++) m[i] = 0.5f;
    for (int i = 0; i < LESSONS && status == ULP_OK; i++)
        status = open_trainer(&trainers[i], task, b->backend, lessons[i].side == 8 ? &small : &large, &lessons[i]);
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

/* ---- on a device ---- */

/* The lesson of a point, with room for the text of its network. */
static lesson lesson_of(char net[128], const settings *set, const point *p) {
    const int units = (int)set->units;
    if (p->part == PART_POLICIES)
        return (lesson){NULL, set->net, 2 * (size_t)set->batch, 8, policies[p->index].name, policies[p->index].policy,
                        0,    0.9};
    lesson l = trainings[p->index];
    snprintf(net, 128, l.net, units, units);
    l.net = net;
    l.batch = (size_t)set->batch;
    return l;
}

ulp_status put_device_training(const ulp_task *task) {
    enum { SAMPLES = 4096 };
    const bench *b = task->context;
    const point *p = task->point;
    char net[128];
    const lesson l = lesson_of(net, task->settings, p);
    ulp_data data;
    ulp_trainer *gpu = NULL, *cpu = NULL;
    group g = {0};
    ulp_status status = make_data(&data, l.side, SAMPLES);
    if (status == ULP_OK) status = open_trainer(&gpu, task, b->backend, &data, &l);
    if (status == ULP_OK && p->part == PART_TRAINING) status = open_trainer(&cpu, task, b->cpu, &data, &l);
    if (status == ULP_OK) {
        job mine = step(b, gpu, &l, b->threads), other = mine;
        if (p->part == PART_POLICIES && p->index == 0) mine.keep = "policy fp32";
        if (cpu) {
            other.trainer = cpu;
            other.timer = NULL;
            job_name(&other, NULL, NULL, "CPU");
            group_add(&g, other);
        }
        const size_t i = group_add(&g, mine);
        if (cpu) group_compare(&g, i, 0, "CPU", SPEED);
        else if (p->index > 0) group_compare_kept(&g, b, i, "policy fp32", "fp32");
        status = group_measure(task, &g);
    }
    if (cpu) ulp_trainer_free(cpu);
    if (gpu) ulp_trainer_free(gpu);
    ulp_data_release(&data);
    return status;
}

void plan_device_training(ulp_plan *plan, const settings *set, int part) {
    const size_t count = part == PART_POLICIES ? POLICIES : TRAININGS;
    for (size_t i = 0; i < count; i++) {
        char net[128];
        const point p = {.part = part, .index = i};
        const lesson l = lesson_of(net, set, &p);
        if (part == PART_TRAINING) ulp_plan_add(plan, &p, 3, "step %s %s", l.net, l.policy_name);
        else if (set->policies >> i & 1) {
            ulp_plan_note(plan, "policy", "%s: %s", l.policy_name, l.policy);
            ulp_plan_add(plan, &p, 1, "policy %s", l.policy_name);
        }
    }
}
