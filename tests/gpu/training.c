/* training.c - training on the device: losses, counters, scales, observed tensors, scores and weights as on the CPU. */
#include "check.h"

#include "kernels/functions/ctc.h"
#include "tests/unit/texts.h"

enum { SIDE = 8, CLASSES = 4, LABELS = 3, SAMPLES = 96, TRAIN = 64 };

#define RESIDUAL "conv4@3p1 bn relu fork conv4@3p1 tanh join drop20 pool2 fc8 sigmoid fork fc8 leaky join fc4"
#define AVERAGED "conv4@3p1 bn relu avg2 drop50 fc8 bn tanh drop0 fc4"
#define STRIDED "conv4@3p1 relu pool3s2p1 up2 fork conv4@3p1 tanh join pool2s1 fc4"
#define RECURRENT "columns2 gru5 lstm4 rnn3 last fc4"
#define SEQUENCES "columns bigru3 lstm5 conv5@1"
#define TOKENS "lin8 pos8 fork ln:welford attn2:kv=1:rope join fork rms:one-pass swiglu6 lin8 join gelu mean fc4"
#define TEXT "embed8:4 pos9 fork ln attn2:block=3:base2:integer causal join silu unembed"

/* Each run is named for its difference from the others. Together the runs have every kind of layer, every rounding
 * point, and every kind of scaler and optimizer. */
