/* options.h - data sets, policies, optimizers, reductions and networks as values of options, read and checked before
 * anything is computed.
 *
 *     ULP_OPTION(settings, policy, policy, "mixed:fp16", .help = "..."),
 *     ULP_OPTION(settings, reductions, reductions, "ring:bf16,tree:bf16", .help = "..."),
 *     plan: status = ulp_set_load(plan, &context->data, &(ulp_set){settings->set, settings->data, settings->seed});
 *           status = ulp_plan_read_net(plan, &context->net, settings->net, context->data.dims);
 *
 * Every program that trains has the options --amp and --profile: automatic mixed precision in a format
 * (sim/policy/amp.h), and where the time goes (profile.h).
 *
 *     typedef struct settings {
 *         ulp_training_settings how; ...         options: ULP_OPTIONS_TRAINING(settings, how), ...
 *     plan:    status = ulp_plan_amp(plan, &policy, &scaler, &settings->how.amp, &net, "NAME");
 *     judge:   if (settings->how.amp.bits) ulp_claims_skip_all(c, ULP_AMP_OTHER);   where amp replaces binary32
 *
 * The header of the CSV has the policy and the scaler in place of --amp, so a run with the same policy given by hand
 * has the same header.
 */
#ifndef ULP_TRAINING_OPTIONS_H
#define ULP_TRAINING_OPTIONS_H

#include "experiments/harness/experiment.h"
#include "kernels/reduction/reduction.h"
#include "sim/data/data.h"
#include "sim/net.h"
#include "sim/optim/optim.h"
#include "sim/policy/amp.h"
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

/* A second policy for the last part of a training: F:POLICY, from step floor(F steps) on; or none. */
typedef struct ulp_named_tail {
    const char *text;
    double share; /* F; 0: none */
    ulp_policy policy;
} ulp_named_tail;

typedef struct ulp_named_reduction {
    char name[ULP_REDUCTION_TEXT_MAX]; /* the canonical text */
    ulp_reduction reduction;
} ulp_named_reduction;

typedef struct ulp_reduction_list {
    ulp_named_reduction *at; /* (count) */
    size_t count;
} ulp_reduction_list;

extern const ulp_option_type ulp_type_set;        /* const char *: the name of a kind of sim/data/data.h */
extern const ulp_option_type ulp_type_policy;     /* the field is a ulp_named_policy */
extern const ulp_option_type ulp_type_tail;       /* the field is a ulp_named_tail */
extern const ulp_option_type ulp_type_optimizer;  /* the field is a ulp_named_optimizer */
extern const ulp_option_type ulp_type_reductions; /* ulp_reduction_list */
extern const ulp_option_type ulp_type_amp;        /* ulp_format; `bits` is 0 for none */

#define ULP_OPTION_SET(s, field) /* a const char *, with ULP_OPTION_DATA, ULP_OPTION_SEED */                           \
    ULP_OPTION_AS(s, field, "set", set, "digits", .help = "the data set")

typedef struct ulp_training_settings {
    ulp_format amp; /* `bits` is 0 for none */
    int profile;
} ulp_training_settings;

#define ULP_OPTIONS_TRAINING(s, field) ULP_OPTION_AMP(s, field.amp), ULP_OPTION_PROFILE(s, field.profile)

#define ULP_OPTION_PROFILE(s, field)                                                                                   \
    ULP_OPTION_AS(s, field, "profile", flag, NULL, .silent = 1,                                                        \
                  .help =                                                                                              \
                      "print where the time of a step goes, by layer and operation; all of it in OUT's .profile.csv")
#define ULP_OPTION_AMP(s, field)                                                                                       \
    ULP_OPTION_AS(s, field, "amp", amp, "none", .silent = 1,                                                           \
                  .help = "train by automatic mixed precision in a format, as fp16 or bf16")

#define ULP_OPTION_TAIL(s, field)                                                                                      \
    ULP_OPTION_AS(s, field, "tail", tail, "none", .silent = 1,                                                         \
                  .help = "F:POLICY, a second policy from the share F of the steps on, as 0.82:fp32")

#define ULP_TAIL_OTHER "the claims are about trainings under one policy, and --tail is given"
#define ULP_AMP_OTHER "the claims are about trainings in binary32, and --amp is given"

/* ---- called by plan(), so that points get the results; a failure is reported in a sentence ---- */

typedef struct ulp_set {
    const char *name, *folder; /* the values of --set and --data */
    uint64_t seed;             /* the seed of the split, for a set that has no split of its own */
} ulp_set;

/* Loads the set and adds the header line "data". A failure is reported in a sentence. The caller calls
 * ulp_data_release() after success and after failure. */
ulp_status ulp_set_load(ulp_plan *plan, ulp_data *data, const ulp_set *set);

/* A network depends on the data, so its option is a text (ulp_type_text), which plan() reads. The caller calls
 * ulp_net_release(net) after success and after failure. */
ulp_status ulp_plan_read_net(const ulp_plan *plan, ulp_net *net, const char *text, ulp_dims in);

/* Read a policy that is no option. The sentence begins with `of`, the owner of the policy. */
ulp_status ulp_plan_read_policy(const ulp_plan *plan, ulp_policy *policy, const char *text, const char *of);

/* Refuse a policy if its parts do not fit together, or if the backend does not offer its products. The sentence begins
 * with `of`. `full` gets the canonical text of the policy, for the header line "policy in full"; it may be NULL. */
ulp_status ulp_policy_admit(const ulp_plan *plan, const ulp_policy *policy, const char *of, const ulp_backend *backend,
                            char full[ULP_POLICY_TEXT_MAX]);

/* If --amp is given: *policy and *scaler = those of automatic mixed precision for a net, and the header gets a line
 * "amp NAME" with both. Without --amp they stay. A failure is reported in a sentence. */
ulp_status ulp_plan_amp(ulp_plan *plan, ulp_policy *policy, ulp_scaler_rule *scaler, const ulp_format *amp,
                        const ulp_net *net, const char *name);

#endif
