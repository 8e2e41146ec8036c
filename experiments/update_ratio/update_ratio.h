/* update_ratio.h - what the files of update_ratio.c share: the steps that are looked at, and what is counted there. */
#ifndef ULP_EXPERIMENT_UPDATE_RATIO_H
#define ULP_EXPERIMENT_UPDATE_RATIO_H

#include "experiments/harness/harness.h"

#include "sim/net.h"
#include "sim/stats.h"

enum { LAYERS = 64, ALL = LAYERS };

/* What became of updates in one format. */
typedef struct tally {
    uint64_t count, zero, lost;          /* lost: of the updates that are not zero */
    uint64_t certain, open, safe, small; /* of those, too */
    uint64_t open_lost;
    uint64_t against_zones, against_criterion, against_run;
} tally;

/* One look: a step of the run, all weights. */
typedef struct watch {
    const ulp_backend *backend;
    const ulp_format *format;
    size_t formats, n;
    float *before, *after, *direction, *host; /* (n) host memory */
    float *weight, *sum;                      /* (n) backend memory */
    ulp_histogram ratio;                      /* of |w / u|, u not zero */
    tally at[LAYERS + 1];                     /* of one format; the last one: all layers */
} watch;

/* For n weights; backend, format and formats are set before. A watch of zeros may be ended. */
ulp_status watch_start(watch *w, size_t n);
void watch_end(watch *w);

/* The histogram of |w / u|, u = -rate direction, w before the step. */
void watch_ratios(watch *w, double rate);

/* What becomes of the updates -rate direction (n, backend memory) in a format: the optimizer's own operation, on
 * rounded weights. */
ulp_status watch_format(watch *w, const ulp_net *net, float rate, const float *direction, const ulp_format *f);

/* Ties hardly ever happen in a training: the criterion at h and just beside it, both ways from every weight that the
 * last watch_format() rounded. */
void watch_edges(const watch *w, const ulp_format *f, tally *t);

/* The step of look i: the first, the last, and evenly between. */
uint64_t look_step(const ulp_run *run, uint64_t i);

/* Prints the tables and tests the claims. */
void update_ratio_check(ulp_run *run, const void *context);

#endif
