/* recurrence.h - what the files of the experiment share: the networks, the arithmetics, a network that runs, its rows.
 */
#ifndef RECURRENCE_H
#define RECURRENCE_H

#include "experiments/harness/harness.h"
#include "sim/sequence.h"
#include "sim/train.h"

/* A kind of layer, and how many gradients of inner tensors it rounds per step, dL/dh_t first. */
typedef struct cell {
    const char *name;
    size_t grads;
} cell;

enum { AT_PART, AT_WHICH, AT_SEED, AT_POLICY };
enum { RANDOM, TRAINED, TRAINING, PARTS };
enum { CELLS = 3, ANSWERING = 6, BACKWARD = 4, LEARNING = 4, FEATURES = 4, SAMPLES_MAX = 256, DIGITS = 10 };

typedef struct arithmetic {
    const char *name, *policy;
    int bits;
    const char *scaler; /* of training */
    int scale_log2;     /* of gradients */
} arithmetic;

extern const cell cells[CELLS];
extern const arithmetic answering[ANSWERING]; /* the first is binary32 */
extern const arithmetic backward[BACKWARD];   /* the first is binary32, which the others are compared with */
extern const arithmetic learning[LEARNING];   /* the first is binary32 */

/* A network that runs under one policy after the other. */
typedef struct engine {
    ulp_model model;
    ulp_pass pass;
    ulp_policy policy;
    ulp_family family;
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
ulp_status engine_start(engine *e, const ulp_run *run, const ulp_net *net, size_t B, size_t at, size_t c);
void engine_end(engine *e);

/* h (B,N,T) in binary64 from e->x64. */
ulp_status engine_reference(engine *e, double *h);

/* Weights and inputs rounded under a policy, then forward; e->h gets the states. */
ulp_status engine_forward(engine *e, const ulp_policy *policy);

/* Backward under the policy of the last forward, from e->top, rounded once, which carries 2^scale_log2;
 * e->dh gets the gradients. */
ulp_status engine_backward(engine *e, int scale_log2);

typedef struct key {
    const char *part, *cell, *arithmetic, *mode, *sums;
    double gain;
    int64_t seed;
    int bits, scale_log2;
} key;

/* One row; NaN leaves a cell empty. */
enum { VALUE_ERROR, VALUE_SIZE, VALUE_ZEROS, VALUE_LOST, VALUE_ACCURACY, VALUES };
void put_row(ulp_rows *rows, const key *k, size_t step, const double value[VALUES]);

/* Errors of the states, over sequences. */
typedef struct errors {
    double log_sum[ULP_STEPS_MAX];
    size_t n;
} errors;

/* Those of e->h, or of `moved` (B,N,T), against e->h64. */
void add_errors(errors *sum, const engine *e, const double *moved);
void put_errors(ulp_rows *rows, const key *k, const errors *sum, size_t T);

/* Errors of the gradients, over sequences. */
typedef struct losses {
    double square[ULP_STEPS_MAX], norm[ULP_STEPS_MAX];
    size_t zero[ULP_STEPS_MAX], lost[ULP_STEPS_MAX], count[ULP_STEPS_MAX];
} losses;

/* Those of e->dh, which carries 2^scale_log2, against e->dh32. */
void add_losses(losses *sum, const engine *e, int scale_log2);
void put_losses(ulp_rows *rows, const key *k, const losses *sum, size_t T);

/* From prepare(): whether the networks of a point of TRAINED or TRAINING can learn, in every arithmetic of that part.
 */
ulp_status check_training(const ulp_run *run, const ulp_data *data, const ulp_point *point);

ulp_status compute_random(const ulp_run *run, const ulp_point *point, ulp_rows *rows);
ulp_status compute_trained(const ulp_run *run, const ulp_data *data, const ulp_point *point, ulp_rows *rows);
ulp_status compute_training(const ulp_run *run, const ulp_data *data, const ulp_point *point, ulp_rows *rows);
void check_claims(ulp_run *run);

#endif
