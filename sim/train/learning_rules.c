/* learning_rules.c - taking the policy, the scaler and the optimizer of a network; see learning_rules.h. */
#include "learning_rules.h"

ulp_status ulp_learning_rules_take(const ulp_learning_rules *rules, ulp_policy *policy, ulp_scaler *scaler,
                                   ulp_optimizer *optimizer, char *error, size_t error_size) {
    const ulp_scaler_rule *none = ulp_scaler_rule_find("none");
    const ulp_optimizer_rule sgd = ulp_optimizer_rule_of(ulp_optimizer_kind_find("sgd"));
    ulp_status status = ULP_OK;
    if (rules->policy) *policy = *rules->policy;
    else status = ulp_policy_parse(policy, "fp32", error, error_size);
    if (status == ULP_OK) status = ulp_policy_check(policy, error, error_size);
    if (status == ULP_OK) status = ulp_scaler_init(scaler, rules->scaler ? rules->scaler : none, error, error_size);
    if (status != ULP_OK) return status;
    return ulp_optimizer_init(optimizer, rules->optimizer ? rules->optimizer : &sgd, policy, error, error_size);
}
