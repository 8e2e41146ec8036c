/* recurrence.h - settings, points, rows, arithmetics, and a network that runs, shared by the files of recurrence. */
#ifndef ULP_EXPERIMENT_RECURRENCE_H
#define ULP_EXPERIMENT_RECURRENCE_H

#include "experiments/harness/training/options.h"
#include "sim/layers/sequence.h"
#include "sim/train/train.h"

enum { RNN, GRU, LSTM, CELLS };
#define CELL_WORDS "rnn gru lstm"

enum { SUMS_BINARY32, SUMS_OWN, SUMS_BINARY64, SUMS_POLICY };
#define SUMS_WORDS "binary32 own binary64 policy"

/* The part of a run. */
enum { RUN_RANDOM, RUN_TRAINED, RUN_TRAINING, RUNS };
#define RUN_WORDS "random trained training"

enum { ANSWERING = 6, BACKWARD = 4, LEARNING = 4, FEATURES = 4, SAMPLES_MAX = 256, DIGITS = 10 };

typedef struct settings {
    uint64_t parts, sums, cells, seed; /* bit i stands for word i */
    ulp_format_list formats;
    ulp_rule_list modes;
    ulp_number_list gains;
    int64_t units, steps, sequences, hidden, piece, epochs, batch, seeds;
    ulp_named_optimizer optimizer;
    const char *data;
    const ulp_backend *backend;
    ulp_training_settings how;
} settings;

typedef struct point {
    int run;
    double gain;  /* for RUN_RANDOM */
    int cell;     /* for the other runs */
    int learning; /* for RUN_TRAINING: the index into `learning` */
    uint64_t seed;
} point;

enum { RANDOM, RANDOM_BACK, TRAINED, TRAINED_BACK, TRAINING };
#define PART_WORDS "random random-back trained trained-back training"

/* One step of a run. The fields up to scale_log2 identify the run. */
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
    const char *scaler; /* for trainings */
    int scale_log2;     /* for gradients */
} arithmetic;

extern const arithmetic answering[ANSWERING]; /* the first one is binary32 */
extern const arithmetic backward[BACKWARD];   /* the first one is binary32, the reference of the others */
extern const arithmetic learning[LEARNING];   /* the first one is binary32 */

/* Data shared by all points. */
typedef struct context {
    ulp_data data;
    ulp_net random_net, net[CELLS];
    ulp_policy fp32, answering[ANSWERING], backward[BACKWARD], learning[LEARNING];
    ulp_policy plain[CELLS];       /* of the first row of `learning`: binary32, or that of --amp */
    ulp_scaler_rule scaler[CELLS]; /* the same */
    ulp_policy *own;               /* (formats) everything is in a format of the settings */
} context;

/* A network that runs under different policies. */
typedef struct engine {
    ulp_model model;
    ulp_pass pass;
    ulp_policy policy;
    ulp_arena arena;
    ulp_observer observer;
    size_t B, N, T, at;        /* at: the index of the recurrent layer */
    float *w, *x, *h;          /* host memory: (params), (B,in), (B,N,T) */
    double *x64, *h64, *moved; /* host memory: inputs (B,in), states (B,N,T) of binary64, and of a perturbed run */
    double *top;               /* host memory: (B,out) the unrounded gradient of the output of the net */
    float *weight;             /* (params) in backend memory */
    float *dh, *dh32;          /* host memory: (T,B,N) from the last step back; the same of binary32 */
    size_t seen, kept, grads;  /* gradients seen and kept in this backward run; gradients per step */
} engine;

/* Prepares a net for B samples. `at` is the index of its recurrent layer, which is a cell c. At most one layer precedes
 * the recurrent layer, and that layer only moves numbers. */
ulp_status engine_start(engine *e, const ulp_backend *backend, const ulp_net *net, size_t B, size_t at, int c);
void engine_end(engine *e);

/* Computes h (B,N,T) in binary64 from e->x64. */
ulp_status engine_reference(engine *e, double *h);

/* Rounds weights and inputs under a policy and runs forward. e->h gets the states. */
ulp_status engine_forward(engine *e, const ulp_policy *policy);

/* Runs backward under the policy of the last forward run. The gradient of the output is e->top, which has the factor
 * 2^scale_log2 and is rounded once. e->dh gets the gradients. */
ulp_status engine_backward(engine *e, int scale_log2);

/* A row of the point, in which the run and the numbers are empty. */
row row_of(const ulp_task *task);

/* Sums of the errors of states, over sequences. */
typedef struct errors {
    double log_sum[ULP_STEPS_MAX];
    size_t n;
} errors;

/* Adds the errors of e->h, or of `moved` (B,N,T) if it is not NULL, against e->h64. */
void add_errors(errors *sum, const engine *e, const double *moved);
void put_errors(ulp_rows *rows, row r, const errors *sum, size_t T);

/* Sums of the errors of gradients, over sequences. */
typedef struct losses {
    double square[ULP_STEPS_MAX], norm[ULP_STEPS_MAX];
    size_t zero[ULP_STEPS_MAX], lost[ULP_STEPS_MAX], count[ULP_STEPS_MAX];
} losses;

/* Adds the errors of e->dh, which has the factor 2^scale_log2, against e->dh32. */
void add_losses(losses *sum, const engine *e, int scale_log2);
void put_losses(ulp_rows *rows, row r, const losses *sum, size_t T);

/* Called by plan(). Reads the network of a cell and checks that it can learn in the first `arithmetics` rows of
 * `learning`. */
ulp_status plan_training(ulp_plan *plan, const settings *s, context *x, int c, int arithmetics);

ulp_status compute_random(const ulp_task *task);
ulp_status compute_trained(const ulp_task *task);
ulp_status compute_training(const ulp_task *task);

#endif
