/* footprint.h - networks, policies, published numbers, rows, shared by the counts and the claims of footprint. */
#ifndef ULP_EXPERIMENT_FOOTPRINT_H
#define ULP_EXPERIMENT_FOOTPRINT_H

#include "experiments/harness/training/networks.h"
#include "experiments/harness/training/options.h"
#include "sim/train/footprint.h"
#include "sim/train/memory.h"

/* Residual blocks of ResNet-50 after He et al. 2016, doi:10.1109/CVPR.2016.90, with the stride in the 3 x 3 convolution
 * (v1.5): n channels inside, m outside; PROJECTED blocks change the shape and have the stride s. */
#define BLOCK(n, m) " fork conv" n "@1nobias bn relu conv" n "@3p1nobias bn relu conv" m "@1nobias bn join relu"
#define PROJECTED(n, m, s)                                                                                             \
    " fork conv" n "@1nobias bn relu conv" n "@3" s "p1nobias bn relu conv" m "@1nobias bn shortcut conv" m "@1" s     \
    "nobias bn join relu"
#define BLOCKS_3(n, m, s) PROJECTED(n, m, s) BLOCK(n, m) BLOCK(n, m)
#define BLOCKS_4(n, m, s) BLOCKS_3(n, m, s) BLOCK(n, m)
#define BLOCKS_6(n, m, s) BLOCKS_4(n, m, s) BLOCK(n, m) BLOCK(n, m)

/* X(name, layers, shape of the input, published parameters, published multiply-adds per image in 10^9). Krizhevsky
 * 2014, arXiv:1404.5997 (one tower); Simonyan and Zisserman 2015, arXiv:1409.1556, configuration D; He et al. 2016. The
 * stack of bidirectional layers is ours, in the size of Amodei et al. 2016, arXiv:1512.02595: 256 steps of 160
 * features. */
#define LARGE(X)                                                                                                       \
    X(alexnet,                                                                                                         \
      "conv64@11s4p2 relu pool3s2 conv192@5p2 relu pool3s2 conv384@3p1 relu conv256@3p1 relu conv256@3p1 relu "        \
      "pool3s2 drop50 fc4096 relu drop50 fc4096 relu fc1000",                                                          \
      3, 224, 224, 61100840, 0.71)                                                                                     \
    X(vgg16,                                                                                                           \
      "conv64@3p1 relu conv64@3p1 relu pool2 conv128@3p1 relu conv128@3p1 relu pool2 conv256@3p1 relu conv256@3p1 "    \
      "relu conv256@3p1 relu pool2 conv512@3p1 relu conv512@3p1 relu conv512@3p1 relu pool2 conv512@3p1 relu "         \
      "conv512@3p1 relu conv512@3p1 relu pool2 fc4096 relu drop50 fc4096 relu drop50 fc1000",                          \
      3, 224, 224, 138357544, 15.5)                                                                                    \
    X(resnet50,                                                                                                        \
      "conv64@7s2p3nobias bn relu pool3s2p1" BLOCKS_3("64", "256", "s1") BLOCKS_4("128", "512", "s2")                  \
          BLOCKS_6("256", "1024", "s2") BLOCKS_3("512", "2048", "s2") " avg7 fc1000",                                  \
      3, 224, 224, 25557032, 4.1)                                                                                      \
    X(bigru, "bigru800 bigru800 bigru800 bigru800 bigru800 conv29@1", 160, 1, 256, 0, 0)
#define LARGE_ROW(name, text, c, h, w, params, multiply_adds) {#name, text, {c, h, w}, params, multiply_adds},
#define LARGE_WORD(name, ...) " " #name
#define LARGE_WORDS &(LARGE(LARGE_WORD))[1]

static const struct large {
    const char *name, *text;
    ulp_dims in;
    uint64_t params;      /* 0: not published */
    double multiply_adds; /* 10^9 per image */
} large[] = {LARGE(LARGE_ROW)};
enum { LARGE_COUNT = sizeof large / sizeof large[0] };

