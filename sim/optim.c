/* optim.c - the update as a list of steps for the backend, a span at a time; see optim.h. */
#include "optim.h"

#include <math.h>
#include <string.h>

#include "fail.h"
#include "normal.h"

enum { STEPS = 20, ROOM_G = 0, ROOM_T = 1, ROOM_S = 2, ROOM_E = 3 }; /* the scratch arrays */

/* The steps of one span. */
typedef struct plan {
    const ulp_optimizer *o;
    const ulp_pass *pass;
    ulp_span span;
    ulp_update_step step[STEPS];
    size_t steps;
} plan;

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

void ulp_optimizer_carve(ulp_optimizer *o, ulp_family *family, size_t n, const ulp_policy *policy) {
    int adam = o->rule.kind->direction == ULP_DIRECTION_ADAM;
    o->n = n;
    o->weight = ulp_family_take(family, n);
    o->master = policy->has_master ? ulp_family_take(family, n) : NULL;
    o->momentum = adam || o->rule.momentum != 0.0 ? ulp_family_take(family, n) : NULL;
    o->squares = adam ? ulp_family_take(family, n) : NULL;
    o->lost = o->rule.kahan ? ulp_family_take(family, n) : NULL;
}

/* The point whose cast makes weights of master weights. Weights with a scale per tensor are rounded layer by layer by
 * the trainer; until then they are the master weights. */
