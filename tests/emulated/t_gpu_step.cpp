/* t_gpu_step.cpp - what a training step copies between host and device: layers whose operations the device has copy no
 * arrays.
 */
#include "cuda_runtime.h"
#include "kernels/cuda/cuda.h"
#include "sim/train.h"

#include <stdio.h>

static int failed;

static void verdict(bool fine, const char *what) {
    printf("%sok - step: %s\n", fine ? "" : "not ", what);
    failed |= !fine;
}

enum { SIDE = 8, CLASSES = 4, SAMPLES = 32, BATCH = 16, STEPS = 3 };
static uint8_t pixel[SAMPLES * SIDE * SIDE], label[SAMPLES];

/* The copies of one step. */
struct copies {
    unsigned uploads, downloads;
    size_t bytes;
    bool operator==(const copies &o) const {
        return uploads == o.uploads && downloads == o.downloads && bytes == o.bytes;
    }
};

static copies so_far() {
    return {ulp_emulated_uploads, ulp_emulated_downloads, ulp_emulated_uploaded + ulp_emulated_downloaded};
}

/* Train a net; each of the steps makes the same copies. Returns whether all calls succeeded. */
static bool train(copies *of_step, const char *net_text, const char *policy_text, const char *scaler_text) {
    ulp_data data = {};
    snprintf(data.name, sizeof data.name, "images");
    data.n = data.n_train = SAMPLES;
    data.dims = {1, SIDE, SIDE};
    data.features = SIDE * SIDE;
    data.classes = CLASSES;
    data.labels = 1;
    data.white = 255;
    data.pixel = pixel;
    data.label = label;
    char error[512] = "";
    ulp_net net = {};
    ulp_policy policy;
    ulp_scaler_rule scaler;
    ulp_train_options options = {};
    ulp_trainer *trainer = nullptr;
    bool fine = ulp_net_parse(&net, net_text, data.dims, error, sizeof error) == ULP_OK &&
                ulp_policy_parse(&policy, policy_text, error, sizeof error) == ULP_OK &&
                ulp_scaler_parse(&scaler, scaler_text, error, sizeof error) == ULP_OK &&
                ulp_cuda_backend(&options.backend) == ULP_OK;
    options.net = &net;
    options.policy = &policy;
    options.scaler = &scaler;
    options.batch = BATCH;
    options.seed = 3;
    fine = fine && ulp_trainer_new(&trainer, &data, &options, error, sizeof error) == ULP_OK;
    for (int k = 0; k < STEPS && fine; k++) {
        const copies before = so_far();
        fine = ulp_trainer_step(trainer, nullptr) == ULP_OK;
        const copies after = so_far(), made = {after.uploads - before.uploads, after.downloads - before.downloads,
                                               after.bytes - before.bytes};
        fine = fine && (k == 0 || made == *of_step);
        *of_step = made;
    }
    if (!fine) printf("# %s, %s: %s\n", net_text, policy_text, error);
    ulp_trainer_free(trainer);
    ulp_net_release(&net);
    return fine;
}

/* A step of the net makes the copies of a step of fully connected layers and relu: the batch, the losses, and the
 * scaler's question whether a gradient overflowed. */
static void same_copies(const char *net, const char *policy, const char *scaler) {
    copies plain = {}, made = {};
    char what[240];
    const bool fine = train(&plain, "fc8 relu fc4", policy, scaler) && train(&made, net, policy, scaler);
    snprintf(what, sizeof what, "%s, %s, %s: %u uploads, %u downloads, %zu bytes", net, policy, scaler, made.uploads,
             made.downloads, made.bytes);
    verdict(fine && made == plain && plain.bytes > 0, what);
}

int main() {
    static const char *const nets[] = {"conv3@3p1 bn relu fc8 bn fc4", "avg3 conv3@1 avg2 fc4", "drop30 fc8 drop0 fc4",
                                       "conv3@3p1 bn tanh pool2 avg2 drop50 fc4"};
    static const char *const policies[][2] = {
        {"fp32", "none"}, {"mixed:fp16", "pytorch"}, {"q6.10,mode=sr,acc=fp32,loss=fp32", "static:2"}};
    for (size_t i = 0; i < sizeof pixel; i++) pixel[i] = (uint8_t)(i * i * 31 + i / 7 * 57);
    for (size_t i = 0; i < SAMPLES; i++) label[i] = (uint8_t)(i % CLASSES);
    for (const char *net : nets)
        for (const char *const *policy : policies) same_copies(net, policy[0], policy[1]);
    return failed;
}
