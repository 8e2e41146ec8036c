/* texts.h - texts of networks and policies, read once while the plan is made; points get what was read.
 *
 *     plan: status = ulp_plan_read_net(plan, &context->net, settings->net, context->data.dims);
 */
#ifndef ULP_TRAINING_TEXTS_H
#define ULP_TRAINING_TEXTS_H

#include "experiments/harness/experiment.h"
#include "sim/net.h"
#include "sim/optim.h"
#include "sim/policy.h"

/* Each fails with a sentence if the text says nothing known. ulp_net_release(net) in either case. */
ulp_status ulp_plan_read_net(const ulp_plan *plan, ulp_net *net, const char *text, ulp_dims in);
/* `of` is what the policy belongs to, and begins the sentence. */
ulp_status ulp_plan_read_policy(const ulp_plan *plan, ulp_policy *policy, const char *text, const char *of);

/* An optimizer and its text as it was given, which the header line of the option repeats. */
typedef struct ulp_named_optimizer {
    const char *text;
    ulp_optimizer_rule rule;
} ulp_named_optimizer;

extern const ulp_option_type ulp_type_optimizer; /* ulp_named_optimizer */

#endif
