/* learning_rules.h - the policy, the scaler and the optimizer of a network, taken from the options of a run.
 *
 * A trainer (train.h) takes the rules of its network here, and a ulp_gan (gan.h) takes the rules of both its networks.
 */
#ifndef ULP_LEARNING_RULES_H
#define ULP_LEARNING_RULES_H

#include "sim/optim/optim.h"
#include "sim/policy/policy.h"
#include "scaler.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ulp_learning_rules {
    const ulp_policy *policy;            /* NULL: "fp32" */
    const ulp_scaler_rule *scaler;       /* NULL: "none" */
    const ulp_optimizer_rule *optimizer; /* NULL: "sgd" */
} ulp_learning_rules;

/* Copy the policy, set the scaler and the optimizer to their initial states, and check that the three fit each other.
 * On failure `error` (may be NULL) gets a sentence; the status is that of ulp_policy_check(), ulp_scaler_init() or
 * ulp_optimizer_init(). */
ulp_status ulp_learning_rules_take(const ulp_learning_rules *rules, ulp_policy *policy, ulp_scaler *scaler,
                                   ulp_optimizer *optimizer, char *error, size_t error_size);

#ifdef __cplusplus
}
#endif
#endif
