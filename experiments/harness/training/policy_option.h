/* policy_option.h - a policy as the value of an option, and the check of a policy before anything is computed.
 *
 *     ULP_OPTION(settings, policy, policy, "mixed:fp16", .help = "..."),
 */
#ifndef ULP_TRAINING_POLICY_OPTION_H
#define ULP_TRAINING_POLICY_OPTION_H

#include "experiments/harness/experiment.h"
#include "sim/policy.h"

/* A policy, and the text of the option, which the header line of the option repeats. */
typedef struct ulp_named_policy {
    const char *text;
    ulp_policy policy;
} ulp_named_policy;

extern const ulp_option_type ulp_type_policy; /* the field is a ulp_named_policy */

/* Called by plan(). If the parts of the policy do not fit together, or if the backend does not offer its products, the
 * failure is reported in a sentence that begins with `of`. `full` gets the canonical text of the policy, for the header
 * line "policy in full"; it may be NULL. */
ulp_status ulp_policy_admit(const ulp_plan *plan, const ulp_policy *policy, const char *of, const ulp_backend *backend,
                            char full[ULP_POLICY_TEXT_MAX]);

#endif
