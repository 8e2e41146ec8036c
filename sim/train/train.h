/* train.h - training runs on a data set, and their scores.
 *
 * A step takes a batch and runs the forward pass, the scaled loss, the backward pass, the check for overflow, and the
 * update with unscaled gradients. A run depends on the options, the seed and the data alone, and not on threads or
 * observers. Step t takes batch t of an endless sequence of epochs. Each epoch has an order of its own; the samples at
 * the end of an epoch that do not fill a batch are left out. Divergence is a result, not an error: loss and weights
 * become NaN, and no sample is right.
 */
#ifndef ULP_TRAIN_H
#define ULP_TRAIN_H

#include "base/error.h"
#include "sim/data/data.h"
#include "kernels/reduction/reduction.h"
#include "sim/losses/loss.h"
#include "sim/model.h"
#include "sim/optim/optim.h"
#include "loss_scale.h"

ULP_C_BEGIN

enum { ULP_SCORE_BATCH = 256 }; /* samples that a score takes at a time, or fewer: */

static inline size_t ulp_score_batch(const ulp_net *net) {
    return net->scored && net->scored < ULP_SCORE_BATCH ? net->scored : (size_t)ULP_SCORE_BATCH;
}

/* A trainer copies the options behind the pointers, except the backend and the observer. */
typedef struct ulp_train_options {
    const ulp_net *net;                  /* its inputs have the shape of the data's samples */
    const ulp_policy *policy;            /* NULL: "fp32" */
    const ulp_scaler_rule *scaler;       /* NULL: "none" */
    const ulp_optimizer_rule *optimizer; /* NULL: "sgd" */
    const ulp_loss_kind *loss;           /* NULL: the loss that fits the data (ulp_loss_init) */
    size_t batch;
    uint64_t seed;                  /* of initial weights, order of the samples and stochastic rounding */
    double init_std;                /* standard deviation of initial weights; 0: He and Glorot */
    const ulp_backend *backend;     /* NULL: the default */
    int counting;                   /* 1: fill the counts of ulp_step; changes no other result */
    const ulp_observer *observer;   /* may be NULL; sees training steps, not evaluation */
    double (*clock)(void);          /* seconds; may be NULL; fills the trainer's profile and changes no result */
    size_t ranks;                   /* data-parallel training; 0 or 1: no ranks; must divide the batch */
    const ulp_reduction *reduction; /* of the gradients; NULL: "ring:fp32" */
    const ulp_ranks *group; /* NULL: this process computes all ranks; else it is one of them, group->count = ranks */
    const ulp_policy *tail; /* the policy from step tail_step on; NULL: one policy for the whole run */
    uint64_t tail_step;
} ulp_train_options;

/* Data-parallel training. Rank r of R takes samples r B/R, ..., (r + 1) B/R - 1 of the batch and runs the forward and
 * the backward pass with random words of its own (policy.h). The gradients of its B/R samples are reduced as the layers
 * hand them on, all parameters as one array, with their loss scale: a loss scale is chosen so that gradients keep their
 * bits, and the sums of the reduction need this scale as much as the gradients do. The mean is checked for overflow,
 * and all ranks make the same update. The loss is the binary64 mean of the ranks' losses in the order of the ranks. The
 * counts are sums over the ranks. The history of delayed tensor scales holds the largest magnitude over the ranks; a
 * tensor scale of this step belongs to the rank. Batch normalisation uses the B/R samples of each rank, and the running
 * statistics are those of rank 0. One rank reduces nothing. The scaler `layer` needs one rank, since it looks at
 * gradients of activations, which are not reduced.
 *
 * Micro-batches. With accumulate=N:FORMAT[/MODE] of the optimizer a step has N micro-batches of B/N samples, with ranks
 * each rank's B/R samples, in the order of the batch. Their gradients are those of the mean over all samples of the
 * step: the gradient of the loss is divided by N. As the layers hand them on, with their loss scale, they are added in
 * the format: sum <- round(dw) for the first one, then sum <- round(sum + dw). The sum is checked, reduced and used as
 * the gradients of a whole batch. Every micro-batch has random words of its own (policy.h). Batch normalisation uses
 * the samples of a micro-batch, and its running statistics take every one of them, as in PyTorch. Losses are averaged,
 * and counts are sums. The scaler `layer` needs one micro-batch, for the same reason as with ranks.
 *
 * A second policy. Before step tail_step the policy `tail` replaces the first one in everything: products, roundings,
 * tensor scales with their histories, evaluations from then on. First the master weights are rounded to their new
 * format, and then the weights are rounded anew from the master weights; weights without master weights are rounded
 * from what they are. The state of the optimizer and the loss scale stay; the next update rounds the state. Both
 * policies have master weights in the same layers, since the arrays are allocated once.
 *
 * Processes that are a rank each (`group`) compute the same bits as one process that computes all ranks. An observer
 * sees the ranks of its process. */

