/* options.h - policies, optimizers and networks as values of options, read and checked before anything is computed.
 *
 *     ULP_OPTION(settings, policy, policy, "mixed:fp16", .help = "..."),
 *     plan: status = ulp_plan_read_net(plan, &context->net, settings->net, context->data.dims);
 */
#ifndef ULP_TRAINING_OPTIONS_H
#define ULP_TRAINING_OPTIONS_H

#include "experiments/harness/experiment.h"
#include "sim/net.h"
#include "sim/optim/optim.h"
#include "sim/policy/policy.h"

/* ---- types of options; the header line of an option repeats its text ---- */

typedef struct ulp_named_policy {
    const char *text;
    ulp_policy policy;
} ulp_named_policy;

typedef struct ulp_named_optimizer {
    const char *text;
    ulp_optimizer_rule rule;
} ulp_named_optimizer;

extern const ulp_option_type ulp_type_policy;    /* the field is a ulp_named_policy */
extern const ulp_option_type ulp_type_optimizer; /* the field is a ulp_named_optimizer */

/* ---- called by plan(), so that points get the results; a failure is reported in a sentence ---- */

/* A network depends on the data, so its option is a text (ulp_type_text), which plan() reads. The caller calls
 * ulp_net_release(net) after success and after failure. */
ulp_status ulp_plan_read_net(const ulp_plan *plan, ulp_net *net, const char *text, ulp_dims in);

/* Read a policy that is no option. The sentence begins with `of`, the owner of the policy. */
ulp_status ulp_plan_read_policy(const ulp_plan *plan, ulp_policy *policy, const char *text, const char *of);

/* Refuse a policy if its parts do not fit together, or if the backend does not offer its products. The sentence begins
 * with `of`. `full` gets the canonical text of the policy, for the header line "policy in full"; it may be NULL. */
ulp_status ulp_policy_admit(const ulp_plan *plan, const ulp_policy *policy, const char *of, const ulp_backend *backend,
                            char full[ULP_POLICY_TEXT_MAX]);

#endif