/* X(index, name, policy, 1 if machines multiply binary32 operands in tf32) */
#define POLICIES(X)                                                                                                    \
    X(FP32, "fp32", "fp32", 0)                                                                                         \
    X(TF32, "tf32", "fp32", 1)                                                                                         \
    X(MIXED_FP16, "mixed-fp16", "mixed:fp16", 0)                                                                       \
    X(MIXED_BF16, "mixed-bf16", "mixed:bf16", 0)                                                                       \
    X(FP8, "fp8", "mixed:bf16,weight=e4m3:sat@delayed16,act=e4m3:sat@delayed16,agrad=e5m2:sat@delayed16", 0)           \
    X(FP16, "fp16", "fp16", 0)
#define POLICY_INDEX(index, ...) index,
#define POLICY_ROW(index, ...) {__VA_ARGS__},
#define POLICY_WORD(index, name, ...) " " name
#define POLICY_WORDS &(POLICIES(POLICY_WORD))[1]
enum { POLICIES(POLICY_INDEX) OWN, POLICY_COUNT }; /* OWN: that of --policy */
#define ALL_POLICY_WORDS &(POLICIES(POLICY_WORD) " own")[1]

static const struct variant {
    const char *name, *policy;
    int tf32;
} variants[] = {POLICIES(POLICY_ROW)};

/* Measured training throughputs in images per second. The first two sources are README files of the repository
 * NVIDIA/DeepLearningExamples; the third is the README of the repository u39kun/deep-learning-benchmark, which gives
 * milliseconds of a forward and a backward pass for 16 images. */
static const struct measurement {
    const char *net, *machine, *source;
    int from, to;         /* policies */
    int64_t batch[2];     /* of both */
    double throughput[2]; /* of both */
} measurements[] = {
    {"resnet50", "v100", "NVIDIA 2021 PyTorch", FP32, MIXED_FP16, {128, 256}, {367, 1200}},
    {"resnet50", "v100", "NVIDIA 2020 TensorFlow", FP32, MIXED_FP16, {128, 256}, {412, 1270}},
    {"resnet50", "a100", "NVIDIA 2021 PyTorch", TF32, MIXED_FP16, {256, 256}, {938, 2470}},
    {"resnet50", "a100", "NVIDIA 2020 TensorFlow", TF32, MIXED_FP16, {256, 256}, {909, 2375}},
    {"vgg16", "v100", "Sako and Ludwiczuk 2018", FP32, FP16, {16, 16}, {16 / 0.0835, 16 / 0.0588}},
};
enum { MEASUREMENTS = sizeof measurements / sizeof measurements[0] };

typedef struct settings {
    ulp_networks_settings networks;
    uint64_t large, policies, machines; /* bit i stands for row i of a table */
    int64_t large_batch;
    const char *policy;
    int roofline; /* index of a machine */
} settings;

/* A network under one policy; or, if `measured` is not NULL, one throughput of a measurement. */
typedef struct point {
    const ulp_network *network;
    int policy;
    size_t batch;
    const struct measurement *measured;
    int of; /* 0 or 1: which throughput */
} point;

/* Kinds of rows: bytes of memory by kind; work of an operation; the predicted time of a step by bound; the predicted
 * rate of an operation on the machine of --roofline; memory of a trainer, counted and allocated; a published throughput
 * and the predicted time of its step. */
enum { MEMORY, WORK, STEP, ROOF, TRAINER, THROUGHPUT };
#define WHAT_WORDS "memory work step roof trainer throughput"

/* The bound of the predicted time of an operation: an operation with products on products or on bytes; an operation
 * without products; an update. */
enum { BY_PRODUCTS, BY_BYTES, WITHOUT_PRODUCTS, UPDATES, BOUNDS };
#define BOUND_WORDS "products bytes elementwise update"

/* Rows without `layer` are about the whole net. Empty cells: not of this row. */
typedef struct row {
    const char *net;
    int policy, what;
    const char *machine;
    int64_t batch, layer;
    const char *word, *part; /* of the net's text; what is counted */
    int64_t params, products, bytes;
    int64_t allocated; /* bytes of a trainer's arrays */
    double intensity;  /* operations per byte; a multiply-add is two operations */
    const char *type;  /* of the operands of products */
    double seconds;    /* predicted */
    double rate;       /* predicted 10^12 operations per second */
    double published;  /* measured by others: images per second */
} row;

/* Whether the run has a policy. */
static inline int is_chosen(const settings *s, int policy) {
    return policy == OWN ? *s->policy != 0 : (int)(s->policies >> policy & 1);
}

#endif
