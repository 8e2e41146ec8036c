/* options.c - the types of the options of trainings, and the reading of data, networks and policies in plan(). */
#include "options.h"

#include <stdlib.h>
#include <string.h>

#include "experiments/harness/cli/types.h"
#include "profile.h"

/* ---- types of options ---- */

/* Prints a field that is a text, or a struct that begins with one. */
static void print_text(ulp_text *to, const void *field, const ulp_option *option) {
    (void)option;
    ulp_text_print(to, "%s", *(const char *const *)field);
}

static void list_sets(ulp_text *to) {
    const ulp_data_kind *kind;
    for (size_t i = 0; (kind = ulp_data_kind_get(i)); i++) ulp_text_print(to, "%s%s", i ? " " : "", kind->name);
}

static ulp_status read_set(void *field, const char *text, const ulp_option *option, ulp_error *error) {
    ulp_text known = {0};
    ulp_error why;
    const ulp_data_kind *kind;
    size_t length;
    (void)option;
    *(const char **)field = text;
    if (ulp_data_find(&kind, &length, text, &why) == ULP_OK) return ULP_OK;
    if (kind) return ulp_refuse(error, ": %s", why.text);
    list_sets(&known);
    ulp_refuse_word(error, "data set", text, ulp_text_of(&known), "");
    ulp_text_free(&known);
    return ULP_BAD_ARGUMENT;
}

static ulp_status read_policy(void *field, const char *text, const ulp_option *option, ulp_error *error) {
    ulp_error why;
    ulp_named_policy *to = field;
    (void)option;
    to->text = text;
    const ulp_status status = ulp_policy_parse(&to->policy, text, &why);
    if (status == ULP_OK) return ULP_OK;
    ulp_refuse(error, ": %s", ulp_after_subject(why.text, "policy"));
    return status == ULP_NO_DEVICE ? ULP_NO_DEVICE : ULP_BAD_ARGUMENT;
}

static ulp_status read_tail(void *field, const char *text, const ulp_option *option, ulp_error *error) {
    ulp_error why;
    ulp_named_tail *to = field;
    char *end;
    (void)option;
    *to = (ulp_named_tail){.text = text};
    if (strcmp(text, "none") == 0) return ULP_OK;
    to->share = strtod(text, &end);
    if (end == text || *end != ':' || !(to->share > 0 && to->share < 1))
        return ulp_refuse(error, "'%s' is not F:POLICY with a number F between 0 and 1, as 0.82:fp32, or none", text);
    const ulp_status status = ulp_policy_parse(&to->policy, end + 1, &why);
    if (status == ULP_OK) return ULP_OK;
    ulp_refuse(error, ": %s", ulp_after_subject(why.text, "policy"));
    return status == ULP_NO_DEVICE ? ULP_NO_DEVICE : ULP_BAD_ARGUMENT;
}

static ulp_status read_optimizer(void *field, const char *text, const ulp_option *option, ulp_error *error) {
    ulp_error why;
    ulp_named_optimizer *to = field;
    (void)option;
    to->text = text;
    if (ulp_optimizer_parse(&to->rule, text, &why) == ULP_OK) return ULP_OK;
    return ulp_refuse(error, ": %s", why.text);
}

static ulp_status read_reduction(void *to, const char *item, const ulp_option *option, ulp_error *error) {
    ulp_error why;
    ulp_named_reduction *named = to;
    (void)option;
    if (ulp_reduction_parse(&named->reduction, item, &why) == ULP_OK &&
        ulp_reduction_print(named->name, sizeof named->name, &named->reduction) == ULP_OK)
        return ULP_OK;
    return ulp_refuse(error, ": %s", ulp_after_subject(why.text, "reduction"));
}

const ulp_option_type ulp_type_set = {.value_name = "NAME",
                                      .size = sizeof(const char *),
                                      .read = read_set,
                                      .print = print_text,
                                      .list = list_sets,
                                      .topic = "data"};
const ulp_option_type ulp_type_policy = {.value_name = "POLICY",
                                         .size = sizeof(ulp_named_policy),
                                         .read = read_policy,
                                         .print = print_text,
                                         .topic = "policies"};
const ulp_option_type ulp_type_tail = {.value_name = "F:POLICY",
                                       .size = sizeof(ulp_named_tail),
                                       .read = read_tail,
                                       .print = print_text,
                                       .topic = "policies"};
