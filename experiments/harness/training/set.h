/* set.h - the data set of a training experiment: its option, and how plan() loads it.
 *
 *     plan: status = ulp_set_load(plan, &context->data, &(ulp_set){s->set, s->data, s->seed});
 */
#ifndef ULP_TRAINING_SET_H
#define ULP_TRAINING_SET_H

#include "experiments/harness/experiment.h"
#include "sim/data/data.h"

extern const ulp_option_type ulp_type_set; /* const char *: the name of a kind of sim/data/data.h */

#define ULP_OPTION_SET(s, field) /* a const char *, with ULP_OPTION_DATA, ULP_OPTION_SEED */                           \
    ULP_OPTION_AS(s, field, "set", set, "digits", .help = "the data set")

typedef struct ulp_set {
    const char *name, *folder; /* the values of --set and --data */
    uint64_t seed;             /* the seed of the split, for a set that has no split of its own */
} ulp_set;

/* Loads the set and adds the header line "data". A failure is reported in a sentence. The caller calls
 * ulp_data_release() after success and after failure. */
ulp_status ulp_set_load(ulp_plan *plan, ulp_data *data, const ulp_set *set);

#endif
