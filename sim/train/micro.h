/* micro.h - the part of a training step that is about micro-batches: passes of every micro-batch, and the sum of their
 * gradients; see train.h. */
#ifndef ULP_MICRO_H
#define ULP_MICRO_H

#include "train.h"

/* Take the number of micro-batches from the optimizer, and check that it fits batch, ranks and scaler, which have been
 * taken before. */
ulp_status ulp_micro_take(ulp_trainer *t, ulp_error *error);

/* Carve the array of the sum. */
void ulp_micro_carve(ulp_trainer *t, ulp_arena *arena);

/* Whether a run needs the array of the sum: with one micro-batch the gradients are rounded in place. */
static inline int ulp_micro_has_sum(const ulp_optimizer_rule *rule) { return rule->accumulate > 1; }

/* Run pass() for each micro-batch of the rank pass.now.rank: model.wgrad gets the sum of their gradients, and *mean the
 * mean of their losses. pass() takes the samples of the "rank" pass.now.rank of ranks times micro-batches. */
ulp_status ulp_micro_step(ulp_trainer *t, ulp_status (*pass)(ulp_trainer *t, double *loss), double *mean);

#endif
