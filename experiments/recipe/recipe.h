/* recipe.h - what the runs and the claims of recipe share: variants, settings, points and rows. */
#ifndef ULP_EXPERIMENT_RECIPE_H
#define ULP_EXPERIMENT_RECIPE_H

#include "experiments/harness/training/cells.h"
#include "experiments/harness/training/lesson.h"

/* X(index, name, description, policy, scaler, 1 if the update is a Kahan sum) */
#define VARIANTS(X)                                                                                                    \
    X(FP32, "fp32", "binary32", "fp32", "none", 0)                                                                     \
    X(FP16, "fp16", "everything in binary16", "fp16", "none", 0)                                                       \
    X(FP16_SUMS, "fp16-sums", "+ fp32 sums", "fp16,acc=fp32,loss=fp32,norm=fp32", "none", 0)                           \
    X(FP16_MASTER, "fp16-master", "+ master weights", "mixed:fp16", "none", 0)                                         \
    X(FP16_RECIPE, "fp16-recipe", "+ loss scaling: the recipe", "mixed:fp16", "pytorch", 0)                            \
    X(FP16_LOWSUMS, "fp16-lowsums", "recipe but sums in fp16", "mixed:fp16,acc=serial:fp16:rne", "pytorch", 0)         \
    X(FP16_NOMASTER, "fp16-nomaster", "recipe but no master weights", "mixed:fp16,master=none", "pytorch", 0)          \
    X(FP16_SR, "fp16-sr", "stochastic weights instead", "mixed:fp16,master=none,weight=fp16/sr", "pytorch", 0)         \
    X(FP16_KAHAN, "fp16-kahan", "Kahan update instead", "mixed:fp16,master=none", "pytorch", 1)                        \
    X(BF16, "bf16", "everything in bfloat16", "bf16", "none", 0)                                                       \
    X(BF16_RECIPE, "bf16-recipe", "bfloat16 recipe: no scaling", "mixed:bf16", "none", 0)                              \
    X(BF16_LOWSUMS, "bf16-lowsums", "bf16 recipe but sums in bf16", "mixed:bf16,acc=serial:bf16:rne", "none", 0)       \
    X(BF16_NOMASTER, "bf16-nomaster", "bf16 recipe but no master weights", "mixed:bf16,master=none", "none", 0)        \
    X(BF16_SR, "bf16-sr", "stochastic weights instead", "mixed:bf16,master=none,weight=bf16/sr", "none", 0)            \
    X(BF16_KAHAN, "bf16-kahan", "Kahan update instead", "mixed:bf16,master=none", "none", 1)                           \
    X(FP8, "fp8", "fp8 without any scale", "mixed:bf16,weight=e4m3,act=e4m3,agrad=e5m2", "none", 0)                    \
    X(FP8_LOSS, "fp8-loss", "fp8 with loss scaling", "mixed:bf16,weight=e4m3,act=e4m3,agrad=e5m2", "pytorch", 0)       \
    X(FP8_NOW, "fp8-now", "fp8 with tensor scales just in time",                                                       \
      "mixed:bf16,weight=e4m3@amax,act=e4m3@amax,agrad=e5m2@amax", "none", 0)                                          \
    X(FP8_DELAYED, "fp8-delayed", "fp8 with delayed tensor scales",                                                    \
      "mixed:bf16,weight=e4m3:sat@delayed16,act=e4m3:sat@delayed16,agrad=e5m2:sat@delayed16", "none", 0)
#define INDEX(index, ...) index,
#define VARIANT(index, ...) {__VA_ARGS__},
#define WORD(index, name, ...) " " name
#define VARIANT_WORDS &(VARIANTS(WORD))[1]
enum { VARIANTS(INDEX) COUNT };

/* The variant of --amp: the policy and the scaler that sim/policy/amp.h derives. */
enum { AMP = COUNT };
#define ROW_WORDS &(VARIANTS(WORD) " amp")[1]

static const struct variant {
    const char *name, *words, *policy, *scaler; /* the loss scale of --weight, times 2^16 at the start if dynamic */
    uint8_t kahan;
} variants[COUNT] = {VARIANTS(VARIANT)};

typedef struct settings {
    uint64_t variants; /* bit i stands for variant i */
    ulp_lesson_settings lesson;
    int64_t every, weight, interval;
    double rate, momentum;
} settings;

typedef struct point {
    int variant;
    uint64_t seed;
} point;

typedef struct row {
    int variant, what; /* what: 0 for epoch, 1 for final */
    int64_t seed;
    ulp_training_cells cells;
} row;

#endif
