/* gradient_counts.h - counts the gradients of a training by magnitude, and how they end in formats at different scales.
 *
 *     ulp_gradient_counts *counts;
 *     status = ulp_gradient_counts_new(&counts, &(ulp_gradient_looks){backend, &formats, &scales, steps, every},
 *                                      &trainer->model);
 *     trainer->observer = &counts->observer;    ... the steps, each followed by a look at counts->status
 *     ulp_gradient_counts_sum(counts);
 *
 * In every `every`-th step, every tensor of gradients is counted:
 *   - in a histogram of magnitudes (sim/stats.h)
 *   - for each format and each scale: how many elements become zero or overflow when the tensor times 2^scale is
 * rounded once to nearest even
 *   - for each format: the same with a power of two of the tensor in place of 2^scale. This power of two brings the
 *     largest magnitude of the tensor just below the largest number of the format (ulp_scaling_of; FORMAT@amax of
 *     sim/policy/policy.h).
 */
#ifndef ULP_GRADIENT_COUNTS_H
#define ULP_GRADIENT_COUNTS_H

#include "experiments/harness/cli/options.h"
#include "sim/model.h"
#include "sim/stats.h"

/* The stages are the thirds of the training and their sum. The slots are the layers and their sum. */
enum { ULP_STAGE_BEGIN, ULP_STAGE_MIDDLE, ULP_STAGE_END, ULP_STAGE_ALL, ULP_STAGES };
enum { ULP_LAYER_ALL = 64, ULP_LAYER_SLOTS };
enum { ULP_GRADIENTS_ACT, ULP_GRADIENTS_WEIGHT, ULP_GRADIENT_KINDS };

/* The counts of one kind and layer, by stage. */
typedef struct ulp_layer_counts {
    ulp_histogram histogram[ULP_STAGES];
    ulp_stats *stats[ULP_STAGES]; /* [formats][scales + 1]; the last scale is the tensor scale; NULL: nothing counted */
} ulp_layer_counts;

/* What is counted. The lists have to outlive the counts. */
typedef struct ulp_gradient_looks {
    const ulp_backend *backend;
    const ulp_format_list *formats;
    const ulp_integer_list *scales; /* log2 */
    int64_t steps, every;           /* steps of the run; steps from one count to the next */
} ulp_gradient_looks;

typedef struct ulp_gradient_counts {
    ulp_gradient_looks looks;
    ulp_observer observer;   /* to be set in the trainer */
    size_t columns;          /* scales + 1 */
    float *host;             /* one tensor */
    float *scaled, *rounded; /* the same tensor in backend memory */
    ulp_layer_counts at[ULP_GRADIENT_KINDS][ULP_LAYER_SLOTS];
    ulp_status status; /* the first failure */
} ulp_gradient_counts;

/* Makes the counts for the model of a trainer, before the first step. ULP_BAD_ARGUMENT if the net has ULP_LAYER_ALL or
 * more layers. The caller calls ulp_gradient_counts_free() after success and after failure; *counts is NULL if there
 * are no counts. */
ulp_status ulp_gradient_counts_new(ulp_gradient_counts **counts, const ulp_gradient_looks *looks,
                                   const ulp_model *model);

/* Forms the sums over layers and over stages, after the last step. */
ulp_status ulp_gradient_counts_sum(ulp_gradient_counts *counts);
void ulp_gradient_counts_free(ulp_gradient_counts *counts);

#endif
