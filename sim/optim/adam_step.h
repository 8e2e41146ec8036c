/* adam_step.h - the keys, the arrays and the direction that the optimizers adam and adamw share. */
#ifndef ULP_ADAM_STEP_H
#define ULP_ADAM_STEP_H

#include "update.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const ulp_key ulp_adam_keys[];

void ulp_adam_carve(ulp_optimizer *o, ulp_arena *arena);

/* Append the steps that compute the direction d of Adam from the gradient g (optim.h); returns d. *rate is multiplied
 * by the bias correction. */
ulp_operand ulp_adam_direction(ulp_update_plan *plan, ulp_operand g, double *rate);

#ifdef __cplusplus
}
#endif
#endif
