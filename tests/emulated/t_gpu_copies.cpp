/* t_gpu_copies.cpp - the copies of a training step between host and device.
 *
 * A step takes the samples of the batch and their labels from the host, and it gives the losses of the samples, the
 * answer to the question of the scaler, the answer whether all operands had codes, and counts. No other array leaves
 * the device or comes to it.
 */
#include "cuda_runtime.h"

#include "kernels/functions/ctc.h"
#include "sim/train.h"

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

/* The copies of the last of some training steps. */
static bool step_of(copies *made, const char *net, const char *policy, const char *loss, size_t labels, bool counting) {
    const ulp_data data = data_of(labels);
    char error[1024] = "";
    ulp_net parsed = {};
    ulp_policy rules = {};
    ulp_scaler_rule scaler = {};
    ulp_train_options options = {};
    ulp_trainer *trainer = nullptr;
    ulp_status status = ulp_net_parse(&parsed, net, data.dims, error, sizeof error);
    if (status == ULP_OK) status = ulp_policy_parse(&rules, policy, error, sizeof error);
    if (status == ULP_OK) status = ulp_scaler_parse(&scaler, "pytorch,init=8", error, sizeof error);
    if (status == ULP_OK) status = ulp_loss_parse(&options.loss, loss, error, sizeof error);
    if (status == ULP_OK) status = ulp_backend_get(&options.backend, "cuda");
    options.net = &parsed;
    options.policy = &rules;
    options.scaler = &scaler;
    options.batch = BATCH;
    options.seed = 3;
    options.counting = counting;
    if (status == ULP_OK) status = ulp_trainer_new(&trainer, &data, &options, error, sizeof error);
    for (int k = 0; k < STEPS && status == ULP_OK; k++) {
        const copies before = now();
        status = ulp_trainer_step(trainer, nullptr);
        const copies after = now();
        *made = {after.uploads - before.uploads, after.downloads - before.downloads, after.uploaded - before.uploaded,
                 after.downloaded - before.downloaded, after.launches - before.launches};
    }
    if (status != ULP_OK) printf("# %s under %s: %s %s\n", net, policy, ulp_status_text(status), error);
    ulp_trainer_free(trainer);
    ulp_net_release(&parsed);
    return status == ULP_OK;
}

/* A step of a net whose numbers are not counted: two uploads, two downloads, or three if the products have input
 * formats, and their bytes. */
static void arrays_stay(const char *net, const char *policy, const char *loss, unsigned downloads = 2) {
    const size_t labels = strcmp(loss, "softmax") == 0 ? 1 : LABELS;
    const size_t up = BATCH * (SIDE * SIDE * sizeof(float) + labels), down = (BATCH + downloads - 1) * sizeof(float);
    copies made = {};
    char what[200];
    const bool fine = step_of(&made, net, policy, loss, labels, false);
    snprintf(what, sizeof what, "%s, %s, %s: %u uploads of %zu bytes, %u downloads of %zu bytes, %u launches", net,
             policy, loss, made.uploads, made.uploaded, made.downloads, made.downloaded, made.launches);
    verdict(fine && made.uploads == 2 && made.uploaded == up && made.downloads == downloads && made.downloaded == down,
            what);
}

/* With counting, each download beside the losses and the scaler's answer has the size of one set of counts. */
static void counts_leave(const char *net, const char *policy, const char *loss) {
    const size_t labels = strcmp(loss, "softmax") == 0 ? 1 : LABELS;
    copies made = {};
    char what[200];
    const bool fine = step_of(&made, net, policy, loss, labels, true);
    snprintf(what, sizeof what, "%s, %s, %s: %u downloads of counts", net, policy, loss, made.downloads - 2);
    verdict(fine && made.uploads == 2 && made.downloads > 2 &&
                made.downloaded == (BATCH + 1) * sizeof(float) + (made.downloads - 2) * sizeof(ulp_stats),
            what);
}

int main() {
    static const char *const policies[] = {"fp32", "mixed:fp16", "mixed:bf16,loss=fp16,mode=sr/9"};
    static const char *const nets[] = {"fc24 relu fc4",
                                       "conv3@3p1 bn relu fc8 bn fc4",
                                       "avg3 conv3@1 avg2 fc4",
                                       "drop30 fc8 drop0 fc4",
                                       "conv3@3p1 bn tanh pool2 avg2 drop50 fc4",
                                       "rows rnn5 last fc4",
                                       "columns2 gru5 lstm4 last fc4",
                                       "rows bigru3 bigru2 last fc4"};
    static const char *const checked[] = {"mixed:fp16,acc=h100-fp16", "mixed:bf16,acc=native:mma:bf16",
                                          "mixed:fp16,acc=native:wgmma:fp16"};
    for (const char *policy : policies) {
        for (const char *net : nets) arrays_stay(net, policy, "softmax");
        for (const char *loss : {"ctc", "ctc-linear"}) {
            arrays_stay("columns bigru3 conv5@1", policy, loss);
            arrays_stay("columns lstm6 conv5@1", policy, loss);
        }
    }
    for (const char *policy : checked)
        for (const char *net : nets) arrays_stay(net, policy, "softmax", 3);
    for (const char *net : nets) counts_leave(net, policies[1], "softmax");
    counts_leave("columns bigru3 conv5@1", policies[1], "ctc");
    return failed;
}
