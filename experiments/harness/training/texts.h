/* texts.h - reads texts of networks and policies once, in plan(), so that points get the results.
 *
 *     plan: status = ulp_plan_read_net(plan, &context->net, settings->net, context->data.dims);
 */
#ifndef ULP_TRAINING_TEXTS_H
#define ULP_TRAINING_TEXTS_H

#include "experiments/harness/experiment.h"
#include "sim/net.h"
#include "sim/optim.h"
#include "sim/policy.h"

/* Both functions report a text that they cannot read in a sentence. The caller calls ulp_net_release(net) after success
 * and after failure. */
ulp_status ulp_plan_read_net(const ulp_plan *plan, ulp_net *net, const char *text, ulp_dims in);
/* The sentence begins with `of`, the owner of the policy. */
ulp_status ulp_plan_read_policy(const ulp_plan *plan, ulp_policy *policy, const char *text, const char *of);

/* An optimizer, and the text of the option, which the header line of the option repeats. */
typedef struct ulp_named_optimizer {
    const char *text;
    ulp_optimizer_rule rule;
} ulp_named_optimizer;

extern const ulp_option_type ulp_type_optimizer; /* the field is a ulp_named_optimizer */

#endif
