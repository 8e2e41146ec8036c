/* optim.c - an update as a list of steps for the backend, one list per span; see optim.h. */
#include "optim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/normal.h"
#include "update.h"

static ulp_status fail_kahan(const ulp_optimizer_rule *rule, ulp_error *error) {
    return ulp_fail(error, ULP_BAD_NAME,
                    "optimizer: kahan=1 takes the place of master weights, which the policy has; %s needs a policy "
                    "with master=none",
                    rule->kind->name);
}

ulp_status ulp_optimizer_init(ulp_optimizer *o, const ulp_optimizer_rule *rule, const ulp_policy *policy,
                              ulp_error *error) {
    if (rule->kahan && policy->has_master && !policy->selections) return fail_kahan(rule, error);
    if (rule->kahan && rule->limit != 0.0)
        return ulp_fail(error, ULP_UNSUPPORTED,
                        "optimizer: limit=%g and kahan=1 do not fit: the sum keeps what the limit cuts off",
                        rule->limit);
    memset(o, 0, sizeof *o);
    o->rule = *rule;
    o->coefficient = 1.0f;
    o->parts = 1;
    o->whole = (ulp_update_part){.has_master = policy->has_master,
                                 .decays = 1,
                                 .weight = policy->at[ULP_AT_WEIGHT],
                                 .state = policy->at[ULP_AT_STATE],
                                 .master = policy->at[ULP_AT_MASTER]};
    return ULP_OK;
}

/* ---- parts ---- */

static int casts_are_equal(const ulp_cast *a, const ulp_cast *b) {
    return ulp_format_equal(&a->format, &b->format) && a->rule.mode == b->rule.mode &&
           a->rule.overflow == b->rule.overflow && a->rule.random_bits == b->rule.random_bits &&
           a->tensor_scale == b->tensor_scale;
}

/* Append parameters: to the last part if it rounds and decays in the same way, else as a new part. */
static void append(ulp_optimizer *o, ulp_update_part next) {
    ulp_update_part *last = o->parts ? &o->part[o->parts - 1] : NULL;
    next.first_master = o->masters;
    o->masters += next.has_master ? next.n : 0;
    if (last && last->has_master == next.has_master && last->decays == next.decays &&
        casts_are_equal(&last->weight, &next.weight) && casts_are_equal(&last->state, &next.state) &&
        casts_are_equal(&last->master, &next.master))
        last->n += next.n;
    else o->part[o->parts++] = next;
}

/* Append the parameters of a layer: the runs of ulp_layer.decays, if the rule distinguishes them. */
static void append_layer(ulp_optimizer *o, const ulp_layer *layer, const ulp_layer_policy *row) {
    ulp_update_part next = o->whole;
    size_t left = layer->params;
    if (row) {
        next.has_master = row->has_master;
        next.weight = row->at[ULP_AT_WEIGHT];
        next.state = row->at[ULP_AT_STATE];
        next.master = row->at[ULP_AT_MASTER];
    }
    next.first = layer->first_param;
    next.decays = 1;
    for (size_t k = 0; k < ULP_DECAY_RUNS && o->rule.decays_weights; k++, next.decays ^= 1) {
        next.n = layer->decays[k] < left ? layer->decays[k] : left;
        if (next.n) append(o, next);
        next.first += next.n;
        left -= next.n;
    }
    next.decays = !o->rule.decays_weights;
    next.n = left;
    if (left) append(o, next);
}

size_t ulp_optimizer_parts(const ulp_optimizer_rule *rule, size_t layers, int has_rows) {
    if (!has_rows && !rule->decays_weights) return 0;
    return layers * (rule->decays_weights ? ULP_DECAY_RUNS + 1 : 1) + 1;
}

