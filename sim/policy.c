/* policy.c - changing and checking policies, and properties of their casts; see policy.h. */
#include "policy.h"

#include <stdio.h>
#include <string.h>

#include "fail.h"

static const char *const point_names[ULP_AT_COUNT] = {"weight", "act",    "wgrad", "agrad",
                                                      "state",  "master", "loss",  "norm"};

const char *ulp_point_name(ulp_point_kind point) { return (unsigned)point < ULP_AT_COUNT ? point_names[point] : NULL; }

/* A cast has the number of its point; the cast of out= has the number after the last point. */
enum { AT_OUT = ULP_AT_COUNT };

static const char *cast_name(int i) { return i < AT_OUT ? point_names[i] : "out"; }

/* Replace a gradient's format by its variant `:inf` if the format saturates and its name does not say `:sat`. */
static ulp_status let_overflow(ulp_format *format) {
    char name[2 * ULP_NAME_MAX];
    if (format->overflow != ULP_OVERFLOW_SAT || format->nan_codes == ULP_NAN_NONE || strstr(format->name, ":sat"))
        return ULP_OK;
    snprintf(name, sizeof name, "%s:inf", format->name);
    return ulp_format_parse(format, name);
}

static int is_gradient(int i) { return i == ULP_AT_WGRAD || i == ULP_AT_AGRAD; }
int ulp_point_takes_scale(ulp_point_kind point) {
    return point == ULP_AT_WEIGHT || point == ULP_AT_ACT || is_gradient((int)point);
}

ulp_status ulp_policy_set(ulp_policy *policy, ulp_point_kind point, const ulp_format *format, ulp_tensor_scale when,
                          int history) {
    ulp_cast cast = {.format = *format, .tensor_scale = (uint8_t)when, .history = (uint16_t)history};
    if ((when == ULP_SCALED_DELAYED) != (history > 0) || history > ULP_HISTORY_MAX) return ULP_BAD_ARGUMENT;
    if (!format->fits_binary32 || (when && !ulp_point_takes_scale(point))) return ULP_UNSUPPORTED;
    ulp_status status = !when && is_gradient((int)point) ? let_overflow(&cast.format) : ULP_OK;
    if (status != ULP_OK) return status;
    cast.rule = policy->at[point].rule;
    policy->at[point] = cast;
    if (point == ULP_AT_MASTER) policy->has_master = 1;
    return ULP_OK;
}

/* A policy under check, and the place for the sentence. */
typedef struct report {
    const ulp_policy *policy;
    char *error;
    size_t error_size;
} report;

/* Check that a datapath takes the formats of the tensors at the points a and b as its operands. */
static ulp_status check_operands(const report *r, const char *key, const ulp_datapath *path, ulp_point_kind a,
                                 ulp_point_kind b) {
    const ulp_point_kind points[] = {a, b};
    const ulp_format *takes[] = {&path->a, &path->b};
    for (int i = 0; path->has_inputs && i < 2; i++) {
        const ulp_cast *cast = &r->policy->at[points[i]];
        if (cast->tensor_scale)
            return ulp_fail(
                r->error, r->error_size, ULP_UNSUPPORTED,
                "%s=%s: takes operands in %s, and a scale per tensor, %s=%s@..., moves numbers out of every "
                "format",
                key, path->name, takes[i]->name, cast_name((int)points[i]), cast->format.name);
        if (!ulp_format_holds(takes[i], &cast->format))
            return ulp_fail(r->error, r->error_size, ULP_UNSUPPORTED,
                            "%s=%s: takes operands in %s, which does not hold all of %s=%s", key, path->name,
                            takes[i]->name, cast_name((int)points[i]), cast->format.name);
    }
    return ULP_OK;
}

/* The products are y = x w, dw = x' dy and dx = dy w'. */
static ulp_status check_products(const report *r) {
    const ulp_policy *p = r->policy;
    ulp_status status = check_operands(r, "fwd", &p->forward, ULP_AT_ACT, ULP_AT_WEIGHT);
    if (status == ULP_OK) status = check_operands(r, "bwd", &p->backward, ULP_AT_ACT, ULP_AT_AGRAD);
    return status == ULP_OK ? check_operands(r, "bwd", &p->backward, ULP_AT_AGRAD, ULP_AT_WEIGHT) : status;
}

ulp_status ulp_policy_check(const ulp_policy *policy, char *error, size_t error_size) {
    for (int i = 0; i < ULP_AT_COUNT + policy->has_out; i++) {
        const ulp_cast *cast = i < AT_OUT ? &policy->at[i] : &policy->out;
        ulp_status status = ulp_rule_check(&cast->format, cast->rule);
        if (status != ULP_OK)
            return ulp_fail(error, error_size, status, "%s=%s: the format does not offer the rule", cast_name(i),
                            cast->format.name);
    }
    if (policy->at[ULP_AT_WEIGHT].tensor_scale && !policy->has_master)
        return ulp_fail(error, error_size, ULP_UNSUPPORTED,
                        "weight=%s with a scale per tensor: needs master weights, since a weight that is moved "
                        "with every step's scale could not take small updates",
                        policy->at[ULP_AT_WEIGHT].format.name);
    return check_products(&(report){policy, error, error_size});
}

ulp_status ulp_policy_runs_on(const ulp_policy *policy, const char *backend, char *error, size_t error_size) {
    const ulp_datapath *of[] = {&policy->forward, &policy->backward};
    for (int i = 0; i < 2; i++)
        if (of[i]->kind == ULP_NATIVE && strcmp(backend, "cuda") != 0)
            return ulp_fail(error, error_size, ULP_UNSUPPORTED,
                            "datapath %s: a GPU's own product, which takes the backend cuda; the backend is %s",
                            of[i]->name, backend);
    return ULP_OK;
}

int ulp_cast_is_identity(const ulp_cast *cast) {
    uint8_t policy = (uint8_t)ulp_overflow_of(&cast->format, (ulp_overflow)cast->rule.overflow);
    return strcmp(cast->format.name, "binary32") == 0 && !cast->tensor_scale && policy == ULP_OVERFLOW_INF;
}

int ulp_cast_is_binary32(const ulp_cast *cast) { return cast->rule.mode == ULP_RNE && ulp_cast_is_identity(cast); }
