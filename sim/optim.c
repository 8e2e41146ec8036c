/* optim.c - an update as a list of steps for the backend, one list per span; see optim.h. */
#include "optim.h"

#include <string.h>

#include "fail.h"
#include "normal.h"
#include "update.h"

ulp_status ulp_optimizer_init(ulp_optimizer *o, const ulp_optimizer_rule *rule, const ulp_policy *policy, char *error,
                              size_t error_size) {
    if (rule->kahan && policy->has_master)
        return ulp_fail(error, error_size, ULP_BAD_NAME,
                        "optimizer: kahan=1 takes the place of master weights, which the policy has; %s needs a policy "
                        "with master=none",
                        rule->kind->name);
    memset(o, 0, sizeof *o);
    o->rule = *rule;
    return ULP_OK;
}

/* ---- arrays ---- */

void ulp_optimizer_carve(ulp_optimizer *o, ulp_arena *arena, size_t n, const ulp_policy *policy) {
    o->n = n;
    o->weight = ulp_arena_take(arena, n);
    o->master = policy->has_master ? ulp_arena_take(arena, n) : NULL;
    o->momentum = o->squares = NULL;
    o->rule.kind->carve(o, arena);
    o->lost = o->rule.kahan ? ulp_arena_take(arena, n) : NULL;
}

/* The point whose cast rounds master weights to weights. The trainer rounds weights with a tensor scale layer by layer;
 * before that the weights are equal to the master weights. */
static ulp_point_kind weight_point(const ulp_policy *policy) {
    return policy->at[ULP_AT_WEIGHT].tensor_scale ? ULP_AT_MASTER : ULP_AT_WEIGHT;
}

ulp_status ulp_optimizer_start(ulp_optimizer *o, ulp_pass *pass, const float *w) {
    const ulp_cast *cast = &pass->run.policy->at[weight_point(pass->run.policy)];
    ulp_stream stream = {pass->run.seed, ulp_stream_id(ULP_AT_WEIGHT, 0, 0, pass->now.step), 0};
    float *first = o->master ? o->master : o->weight;
    ulp_status status = pass->run.backend->upload(first, w, o->n * sizeof *w);
    if (status == ULP_OK)
        status = ulp_pass_round(pass, ulp_site_of(o->master ? ULP_AT_MASTER : ULP_AT_WEIGHT, 0, 0), first, o->n);
    if (status == ULP_OK && o->master)
        status = ulp_backend_round(pass->run.backend, o->weight, o->master, o->n,
                                   (ulp_rounding){&cast->format, cast->rule, stream, NULL});
    return status;
}

/* ---- the rate ---- */

double ulp_rate_at(const ulp_optimizer_rule *r, uint64_t t) {
    double rate = r->rate;
    if (t < r->warmup) rate *= (double)(t + 1) / (double)r->warmup;
    if (r->cosine) rate *= t < r->cosine ? (1.0 + ulp_cos_turn((double)t / (double)r->cosine * 0.5)) * 0.5 : 0.0;
    if (r->every) rate *= ulp_power(r->factor, t / r->every);
    return rate;
}

/* ---- steps ---- */

/* The gradient g: unscaled, and with the decay added if the decay is coupled. */
static ulp_operand add_gradient(ulp_update_plan *p, const float *dw) {
    const ulp_optimizer *o = p->o;
    ulp_operand g = ulp_operand_scratch(ULP_SCRATCH_G), w = ulp_update_array(p, o->master ? o->master : o->weight);
    if (p->span.scale_log2 == 0 && ulp_cast_is_identity(&p->pass->run.policy->at[ULP_AT_STATE]))
        g = ulp_update_array(p, dw);
    else
        ulp_update_add_state(p,
                             ulp_step_binary(ULP_MUL, g, ulp_update_array(p, dw),
                                             ulp_operand_value(ulp_scale(1.0, -p->span.scale_log2))),
                             ULP_AT_STATE);
    if (o->rule.decay == 0.0 || o->rule.kind->decoupled) return g;
    ulp_update_add_state(p, ulp_step_fused(ulp_operand_scratch(ULP_SCRATCH_G), ulp_operand_value(o->rule.decay), w, g),
                         ULP_USE_DECAY);
    return ulp_operand_scratch(ULP_SCRATCH_G);
}

