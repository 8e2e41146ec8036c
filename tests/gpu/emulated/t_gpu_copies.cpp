/* t_gpu_copies.cpp - the copies of a training step between host and device.
 *
 * A step takes the samples of the batch and their labels from the host, and it gives the losses of the samples, the
 * answers to the questions of the scaler, the answer whether all operands had codes, the largest magnitudes that decide
 * scales of tensors, and counts. No other array leaves the device or comes to it.
 */
#include "cuda_runtime.h"

#include "kernels/functions/ctc.h"
#include "sim/train/train.h"

#include <stdio.h>
#include <string.h>

static int failed;

static void verdict(bool fine, const char *what) {
    printf("%sok - copies: %s\n", fine ? "" : "not ", what);
    failed |= !fine;
}

enum { SIDE = 8, CLASSES = 4, LABELS = 3, SAMPLES = 40, BATCH = 8, STEPS = 3 };

static uint8_t pixel[SAMPLES * SIDE * SIDE], label[SAMPLES * LABELS];

static ulp_data data_of(size_t labels) {
    ulp_data data = {};
    snprintf(data.name, sizeof data.name, "images");
    data.n = data.n_train = SAMPLES;
    data.dims.c = 1;
    data.dims.h = data.dims.w = SIDE;
    data.features = SIDE * SIDE;
    data.classes = CLASSES;
    data.labels = labels;
    data.white = 255;
    data.pixel = pixel;
    data.label = label;
    for (size_t i = 0; i < sizeof pixel; i++) pixel[i] = (uint8_t)(i * i * 7 % 251);
    for (size_t i = 0; i < SAMPLES * labels; i++)
        label[i] = labels > 1 && i % labels == 2 ? (uint8_t)ULP_NO_LABEL : (uint8_t)(i * 5 % CLASSES);
    return data;
}

struct copies {
    unsigned uploads, downloads;
    size_t uploaded, downloaded;
    unsigned launches;
};

static copies now() {
    return {ulp_emulated_uploads, ulp_emulated_downloads, ulp_emulated_uploaded, ulp_emulated_downloaded,
            ulp_emulated_launches};
}

/* What is trained. */
struct run {
    const char *net, *policy, *loss, *scaler, *optimizer;
};

/* A run whose scaler has one loss scale. */
static run run_of(const char *net, const char *policy, const char *loss = "softmax") {
    return {net, policy, loss, "pytorch,init=8", "sgd"};
}

static size_t labels_of(const run &r) { return strcmp(r.loss, "softmax") == 0 ? 1 : LABELS; }

/* The copies of the last of some training steps, and its loss. Layers that have loss scales of their own get different
 * ones. */
static bool step_of(copies *made, double *last_loss, const run &r, bool counting) {
    const ulp_data data = data_of(labels_of(r));
    ulp_error error = {};
    ulp_net parsed = {};
    ulp_policy rules = {};
    ulp_scaler_rule scaler = {};
    ulp_optimizer_rule optimizer = {};
    ulp_train_options options = {};
    ulp_trainer *trainer = nullptr;
    ulp_status status = ulp_net_parse(&parsed, r.net, data.dims, &error);
    if (status == ULP_OK) status = ulp_policy_parse(&rules, r.policy, &error);
    if (status == ULP_OK) status = ulp_scaler_parse(&scaler, r.scaler, &error);
    if (status == ULP_OK) status = ulp_optimizer_parse(&optimizer, r.optimizer, &error);
    if (status == ULP_OK) status = ulp_loss_parse(&options.loss, r.loss, &error);
    if (status == ULP_OK) status = ulp_backend_get(&options.backend, "cuda");
    options.net = &parsed;
    options.policy = &rules;
    options.scaler = &scaler;
    options.optimizer = &optimizer;
    options.batch = BATCH;
    options.seed = 3;
    options.counting = counting;
    if (status == ULP_OK) status = ulp_trainer_new(&trainer, &data, &options, &error);
    for (size_t i = 0; status == ULP_OK && i < trainer->loss_scales.count; i++)
        trainer->loss_scales.layer[i].log2 = 4 + (int)(i * 3 % 7);
    for (int k = 0; k < STEPS && status == ULP_OK; k++) {
        const copies before = now();
        ulp_step report;
        status = ulp_trainer_step(trainer, &report);
        const copies after = now();
        *made = {after.uploads - before.uploads, after.downloads - before.downloads, after.uploaded - before.uploaded,
                 after.downloaded - before.downloaded, after.launches - before.launches};
        *last_loss = report.loss;
    }
    if (status != ULP_OK) printf("# %s under %s: %s %s\n", r.net, r.policy, ulp_status_text(status), error.text);
    ulp_trainer_free(trainer);
    ulp_net_release(&parsed);
    return status == ULP_OK;
}

/* A step of a run whose numbers are not counted: two uploads, and the losses and `numbers` single numbers as downloads.
 * The loss is finite, or, if asked for, it is not. */