static const struct run {
    const char *name, *net, *policy, *scaler, *optimizer;
    const char *native; /* a native product, for all sums on the device; the CPU uses its model */
} runs[] = {
    {"binary32", "fc24 relu fc4", "fp32", "none", "sgd,momentum=0.9", NULL},
    {"residual, mixed:fp16", RESIDUAL, "mixed:fp16", "pytorch,init=22,interval=2", "sgd,momentum=0.9,decay=0.01", NULL},
    {"residual, stochastic", RESIDUAL, "bf16,acc=fp32,mode=sr/8", "none", "sgd,kahan=1", NULL},
    {"residual, a policy per layer", RESIDUAL,
     "mixed:fp16,bn.*=fp32,first.weight=bf16,relu.act=e4m3@amax,conv.fwd=serial:fp16:rne,last.*=fp32,fork.act=bf16",
     "pytorch,init=12,interval=2", "sgd,momentum=0.9", NULL},
    {"residual, a scale per layer", RESIDUAL, "mixed:fp16,mode=sr", "layer,init=12,interval=2", "adam", NULL},
    {"residual, e4m3 with scales per tensor", RESIDUAL,
     "mixed:e4m3,act=e4m3@amax,agrad=e5m2@delayed2,weight=e4m3@amax,wgrad=e5m2@amax", "pytorch,init=4,interval=20",
     "adamw", NULL},
    {"residual, sums as Tensor Cores form them", RESIDUAL, "mixed:e4m3,acc=h100-e4m3", "static:4", "sgd", NULL},
    {"residual, stochastic sums", RESIDUAL, "mixed:fp16,mode=sr,acc=serial:fp16:sr", "static:4", "sgd", NULL},
    {"residual, fixed point", RESIDUAL, "q6.10,mode=sr,acc=fp32,loss=fp32", "none", "sgd", NULL},
    {"residual, Kahan and chunks", RESIDUAL, "mixed:fp16,fwd=kahan:fp16:rne,bwd=chunk4:fp16:rne", "static:4", "sgd",
     NULL},
    {"residual, clipped, weights alone decay", RESIDUAL, "mixed:fp16,mode=sr", "layer,init=12,interval=2",
     "adamw,clip=0.25,decays=weights", NULL},
    {"residual, micro-batches", RESIDUAL, "mixed:bf16,mode=sr", "static:4",
     "sgd,accumulate=4:bf16/sr,clip=2,clip-at=scaled", NULL},
    {"averaged, mixed:fp16", AVERAGED, "mixed:fp16", "pytorch,init=12,interval=2", "sgd,momentum=0.9", NULL},
    {"averaged, fixed point", AVERAGED, "q6.10,mode=sr,acc=fp32,loss=fp32", "none", "adam,eps=0.0625", NULL},
    {"averaged, e4m3 with scales per tensor", AVERAGED,
     "mixed:e4m3,act=e4m3@amax,agrad=e5m2@delayed2,weight=e4m3@amax,wgrad=e5m2@amax", "pytorch,init=4,interval=20",
     "sgd", NULL},
    {"strided windows, mixed:fp16", STRIDED, "mixed:fp16,agrad=e5m2/sr", "layer,init=12,interval=2", "sgd,momentum=0.9",
     NULL},
    {"recurrent, mixed:fp16", RECURRENT, "mixed:fp16", "logmax", "sgd,momentum=0.9", NULL},
    {"recurrent, binary16 alone", RECURRENT, "fp16", "static:4", "adam,eps=0.001", NULL},
    {"recurrent, e4m3 with scales per tensor", RECURRENT,
     "mixed:e4m3,act=e4m3@delayed3,agrad=e5m2@delayed,weight=e4m3@delayed2", "layer,init=10", "sgd", NULL},
    {"tokens, mixed:bf16", TOKENS, "mixed:bf16,score=fp16,prob=e4m3", "none", "adamw", NULL},
    {"tokens, stochastic", TOKENS, "mixed:fp16,mode=sr,acc=serial:fp16:sr,norm=bf16", "static:4", "sgd", NULL},
    {"text, mixed:fp16", TEXT, "mixed:fp16,mode=sr/9", "layer,init=10,interval=2", "adam", NULL},
    {"text, e4m3 with scales per tensor", TEXT, "mixed:e4m3,act=e4m3@amax,agrad=e5m2@delayed2,prob=e4m3", "static:4",
     "sgd", NULL},
    {"tokens, casts to blocks", TOKENS, "nvfp4,wgrad.x=nvfp4:rht,wgrad.g=nvfp4:rht/sr", "none", "adamw", NULL},
    {"tokens, corrected blocks", TOKENS, "quartet2", "none", "sgd", NULL},
    {"residual, elements and block scales", RESIDUAL,
     "mxfp8,fwd.x=nvfp4,fwd.w=nvfp4,fwd=b200-e2m1-nvf4,bwd=b200-e4m3-mx", "static:4", "sgd", NULL},
    {"text, elements and tensor scales", TEXT, "fp8-tensorwise,fwd=h100-e4m3,bwd=h100-e5m2.e4m3", "static:4", "sgd",
     NULL},
    {"residual, one bit and integers", RESIDUAL, "mixed:bf16,fwd.x=int8@amax,fwd.w=xnor,dgrad.w=xnor,fwd=int8", "none",
     "adam,limit=1,decays=weights", NULL},
    {"residual, signs and ternary numbers", RESIDUAL,
     "mixed:bf16,fwd.w=sign/sr,dgrad.w=sign/sr,last.fwd.w=ternary,last.dgrad.w=ternary", "none", "sgd,limit=0.3", NULL},
    {"residual, sums by mma.sync", RESIDUAL, "mixed:fp16", "static:4", "sgd", "native:mma:fp16"},
    {"recurrent, sums by mma.sync", RECURRENT, "mixed:bf16", "static:4", "sgd", "native:mma:bf16"},
    {"residual, sums by wgmma", RESIDUAL, "mixed:fp16", "static:4", "adam", "native:wgmma:fp16"},
    {"residual, e4m3 sums by wgmma", RESIDUAL, "mixed:e4m3,agrad=e4m3,out=e4m3", "static:4", "sgd",
     "native:wgmma:e4m3"},
};

/* Runs without an observer, so that the device rounds all numbers itself: on sequences of labels, if the loss is `ctc`
 * or `ctc-linear`, on a label for each row of an image, if it is `rows`, and on images. */
