/* gradient_counts.h - counts the gradients of a training run: by magnitude, and by what formats make of them at every
 * scale.
 *
 *     ulp_gradient_counts *counts;
 *     status = ulp_gradient_counts_new(&counts, &(ulp_gradient_looks){backend, &formats, &scales, steps, every},
 *                                      &trainer->model);
 *     trainer->observer = &counts->observer;    ... the steps, each followed by a look at counts->status
 *     ulp_gradient_counts_sum(counts);
 *
 * What is counted, of every tensor in every `every`-th step: a histogram (sim/stats.h), and how one rounding to nearest
 * even ends in each format, times 2^scale for each scale and times a power of two of the tensor's own, which brings its
 * largest magnitude just below the format's largest number (ulp_scaling_of; FORMAT@amax of sim/policy.h).
 */
#ifndef ULP_GRADIENT_COUNTS_H
#define ULP_GRADIENT_COUNTS_H

#include "experiments/harness/cli/options.h"
#include "sim/model.h"
#include "sim/stats.h"

/* The thirds of training and their sum; the layers and their sum. */
enum { ULP_STAGE_BEGIN, ULP_STAGE_MIDDLE, ULP_STAGE_END, ULP_STAGE_ALL, ULP_STAGES };
enum { ULP_LAYER_ALL = 64, ULP_LAYER_SLOTS };
enum { ULP_GRADIENTS_ACT, ULP_GRADIENTS_WEIGHT, ULP_GRADIENT_KINDS };

/* Of one kind and layer, by stage. */
typedef struct ulp_layer_counts {
    ulp_histogram histogram[ULP_STAGES];
    ulp_stats *stats[ULP_STAGES]; /* [formats][scales + 1], the last one with a scale per tensor; NULL: nothing seen */
} ulp_layer_counts;

/* What is looked at. The lists have to outlive the counts. */
typedef struct ulp_gradient_looks {
    const ulp_backend *backend;
    const ulp_format_list *formats;
    const ulp_integer_list *scales; /* log2 */
    int64_t steps, every;           /* of the run; between looks */
} ulp_gradient_looks;

typedef struct ulp_gradient_counts {
    ulp_gradient_looks looks;
    ulp_observer observer;   /* for the trainer */
    size_t columns;          /* scales + 1 */
    float *host;             /* one tensor */
    float *scaled, *rounded; /* the same in backend memory */
    ulp_layer_counts at[ULP_GRADIENT_KINDS][ULP_LAYER_SLOTS];
    ulp_status status; /* the first failure */
} ulp_gradient_counts;

/* For a trainer's model, before the first step. ULP_BAD_ARGUMENT: ULP_LAYER_ALL or more layers. *counts is NULL if
 * there are none; ulp_gradient_counts_free() in either case. */
ulp_status ulp_gradient_counts_new(ulp_gradient_counts **counts, const ulp_gradient_looks *looks,
                                   const ulp_model *model);

/* After the last step: the sums over layers and over stages. */
ulp_status ulp_gradient_counts_sum(ulp_gradient_counts *counts);
void ulp_gradient_counts_free(ulp_gradient_counts *counts);

#endif
