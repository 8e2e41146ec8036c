/* ctc.h - settings, points and rows, shared by the sums, the trainings and the claims of ctc. */
#ifndef ULP_EXPERIMENT_CTC_H
#define ULP_EXPERIMENT_CTC_H

#include "experiments/harness/training/options.h"

enum { LOG, LINEAR, FORMS };
#define FORM_WORDS "log linear"

enum { GRU, LSTM, CELLS };
#define CELL_WORDS "gru lstm"

enum { FP32, MIXED_FP16, MIXED_BF16, FP16, BF16, RECIPES };
#define RECIPE_WORDS "fp32 mixed:fp16 mixed:bf16 fp16 bf16"
enum { AMP = RECIPES }; /* the recipe of --amp, whose policy depends on the cell */
#define ROW_RECIPE_WORDS RECIPE_WORDS " amp"

enum { STRIPS, MNIST_STRIPS };
#define SET_WORDS "strips mnist-strips"

typedef struct settings {
    ulp_format_list formats;
    ulp_integer_list outputs, labels;
    uint64_t cells, recipes, seed; /* bit i stands for word i */
    const char *net, *optimizer, *data;
    int64_t longest, batch, steps, every, seeds;
    double gru_rate, lstm_rate, checkpoint;
    int set;
    const ulp_backend *backend;
    ulp_training_settings how;
} settings;

/* A point: sums over paths, or a training. */
typedef struct point {
    int training;
    int form;
    const ulp_format *format; /* NULL: binary64 for sums, the format of the recipe for the loss of a training */
    int64_t outputs, labels;  /* for sums */
    int cell, recipe;         /* for trainings */
    uint64_t seed;
} point;

enum { SUM, GONE, CURVE, FINAL };
#define KIND_WORDS "sum gone curve final"

typedef struct row {
    int kind, cell, recipe, form;
    const char *format; /* of the sums over paths */
    int64_t seed, outputs, labels, steps;
    double loss, exact, error, label_error, strip_error;
    int64_t skipped, diverged;
} row;

/* -log P of L labels without equal neighbours, for T steps and C equally probable outputs. */
double exact_loss(int64_t C, int64_t L, int64_t T);

#endif
