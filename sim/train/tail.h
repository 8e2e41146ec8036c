/* tail.h - the part of a training run that is about its second policy: when and how it replaces the first; see train.h.
 */
#ifndef ULP_TAIL_H
#define ULP_TAIL_H

#include "train.h"

/* Take the second policy from the options, with its rows and its part of the optimizer, and check that it fits the net,
 * the backend and the first policy, which have been taken before. */
ulp_status ulp_tail_take(ulp_trainer *t, const ulp_train_options *o, ulp_error *error);

/* Make room for the histories and the casts of operands of the second policy, before the model allocates the arrays of
 * the pass. */
void ulp_tail_reserve(ulp_trainer *t);
void ulp_tail_release(ulp_trainer *t);

/* Before a training step: if it is the first step of the second policy, replace the policy, and round the weights. */
ulp_status ulp_tail_enter(ulp_trainer *t);

/* After a checkpoint is loaded: the policy of step t->step - 1, whose weights the checkpoint has. */
void ulp_tail_resume(ulp_trainer *t);

#endif