ulp_status ulp_optimizer_divide(ulp_optimizer *o, const ulp_net *net, const ulp_layer_policy *rows, ulp_error *error) {
    const size_t room = ulp_optimizer_parts(&o->rule, net->count, rows != NULL);
    if (!room) return ULP_OK;
    o->part = calloc(room, sizeof *o->part);
    if (!o->part) return ulp_fail(error, ULP_NO_MEMORY, "no memory for an optimizer");
    o->parts = o->masters = 0;
    for (size_t i = 0; i < net->count; i++)
        if (net->layers[i].params) append_layer(o, &net->layers[i], rows ? &rows[i + 1] : NULL);
    return o->rule.kahan && o->masters ? fail_kahan(&o->rule, error) : ULP_OK;
}

void ulp_optimizer_release(ulp_optimizer *o) {
    free(o->part);
    o->part = NULL;
}

static ulp_update_part part_of(const ulp_optimizer *o, size_t i) {
    ulp_update_part part = o->part ? o->part[i] : o->whole;
    if (!o->part) part.n = o->n;
    return part;
}

/* ---- arrays ---- */

void ulp_optimizer_carve(ulp_optimizer *o, ulp_arena *arena, size_t n) {
    o->n = n;
    if (!o->part) o->masters = o->whole.has_master ? n : 0;
    o->weight = ulp_arena_take(arena, n);
    o->master = o->masters ? ulp_arena_take(arena, o->masters) : NULL;
    o->momentum = o->squares = NULL;
    o->rule.kind->carve(o, arena);
    o->lost = o->rule.kahan ? ulp_arena_take(arena, n) : NULL;
}

/* The cast that rounds master weights to weights. The trainer rounds weights with a tensor scale layer by layer;
 * before that the weights are equal to the master weights. */
static const ulp_cast *weight_cast(const ulp_update_part *part) {
    return part->weight.tensor_scale ? &part->master : &part->weight;
}

static ulp_status start_part(const ulp_optimizer *o, const ulp_pass *pass, const ulp_update_part *part,
                             const float *w) {
    const ulp_backend *backend = pass->run.backend;
    float *weight = o->weight + part->first, *first = part->has_master ? o->master + part->first_master : weight;
    const ulp_cast *cast = part->has_master ? &part->master : &part->weight, *to = weight_cast(part);
    const uint32_t use = part->has_master ? ULP_AT_MASTER : ULP_AT_WEIGHT;
    ulp_stream stream = {pass->run.seed, ulp_stream_id(use, 0, 0, pass->now.step), part->first};
    ULP_TRY(backend->upload(first, w + part->first, part->n * sizeof *w));
    if (!ulp_cast_is_identity(cast))
        ULP_TRY(
            ulp_backend_round(backend, first, first, part->n, (ulp_rounding){&cast->format, cast->rule, stream, NULL}));
    if (!part->has_master) return ULP_OK;
    stream.stream = ulp_stream_id(ULP_AT_WEIGHT, 0, 0, pass->now.step);
    return ulp_backend_round(backend, weight, first, part->n, (ulp_rounding){&to->format, to->rule, stream, NULL});
}

ulp_status ulp_optimizer_start(ulp_optimizer *o, ulp_pass *pass, const float *w) {
    ulp_backend_forget(pass->run.backend, o->weight, o->n);
    for (size_t i = 0; i < o->parts; i++) {
        const ulp_update_part part = part_of(o, i);
        ULP_TRY(start_part(o, pass, &part, w));
    }
    return ULP_OK;
}

/* Round weights that have a tensor scale; `lane` distinguishes two roundings of one step. */
static ulp_status scale_weights(const ulp_optimizer *o, ulp_pass *pass, const ulp_net *net, uint32_t lane) {
    for (size_t i = 0; i < net->count; i++) {
        const ulp_layer *layer = &net->layers[i];
        const ulp_cast *at = pass->run.rows ? pass->run.rows[i + 1].at : pass->run.policy->at;
        if (layer->params && at[ULP_AT_WEIGHT].tensor_scale)
            ULP_TRY(ulp_pass_round(pass, (ulp_site){.use = ULP_AT_WEIGHT, .lane = lane, .layer = i},
                                   o->weight + layer->first_param, layer->params));
    }
    return ulp_backend_keep(pass->run.backend, o->weight, o->n);
}

