/* load.h - what prepare() of a training experiment begins with: its data and its policies.
 *
 * An experiment lists ULP_TAKES_SEED, ULP_TAKES_DATA and an option --set, which ULP_TAKES_SET is for those that learn
 * digits. Most have no context but the data:
 *
 *     status = ulp_context_prepare(run, context, ulp_option_text(run, "set"));    ... and .release =
 * ulp_context_release
 */
#ifndef ULP_PREPARE_H
#define ULP_PREPARE_H

#include "experiments/harness/harness.h"

#include "sim/data.h"
#include "sim/net.h"
#include "sim/optim.h"
#include "sim/policy.h"

#define ULP_TAKES_SET                                                                                                  \
    {                                                                                                                  \
        .name = "set", .type = ULP_OPTION_TEXT, .value = "digits",                                                     \
        .help = "the data set: digits, mnist, strips or mnist-strips"                                                  \
    }

/* Loads the set of that name and adds the header line "data"; fails with a sentence. ulp_data_release() in either case.
 */
ulp_status ulp_data_prepare(ulp_run *run, ulp_data *data, const char *set);

/* *context = the data. ulp_context_release() takes any *context, NULL too. */
ulp_status ulp_context_prepare(ulp_run *run, void **context, const char *set);
void ulp_context_release(void *context);

/* What the texts of options say, as sim/ takes it; a text that says nothing known fails with a sentence. `of` is what
 * the policy belongs to, and begins the sentence. ulp_net_release(net) in either case. */
ulp_status ulp_net_read(const ulp_run *run, ulp_net *net, const char *text, ulp_dims in);
ulp_status ulp_policy_read(const ulp_run *run, ulp_policy *policy, const char *text, const char *of);
ulp_status ulp_optimizer_read(const ulp_run *run, ulp_optimizer_rule *rule, const char *text);

/* The text of a policy with nothing left to defaults, for the header line "policy in full". Fails with a sentence that
 * begins with `of` if the policy does not fit together or does not run on the backend. */
ulp_status ulp_policy_prepare(const ulp_run *run, char full[ULP_POLICY_TEXT_MAX], const ulp_policy *policy,
                              const char *of);

#endif
