/* recipe.h - what the runs and the claims of recipe share: variants, settings, points and rows. */
#ifndef ULP_EXPERIMENT_RECIPE_H
#define ULP_EXPERIMENT_RECIPE_H

#include "experiments/harness/training/cells.h"
#include "experiments/harness/training/lesson.h"

/* The variants, and their words on the command line and in rows, in the same order. */
enum variant_index {
    FP32,
    FP16,
    FP16_SUMS,
    FP16_MASTER,
    FP16_RECIPE,
    FP16_LOWSUMS,
    FP16_NOMASTER,
    FP16_SR,
    FP16_KAHAN,
    BF16,
    BF16_RECIPE,
    BF16_LOWSUMS,
    BF16_NOMASTER,
    BF16_SR,
    BF16_KAHAN,
    FP8,
    FP8_LOSS,
    FP8_NOW,
    FP8_DELAYED,
    COUNT,
    AMP = COUNT /* the variant of --amp: the policy and the scaler that sim/policy/amp.h derives */
};
#define VARIANT_WORDS                                                                                                  \
    "fp32 fp16 fp16-sums fp16-master fp16-recipe fp16-lowsums fp16-nomaster fp16-sr fp16-kahan "                       \
    "bf16 bf16-recipe bf16-lowsums bf16-nomaster bf16-sr bf16-kahan fp8 fp8-loss fp8-now fp8-delayed"
#define ROW_WORDS VARIANT_WORDS " amp"

typedef struct variant {
    const char *words, *policy, *scaler; /* the loss scale of --weight, times 2^16 at the start if dynamic */
    uint8_t kahan;                       /* 1: the update is a Kahan sum */
} variant;

static const variant variants[COUNT + 1] = {
    [FP32] = {"binary32", "fp32", "none", 0},
    [FP16] = {"everything in binary16", "fp16", "none", 0},
    [FP16_SUMS] = {"+ fp32 sums", "fp16,acc=fp32,loss=fp32,norm=fp32", "none", 0},
    [FP16_MASTER] = {"+ master weights", "mixed:fp16", "none", 0},
    [FP16_RECIPE] = {"+ loss scaling: the recipe", "mixed:fp16", "pytorch", 0},
    [FP16_LOWSUMS] = {"recipe but sums in fp16", "mixed:fp16,acc=serial:fp16:rne", "pytorch", 0},
    [FP16_NOMASTER] = {"recipe but no master weights", "mixed:fp16,master=none", "pytorch", 0},
    [FP16_SR] = {"stochastic weights instead", "mixed:fp16,master=none,weight=fp16/sr", "pytorch", 0},
    [FP16_KAHAN] = {"Kahan update instead", "mixed:fp16,master=none", "pytorch", 1},
    [BF16] = {"everything in bfloat16", "bf16", "none", 0},
    [BF16_RECIPE] = {"bfloat16 recipe: no scaling", "mixed:bf16", "none", 0},
    [BF16_LOWSUMS] = {"bf16 recipe but sums in bf16", "mixed:bf16,acc=serial:bf16:rne", "none", 0},
    [BF16_NOMASTER] = {"bf16 recipe but no master weights", "mixed:bf16,master=none", "none", 0},
    [BF16_SR] = {"stochastic weights instead", "mixed:bf16,master=none,weight=bf16/sr", "none", 0},
    [BF16_KAHAN] = {"Kahan update instead", "mixed:bf16,master=none", "none", 1},
    [FP8] = {"fp8 without any scale", "mixed:bf16,weight=e4m3,act=e4m3,agrad=e5m2", "none", 0},
    [FP8_LOSS] = {"fp8 with loss scaling", "mixed:bf16,weight=e4m3,act=e4m3,agrad=e5m2", "pytorch", 0},
    [FP8_NOW] = {"fp8 with tensor scales just in time", "mixed:bf16,weight=e4m3@amax,act=e4m3@amax,agrad=e5m2@amax",
                 "none", 0},
    [FP8_DELAYED] = {"fp8 with delayed tensor scales",
                     "mixed:bf16,weight=e4m3:sat@delayed16,act=e4m3:sat@delayed16,agrad=e5m2:sat@delayed16", "none", 0},
    [AMP] = {.words = "formats by lists of operations"},
};

static inline ulp_word variant_name(int index) { return ulp_word_of(ROW_WORDS, (size_t)index); }

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