static const struct unseen_run {
    const char *loss;
    struct run run;
} unseen_runs[] = {
    {"softmax",
     {"strided windows, unseen, a scale per layer", STRIDED, "mixed:bf16,mode=sr/9", "layer,init=12,interval=2", "adam",
      NULL}},
    {"softmax",
     {"strided windows, unseen, scales per tensor", STRIDED,
      "mixed:e4m3,act=e4m3@amax,agrad=e5m2@delayed2,weight=e4m3@amax,wgrad=fp16", "layer,init=10", "sgd", NULL}},
    {"softmax",
     {"tokens, unseen, scales per tensor", TOKENS, "mixed:e4m3,act=e4m3@amax,agrad=e5m2@amax", "static:6", "adamw",
      NULL}},
    {"softmax", {"text, unseen", TEXT, "mixed:bf16,mode=sr,norm=fp16", "static:4", "adam", NULL}},
    {"softmax",
     {"residual, unseen, scales per tensor and NaN", RESIDUAL, "mixed:e4m3,act=e4m3@amax,agrad=e5m2@amax/rd,wgrad=fp16",
      "static:40", "sgd", NULL}},
    {"rows",
     {"labels of rows, mixed:bf16", "conv4@3p1 tanh conv1@1", "mixed:bf16,loss=bf16,mode=sr", "none", "adam", NULL}},
    {"ctc", {"labels, mixed:fp16", SEQUENCES, "mixed:fp16", "pytorch,init=12,interval=2", "adam", NULL}},
    {"ctc-linear", {"labels, binary32", SEQUENCES, "fp32", "none", "sgd,momentum=0.9", NULL}},
    {"ctc",
     {"labels, e4m3 with scales per tensor", SEQUENCES,
      "mixed:e4m3,act=e4m3@amax,agrad=e5m2@delayed2,loss=bf16,mode=sr", "layer,init=10", "sgd", NULL}},
    {"ctc-linear",
     {"labels, sums that underflow", SEQUENCES, "mixed:bf16,loss=fp16,mode=sr/9", "static:6", "sgd", NULL}},
};

static uint8_t pixel[SAMPLES * SIDE * SIDE], label[SAMPLES], labels[SAMPLES * LABELS], row_label[SAMPLES * SIDE];
static const ulp_data images = {.name = "images",
                                .n = SAMPLES,
                                .n_train = TRAIN,
                                .dims = {1, SIDE, SIDE},
                                .features = SIDE * SIDE,
                                .classes = CLASSES,
                                .labels = 1,
                                .white = 255,
                                .pixel = pixel,
                                .label = label};
static ulp_data rows; /* the images, with a label for each row of pixels: the number of a column */
static uint8_t token[SAMPLES * SIDE], next_token[SAMPLES * SIDE];
static const ulp_data sentences = {.name = "sentences",
                                   .n = SAMPLES,
                                   .n_train = TRAIN,
                                   .dims = {1, SIDE, 1},
                                   .features = SIDE,
                                   .classes = CLASSES,
                                   .labels = SIDE,
                                   .positions = 1,
                                   .tokens = 1,
                                   .white = 1,
                                   .pixel = token,
                                   .label = next_token};
static ulp_data sequences; /* the images with up to LABELS labels each, some without labels, some with equal ones */

/* Fold everything that an observer gets into one number (FNV-1a, 64 bits). */
static void see(void *context, const ulp_observation *observed) {
    uint64_t *hash = context;
    const float *shown[] = {observed->raw, observed->rounded};
    for (size_t i = 0; i < 2 * observed->n; i++) {
        uint32_t u;
        memcpy(&u, &shown[i % 2][i / 2], sizeof u);
        *hash = (*hash ^ u) * 0x100000001b3u;
    }
    *hash =
        (*hash ^ (uint64_t)observed->point ^ (uint64_t)(unsigned)observed->scale_log2 << 8 ^ observed->layer << 32) *
        0x100000001b3u;
}