const ulp_option_type ulp_type_optimizer = {.value_name = "OPTIMIZER",
                                            .size = sizeof(ulp_named_optimizer),
                                            .read = read_optimizer,
                                            .print = print_text,
                                            .topic = "optimizers"};
static ulp_status read_amp(void *field, const char *text, const ulp_option *option, ulp_error *error) {
    ulp_format *to = field;
    if (strcmp(text, "none") == 0) {
        memset(to, 0, sizeof *to);
        return ULP_OK;
    }
    ULP_TRY(ulp_type_format.read(field, text, option, error));
    if (ulp_amp_takes(to)) return ULP_OK;
    return ulp_refuse(error,
                      "'%s': automatic mixed precision takes formats of floating point with a sign that fit "
                      "binary32, or none",
                      text);
}

static void print_amp(ulp_text *to, const void *field, const ulp_option *option) {
    const ulp_format *f = field;
    (void)option;
    ulp_text_print(to, "%s", f->bits ? f->name : "none");
}

static const ulp_option_type type_reduction = {.size = sizeof(ulp_named_reduction), .read = read_reduction};
const ulp_option_type ulp_type_reductions = {.value_name = "LIST",
                                             .size = sizeof(ulp_reduction_list),
                                             .read = ulp_named_list_read,
                                             .print = ulp_named_list_print,
                                             .release = ulp_list_release,
                                             .item = &type_reduction,
                                             .topic = "reductions"};
const ulp_option_type ulp_type_amp = {
    .value_name = "FORMAT", .size = sizeof(ulp_format), .read = read_amp, .print = print_amp, .topic = "amp"};

/* ---- called by plan() ---- */

ulp_status ulp_set_load(ulp_plan *plan, ulp_data *data, const ulp_set *set) {
    ulp_error error;
    ulp_profile_plan(plan);
    const ulp_status status = ulp_data_load(data, set->name, set->folder, set->seed, &error);
    if (status != ULP_OK) return ulp_plan_fail(plan, status, "%s", error.text);
    ulp_plan_note(plan, "data", "%s, crc32 %08x, %zu for training, %zu for tests", data->name, data->checksum,
                  data->n_train, data->n - data->n_train);
    return ULP_OK;
}

ulp_status ulp_plan_read_net(const ulp_plan *plan, ulp_net *net, const char *text, ulp_dims in) {
    ulp_error error;
    const ulp_status status = ulp_net_parse(net, text, in, &error);
    return status == ULP_OK ? ULP_OK : ulp_plan_fail(plan, status, "%s", error.text);
}

ulp_status ulp_plan_read_policy(const ulp_plan *plan, ulp_policy *policy, const char *text, const char *of) {
    ulp_error error;
    const ulp_status status = ulp_policy_parse(policy, text, &error);
    return status == ULP_OK ? ULP_OK
                            : ulp_plan_fail(plan, status, "%s: %s", of, ulp_after_subject(error.text, "policy"));
}

ulp_status ulp_policy_admit(const ulp_plan *plan, const ulp_policy *policy, const char *of, const ulp_backend *backend,
                            char full[ULP_POLICY_TEXT_MAX]) {
    ulp_error why;
    ulp_status status = ulp_policy_check(policy, &why);
    if (status == ULP_OK) status = ulp_policy_runs_on(policy, backend, &why);
    if (status != ULP_OK) return ulp_plan_fail(plan, status, "%s: %s", of, why.text);
    return full ? ulp_policy_print(full, ULP_POLICY_TEXT_MAX, policy) : ULP_OK;
}

ulp_status ulp_plan_amp(ulp_plan *plan, ulp_policy *policy, ulp_scaler_rule *scaler, const ulp_format *amp,
                        const ulp_net *net, const char *name) {
    ulp_error error;
    char full[ULP_POLICY_TEXT_MAX], key[64];
    ulp_amp derived;
    if (!amp->bits) return ULP_OK;
    ulp_status status = ulp_amp_derive(&derived, net, amp, &error);
    if (status != ULP_OK) return ulp_plan_fail(plan, status, "--amp: %s: %s", name, error.text);
    status = ulp_policy_print(full, sizeof full, &derived.policy);
    if (status != ULP_OK) return status;
    *policy = derived.policy;
    *scaler = derived.scaler;
    snprintf(key, sizeof key, "amp %s", name);
    ulp_plan_note(plan, key, "%s; scaler %s", full, derived.scaler.name);
    return ULP_OK;
}
