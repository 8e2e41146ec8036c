/* adam.c - Adam, with the decay added to the gradient (adam) or apart from the gradient (adamw); see optim.h. */
#include "sim/optim/update.h"

#include <math.h>

#define FIELD(field) ULP_KEY_FIELD(ulp_optimizer_rule, field)

static const ulp_key keys[] = {
    {"beta1", "share of the past in the average of gradients", ULP_KEY_NUMBER, FIELD(beta1), 0, 0.9999999, NULL, 0,
     NULL, NULL},
    {"beta2", "share of the past in the average of squares", ULP_KEY_NUMBER, FIELD(beta2), 0, 0.9999999, NULL, 0, NULL,
     NULL},
    {"eps", "what is added to the root of the average of squares", ULP_KEY_NUMBER, FIELD(eps), 0, 1, NULL, 0, NULL,
     NULL},
    {.name = NULL},
};

static void carve(ulp_optimizer *o, ulp_arena *arena) {
    o->momentum = ulp_arena_take(arena, o->n);
    o->squares = ulp_arena_take(arena, o->n);
}

/* Append the steps that compute the direction d of Adam from the gradient g (optim.h). *rate is multiplied by the bias
 * correction. */
static ulp_operand direction(ulp_update_plan *p, ulp_operand g, double *rate) {
    const ulp_optimizer_rule *r = &p->o->rule;
    double beta1 = (double)(float)r->beta1, beta2 = (double)(float)r->beta2,
           root = sqrt(1.0 - ulp_power(beta2, p->o->updates + 1));
    ulp_operand m = ulp_update_array(p, p->o->momentum), v = ulp_update_array(p, p->o->squares),
                t = ulp_operand_scratch(ULP_SCRATCH_T), d = ulp_operand_scratch(ULP_SCRATCH_G);
    *rate *= root / (1.0 - ulp_power(beta1, p->o->updates + 1));
    ulp_update_add_state(p, ulp_step_binary(ULP_MUL, t, ulp_operand_value(1.0 - beta1), g), ULP_USE_MEAN_TERM);
    ulp_update_add_state(p, ulp_step_fused(m, ulp_operand_value(beta1), m, t), ULP_USE_MEAN);
    ulp_update_add_state(p, ulp_step_binary(ULP_MUL, t, g, g), ULP_USE_SQUARE);
    ulp_update_add_state(p, ulp_step_binary(ULP_MUL, t, ulp_operand_value(1.0 - beta2), t), ULP_USE_SQUARE_TERM);
    ulp_update_add_state(p, ulp_step_fused(v, ulp_operand_value(beta2), v, t), ULP_USE_SQUARES);
    ulp_update_add_state(p, ulp_step_unary(ULP_SQRT, t, v), ULP_USE_ROOT);
    ulp_update_add_state(p, ulp_step_binary(ULP_ADD, t, t, ulp_operand_value(r->eps * root)), ULP_USE_DENOMINATOR);
    ulp_update_add_state(p, ulp_step_binary(ULP_DIV, d, m, t), ULP_USE_DIRECTION);
    return d;
}

const ulp_optimizer_kind ulp_optimizer_adam = {
    .name = "adam",
    .what = "Adam; decay is part of the gradient",
    .keys = keys,
    .decoupled = 0,
    .carve = carve,
    .direction = direction,
    .rule = {.rate = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8},
};

const ulp_optimizer_kind ulp_optimizer_adamw = {
    .name = "adamw",
    .what = "Adam with decoupled decay",
    .keys = keys,
    .decoupled = 1,
    .carve = carve,
    .direction = direction,
    .rule = {.rate = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .decay = 1e-2},
};
