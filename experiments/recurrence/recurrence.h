/* recurrence.h - what the files of recurrence share: settings, points and rows, the arithmetics, a network that runs.
 */
#ifndef ULP_EXPERIMENT_RECURRENCE_H
#define ULP_EXPERIMENT_RECURRENCE_H

#include "experiments/harness/experiment.h"
#include "experiments/harness/training/texts.h"
#include "sim/sequence.h"
#include "sim/train.h"

enum { RNN, GRU, LSTM, CELLS };
#define CELL_WORDS "rnn gru lstm"

enum { SUMS_BINARY32, SUMS_OWN, SUMS_BINARY64, SUMS_POLICY };
#define SUMS_WORDS "binary32 own binary64 policy"

/* What to run. */
enum { RUN_RANDOM, RUN_TRAINED, RUN_TRAINING, RUNS };
#define RUN_WORDS "random trained training"

enum { ANSWERING = 6, BACKWARD = 4, LEARNING = 4, FEATURES = 4, SAMPLES_MAX = 256, DIGITS = 10 };

typedef struct settings {
    uint64_t parts, sums, cells, seed; /* bits: those of the words */
    ulp_format_list formats;
    ulp_rule_list modes;
    ulp_number_list gains;
    int64_t units, steps, sequences, hidden, piece, epochs, batch, seeds;
    ulp_named_optimizer optimizer;
    const char *data;
    const ulp_backend *backend;
} settings;

typedef struct point {
    int run;
    double gain;  /* of RUN_RANDOM */
    int cell;     /* of the others */
    int learning; /* of RUN_TRAINING: the row of `learning` */
    uint64_t seed;
} point;

enum { RANDOM, RANDOM_BACK, TRAINED, TRAINED_BACK, TRAINING };
#define PART_WORDS "random random-back trained trained-back training"

/* A step of a run; all up to scale_log2 names the run. */
typedef struct row {
    int part, cell;
    double gain;
    int64_t seed;
    const char *arithmetic;
    int64_t bits;
    const char *mode;
    int sums;
    int64_t scale_log2, step;
    double error, size, zeros, lost, accuracy;
} row;

typedef struct arithmetic {
    const char *name, *policy;
    int bits;
    const char *scaler; /* of training */
    int scale_log2;     /* of gradients */
} arithmetic;

extern const arithmetic answering[ANSWERING]; /* the first is binary32 */
extern const arithmetic backward[BACKWARD];   /* the first is binary32, which the others are compared with */
extern const arithmetic learning[LEARNING];   /* the first is binary32 */

/* What all points share. */
typedef struct context {
    ulp_data data;
    ulp_net random_net, net[CELLS];
    ulp_policy fp32, answering[ANSWERING], backward[BACKWARD], learning[LEARNING];
    ulp_policy *own; /* (formats) everything in a format of the settings */
} context;

/* A network that runs under one policy after the other. */
typedef struct engine {
    ulp_model model;
    ulp_pass pass;
    ulp_policy policy;
    ulp_arena arena;
    ulp_observer observer;
    size_t B, N, T, at;        /* at: the recurrent layer's number */
    float *w, *x, *h;          /* host memory: (params), (B,in), (B,N,T) */
    double *x64, *h64, *moved; /* host memory: (B,in), (B,N,T) of binary64, twice */
    double *top;               /* host memory: (B,out), the gradient of the net's output before its rounding */
    float *weight;             /* (params) backend memory */
    float *dh, *dh32;          /* host memory: (T,B,N), from the last step back; of binary32 */
    size_t seen, kept, grads;  /* gradients seen and kept in this trip; of a step */
} engine;

/* The net for B samples; `at` is its recurrent layer, of cells[c], with at most one layer before, which moves numbers.
 */
ulp_status engine_start(engine *e, const ulp_backend *backend, const ulp_net *net, size_t B, size_t at, int c);
void engine_end(engine *e);

/* h (B,N,T) in binary64 from e->x64. */
ulp_status engine_reference(engine *e, double *h);

/* Weights and inputs rounded under a policy, then forward; e->h gets the states. */
ulp_status engine_forward(engine *e, const ulp_policy *policy);

/* Backward under the policy of the last forward, from e->top, rounded once, which carries 2^scale_log2;
 * e->dh gets the gradients. */
ulp_status engine_backward(engine *e, int scale_log2);

/* A row of the point without a run's name and numbers. */
row row_of(const ulp_task *task);

/* Errors of the states, over sequences. */
typedef struct errors {
    double log_sum[ULP_STEPS_MAX];
    size_t n;
} errors;

/* Those of e->h, or of `moved` (B,N,T), against e->h64. */
void add_errors(errors *sum, const engine *e, const double *moved);
void put_errors(ulp_rows *rows, row r, const errors *sum, size_t T);

/* Errors of the gradients, over sequences. */
typedef struct losses {
    double square[ULP_STEPS_MAX], norm[ULP_STEPS_MAX];
    size_t zero[ULP_STEPS_MAX], lost[ULP_STEPS_MAX], count[ULP_STEPS_MAX];
} losses;

/* Those of e->dh, which carries 2^scale_log2, against e->dh32. */
void add_losses(losses *sum, const engine *e, int scale_log2);
void put_losses(ulp_rows *rows, row r, const losses *sum, size_t T);

/* From plan(): the networks of a cell, and whether they can learn in the first `arithmetics` rows of `learning`. */
ulp_status plan_training(ulp_plan *plan, const settings *s, context *x, int c, int arithmetics);

ulp_status compute_random(const ulp_task *task);
ulp_status compute_trained(const ulp_task *task);
ulp_status compute_training(const ulp_task *task);

/* Prints the tables and tests the claims. */
void judge(ulp_claims *claims);

#endif
