/* gan.h - variants, settings, points and rows, shared by the runs and the claims of gan. */
#ifndef ULP_EXPERIMENT_GAN_H
#define ULP_EXPERIMENT_GAN_H

#include "experiments/harness/training/lesson.h"
#include "sim/gan/gan.h"

/* ---- classifier.c: a classifier, trained in binary32 on the same digits, that judges generated samples ---- */

typedef struct classifier {
    const ulp_data *data;
    const ulp_net *net;
    const ulp_backend *backend;
    float *w;                  /* (params) the trained weights */
    size_t features;           /* inputs of the last layer */
    double *mean, *covariance; /* (features), (features,features) of the test part */
    double accuracy;           /* on the test part */
} classifier;

/* The quality of samples, as the classifier sees it. */
typedef struct verdict {
    double distance; /* Frechet distance between the features of the samples and those of the test part */
    double classes;  /* number of classes that have at least a fifth of their fair share of the samples, surely */
    double sure;     /* share of the samples with a class of probability SURE or more */
} verdict;

#define SURE 0.9

/* Trains the classifier, and takes the features of the test part. The caller calls classifier_end() in all cases. */
ulp_status classifier_start(classifier *c, const ulp_plan *plan, const ulp_data *data, const ulp_net *net,
                            uint64_t steps, uint64_t seed, const ulp_backend *backend);
void classifier_end(classifier *c);

/* Judges x (n,features of the data), host memory. */
ulp_status classifier_judge(const classifier *c, verdict *v, const float *x, size_t n);

/* ---- the experiment ---- */

/* X(index, name, description, policy, scaler of each network). DIGITS is no training: the digits themselves. */
#define VARIANTS(X)                                                                                                    \
    X(DIGITS, "digits", "real digits", NULL, NULL)                                                                     \
    X(FP32, "fp32", "binary32", "fp32", "none")                                                                        \
    X(FP16_SCALED, "fp16-scaled", "mixed binary16; a dynamic loss scale each", "mixed:fp16", "pytorch")                \
    X(BF16, "bf16", "mixed bfloat16", "mixed:bf16", "none")                                                            \
    X(FP8, "fp8", "fp8 with tensor scales", "mixed:bf16,weight=e4m3@amax,act=e4m3@amax,agrad=e5m2@amax", "none")       \
    X(FP16, "fp16", "mixed binary16; no loss scale", "mixed:fp16", "none")                                             \
    X(BF16_ALL, "bf16-all", "all but sums in bfloat16", "bf16,acc=fp32", "none")                                       \
    X(FP16_ALL, "fp16-all", "all but sums in binary16; loss scales", "fp16,acc=fp32", "pytorch")
#define INDEX(index, ...) index,
#define VARIANT(index, ...) {__VA_ARGS__},
#define WORD(index, name, ...) " " name
#define VARIANT_WORDS &(VARIANTS(WORD))[1]
enum { VARIANTS(INDEX) COUNT };
enum { GENERATOR, DISCRIMINATOR, PLAYERS };

/* The variant of --amp: policies and scalers that sim/policy/amp.h derives for each network. */
enum { AMP = COUNT };
#define ROW_WORDS &(VARIANTS(WORD) " amp")[1]

static const struct variant {
    const char *name, *words, *policy, *scaler; /* the loss scale of --weight, times 2^16 at the start if dynamic */
} variants[COUNT] = {VARIANTS(VARIANT)};

typedef struct settings {
    uint64_t variants; /* bit i stands for variant i */
    const char *generator, *discriminator, *classifier;
    ulp_named_optimizer generator_optimizer, discriminator_optimizer;
    int64_t latents, batch, steps, every, samples, shown, weight, interval, classifier_steps, seeds;
    uint64_t seed;
    const char *set, *data;
    double checkpoint; /* seconds */
    const ulp_backend *backend;
    ulp_training_settings how;
} settings;

/* Data shared by all points. */
typedef struct context {
    ulp_data data;
    ulp_net generator, discriminator, judging;
    classifier classifier;
    ulp_method method[PLAYERS][COUNT + 1];
} context;

typedef struct point {
    int variant;
    uint64_t seed;
} point;

enum { CURVE, FINAL, PIXEL }; /* what a row is about: the run so far, its end, one pixel of a sample */

/* The losses are means since the row before. The scales of the loss are without the weight. */
typedef struct row {
    int variant, what;
    int64_t seed, step;
    verdict verdict;
    double generator_loss, discriminator_loss;
    int64_t generator_scale, discriminator_scale, generator_skipped, discriminator_skipped;
    int64_t sample, x, y; /* of a pixel, from the upper left corner */
    double value;         /* of a pixel, 0 to 1 */
} row;

enum { PATIENCE = 20 }; /* a run ends after so many steps with a NaN loss, one after another */

#endif