static ulp_point_kind weight_point(const ulp_policy *policy) {
    return policy->at[ULP_AT_WEIGHT].scaling ? ULP_AT_MASTER : ULP_AT_WEIGHT;
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

/* x^k by squaring, in a fixed order. */
static double power(double x, uint64_t k) {
    double y = 1.0;
    for (; k; k >>= 1, x *= x)
        if (k & 1) y *= x;
    return y;
}

double ulp_rate_at(const ulp_optimizer_rule *r, uint64_t t) {
    double rate = r->rate;
    if (t < r->warmup) rate *= (double)(t + 1) / (double)r->warmup;
    if (r->cosine) rate *= t < r->cosine ? (1.0 + ulp_cos_turn((double)t / (double)r->cosine * 0.5)) * 0.5 : 0.0;
    if (r->every) rate *= power(r->factor, t / r->every);
    return rate;
}

/* ---- steps ---- */

static ulp_operand array(const plan *p, const float *at) {
    /* the same type for operands and results: what is only read stays so */
    ulp_operand operand = {.kind = ULP_OPERAND_ARRAY, .at = (float *)at + p->span.first};
    return operand;
}

static ulp_operand value(double x) { return (ulp_operand){.kind = ULP_OPERAND_VALUE, .value = (float)x}; }

static ulp_operand scratch(int slot) { return (ulp_operand){.kind = ULP_OPERAND_SCRATCH, .slot = (uint8_t)slot}; }

/* Append a step: its result is rounded at a point, with the random words of a use. */
static void add(plan *p, ulp_update_step step, ulp_point_kind point, uint32_t use) {
    const ulp_cast *cast = &p->pass->run.policy->at[point];
    step.format = cast->format;
    step.rule = cast->rule;
    step.stream = (ulp_stream){p->pass->run.seed, ulp_stream_id(use, 0, 0, p->pass->now.step), p->span.first};
    p->step[p->steps++] = step;
}

/* The same for what an optimizer keeps. */
static void add_state(plan *p, ulp_update_step step, uint32_t use) { add(p, step, ULP_AT_STATE, use); }

/* Steps of one, two and three operands, without their rounding. */
static ulp_update_step unary(int op, ulp_operand y, ulp_operand a) {
    return (ulp_update_step){.op = (uint8_t)op, .y = y, .a = a};
}

static ulp_update_step binary(int op, ulp_operand y, ulp_operand a, ulp_operand b) {
    return (ulp_update_step){.op = (uint8_t)op, .y = y, .a = a, .b = b};
}

/* y = a b + c */
static ulp_update_step fused(ulp_operand y, ulp_operand a, ulp_operand b, ulp_operand c) {
    return (ulp_update_step){.op = ULP_FUSED, .y = y, .a = a, .b = b, .c = c};
}

/* g, unscaled and with coupled decay. */
static ulp_operand add_gradient(plan *p, const float *dw) {
    const ulp_optimizer *o = p->o;
    ulp_operand g = scratch(ROOM_G), w = array(p, o->master ? o->master : o->weight);
    if (p->span.scale_log2 == 0 && ulp_cast_is_identity(&p->pass->run.policy->at[ULP_AT_STATE])) g = array(p, dw);
    else add_state(p, binary(ULP_MUL, g, array(p, dw), value(ulp_scale(1.0, -p->span.scale_log2))), ULP_AT_STATE);
    if (o->rule.decay == 0.0 || o->rule.kind->decoupled) return g;
    add_state(p, fused(scratch(ROOM_G), value(o->rule.decay), w, g), ULP_USE_DECAY);
    return scratch(ROOM_G);
}

static ulp_operand add_momentum(plan *p, ulp_operand g) {
    if (!p->o->momentum) return g;
    ulp_operand v = array(p, p->o->momentum);
    add_state(p, fused(v, value(p->o->rule.momentum), v, g), ULP_USE_MOMENTUM);
    return v;
}

/* The direction of Adam; *rate gets its bias correction. */
static ulp_operand add_adam(plan *p, ulp_operand g, double *rate) {
    const ulp_optimizer_rule *r = &p->o->rule;
    double beta1 = (double)(float)r->beta1, beta2 = (double)(float)r->beta2,
           root = sqrt(1.0 - power(beta2, p->o->updates + 1));
    ulp_operand m = array(p, p->o->momentum), v = array(p, p->o->squares), t = scratch(ROOM_T), d = scratch(ROOM_G);
    *rate *= root / (1.0 - power(beta1, p->o->updates + 1));
    add_state(p, binary(ULP_MUL, t, value(1.0 - beta1), g), ULP_USE_MEAN_TERM);
    add_state(p, fused(m, value(beta1), m, t), ULP_USE_MEAN);
    add_state(p, binary(ULP_MUL, t, g, g), ULP_USE_SQUARE);
    add_state(p, binary(ULP_MUL, t, value(1.0 - beta2), t), ULP_USE_SQUARE_TERM);
    add_state(p, fused(v, value(beta2), v, t), ULP_USE_SQUARES);
    add_state(p, unary(ULP_SQRT, t, v), ULP_USE_ROOT);
    add_state(p, binary(ULP_ADD, t, t, value(r->eps * root)), ULP_USE_DENOMINATOR);
    add_state(p, binary(ULP_DIV, d, m, t), ULP_USE_DIRECTION);
    return d;
}

/* w <- w - shrink w - rate d; shrink 0: not asked for. */
static void add_update(plan *p, ulp_operand d, double rate, double shrink) {
    const ulp_optimizer *o = p->o;
    ulp_point_kind point = o->master ? ULP_AT_MASTER : ULP_AT_WEIGHT;
    ulp_operand w = array(p, o->master ? o->master : o->weight);
    if (shrink != 0.0) add(p, fused(w, value(-shrink), w, w), point, ULP_USE_SHRINK);
    add(p, fused(w, value(-rate), d, w), point, ULP_USE_UPDATE);
    if (o->master)
        add(p, unary(ULP_STEP_ROUND, array(p, o->weight), w), weight_point(p->pass->run.policy), ULP_AT_WEIGHT);
}

static void add_compensated(plan *p, ulp_operand d, double rate, double shrink) {
    ulp_operand w = array(p, p->o->weight), c = array(p, p->o->lost), y = scratch(ROOM_T), s = scratch(ROOM_S),
                e = scratch(ROOM_E);
    add(p, fused(y, value(-rate), d, c), ULP_AT_WEIGHT, ULP_USE_UPDATE);
    if (shrink != 0.0) add(p, fused(y, value(-shrink), w, y), ULP_AT_WEIGHT, ULP_USE_SHRINK);
    add(p, binary(ULP_ADD, s, w, y), ULP_AT_WEIGHT, ULP_USE_KAHAN_SUM);
    add(p, binary(ULP_SUB, e, s, w), ULP_AT_WEIGHT, ULP_USE_KAHAN_MOVED);
    add(p, binary(ULP_SUB, c, y, e), ULP_AT_WEIGHT, ULP_USE_KAHAN_LOST);
    add(p, unary(ULP_STEP_ROUND, w, s), ULP_AT_WEIGHT, ULP_AT_WEIGHT);
    p->step[p->steps - 1].rule.mode = ULP_RNE; /* a copy: s is in the format, no rule moves it */
}

static ulp_status step_span(const ulp_optimizer *o, const ulp_pass *pass, const float *dw, ulp_span span) {
    double rate = ulp_rate_at(&o->rule, pass->now.step), shrink = o->rule.kind->decoupled ? rate * o->rule.decay : 0.0;
    plan p = {.o = o, .pass = pass, .span = span};
    ulp_operand d = add_gradient(&p, dw);
    d = o->rule.kind->direction == ULP_DIRECTION_ADAM ? add_adam(&p, d, &rate) : add_momentum(&p, d);
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