ulp_status ulp_optimizer_scale_weights(const ulp_optimizer *o, ulp_pass *pass, const ulp_net *net) {
    return scale_weights(o, pass, net, 0);
}

void ulp_optimizer_exchange(ulp_optimizer *a, ulp_optimizer *b) {
    const ulp_optimizer was = *a;
    a->parts = b->parts, a->whole = b->whole, a->part = b->part;
    b->parts = was.parts, b->whole = was.whole, b->part = was.part;
}

static ulp_status round_part(const ulp_optimizer *o, const ulp_pass *pass, const ulp_update_part *part) {
    const ulp_backend *backend = pass->run.backend;
    float *weight = o->weight + part->first, *first = part->has_master ? o->master + part->first_master : weight;
    const ulp_cast *cast = part->has_master ? &part->master : &part->weight, *to = weight_cast(part);
    ulp_stream stream = {pass->run.seed, ulp_stream_id(ULP_USE_TAIL, 0, 0, pass->now.step & 0xfffffffu), part->first};
    if (!ulp_cast_is_identity(cast))
        ULP_TRY(
            ulp_backend_round(backend, first, first, part->n, (ulp_rounding){&cast->format, cast->rule, stream, NULL}));
    if (!part->has_master) return ULP_OK;
    stream.stream = ulp_stream_id(ULP_USE_TAIL, 0, 1, pass->now.step & 0xfffffffu);
    return ulp_backend_round(backend, weight, first, part->n, (ulp_rounding){&to->format, to->rule, stream, NULL});
}

ulp_status ulp_optimizer_round_weights(ulp_optimizer *o, ulp_pass *pass, const ulp_net *net) {
    ulp_backend_forget(pass->run.backend, o->weight, o->n);
    for (size_t i = 0; i < o->parts; i++) {
        const ulp_update_part part = part_of(o, i);
        ULP_TRY(round_part(o, pass, &part));
    }
    return scale_weights(o, pass, net, 1);
}

ulp_status ulp_optimizer_start_net(ulp_optimizer *o, ulp_pass *pass, const ulp_net *net, float *state, double std) {
    float *w = calloc(net->params + net->states + 1, sizeof *w);
    if (!w) return ULP_NO_MEMORY;
    ulp_net_init(net, w, w + net->params, pass->run.seed, std);
    ulp_status status = ulp_optimizer_start(o, pass, w);
    if (status == ULP_OK) status = ulp_optimizer_scale_weights(o, pass, net);
    if (status == ULP_OK) status = pass->run.backend->upload(state, w + net->params, net->states * sizeof *w);
    free(w);
    return status;
}

ulp_status ulp_optimizer_masters(const ulp_optimizer *o, const ulp_backend *backend, float *w) {
    ULP_TRY(backend->download(w, o->weight, o->n * sizeof *w));
    for (size_t i = 0; i < o->parts; i++) {
        const ulp_update_part part = part_of(o, i);
        if (part.has_master)
            ULP_TRY(backend->download(w + part.first, o->master + part.first_master, part.n * sizeof *w));
    }
    return ULP_OK;
}

/* ---- the rate ---- */

double ulp_rate_at(const ulp_optimizer_rule *r, uint64_t t) {
    double rate = r->rate;
    if (t < r->warmup) rate *= (double)(t + 1) / (double)r->warmup;
    if (r->cosine) {
        const double share = t < r->cosine ? (1.0 + ulp_cos_turn((double)t / (double)r->cosine * 0.5)) * 0.5 : 0.0;
        rate *= r->floor + (1.0 - r->floor) * share;
    }
    if (r->every) rate *= ulp_power(r->factor, t / r->every);
    return rate;
}

/* ---- lists of steps ---- */

double ulp_power(double x, uint64_t k) {
    double y = 1.0;
    for (; k; k >>= 1, x *= x)
        if (k & 1) y *= x;
    return y;
}

