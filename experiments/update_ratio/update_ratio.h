/* update_ratio.h - what the files of update_ratio share: settings, points and rows, the steps that are looked at,
 * and what is counted there. */
#ifndef ULP_EXPERIMENT_UPDATE_RATIO_H
#define ULP_EXPERIMENT_UPDATE_RATIO_H

#include "experiments/harness/experiment.h"

#include "sim/net.h"
#include "sim/stats.h"

enum { COSINE, CONSTANT };
#define SCHEDULE_WORDS "cosine constant"

typedef struct settings {
    ulp_format_list formats;
    ulp_rule_list modes;
    const char *net, *set, *data;
    int64_t batch, steps, looks, seeds;
    double rate, momentum;
    int schedule;
    uint64_t seed;
    const ulp_backend *backend;
} settings;

/* A run: the binary32 run that is looked at, where format and mode are NULL, or one with weights of a format. */
typedef struct point {
    uint64_t seed;
    const ulp_format *format;
    const ulp_named_rule *mode;
} point;

enum { LAYERS = 64, ALL = LAYERS };

/* What became of updates in one format. */
typedef struct tally {
    int64_t count, zero, lost;          /* lost: of the updates that are not zero */
    int64_t certain, open, safe, small; /* of those, too */
    int64_t open_lost;
    int64_t against_zones, against_criterion, against_run;
} tally;

enum { TRACE, BIN, ZERO, SHARE, EDGE, TRAIN_LOSS, TRAIN_ACCURACY, TEST_ACCURACY };
#define WHAT_WORDS "trace bin zero share edge train_loss train_accuracy test_accuracy"
#define ALL_LAYERS "all"

typedef struct row {
    int64_t seed;
    const char *run, *mode; /* format of the weights and how they are rounded */
    int what;
    int64_t step;
    const char *layer, *format;
    int64_t x;
    tally tally; /* of bins: the count alone */
    double share, value;
} row;

/* One look: a step of the run, all weights. */
typedef struct update_counts {
    const ulp_backend *backend;
    const ulp_format *format;
    size_t formats, n;
    float *before, *after, *direction, *host; /* (n) host memory */
    float *weight, *sum;                      /* (n) backend memory */
    ulp_histogram ratio;                      /* of |w / u|, u not zero */
    tally at[LAYERS + 1];                     /* of one format; the last one: all layers */
} update_counts;

/* For n weights; backend, format and formats are set before. A struct of zeros may be ended. */
ulp_status update_counts_start(update_counts *w, size_t n);
void update_counts_end(update_counts *w);

/* The histogram of |w / u|, u = -rate direction, w before the step. */
void update_counts_ratios(update_counts *w, double rate);

/* What becomes of the updates -rate direction (n, backend memory) in a format: the optimizer's own operation, on
 * rounded weights. */
ulp_status update_counts_round(update_counts *w, const ulp_net *net, float rate, const float *direction,
                               const ulp_format *f);

/* Ties hardly ever happen in a training: the criterion at h and just beside it, both ways from every weight that the
 * last update_counts_round() rounded. */
void update_counts_edges(const update_counts *w, const ulp_format *f, tally *t);

/* The step of look i: the first, the last, and evenly between. */
static inline int64_t look_step(const settings *set, int64_t i) { return i * (set->steps - 1) / (set->looks - 1); }

/* Adds the counts of a tally. */
void tally_add(tally *to, const tally *from);

/* Prints the tables and tests the claims. */
void judge(ulp_claims *claims);

#endif
