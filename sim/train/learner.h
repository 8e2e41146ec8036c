/* learner.h - one network that learns: its rules, tensors, batches and updates, alone (train.c) or in a gan (gan.h).
 *
 * A network of a gan has no loss, no ranks and no observer of its own; those fields of its ulp_trainer are empty.
 */
#ifndef ULP_LEARNER_H
#define ULP_LEARNER_H

#include "train.h"

/* Take policy, scaler and optimizer from the options: copy the policy, set the scaler and the optimizer to their
 * initial states, and check that the three fit each other. On failure `error` (may be NULL) gets a sentence; the status
 * is that of ulp_policy_check(), ulp_scaler_init() or ulp_optimizer_init(). ulp_learner_release() frees all, also after
 * a failure. */
ulp_status ulp_learner_take(ulp_trainer *t, const ulp_train_options *o, ulp_error *error);

/* Give every layer of t->model.net its part of the policy and of the optimizer. */
ulp_status ulp_learner_fit(ulp_trainer *t, ulp_error *error);

/* Check that a policy with its rows (policy.h) casts no operand of the net in a way that does not fit its sums. */
ulp_status ulp_learner_check_lengths(const ulp_trainer *t, const ulp_policy *policy, const ulp_layer_policy *rows,
                                     ulp_error *error);

/* Set what stays for the whole run, with the policy of the learner, and check that the backend (NULL: the default)
 * offers the products of the policy. */
ulp_status ulp_learner_run_on(ulp_trainer *t, const ulp_backend *backend, uint64_t seed, ulp_error *error);

/* Allocate the tensors of the model with those that carve(own, arena) takes, and the host memory of the batches of
 * t->data; set the initial weights, the loss scales and the profile (without a clock it stays empty). */
ulp_status ulp_learner_start(ulp_trainer *t, void (*carve)(void *own, ulp_arena *arena), void *own, double init_std,
                             double (*clock)(void));
void ulp_learner_release(ulp_trainer *t);

/* The rows of the data set that belong to the batch of step t->step. */
const uint32_t *ulp_learner_rows(ulp_trainer *t);

/* Copy B samples to the beginning of tensor 0, and their labels to t->label: `rows` of the data set, or, without rows,
 * those from pass.now.first on. */
ulp_status ulp_learner_gather(ulp_trainer *t, const uint32_t *rows, size_t B);

/* Round the samples in tensor 0, unless they are numbers of tokens. */
ulp_status ulp_learner_round_input(ulp_trainer *t);

/* Begin a training pass of B samples. */
void ulp_learner_begin(ulp_trainer *t, size_t B);

/* After the backward pass: check the gradients, update the scaler, and update the weights unless the step is skipped.
 * Fills the report but for its loss, and counts the step. */
ulp_status ulp_learner_update(ulp_trainer *t, ulp_step *report);

/* The time of a row after the layers begins; ulp_profile_leave() ends it. */
static inline double ulp_learner_enter(ulp_trainer *t, size_t row) {
    return ulp_profile_enter(&t->profile, t->profile.layers + row);
}

#endif