ulp_operand ulp_update_array(const ulp_update_plan *p, const float *at) {
    /* operands and results have one type; the steps do not write to an array that is only read */
    ulp_operand operand = {.kind = ULP_OPERAND_ARRAY, .at = (float *)at + p->span.first};
    return operand;
}

void ulp_update_add(ulp_update_plan *p, ulp_update_step step, ulp_point_kind point, uint32_t use) {
    const ulp_update_part *part = p->part;
    const ulp_cast *cast = point == ULP_AT_WEIGHT   ? &part->weight
                           : point == ULP_AT_MASTER ? &part->master
                                                    : &part->state;
    step.format = cast->format;
    step.rule = cast->rule;
    step.stream = (ulp_stream){p->pass->run.seed, ulp_stream_id(use, 0, 0, p->pass->now.step), p->span.first};
    p->step[p->steps++] = step;
}

void ulp_update_add_state(ulp_update_plan *p, ulp_update_step step, uint32_t use) {
    ulp_update_add(p, step, ULP_AT_STATE, use);
}

/* ---- steps ---- */

/* The weights to which updates are added. */
static ulp_operand target(const ulp_update_plan *p) {
    const ulp_update_part *part = p->part;
    if (!part->has_master) return ulp_update_array(p, p->o->weight);
    return (ulp_operand){.kind = ULP_OPERAND_ARRAY,
                         .at = p->o->master + (part->first_master + p->span.first - part->first)};
}

/* Multiply *g by a factor; *g is the scratch of gradients then. */
static void multiply(ulp_update_plan *p, ulp_operand *g, double factor, uint32_t use) {
    const ulp_operand to = ulp_operand_scratch(ULP_SCRATCH_G);
    ulp_update_add_state(p, ulp_step_binary(ULP_MUL, to, *g, ulp_operand_value(factor)), use);
    *g = to;
}

/* The gradient g: unscaled, clipped, and with the decay added if the decay is coupled. */
static ulp_operand add_gradient(ulp_update_plan *p, const float *dw) {
    const ulp_optimizer *o = p->o;
    const int clips = o->coefficient != 1.0f;
    ulp_operand g = ulp_update_array(p, dw), w = target(p);
    if (clips && o->rule.clip_scaled) multiply(p, &g, (double)o->coefficient, ULP_USE_CLIP);
    if (p->span.scale_log2 != 0 || !ulp_cast_is_identity(&p->part->state))
        multiply(p, &g, ulp_scale(1.0, -p->span.scale_log2), ULP_AT_STATE);
    if (clips && !o->rule.clip_scaled) multiply(p, &g, (double)o->coefficient, ULP_USE_CLIP);
    if (o->rule.decay == 0.0 || o->rule.kind->decoupled || !p->part->decays) return g;
    ulp_update_add_state(p, ulp_step_fused(ulp_operand_scratch(ULP_SCRATCH_G), ulp_operand_value(o->rule.decay), w, g),
                         ULP_USE_DECAY);
    return ulp_operand_scratch(ULP_SCRATCH_G);
}

