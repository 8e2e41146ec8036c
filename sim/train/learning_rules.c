/* learning_rules.c - taking the policy, the scaler and the optimizer of a network; see learning_rules.h. */
#include "learning_rules.h"

ulp_status ulp_learning_rules_take(const ulp_learning_rules *rules, ulp_policy *policy, ulp_scaler *scaler,
                                   ulp_optimizer *optimizer, ulp_error *error) {
    const ulp_scaler_rule *none = ulp_scaler_rule_find("none");
    const ulp_optimizer_rule sgd = ulp_optimizer_rule_of(ulp_optimizer_kind_find("sgd"));
    if (rules->policy) *policy = *rules->policy;
    else ULP_TRY(ulp_policy_parse(policy, "fp32", error));
    ULP_TRY(ulp_policy_check(policy, error));
    ULP_TRY(ulp_scaler_init(scaler, rules->scaler ? rules->scaler : none, error));
    return ulp_optimizer_init(optimizer, rules->optimizer ? rules->optimizer : &sgd, policy, error);
}
