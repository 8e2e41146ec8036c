/* update_ratio.h - settings, points, rows and counts of updates, shared by the files of update_ratio.
 *
 * A look is a step of the observed run at which the updates of all weights are counted.
 */
#ifndef ULP_EXPERIMENT_UPDATE_RATIO_H
#define ULP_EXPERIMENT_UPDATE_RATIO_H

#include "experiments/harness/training/lesson.h"
#include "experiments/harness/training/tensor_counts.h"
#include "sim/stats.h"

enum { COSINE, CONSTANT };
#define SCHEDULE_WORDS "cosine constant"

typedef struct settings {
    ulp_format_list formats;
    ulp_rule_list modes;
    ulp_lesson_settings lesson;
    int64_t steps, looks;
    double rate, momentum;
    int schedule;
} settings;

/* A run. The observed binary32 run has format and mode NULL. The other runs have weights of a format. */
typedef struct point {
    uint64_t seed;
    const ulp_format *format;
    const ulp_named_rule *mode;
} point;

enum { LAYERS = 64, ALL = LAYERS };

/* Counts of updates in one format. update_ratio.c defines the zones certain, open, safe and small. */
typedef struct tally {
    int64_t count, zero, lost;          /* lost: non-zero updates only */
    int64_t certain, open, safe, small; /* non-zero updates only */
    int64_t open_lost;
    int64_t against_zones, against_criterion, against_run;
} tally;

enum { BIN, ZERO, TRACE, SHARE, EDGE, TRAIN_LOSS, TRAIN_ACCURACY, TEST_ACCURACY };
#define WHAT_WORDS "bin zero trace share edge train_loss train_accuracy test_accuracy"
#define ALL_LAYERS "all"

typedef struct row {
    int64_t seed;
    const char *run, *mode; /* format of the weights and how they are rounded */
    int what;
    int64_t step;
    const char *layer, *format;
    ulp_bin bin; /* rows share and edge: count only */
    tally tally; /* without its count, which is in bin */
    double value;
} row;

/* The counts of one look. */
typedef struct update_counts {
    const ulp_backend *backend;
    const ulp_format *format;
    size_t formats, n;
    float *before, *after, *direction, *host; /* (n), host (2 n): host memory; before, after: weights */
    float *weight, *sum;                      /* (n) backend memory */
    ulp_histogram ratio;                      /* of |w / u|, u not zero */
    tally at[LAYERS + 1];                     /* of the layers, in one format; at[ALL]: all layers */
} update_counts;

/* The step of look i: the first step, the last step, and steps evenly between. */
static inline int64_t look_step(const settings *set, int64_t i) { return i * (set->steps - 1) / (set->looks - 1); }

/* Adds the counts of `from` to `to`. */
static inline void tally_add(tally *to, const tally *from) {
    int64_t *a = &to->count;
    const int64_t *b = &from->count;
    for (size_t i = 0; i < sizeof *to / sizeof *a; i++) a[i] += b[i];
}

#endif