typedef struct side {
    ulp_trainer *trainer;
    ulp_observer observer;
    uint64_t hash;
    ulp_step step;
    float *weights; /* (2 params): weights, then master weights */
} side;

static int open_side(side *s, row *r, const struct run *run, const char *loss, const char *products,
                     const ulp_backend *backend, size_t batch) {
    ulp_error error = {0};
    char policy[256];
    snprintf(policy, sizeof policy, "%s%s%s", run->policy, products != NULL ? ",acc=" : "",
             products != NULL ? products : "");
    *s = (side){.observer = {see, &s->hash, UINT32_MAX}};
    const int is_rows = loss != NULL && strcmp(loss, "rows") == 0;
    const ulp_data *labelled = is_rows ? &rows : loss != NULL && strcmp(loss, "softmax") != 0 ? &sequences : &images;
    const ulp_data *data = strncmp(run->net, "embed", 5) == 0 ? &sentences : labelled;
    const training_texts options = {
        run->net,       policy,    run->scaler,        run->optimizer, .loss = is_rows ? "softmax" : loss,
        .batch = batch, .seed = 5, .backend = backend, .counting = 1,  .observer = loss == NULL ? &s->observer : NULL};
    if (!row_ok(r, trainer_from_texts(&s->trainer, data, &options, &error), "%s: %s", run->name, error.text)) return 0;
    s->weights = calloc(2 * s->trainer->model.net.params + 1, sizeof *s->weights);
    return row_ok(r, s->weights != NULL ? ULP_OK : ULP_NO_MEMORY, "host memory");
}

static void close_side(side *s) {
    ulp_trainer_free(s->trainer);
    free(s->weights);
}

static void same_step(row *r, const side *got, const side *want, const char *name) {
    const ulp_step *g = &got->step, *w = &want->step;
    row_doubles(r, &g->loss, &w->loss, 1, "%s: loss of step %llu", name, (unsigned long long)w->step);
    row_true(r, g->scale_log2 == w->scale_log2 && g->overflow == w->overflow && g->skipped == w->skipped,
             "%s: scale or skip of step %llu", name, (unsigned long long)w->step);
    row_counters(r, &g->act, &w->act, name, "activations");
    row_counters(r, &g->agrad, &w->agrad, name, "activation gradients");
    row_counters(r, &g->wgrad, &w->wgrad, name, "weight gradients");
    const uint64_t g_all[] = {g->agrad_all.count, g->agrad_all.zero, g->wgrad_all.count, g->wgrad_all.zero};
    const uint64_t w_all[] = {w->agrad_all.count, w->agrad_all.zero, w->wgrad_all.count, w->wgrad_all.zero};
    row_words(r, g_all, w_all, 4, "%s: gradients and zeros among them (activations, weights)", name);
    row_words(r, &got->hash, &want->hash, 1, "%s: what observers see in step %llu", name, (unsigned long long)w->step);
    for (size_t i = 0; w->layer_scale != NULL && i < want->trainer->model.net.count; i++)
        row_true(r, g->layer_scale[i] == w->layer_scale[i], "%s: scale of layer %zu", name, i);
}

/* Compare scores and weights; in small runs only the score of the test part, which is the smaller one. */
static void same_end(const check *c, row *r, const side *got, const side *want, const char *name) {
    const size_t n = want->trainer->model.net.params;
    for (int part = c->small ? ULP_TEST_PART : ULP_TRAIN_PART; part <= ULP_TEST_PART; part++) {
        ulp_score g, w;
        if (!row_ok(r, ulp_trainer_score(got->trainer, (ulp_part)part, &g), "%s: score", name)) return;
        row_ok(r, ulp_trainer_score(want->trainer, (ulp_part)part, &w), "%s: the CPU's score", name);
        row_doubles(r, &g.loss, &w.loss, 1, "%s: loss of part %d", name, part);
        row_true(r, g.right == w.right, "%s: right answers of part %d", name, part);
    }
    row_ok(r, ulp_trainer_weights(got->trainer, got->weights, got->weights + n), "%s: weights", name);
    row_ok(r, ulp_trainer_weights(want->trainer, want->weights, want->weights + n), "%s: the CPU's weights", name);
    row_floats(r, got->weights, want->weights, 2 * n, "%s: weights", name);
    size_t finite = 0; /* a training that ends in NaN compares NaN with NaN; only one is meant to */
    for (size_t i = 0; i < n; i++) finite += isfinite(want->weights[i]) != 0;
    if (2 * finite < n && strstr(name, "NaN") == NULL)
        row_true(r, 0, "%s: %zu of %zu weights are finite", name, finite, n);
}

