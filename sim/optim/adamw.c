/* adamw.c - Adam with decoupled decay; see optim.h. */
#include "sim/optim/adam_step.h"

extern const ulp_optimizer_kind ulp_optimizer_adamw;
const ulp_optimizer_kind ulp_optimizer_adamw = {
    .name = "adamw",
    .what = "Adam with decoupled decay",
    .keys = ulp_adam_keys,
    .decoupled = 1,
    .carve = ulp_adam_carve,
    .direction = ulp_adam_direction,
    .rule = {.rate = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .decay = 1e-2},
};