/* The report of one step. */
typedef struct ulp_step {
    uint64_t step;               /* from 0 */
    double loss;                 /* mean over the batch, unscaled; NaN or Inf: diverged */
    int scale_log2;              /* log2 of the loss scale, or of the last layer's loss scale */
    const int *layer_scale;      /* (layers) log2 of each layer's scale, valid until the next step; NULL: one scale */
    int overflow;                /* Inf or NaN in the gradients that the scaler sees */
    int skipped;                 /* 1: the step made no update */
    double norm;                 /* of the gradients, if the optimizer clips and the step made an update, else 0 */
    double coefficient;          /* by which they were multiplied; 1 if nothing was clipped */
    ulp_stats act, agrad, wgrad; /* of this step's roundings, if counting; zeros where the format is binary32 */
    ulp_tally agrad_all, wgrad_all; /* of this step's gradients, if counting, in every format */
} ulp_step;

typedef enum ulp_part { ULP_TRAIN_PART, ULP_TEST_PART } ulp_part;

/* One run in progress. The caller may read the fields; tensors are in backend memory. */
typedef struct ulp_trainer {
    const ulp_data *data;
    ulp_policy *policy;
    ulp_layer_policy *rows; /* (1 + layers), see policy.h; NULL if the policy has no selections */
    ulp_model model;
    ulp_scaler scaler;
    ulp_loss_scales loss_scales;
    ulp_optimizer optimizer;
    ulp_optimizer_rule start_rule; /* the optimizer's rule at the start of the run */
    ulp_policy *tail;              /* the second policy, or NULL; pass.run has the policy of the present step */
    ulp_layer_policy *tail_rows;
    ulp_optimizer tail_optimizer; /* without arrays: the parts under the other policy */
    uint64_t tail_step;
    ulp_pass pass;
    size_t batch, ranks; /* samples of a step, all ranks together; ranks is at least 1 */
    size_t micro;        /* micro-batches of a rank's step, at least 1 */
    float *sum;          /* (params) of the gradients of micro-batches; NULL with fewer than 2 */
    ulp_reduction reduction;
    const ulp_ranks *group;
    float *shares;     /* (ranks,params) backend memory: the gradients of the ranks, if this process computes all */
    float *rank_state; /* (states) host memory: the state that rank 0 leaves */
    uint64_t step;     /* number of steps so far */
    int counting;      /* of the next training step; the caller may change it between steps */
    const ulp_observer *observer; /* may be NULL; the caller may change it between steps */

    ulp_profile profile; /* of the steps; empty without a clock */
    ulp_arena arena;
    ulp_loss loss;
    uint32_t *order; /* (n_train) of the current epoch */
    uint64_t epoch;  /* 1 + the epoch of `order`; 0: no order yet */
    uint8_t *label;  /* (room,labels) of the current batch, host memory */
    float *input;    /* (room,features) of the current batch, host memory */
} ulp_trainer;

/* Check the options. Status and sentence are those of ulp_trainer_new(), but the memory is not allocated. */
ulp_status ulp_train_check(const ulp_data *data, const ulp_train_options *options, ulp_error *error);

/* A run before its first step. `data` has to outlive the run. On failure *trainer is NULL, and error (may be NULL) gets
 * a sentence. */
ulp_status ulp_trainer_new(ulp_trainer **trainer, const ulp_data *data, const ulp_train_options *options,
                           ulp_error *error);

/* One training step; report may be NULL. */
ulp_status ulp_trainer_step(ulp_trainer *trainer, ulp_step *report);

/* Score a part of the data with the present weights, under the policy of the run. */
ulp_status ulp_trainer_score(ulp_trainer *trainer, ulp_part part, ulp_score *score);

/* w (params) = the weights that the layers use; master (params) = the weights that updates are added to: master weights
 * where there are any, else the weights. Host memory. Either pointer may be NULL. */
ulp_status ulp_trainer_weights(const ulp_trainer *trainer, float *w, float *master);

void ulp_trainer_free(ulp_trainer *trainer);

typedef struct ulp_train_result {
    uint64_t steps, skipped, overflows;
    int diverged; /* the loss became NaN or infinite in a step that was not skipped */
    ulp_score train, test;
    double last_loss;
} ulp_train_result;

/* Run `steps` steps and score both parts of the data. A run ends early if its weights are NaN: they would stay NaN. */
ulp_status ulp_train_run(ulp_train_result *result, const ulp_data *data, const ulp_train_options *options,
                         uint64_t steps, ulp_error *error);

ULP_C_END
#endif