/* w <- w - shrink w - rate d; with shrink = 0 the term is left out. */
static void add_update(ulp_update_plan *p, ulp_operand d, double rate, double shrink) {
    const ulp_optimizer *o = p->o;
    const ulp_point_kind point = p->part->has_master ? ULP_AT_MASTER : ULP_AT_WEIGHT;
    ulp_operand w = target(p);
    if (shrink != 0.0) ulp_update_add(p, ulp_step_fused(w, ulp_operand_value(-shrink), w, w), point, ULP_USE_SHRINK);
    ulp_update_add(p, ulp_step_fused(w, ulp_operand_value(-rate), d, w), point, ULP_USE_UPDATE);
    if (o->rule.limit != 0.0 && p->part->decays)
        ulp_update_add(p, ulp_step_binary(ULP_STEP_LIMIT, w, w, ulp_operand_value(o->rule.limit)), point,
                       ULP_USE_LIMIT);
    if (p->part->has_master)
        ulp_update_add(p, ulp_step_unary(ULP_STEP_ROUND, ulp_update_array(p, o->weight), w),
                       p->part->weight.tensor_scale ? ULP_AT_MASTER : ULP_AT_WEIGHT, ULP_AT_WEIGHT);
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

static ulp_status step_span(const ulp_optimizer *o, const ulp_pass *pass, const ulp_update_part *part, const float *dw,
                            ulp_span span) {
    double rate = ulp_rate_at(&o->rule, pass->now.step),
           shrink = o->rule.kind->decoupled && part->decays ? rate * o->rule.decay : 0.0;
    ulp_update_plan p = {.o = o, .pass = pass, .part = part, .span = span};
    ulp_operand d = add_gradient(&p, dw);
    d = o->rule.kind->direction(&p, d, &rate);
    if (o->lost) add_compensated(&p, d, rate, shrink);
    else add_update(&p, d, rate, shrink);
    return ulp_backend_update(pass->run.backend, p.step, p.steps, span.n);
}

/* Add the squares of x (n) 2^-scale to *sum; the scale is exact. */
static ulp_status add_squares(const ulp_pass *pass, double *sum, const float *x, size_t n, int scale_log2) {
    const size_t chunks = ulp_squares_chunks(n);
    const double factor = ulp_scale(1.0, -2 * scale_log2);
    double *host = pass->scratch.host;
    ULP_TRY(ulp_backend_squares(pass->run.backend, pass->scratch.wide, x, n));
    ULP_TRY(pass->run.backend->download(host, pass->scratch.wide, chunks * sizeof *host));
    for (size_t c = 0; c < chunks; c++) *sum += host[c] * factor;
    return ULP_OK;
}

/* Compute the norm of all gradients and the coefficient of clipping. */
static ulp_status measure(ulp_optimizer *o, const ulp_pass *pass, const float *dw, const ulp_span *span, size_t spans) {
    double sum = 0.0;
    o->norm = 0.0;
    o->coefficient = 1.0f;
    if (o->rule.clip == 0.0) return ULP_OK;
    if (!spans) ULP_TRY(add_squares(pass, &sum, dw, o->n, o->rule.clip_scaled ? 0 : pass->now.scales.log2));
    for (size_t i = 0; i < spans; i++)
        ULP_TRY(add_squares(pass, &sum, dw + span[i].first, span[i].n, o->rule.clip_scaled ? 0 : span[i].scale_log2));
    o->norm = sqrt(sum);
    const double c = o->rule.clip / (o->norm + 1e-6);
    o->coefficient = c > 1.0 ? 1.0f : c != c ? (float)ulp_quiet_nan() : (float)c;
    return ULP_OK;
}

/* Update the parts of a span. */
static ulp_status step_parts(const ulp_optimizer *o, const ulp_pass *pass, const float *dw, ulp_span span) {
    const size_t end = span.first + span.n;
    for (size_t k = 0; k < o->parts; k++) {
        const ulp_update_part part = part_of(o, k);
        const size_t first = part.first > span.first ? part.first : span.first,
                     last = part.first + part.n < end ? part.first + part.n : end;
        if (first < last) ULP_TRY(step_span(o, pass, &part, dw, (ulp_span){first, last - first, span.scale_log2}));
    }
    return ULP_OK;
}

ulp_status ulp_optimizer_step(ulp_optimizer *o, ulp_pass *pass, const float *dw, const ulp_span *span, size_t spans) {
    ULP_TRY(measure(o, pass, dw, span, spans));
    ulp_backend_forget(pass->run.backend, o->weight, o->n);
    if (!spans) ULP_TRY(step_parts(o, pass, dw, (ulp_span){0, o->n, pass->now.scales.log2}));
    for (size_t i = 0; i < spans; i++) ULP_TRY(step_parts(o, pass, dw, span[i]));
    o->updates++;
    return ULP_OK;
}
