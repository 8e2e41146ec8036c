/* player.h - one of the two networks of a ulp_gan: a net that learns under its own policy, optimizer and scaler. */
#ifndef ULP_PLAYER_H
#define ULP_PLAYER_H

#include "sim/train/loss_scale.h"
#include "sim/model.h"
#include "sim/optim/optim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A player copies what the pointers point to. */
typedef struct ulp_player_options {
    const ulp_net *net;
    const ulp_policy *policy;            /* NULL: "fp32" */
    const ulp_scaler_rule *scaler;       /* NULL: "none" */
    const ulp_optimizer_rule *optimizer; /* NULL: "sgd" */
} ulp_player_options;

typedef struct ulp_player {
    ulp_policy policy;
    ulp_layer_policy *rows; /* of the layers (layer_policy.h), or NULL */
    ulp_model model;
    ulp_scaler scaler;
    ulp_loss_scales loss_scales;
    ulp_optimizer optimizer;
    ulp_optimizer_rule start_rule; /* the optimizer's rule at the start of the run */
    ulp_pass pass;
    ulp_arena arena;
    float *input_gradient; /* (batch,in) backend memory */
    ulp_profile profile;   /* of the steps; empty without a clock */
} ulp_player;

/* What a player did in one step. */
typedef struct ulp_player_step {
    double loss;         /* unscaled; NaN or Inf: diverged */
    int scale_log2;      /* log2 of the loss scale, or of the last layer's loss scale */
    int overflow;        /* Inf or NaN in the gradients that the scaler sees */
    int skipped;         /* 1: no update */
    ulp_tally gradients; /* of this player, of weights and activations, if counting */
} ulp_player_step;

/* Take the options, and check that they fit each other and the backend; `of` begins the sentence of a failure.
 * ulp_player_release() frees the player, also after a failure. */
ulp_status ulp_player_take(ulp_player *player, const ulp_player_options *options, const ulp_pass_run *run,
                           const char *of, char *error, size_t error_size);

/* Allocate the tensors for so many samples with and without a backward pass, and set the initial weights. */
ulp_status ulp_player_start(ulp_player *player, size_t batch, size_t room, double std);
void ulp_player_release(ulp_player *player);

/* Begin a training pass of B samples. */
void ulp_player_begin(ulp_player *player, uint64_t step, size_t B, int counting);

/* After the backward pass: check the gradients, update the scaler, and update the weights unless the step is skipped.
 * Fills report but for its loss. */
ulp_status ulp_player_update(ulp_player *player, ulp_player_step *report);

#ifdef __cplusplus
}
#endif
#endif