/* w <- w - shrink w - rate d; with shrink = 0 the term is left out. */
static void add_update(ulp_update_plan *p, ulp_operand d, double rate, double shrink) {
    const ulp_optimizer *o = p->o;
    ulp_point_kind point = o->master ? ULP_AT_MASTER : ULP_AT_WEIGHT;
    ulp_operand w = ulp_update_array(p, o->master ? o->master : o->weight);
    if (shrink != 0.0) ulp_update_add(p, ulp_step_fused(w, ulp_operand_value(-shrink), w, w), point, ULP_USE_SHRINK);
    ulp_update_add(p, ulp_step_fused(w, ulp_operand_value(-rate), d, w), point, ULP_USE_UPDATE);
    if (o->master)
        ulp_update_add(p, ulp_step_unary(ULP_STEP_ROUND, ulp_update_array(p, o->weight), w),
                       weight_point(p->pass->run.policy), ULP_AT_WEIGHT);
}

static void add_compensated(ulp_update_plan *p, ulp_operand d, double rate, double shrink) {
    ulp_operand w = ulp_update_array(p, p->o->weight), c = ulp_update_array(p, p->o->lost),
                y = ulp_operand_scratch(ULP_SCRATCH_T), s = ulp_operand_scratch(ULP_SCRATCH_S),
                e = ulp_operand_scratch(ULP_SCRATCH_E);
    ulp_update_add(p, ulp_step_fused(y, ulp_operand_value(-rate), d, c), ULP_AT_WEIGHT, ULP_USE_UPDATE);
    if (shrink != 0.0)
        ulp_update_add(p, ulp_step_fused(y, ulp_operand_value(-shrink), w, y), ULP_AT_WEIGHT, ULP_USE_SHRINK);
    ulp_update_add(p, ulp_step_binary(ULP_ADD, s, w, y), ULP_AT_WEIGHT, ULP_USE_KAHAN_SUM);
    ulp_update_add(p, ulp_step_binary(ULP_SUB, e, s, w), ULP_AT_WEIGHT, ULP_USE_KAHAN_MOVED);
    ulp_update_add(p, ulp_step_binary(ULP_SUB, c, y, e), ULP_AT_WEIGHT, ULP_USE_KAHAN_LOST);
    ulp_update_add(p, ulp_step_unary(ULP_STEP_ROUND, w, s), ULP_AT_WEIGHT, ULP_AT_WEIGHT);
    p->step[p->steps - 1].rule.mode = ULP_RNE; /* a copy: s is in the format, so every rule gives s */
}

static ulp_status step_span(const ulp_optimizer *o, const ulp_pass *pass, const float *dw, ulp_span span) {
    double rate = ulp_rate_at(&o->rule, pass->now.step), shrink = o->rule.kind->decoupled ? rate * o->rule.decay : 0.0;
    ulp_update_plan p = {.o = o, .pass = pass, .span = span};
    ulp_operand d = add_gradient(&p, dw);
    d = o->rule.kind->direction(&p, d, &rate);
    if (o->lost) add_compensated(&p, d, rate, shrink);
    else add_update(&p, d, rate, shrink);
    return ulp_backend_update(pass->run.backend, p.step, p.steps, span.n);
}

ulp_status ulp_optimizer_step(ulp_optimizer *o, ulp_pass *pass, const float *dw, const ulp_span *span, size_t spans) {
    ulp_status status = spans ? ULP_OK : step_span(o, pass, dw, (ulp_span){0, o->n, pass->now.scales.log2});
    for (size_t i = 0; i < spans && status == ULP_OK; i++) status = step_span(o, pass, dw, span[i]);
    o->updates += status == ULP_OK;
    return status;
}
