/* profile.h - the option --profile of programs that train: where the time of the steps goes.
 *
 * The times of all trainings with one network and one policy are added. The run ends with a table of microseconds per
 * step by layer and operation, and NAME.profile.csv has all of them. Times are no results: they are not in the CSV.
 *
 *     ulp_trainer *t;
 *     status = ulp_training_open(&t, task, data, &options); ... the steps ... ulp_training_close(task, t);
 */
#ifndef ULP_TRAINING_PROFILE_H
#define ULP_TRAINING_PROFILE_H

#include "experiments/harness/experiment.h"
#include "sim/train/train.h"

/* Called by plan() of every program that trains: prepares the report if --profile is given. */
void ulp_profile_plan(ulp_plan *plan);

/* Makes a trainer, with a clock if --profile is given. A failure is reported in a sentence. --profile takes the backend
 * cpu. *trainer is NULL after a failure. */
ulp_status ulp_training_open(ulp_trainer **trainer, const ulp_task *task, const ulp_data *data,
                             const ulp_train_options *options);

/* The clock for other trainers, NULL without --profile; and adding their times: of a net under a policy. */
double (*ulp_profile_clock(const ulp_task *task))(void);
void ulp_profile_add(const ulp_task *task, const ulp_net *net, const ulp_policy *policy, const ulp_profile *profile);

/* Adds the times of a trainer to the report, and frees the trainer, which may be NULL. */
void ulp_training_close(const ulp_task *task, ulp_trainer *trainer);

#endif
