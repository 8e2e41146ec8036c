/* adam.c - Adam, with the decay added to the gradient; see optim.h. */
#include "sim/optim/adam_step.h"

extern const ulp_optimizer_kind ulp_optimizer_adam;
const ulp_optimizer_kind ulp_optimizer_adam = {
    .name = "adam",
    .what = "Adam; decay is part of the gradient",
    .keys = ulp_adam_keys,
    .decoupled = 0,
    .carve = ulp_adam_carve,
    .direction = ulp_adam_direction,
    .rule = {.rate = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8},
};
