/* train_ranks.h - the part of a training step that is about ranks: passes of every rank, and the mean of gradients. */
#ifndef ULP_TRAIN_RANKS_H
#define ULP_TRAIN_RANKS_H

#include "train.h"

/* Take batch, ranks, reduction and group from the options, and check that they fit each other and the scaler. */
ulp_status ulp_train_ranks_take(ulp_trainer *t, const ulp_train_options *o, char *error, size_t error_size);

/* The memory for gradients of several ranks. ulp_train_ranks_release() frees it, also after a failure. */
ulp_status ulp_train_ranks_alloc(ulp_trainer *t);
void ulp_train_ranks_release(ulp_trainer *t);

/* Run pass() for each rank of this process, and reduce the gradients: model.wgrad gets their mean, and *mean the mean
 * of the losses. pass() computes the gradients of the rank pass.now.rank. */
ulp_status ulp_train_ranks_step(ulp_trainer *t, ulp_status (*pass)(ulp_trainer *t, double *loss), double *mean);

#endif
