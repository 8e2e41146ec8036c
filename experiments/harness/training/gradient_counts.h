/* gradient_counts.h - an observer of a training run's gradients: where they lie, and what formats make of them at every
 * scale.
 *
 *     ulp_watch *watch = ulp_watch_new(backend, format, formats, scale, scales, steps, every);
 *     ulp_observer observer = ulp_watch_observer(watch);    ... and with the trainer's model:
 *     status = ulp_watch_room(watch, &trainer->model);      ... the steps, each followed by a look at watch->status
 *     ulp_watch_add_up(watch);
 *
 * What is counted, of every tensor in every `every`-th step: a histogram (sim/stats.h), and how one rounding to nearest
 * even ends in each format, times 2^scale for each scale and times a power of two of the tensor's own, which brings its
 * largest magnitude just below the format's largest number (ulp_scaling_of; FORMAT@amax of sim/policy.h).
 */
#ifndef ULP_WATCH_H
#define ULP_WATCH_H

#include "sim/model.h"
#include "sim/stats.h"

/* Stages are the thirds of training and their sum; slot ULP_WATCH_LAYERS is the sum of all layers. */
enum { ULP_WATCH_STAGES = 4, ULP_WATCH_ALL = 3, ULP_WATCH_LAYERS = 64, ULP_WATCH_SLOTS = ULP_WATCH_LAYERS + 1 };
enum { ULP_WATCH_AGRAD, ULP_WATCH_WGRAD, ULP_WATCH_KINDS };

typedef struct ulp_watched {
    ulp_histogram histogram[ULP_WATCH_STAGES];
    ulp_stats
        *stats[ULP_WATCH_STAGES]; /* [formats][scales + 1], the last one with a scale per tensor; NULL: nothing seen */
} ulp_watched;

typedef struct ulp_watch {
    const ulp_backend *backend;
    const ulp_format *format;
    const double *scale;
    size_t formats, scales, columns; /* columns: scales + 1 */
    uint64_t steps, every;
    float *host;             /* one tensor */
    float *scaled, *rounded; /* the same in backend memory */
    ulp_watched at[ULP_WATCH_KINDS][ULP_WATCH_SLOTS];
    ulp_status status; /* the first failure */
} ulp_watch;

/* For a run of so many steps; format (formats) and scale (scales, log2) have to outlive it. NULL: no memory. */
ulp_watch *ulp_watch_new(const ulp_backend *backend, const ulp_format *format, size_t formats, const double *scale,
                         size_t scales, uint64_t steps, uint64_t every);
ulp_observer ulp_watch_observer(ulp_watch *watch);

/* Before the first step: memory for the largest tensor. ULP_BAD_ARGUMENT: ULP_WATCH_LAYERS or more layers. */
ulp_status ulp_watch_room(ulp_watch *watch, const ulp_model *model);

/* After the last step: the sums over layers and over stages. */
ulp_status ulp_watch_add_up(ulp_watch *watch);
void ulp_watch_free(ulp_watch *watch);

#endif
