/* sgd.c - stochastic gradient descent with optional momentum; see optim.h. */
#include "sim/optim/update.h"

#define FIELD(field) ULP_KEY_FIELD(ulp_optimizer_rule, field)

static const ulp_key sgd_keys[] = {
    {"momentum", "share of the last direction in the next one", ULP_KEY_NUMBER, FIELD(momentum), 0, 1, NULL, 0, NULL,
     NULL},
    {.name = NULL},
};

static void carve(ulp_optimizer *o, ulp_arena *arena) {
    if (o->rule.momentum != 0.0) o->momentum = ulp_arena_take(arena, o->n);
}

static ulp_operand direction(ulp_update_plan *p, ulp_operand g, double *rate) {
    (void)rate;
    if (!p->o->momentum) return g;
    ulp_operand v = ulp_update_array(p, p->o->momentum);
    ulp_update_add_state(p, ulp_step_fused(v, ulp_operand_value(p->o->rule.momentum), v, g), ULP_USE_MOMENTUM);
    return v;
}

extern const ulp_optimizer_kind ulp_optimizer_sgd;
const ulp_optimizer_kind ulp_optimizer_sgd = {
    .name = "sgd",
    .what = "stochastic gradient descent",
    .keys = sgd_keys,
    .carve = carve,
    .direction = direction,
    .rule = {.rate = 0.1},
};
