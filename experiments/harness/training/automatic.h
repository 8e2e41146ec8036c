/* automatic.h - the options --amp and --profile of every program that trains.
 *
 * --amp trains by automatic mixed precision in a format (sim/policy/amp.h); profile.h explains --profile.
 *
 *     typedef struct settings {
 *         ulp_training_settings how; ...         options: ULP_OPTIONS_TRAINING(settings, how), ...
 *     plan:    status = ulp_plan_amp(plan, &policy, &scaler, &settings->how.amp, &net, "NAME");
 *     judge:   if (settings->how.amp.bits) ulp_claims_skip_all(c, ULP_AMP_OTHER);   where amp replaces binary32
 *
 * The header of the CSV has the policy and the scaler in place of the option, so a run with the same policy given by
 * hand has the same header.
 */
#ifndef ULP_TRAINING_AUTOMATIC_H
#define ULP_TRAINING_AUTOMATIC_H

#include "experiments/harness/experiment.h"
#include "sim/policy/amp.h"

extern const ulp_option_type ulp_type_amp; /* ulp_format; `bits` is 0 for none */

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

#define ULP_AMP_OTHER "the claims are about trainings in binary32, and --amp is given"

/* If --amp is given: *policy and *scaler = those of automatic mixed precision for a net, and the header gets a line
 * "amp NAME" with both. Without --amp they stay. A failure is reported in a sentence. */
ulp_status ulp_plan_amp(ulp_plan *plan, ulp_policy *policy, ulp_scaler_rule *scaler, const ulp_format *amp,
                        const ulp_net *net, const char *name);

#endif
