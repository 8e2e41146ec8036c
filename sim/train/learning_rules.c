/* learning_rules.c - taking the policy, the scaler and the optimizer of a network; see learning_rules.h. */
#include "learning_rules.h"

#include <stdlib.h>

ulp_status ulp_learning_rules_take(const ulp_learning_rules *rules, ulp_policy **policy, ulp_scaler *scaler,
                                   ulp_optimizer *optimizer, ulp_error *error) {
    const ulp_optimizer_rule sgd = ulp_optimizer_rule_of(&ulp_optimizer_sgd);
    ulp_policy *own = malloc(sizeof *own);
    *policy = own;
    if (!own) return ulp_fail(error, ULP_NO_MEMORY, "no memory for a policy");
    if (rules->policy) *own = *rules->policy;
    else ulp_policy_binary32(own);
    ULP_TRY(ulp_policy_check(own, error));
    const ulp_scaler_rule *scale = rules->scaler ? rules->scaler : &ulp_scaler_rules[ULP_SCALER_NONE];
    ULP_TRY(ulp_scaler_init(scaler, scale, error));
    return ulp_optimizer_init(optimizer, rules->optimizer ? rules->optimizer : &sgd, own, error);
}
