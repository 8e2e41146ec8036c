/* train.h - training: minibatches, forward, scaled loss, backward, check, unscale, update; evaluation.
 *
 * A run depends on the options, the seed and the data alone, and not on threads or observers. Step t takes batch t of
 * an endless sequence of epochs, each in an order of its own; the samples at the end of an epoch that do not fill a
 * batch are left out. Divergence is a result: NaN in loss and weights, no right answers.
 */
#ifndef ULP_TRAIN_H
#define ULP_TRAIN_H

#include "data.h"
#include "loss.h"
#include "model.h"
#include "optim.h"
#include "loss_scale.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A trainer keeps copies of what the pointers point to, but for the backend and the observer. */
typedef struct ulp_train_options {
    const ulp_net *net;                  /* for the data's dims */
    const ulp_policy *policy;            /* NULL: "fp32" */
    const ulp_scaler_rule *scaler;       /* NULL: "none" */
    const ulp_optimizer_rule *optimizer; /* NULL: "sgd" */
    const ulp_loss_kind *loss;           /* NULL: what the data want */
    size_t batch;
    uint64_t seed;                /* of initial weights, order and stochastic rounding */
    double init_std;              /* of initial weights; 0: He and Glorot */
    const ulp_backend *backend;   /* NULL: the default */
    int counting;                 /* fill the counts of ulp_step; changes nothing else */
    const ulp_observer *observer; /* may be NULL; sees training steps, not evaluation */
} ulp_train_options;

/* The report of one step. */
typedef struct ulp_step {
    uint64_t step;                  /* from 0 */
    double loss;                    /* mean over the batch, unscaled; NaN or Inf: diverged */
    int scale_log2;                 /* the gradients, or those of the last layer, were scaled by 2^this */
    const int *layer_scale;         /* (layers) each layer's, until the next step; NULL: one for all */
    int overflow;                   /* Inf or NaN in the gradients that the scaler looks at */
    int skipped;                    /* no update */
    ulp_stats act, agrad, wgrad;    /* of this step's roundings, if counting; zeros where the format is binary32 */
    ulp_tally agrad_all, wgrad_all; /* of this step's gradients, if counting, in every format */
} ulp_step;

typedef enum ulp_part { ULP_TRAIN_PART, ULP_TEST_PART } ulp_part;

/* One run in progress. The fields are for looking at; tensors are in backend memory. */
typedef struct ulp_trainer {
    const ulp_data *data;
    ulp_policy policy;
    ulp_model model;
    ulp_scaler scaler;
    ulp_loss_scaling scaling;
    ulp_optimizer optimizer;
    ulp_optimizer_rule start_rule; /* the optimizer's rule before anyone changed it */
    ulp_pass pass;
    uint64_t step;                /* steps done */
    int counting;                 /* of the next training step; may be changed between steps */
    const ulp_observer *observer; /* likewise; may be NULL */

    ulp_family family;
    ulp_loss loss;
    uint32_t *order; /* (n_train) of the current epoch */
    uint64_t epoch;  /* the one that order is for, plus one; 0: none yet */
    uint8_t *label;  /* (room,labels) of the current batch, host memory */
    float *input;    /* (room,features) of the current batch, host memory */
} ulp_trainer;

/* Whether ulp_trainer_new() takes the options, memory aside: the same status and sentence. */
ulp_status ulp_train_check(const ulp_data *data, const ulp_train_options *options, char *error, size_t error_size);

/* A run before its first step. `data` has to outlive it. On failure *trainer is NULL and error (may be NULL) has a
 * sentence. */
ulp_status ulp_trainer_new(ulp_trainer **trainer, const ulp_data *data, const ulp_train_options *options, char *error,
                           size_t error_size);

/* One training step; report may be NULL. */
ulp_status ulp_trainer_step(ulp_trainer *trainer, ulp_step *report);

/* Score a part of the data with the weights as they are, under the same policy. */
ulp_status ulp_trainer_score(ulp_trainer *trainer, ulp_part part, ulp_score *score);

/* The weights that the layers use, w (params), and the master weights if there are any; host memory, either may be
 * NULL. */
ulp_status ulp_trainer_weights(const ulp_trainer *trainer, float *w, float *master);

void ulp_trainer_free(ulp_trainer *trainer);

typedef struct ulp_train_result {
    uint64_t steps, skipped, overflows;
    int diverged; /* the loss became NaN or infinite in a step that was not skipped */
    ulp_score train, test;
    double last_loss;
} ulp_train_result;

/* `steps` steps and the final scores. A run whose weights have become NaN is not continued: they stay NaN. */
ulp_status ulp_train_run(ulp_train_result *result, const ulp_data *data, const ulp_train_options *options,
                         uint64_t steps, char *error, size_t error_size);

#ifdef __cplusplus
}
#endif
#endif
