/* options.c - the types of options for policies and optimizers, and the reading of networks and policies in plan(). */
#include "options.h"

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

static void print_policy(ulp_text *to, const void *field, const ulp_option *option) {
    (void)option;
    ulp_text_print(to, "%s", ((const ulp_named_policy *)field)->text);
}

static ulp_status read_optimizer(void *field, const char *text, const ulp_option *option, ulp_error *error) {
    ulp_error why;
    ulp_named_optimizer *to = field;
    (void)option;
    to->text = text;
    if (ulp_optimizer_parse(&to->rule, text, &why) == ULP_OK) return ULP_OK;
    return ulp_refuse(error, ": %s", why.text);
}

static void print_optimizer(ulp_text *to, const void *field, const ulp_option *option) {
    (void)option;
    ulp_text_print(to, "%s", ((const ulp_named_optimizer *)field)->text);
}

const ulp_option_type ulp_type_policy = {.value_name = "POLICY",
                                         .size = sizeof(ulp_named_policy),
                                         .read = read_policy,
                                         .print = print_policy,
                                         .topic = "policies"};
const ulp_option_type ulp_type_optimizer = {.value_name = "OPTIMIZER",
                                            .size = sizeof(ulp_named_optimizer),
                                            .read = read_optimizer,
                                            .print = print_optimizer,
                                            .topic = "optimizers"};

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
    if (status == ULP_OK) status = ulp_policy_runs_on(policy, backend->name, &why);
    if (status != ULP_OK) return ulp_plan_fail(plan, status, "%s: %s", of, why.text);
    return full ? ulp_policy_print(full, ULP_POLICY_TEXT_MAX, policy) : ULP_OK;
}
