/* policy.c - changing and checking policies, and properties of their casts; see policy.h. */
#include "policy.h"

#include <stdio.h>
#include <string.h>

#include "operand_parts.h"
#include "policy_words.h"

static const char *const point_names[ULP_AT_COUNT] = {"weight", "act",  "wgrad", "agrad", "state",
                                                      "master", "loss", "norm",  "score", "prob"};

const char *ulp_point_name(ulp_point_kind point) { return (unsigned)point < ULP_AT_COUNT ? point_names[point] : NULL; }

ulp_status ulp_point_let_overflow(ulp_format *format, ulp_point_kind point) {
    char name[2 * ULP_NAME_MAX];
    if (!ulp_point_is_gradient((int)point) || !format->is_signed || format->overflow != ULP_OVERFLOW_SAT ||
        format->nan_codes == ULP_NAN_NONE || strstr(format->name, ":sat"))
        return ULP_OK;
    snprintf(name, sizeof name, "%s:inf", format->name);
    return ulp_format_parse(format, name);
}

int ulp_point_takes_scale(ulp_point_kind point) {
    return point == ULP_AT_WEIGHT || point == ULP_AT_ACT || ulp_point_is_gradient((int)point);
}

/* The index of a datapath among those of the selections; ULP_PATHS_MAX if there is no room. */
static size_t place_path(ulp_policy *policy, const ulp_datapath *path) {
    size_t i = 0;
    while (i < policy->paths && !ulp_datapath_equal(&policy->path[i], path)) i++;
    if (i == ULP_PATHS_MAX) return i;
    policy->path[i] = *path;
    policy->paths += i == policy->paths;
    return i;
}

size_t ulp_policy_place_cast(ulp_policy *policy, const ulp_operand_cast *cast) {
    size_t i = 0;
    while (i < policy->casts && !ulp_operand_casts_equal(&policy->cast[i], cast)) i++;
    if (i == ULP_PATHS_MAX) return i;
    policy->cast[i] = *cast;
    policy->casts += i == policy->casts;
    return i;
}

ulp_status ulp_policy_select(ulp_policy *policy, const ulp_selection *selection, const ulp_datapath *path) {
    const size_t at = path && policy->selections < ULP_SELECTIONS_MAX ? place_path(policy, path) : selection->path;
    if (policy->selections == ULP_SELECTIONS_MAX || at == ULP_PATHS_MAX) return ULP_BAD_ARGUMENT;
    ulp_selection *to = &policy->selection[policy->selections++];
    *to = *selection;
    to->path = (uint8_t)at;
    return ULP_OK;
}

void ulp_policy_forget(ulp_policy *policy, int what) {
    const int master = what == ULP_AT_MASTER || what == ULP_SELECT_NO_MASTER;
    size_t kept = 0;
    for (size_t i = 0; i < policy->selections; i++) {
        const int other = policy->selection[i].what;
        const int loses = other == what || (master && (other == ULP_AT_MASTER || other == ULP_SELECT_NO_MASTER));
        if (!loses) policy->selection[kept++] = policy->selection[i];
    }
    policy->selections = kept;
}

/* Add a selection that gives all layers the cast of a point, with the rule of the point. */
static ulp_status select_for_all(ulp_policy *policy, ulp_point_kind point, const ulp_cast *cast) {
    ulp_selection all = {.layers = "*", .what = (uint8_t)point, .cast = *cast};
    ulp_policy_forget(policy, (int)point);
    all.cast.rule = policy->at[point].rule;
    return ulp_policy_select(policy, &all, NULL);
}

ulp_status ulp_policy_set(ulp_policy *policy, ulp_point_kind point, const ulp_format *format, ulp_tensor_scale when,
                          int history) {
    ulp_cast cast = {.format = *format, .tensor_scale = (uint8_t)when, .history = (uint16_t)history};
    if ((when == ULP_SCALED_DELAYED) != (history > 0) || history > ULP_HISTORY_MAX) return ULP_BAD_ARGUMENT;
    if (!format->fits_binary32 || (when && !ulp_point_takes_scale(point))) return ULP_UNSUPPORTED;
    ulp_status status = when ? ULP_OK : ulp_point_let_overflow(&cast.format, point);
    if (status == ULP_OK && policy->selections && point != ULP_AT_LOSS) status = select_for_all(policy, point, &cast);
    if (status != ULP_OK) return status;
    cast.rule = policy->at[point].rule;
    policy->at[point] = cast;
    if (point == ULP_AT_MASTER) policy->has_master = 1;
    if (ulp_point_follows((int)point)) policy->own |= (uint16_t)(1u << point);
    return ULP_OK;
}

void ulp_policy_binary32(ulp_policy *policy) {
    memset(policy, 0, sizeof *policy);
    for (int i = 0; i < ULP_AT_COUNT; i++) policy->at[i].format = ulp_binary32;
    ulp_datapath_fp32(&policy->forward);
    ulp_datapath_fp32(&policy->backward);
}

