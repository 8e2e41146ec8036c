/* trainings.c - the rows of bench_gpu about trainings, on the device and on the CPU. */
#include "bench_gpu.h"

#include <stdio.h>
#include <time.h>

#include "experiments/harness/training/options.h"
#include "sim/train/train.h"

/* The name of the policy, the layers with %d for the number of units, and the policy. */
static const struct text {
    const char *name, *net, *policy;
} texts[TRAININGS] = {
    {"fp32", "fc%d relu fc%d relu fc10", "fp32"},
    {"mixed:fp16", "fc%d relu fc%d relu fc10", "mixed:fp16"},
    {"mixed:fp16 sr h100-fp16", "fc%d relu fc%d relu fc10", "mixed:fp16,mode=sr,acc=h100-fp16"},
    {"mixed:fp16", "conv32@3p1 relu pool2 conv64@3p1 relu pool2 fc%d relu fc10", "mixed:fp16"},
};

static void name_net(char text[128], int i, int64_t units) {
    snprintf(text, 128, texts[i].net, (int)units, (int)units);
}

ulp_status trainings_open(const ulp_plan *plan, bench *b, int64_t units) {
    ulp_status status = ULP_OK;
    for (int i = 0; i < TRAININGS && status == ULP_OK; i++) {
        training *to = &b->training[i];
        to->name = texts[i].name;
        name_net(to->text, i, units);
        status = ulp_plan_read_policy(plan, &to->policy, texts[i].policy, to->name);
        if (status == ULP_OK) status = ulp_plan_read_net(plan, &to->net, to->text, b->data.dims);
    }
    return status;
}

void trainings_close(bench *b) {
    for (int i = 0; i < TRAININGS; i++) ulp_net_release(&b->training[i].net);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* *rate gets the steps per second, after three steps to warm up. The clock is that of the host, because much of a step
 * is work of the host. */
static ulp_status train(double *rate, const ulp_task *task, const training *what, const ulp_backend *backend,
                        uint64_t steps) {
    const bench *b = task->context;
    const ulp_scaler_rule scaler = ulp_scaler_static(8);
    ulp_optimizer_rule optimizer = ulp_optimizer_rule_of(ulp_optimizer_kind_find("sgd"));
    optimizer.momentum = 0.9;
    const ulp_train_options o = {.net = &what->net,
                                 .policy = &what->policy,
                                 .scaler = &scaler,
                                 .optimizer = &optimizer,
                                 .batch = (size_t)((const settings *)task->settings)->batch,
                                 .seed = 1,
                                 .backend = backend};
    char error[1024];
    ulp_trainer *trainer;
    ulp_status status = ulp_trainer_new(&trainer, &b->data, &o, error, sizeof error);
    if (status != ULP_OK) return ulp_task_fail(task, status, "%s", error);
    double began = 0.0;
    for (uint64_t k = 0; k < steps + 3 && status == ULP_OK; k++) {
        if (k == 3) began = now();
        status = ulp_trainer_step(trainer, NULL);
        if (ulp_task_progress(task, (double)k / (double)(steps + 3))) break;
    }
    *rate = (double)steps / (now() - began + 1e-9);
    ulp_trainer_free(trainer);
    return status;
}

static ulp_status put_training(const ulp_task *task) {
    const settings *set = task->settings;
    const bench *b = task->context;
    const training *what = &b->training[((const point *)task->point)->index];
    const uint64_t steps = (uint64_t)set->steps;
    double gpu, cpu = 0.0, clock;
    ulp_status status = train(&gpu, task, what, b->gpu, steps);
    if (status == ULP_OK) status = clock_now(&clock);
    if (status == ULP_OK) status = train(&cpu, task, what, b->cpu, steps < 10 ? steps : 10);
    if (status != ULP_OK) return status;
    put(task, (row){"training", what->text, what->name, (double)set->batch, gpu, "steps/s", 0, "cpu", clock}, cpu);
    return ULP_OK;
}

void plan_trainings(ulp_plan *plan, const settings *set) {
    char net[128];
    for (size_t i = 0; i < TRAININGS; i++) {
        name_net(net, (int)i, set->units);
        ulp_plan_add(plan, &(point){.put = put_training, .index = i}, 3, "training %s %s", net, texts[i].name);
    }
}
