/* reductions.h - a list of reductions over ranks as the value of an option.
 *
 *     ULP_OPTION(settings, reductions, reductions, "ring:bf16,tree:bf16", .help = "..."),
 */
#ifndef ULP_TRAINING_REDUCTIONS_H
#define ULP_TRAINING_REDUCTIONS_H

#include "experiments/harness/cli/options.h"
#include "kernels/reduction/reduction.h"

typedef struct ulp_named_reduction {
    char name[ULP_REDUCTION_TEXT_MAX]; /* the canonical text */
    ulp_reduction reduction;
} ulp_named_reduction;

typedef struct ulp_reduction_list {
    ulp_named_reduction *at; /* (count) */
    size_t count;
} ulp_reduction_list;

extern const ulp_option_type ulp_type_reductions; /* ulp_reduction_list */

#endif