ulp_status ulp_operands_check(const ulp_operands *o, ulp_error *error) {
    const ulp_point_kind points[] = {o->a_point, o->b_point};
    const ulp_format *takes[] = {&o->path->a, &o->path->b};
    const ulp_cast *casts[] = {o->a, o->b};
    const int has_parts = o->by && ulp_product_has_parts(o->path, o->by);
    if (has_parts) ULP_TRY(ulp_parts_check(o->path, o->key, o->by, o->first, error));
    for (int i = 0; o->path->has_inputs && i < 2; i++) {
        const int kind = o->by ? o->by[i].kind : ULP_OPERAND_AS_IT_IS;
        if (kind == ULP_OPERAND_LOW_BIT && ulp_mode_is_stochastic(o->by[i].cast.rule.mode))
            return ulp_fail(error, ULP_UNSUPPORTED,
                            "%s=%s: %s=sign/sr takes a datapath of any numbers, as fp32: scores take the weights "
                            "themselves",
                            o->key, o->path->name, ulp_operand_name(o->first + i));
        if (kind != ULP_OPERAND_AS_IT_IS && (has_parts || kind == ULP_OPERAND_LOW_BIT)) continue;
        if (kind == ULP_OPERAND_FORMAT) casts[i] = &o->by[i].cast;
        const char *name = point_names[points[i]], *format = casts[i]->format.name;
        if (casts[i]->tensor_scale && o->path->words == 0) /* with words, operands are any binary32 numbers */
            return ulp_fail(error, ULP_UNSUPPORTED,
                            "%s=%s: takes operands in %s, and a scale per tensor, %s=%s@..., moves numbers out of "
                            "every format",
                            o->key, o->path->name, takes[i]->name, name, format);
        if (!ulp_format_holds(takes[i], &casts[i]->format))
            return ulp_fail(error, ULP_UNSUPPORTED, "%s=%s: takes operands in %s, which does not hold all of %s=%s",
                            o->key, o->path->name, takes[i]->name, name, format);
    }
    return ULP_OK;
}

/* The products are y = x w, dw = x' dy and dx = dy w'. */
static ulp_status check_products(const ulp_policy *p, ulp_error *error) {
    const ulp_cast *act = &p->at[ULP_AT_ACT], *weight = &p->at[ULP_AT_WEIGHT], *agrad = &p->at[ULP_AT_AGRAD];
    const ulp_operand_cast *by = p->operand;
    const ulp_operands products[] = {
        {"fwd", &p->forward, ULP_AT_ACT, ULP_AT_WEIGHT, act, weight, by, ULP_FORWARD_X},
        {"bwd", &p->backward, ULP_AT_ACT, ULP_AT_AGRAD, act, agrad, by + ULP_WGRAD_X, ULP_WGRAD_X},
        {"bwd", &p->backward, ULP_AT_AGRAD, ULP_AT_WEIGHT, agrad, weight, by + ULP_DGRAD_G, ULP_DGRAD_G}};
    ulp_status status = ulp_operand_casts_check(by, error);
    for (int i = 0; i < 3 && status == ULP_OK; i++) status = ulp_operands_check(&products[i], error);
    return status;
}

/* A cast with its name: "act", "bn.act". */
typedef struct named_cast {
    const char *layers, *key; /* layers is NULL in a policy for all layers */
    const ulp_cast *cast;
    int is_gradient; /* 1: of gradients, which have signs and may be zero */
} named_cast;

static ulp_status check_cast(named_cast c, ulp_error *error) {
    const ulp_format *f = &c.cast->format;
    const char *layers = c.layers ? c.layers : "", *point = c.layers ? "." : "";
    const ulp_status status = ulp_rule_check(f, c.cast->rule);
    if (status != ULP_OK)
        return ulp_fail(error, status, "%s%s%s=%s: the format does not offer the rule", layers, point, c.key, f->name);
    if (!c.is_gradient || (f->is_signed && f->has_zero)) return ULP_OK;
    return ulp_fail(error, ULP_UNSUPPORTED,
                    "%s%s%s=%s: gradients need a format with a sign and a zero, as bf16, fp16, e5m2 and e4m3 have",
                    layers, point, c.key, f->name);
}

ulp_status ulp_policy_check(const ulp_policy *policy, ulp_error *error) {
    ulp_status status = ULP_OK;
    for (int i = 0; i < ULP_AT_COUNT + policy->has_out && status == ULP_OK; i++)
        status = check_cast((named_cast){NULL, ulp_cast_name(i), i < AT_OUT ? &policy->at[i] : &policy->out,
                                         ulp_point_is_gradient(i) || i == ULP_AT_STATE},
                            error);
    for (size_t i = 0; i < policy->selections && status == ULP_OK; i++) {
        const ulp_selection *s = &policy->selection[i];
        const int preset = s->what == ULP_SELECT_ALL || s->what == ULP_SELECT_MIXED;
        if (s->what < ULP_AT_COUNT || preset)
            status = check_cast((named_cast){s->layers, preset ? "*" : point_names[s->what], &s->cast,
                                             preset || ulp_point_is_gradient(s->what) || s->what == ULP_AT_STATE},
                                error);
    }
    if (status != ULP_OK || policy->selections) return status;
    if (policy->at[ULP_AT_WEIGHT].tensor_scale && !policy->has_master)
        return ulp_fail(error, ULP_UNSUPPORTED,
                        "weight=%s with a scale per tensor: needs master weights, since a weight that is moved "
                        "with every step's scale could not take small updates",
                        policy->at[ULP_AT_WEIGHT].format.name);
    return check_products(policy, error);
}

ulp_status ulp_policy_runs_on(const ulp_policy *policy, const ulp_backend *backend, ulp_error *error) {
    for (size_t i = 0; i < 2 + policy->paths; i++) {
        const ulp_datapath *path = i == 0 ? &policy->forward : i == 1 ? &policy->backward : &policy->path[i - 2];
        const int of_cpu = path->native >= ULP_NATIVE_OF_CPU;
        if (path->kind == ULP_NATIVE && backend->machine != (of_cpu ? ULP_OF_PROCESSOR : ULP_OF_GPU))
            return ulp_fail(error, ULP_UNSUPPORTED,
                            "datapath %s: a %s's own product, which takes the backend %s; the backend is %s",
                            path->name, of_cpu ? "processor" : "GPU", of_cpu ? "cpu" : "cuda", backend->name);
    }
    return ULP_OK;
}
