/* automatic.c - reading --amp, and deriving policies and scalers in plan(); see automatic.h. */
#include "automatic.h"

#include <string.h>

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

const ulp_option_type ulp_type_amp = {
    .value_name = "FORMAT", .size = sizeof(ulp_format), .read = read_amp, .print = print_amp, .topic = "amp"};

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
