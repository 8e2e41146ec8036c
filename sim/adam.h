/* adam.h - what the optimizers adam and adamw share. */
#ifndef ULP_ADAM_H
#define ULP_ADAM_H

#include "update.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const ulp_key ulp_adam_keys[];

void ulp_adam_carve(ulp_optimizer *o, ulp_family *family);

/* The direction of Adam; *rate gets its bias correction. */
ulp_operand ulp_adam_direction(ulp_update_plan *plan, ulp_operand g, double *rate);

#ifdef __cplusplus
}
#endif
#endif
