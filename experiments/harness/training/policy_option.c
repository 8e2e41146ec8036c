/* policy_option.c - the type of options whose value is a policy; see policy_option.h. */
#include "policy_option.h"

static int read_policy(void *field, const char *text, const ulp_option *option, ulp_text *error) {
    char why[1024];
    ulp_named_policy *to = field;
    (void)option;
    to->text = text;
    const ulp_status status = ulp_policy_parse(&to->policy, text, why, sizeof why);
    if (status == ULP_OK) return ULP_EXIT_FINE;
    ulp_text_print(error, ": %s", why);
    return status == ULP_NO_DEVICE ? ULP_EXIT_LACKING : ULP_EXIT_USAGE;
}

static void print_policy(ulp_text *to, const void *field, const ulp_option *option) {
    (void)option;
    ulp_text_print(to, "%s", ((const ulp_named_policy *)field)->text);
}

const ulp_option_type ulp_type_policy = {.value_name = "POLICY",
                                         .size = sizeof(ulp_named_policy),
                                         .read = read_policy,
                                         .print = print_policy,
                                         .topic = "policies"};

ulp_status ulp_policy_admit(const ulp_plan *plan, const ulp_policy *policy, const char *of, const ulp_backend *backend,
                            char full[ULP_POLICY_TEXT_MAX]) {
    char why[1024];
    ulp_status status = ulp_policy_check(policy, why, sizeof why);
    if (status == ULP_OK) status = ulp_policy_runs_on(policy, backend->name, why, sizeof why);
    if (status != ULP_OK) return ulp_plan_fail(plan, status, "%s: %s", of, why);
    return full ? ulp_policy_print(full, ULP_POLICY_TEXT_MAX, policy) : ULP_OK;
}
