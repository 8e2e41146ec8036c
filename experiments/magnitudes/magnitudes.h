/* magnitudes.h - settings, kinds of tensors, points and rows of magnitudes, shared by its rows and its claims. */
#ifndef ULP_EXPERIMENT_MAGNITUDES_H
#define ULP_EXPERIMENT_MAGNITUDES_H

#include "experiments/harness/training/lesson.h"
#include "experiments/harness/training/tensor_counts.h"

enum { INITIAL, TRAINED, STAGES };
#define STAGE_WORDS "initial trained"
enum { INPUT, WEIGHT, ACT, AGRAD, WGRAD, UPDATE, KINDS };
#define KIND_WORDS "input weight act agrad wgrad update"
enum { BIN, ZERO, SHARE, RANGE_ALL, RANGE_NORMAL, TEST_LOSS, TEST_ACCURACY };
#define WHAT_WORDS "bin zero share range_all range_normal test_loss test_accuracy"
#define ALL_LAYERS "all"

typedef struct settings {
    ulp_format_list formats;
    ulp_lesson_settings lesson;
    int64_t steps;
    double rate, momentum;
} settings;

/* A training run. */
typedef struct point {
    uint64_t seed;
} point;

typedef struct row {
    int64_t seed;
    int kind;
    const char *layer, *name;
    int stage, what;
    const char *format;
    ulp_bin bin; /* rows share: count only; rows test_loss and test_accuracy: the value is in bin.share */
    int64_t zero, flushed, subnormal, overflowed, normal;
    int64_t low, high; /* ends of a range, as log2 */
} row;

#endif
