/* policy_option.h - a policy as the value of an option, and what plan() does with a policy before anything is computed.
 *
 *     ULP_OPTION(settings, policy, policy, "mixed:fp16", .help = "..."),
 */
#ifndef ULP_TRAINING_POLICY_OPTION_H
#define ULP_TRAINING_POLICY_OPTION_H

#include "experiments/harness/experiment.h"
#include "sim/policy.h"

/* A policy and its text as it was given, which the header line of the option repeats. */
typedef struct ulp_named_policy {
    const char *text;
    ulp_policy policy;
} ulp_named_policy;

extern const ulp_option_type ulp_type_policy; /* ulp_named_policy */

/* From plan(): fails with a sentence that begins with `of` if the parts of the policy do not fit together or the
 * backend does not offer its products. `full` (may be NULL) gets the policy's canonical text, for the header line
 * "policy in full". */
ulp_status ulp_policy_admit(const ulp_plan *plan, const ulp_policy *policy, const char *of, const ulp_backend *backend,
                            char full[ULP_POLICY_TEXT_MAX]);

#endif