static void arrays_stay(const run &r, unsigned numbers = 1, bool finite = true) {
    const size_t up = BATCH * (SIDE * SIDE * sizeof(float) + labels_of(r)), down = (BATCH + numbers) * sizeof(float);
    copies made = {};
    double loss = 0.0;
    char what[300];
    const bool fine = step_of(&made, &loss, r, false);
    snprintf(what, sizeof what,
             "%s, %s, %s, %s: %u uploads of %zu bytes, %u downloads of %zu bytes, %u launches, loss %g", r.net,
             r.policy, r.loss, r.scaler, made.uploads, made.uploaded, made.downloads, made.downloaded, made.launches,
             loss);
    verdict(fine && made.uploads == 2 && made.uploaded == up && made.downloads == 1 + numbers &&
                made.downloaded == down && (loss - loss == 0.0) == finite,
            what);
}

/* With counting, each download besides the losses and the scaler's answer has the size of one set of counts. */
static void counts_leave(const run &r) {
    copies made = {};
    double loss = 0.0;
    char what[300];
    const bool fine = step_of(&made, &loss, r, true);
    snprintf(what, sizeof what, "%s, %s, %s: %u downloads of counts", r.net, r.policy, r.loss, made.downloads - 2);
    verdict(fine && made.uploads == 2 && made.downloads > 2 &&
                made.downloaded == (BATCH + 1) * sizeof(float) + (made.downloads - 2) * sizeof(ulp_stats),
            what);
}

/* A scaler of layers asks for the largest gradient of each layer's output, from the first layer with weights on, and of
 * each layer's weights. */
static void layers_have_scales() {
    static const char *const policies[] = {"fp32", "mixed:fp16", "mixed:bf16,mode=sr/9"};
    static const struct {
        const char *net;
        unsigned layers, with_weights;
    } nets[] = {{"fc8 tanh fc4", 3, 2},
                {"conv3@3p1 bn relu pool3s2p1 fc8 sigmoid fc4", 7, 4},
                {"conv2@3p1 avg2 up2 conv3@3 pool2s1 fc4", 6, 3},
                {"conv2@3p1 fork conv2@3p1 tanh join drop20 fc4", 7, 3},
                {"rows gru5 lstm4 last fc4", 4, 3}};
    for (const auto &n : nets)
        for (const char *policy : policies)
            arrays_stay({n.net, policy, "softmax", "layer,init=8", "sgd"}, n.layers + n.with_weights);
}

/* One number decides the scale of a tensor, also where the tensor holds Inf or NaN: then gradients of weights beyond
 * the range of binary16 have made the weights infinite. */
static void tensors_have_scales() {
    static const char act[] = "fp32,act=e4m3@amax,wgrad=fp16", agrad[] = "fp32,agrad=e5m2@amax,wgrad=fp16",
                      both[] = "fp32,act=e4m3@amax,agrad=e4m3@delayed2,wgrad=fp16";
    static const struct {
        const char *net, *policy;
        unsigned scaled; /* tensors that are rounded with a scale */
    } runs[] = {{"fc8 tanh fc4", act, 4},
                {"fc8 tanh fc4", agrad, 3},
                {"fc8 relu fork fc8 join fc4", both, 9},
                {"conv2@3p1 pool3s2p1 up2 avg2 fc4", both, 9}};
    for (const auto &r : runs) {
        arrays_stay({r.net, r.policy, "softmax", "none", "sgd"}, 1 + r.scaled);
        arrays_stay({r.net, r.policy, "softmax", "static:40", "sgd"}, 1 + r.scaled, false);
    }
}

int main() {
    static const char *const policies[] = {"fp32", "mixed:fp16", "mixed:bf16,loss=fp16,mode=sr/9"};
    static const char *const nets[] = {"fc24 relu fc4",
                                       "conv3@3p1 bn relu fc8 bn fc4",
                                       "avg3 conv3@1 avg2 fc4",
                                       "drop30 fc8 drop0 fc4",
                                       "conv3@3p1 bn tanh pool2 avg2 drop50 fc4",
                                       "conv3@3p1 pool3s2p1 relu up2 conv2@3 pool2s1 fc4",
                                       "rows rnn5 last fc4",
                                       "columns2 gru5 lstm4 last fc4",
                                       "rows bigru3 bigru2 last fc4"};
    static const char *const checked[] = {"mixed:fp16,acc=h100-fp16", "mixed:bf16,acc=native:mma:bf16",
                                          "mixed:fp16,acc=native:wgmma:fp16"};
    for (const char *policy : policies) {
        for (const char *net : nets) arrays_stay(run_of(net, policy));
        for (const char *loss : {"ctc", "ctc-linear"}) {
            arrays_stay(run_of("columns bigru3 conv5@1", policy, loss));
            arrays_stay(run_of("columns lstm6 conv5@1", policy, loss));
        }
    }
    for (const char *policy : checked) /* one number says whether all operands had codes */
        for (const char *net : nets) arrays_stay(run_of(net, policy), 2);
    for (const char *net : nets) counts_leave(run_of(net, policies[1]));
    counts_leave(run_of("columns bigru3 conv5@1", policies[1], "ctc"));
    layers_have_scales();
    tensors_have_scales();
    return failed;
}