/* Whether the device can make the run. *model = the CPU's model of the native product, or NULL without one. */
static int ready(row *r, const struct run *run, ulp_cuda_native *native, const char **model) {
    *model = NULL;
    if (r->skipped || run->native == NULL) return !r->skipped;
    if (!row_ok(r, ulp_cuda_native_parse(native, run->native), "%s", run->native)) return 0;
    if (native->lacks[0] != '\0') row_skip(r, "%s", native->lacks);
    else if (native->model[0] == '\0') row_skip(r, "no model is known for this device");
    *model = native->model;
    return !r->skipped;
}

static void train(const check *c, const struct run *run, const char *loss) {
    char name[160];
    ulp_cuda_native native;
    const char *model;
    snprintf(name, sizeof name, "training: %s", run->name);
    row r = row_of(name);
    side want = {0}, got = {0};
    if (ready(&r, run, &native, &model) && open_side(&want, &r, run, loss, model, c->cpu, c->small ? 8 : 32) &&
        open_side(&got, &r, run, loss, run->native, c->gpu, c->small ? 8 : 32)) {
        for (int k = 0; k < (c->small ? 3 : 60) && !r.stopped; k++) {
            row_ok(&r, ulp_trainer_step(want.trainer, &want.step), "%s: the CPU's step", run->name);
            if (row_ok(&r, ulp_trainer_step(got.trainer, &got.step), "%s: step %d", run->name, k))
                same_step(&r, &got, &want, run->name);
        }
        if (!r.stopped) same_end(c, &r, &got, &want, run->name);
    }
    close_side(&want);
    close_side(&got);
    row_end(&r);
}

void check_training(const check *c) {
    for (size_t i = 0; i < sizeof pixel; i++) pixel[i] = (uint8_t)(word_of(9, i) >> 24);
    for (size_t i = 0; i < SAMPLES; i++) {
        label[i] = (uint8_t)(i % CLASSES);
        /* the label is the number of a white row of pixels */
        for (size_t k = 0; k < SIDE; k++) pixel[(i * SIDE + label[i]) * SIDE + k] = 255;
    }
    for (size_t i = 0; i < SAMPLES * LABELS; i++)
        labels[i] = i % LABELS < i / LABELS % (LABELS + 1) ? (uint8_t)(word_of(10, i) % CLASSES / 2) : ULP_NO_LABEL;
    for (size_t i = 0; i < sizeof row_label; i++) row_label[i] = (uint8_t)(word_of(11, i) % SIDE);
    rows = images;
    rows.classes = rows.labels = SIDE;
    rows.positions = 1;
    rows.label = row_label;
    for (size_t i = 0; i < SAMPLES * SIDE; i++) { /* a token follows the one before it, seldom another */
        token[i] = (uint8_t)(i % SIDE == 0 || word_of(11, i) % 8 == 0 ? word_of(12, i) % CLASSES
                                                                      : (token[i - 1] + 1u) % CLASSES);
        next_token[i] = (uint8_t)((token[i] + 1u) % CLASSES);
    }
    sequences = images;
    sequences.labels = LABELS;
    sequences.label = labels;
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) train(c, &runs[i], NULL);
    for (size_t i = 0; i < sizeof unseen_runs / sizeof unseen_runs[0]; i++)
        train(c, &unseen_runs[i].run, unseen_runs[i].loss);
}
