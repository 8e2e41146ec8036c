/* foreign_training.h - training runs for other languages: functions of pointers, numbers and texts, as in
 * kernels/foreign/foreign.h, whose ulp_foreign_error() has the sentence of a failure. */
#ifndef ULP_FOREIGN_TRAINING_H
#define ULP_FOREIGN_TRAINING_H

#include "formats/format.h"

ULP_C_BEGIN

/* A data set, a net and a run in progress. */
typedef struct ulp_foreign_run ulp_foreign_run;

/* Samples (n, c, h, w) with labels below `classes`; the first n_train are for training. The samples are of a kind:
 *
 *  - 0: images of bytes; the byte `white` stands for 1.0
 *  - 1: real values, floats
 *  - 2: numbers of tokens below `classes`, bytes; no policy rounds them
 *
 * LABELS is 0 for one label (n), else the number of labels (n, LABELS), which belong to positions. */
enum {
    ULP_FOREIGN_IMAGES,
    ULP_FOREIGN_IMAGES_TRAIN,
    ULP_FOREIGN_IMAGES_C,
    ULP_FOREIGN_IMAGES_H,
    ULP_FOREIGN_IMAGES_W,
    ULP_FOREIGN_IMAGES_CLASSES,
    ULP_FOREIGN_IMAGES_WHITE,
    ULP_FOREIGN_IMAGES_KIND,
    ULP_FOREIGN_IMAGES_LABELS,
    ULP_FOREIGN_IMAGES_NUMBERS
};

/* The texts of a run, as on the command line. NULL: the default. */
enum {
    ULP_FOREIGN_RUN_NET,
    ULP_FOREIGN_RUN_POLICY,
    ULP_FOREIGN_RUN_SCALER,
    ULP_FOREIGN_RUN_OPTIMIZER,
    ULP_FOREIGN_RUN_LOSS,
    ULP_FOREIGN_RUN_DATA,   /* the name of a data set; NULL: the images */
    ULP_FOREIGN_RUN_FOLDER, /* of the data set; NULL: the usual places */
    ULP_FOREIGN_RUN_BACKEND,
    ULP_FOREIGN_RUN_TAIL, /* STEP:POLICY, a second policy from a step on; NULL: none */
    ULP_FOREIGN_RUN_TEXTS
};

/* Makes a run before its first step. images, samples and labels are NULL with a named data set; they are copied. */
ulp_status ulp_foreign_run_new(ulp_foreign_run **run, const char *const texts[ULP_FOREIGN_RUN_TEXTS], uint64_t batch,
                               uint64_t seed, double init_std, const uint64_t images[ULP_FOREIGN_IMAGES_NUMBERS],
                               const void *samples, const uint8_t *labels);
void ulp_foreign_run_release(ulp_foreign_run *run);

/* The numbers of a run: parameters, layers, samples for training, all samples, numbers of a sample, classes. */
enum {
    ULP_FOREIGN_PARAMS,
    ULP_FOREIGN_LAYERS,
    ULP_FOREIGN_SAMPLES_TRAIN,
    ULP_FOREIGN_SAMPLES,
    ULP_FOREIGN_FEATURES,
    ULP_FOREIGN_CLASSES
};
uint64_t ulp_foreign_run_number(const ulp_foreign_run *run, int which);

/* A word of the net's layer i ("conv8@3"), and its parameters first .. first + n - 1. NULL past the end. */
const char *ulp_foreign_run_layer(const ulp_foreign_run *run, uint64_t i, uint64_t *first, uint64_t *n);

/* The arguments of an observer: a rounding point (ulp_point_kind), the layer, the step, log2 of the loss scale, and n
 * numbers before and after the rounding, valid during the call only. */
typedef void ulp_foreign_observer(int point, uint64_t layer, uint64_t step, int scale_log2, uint64_t n,
                                  const float *raw, const float *rounded);

/* Shows the run's training steps from now on; NULL: to nobody. Bit 1 << point is set for each point to be shown. */
void ulp_foreign_run_observe(ulp_foreign_run *run, ulp_foreign_observer *observer, uint32_t points);

/* The name of rounding point i. NULL past the end. */
const char *ulp_foreign_point(int i);

/* One training step. report: loss, log2 of the loss scale, whether gradients overflowed, whether the update was
 * skipped.
 */
ulp_status ulp_foreign_run_step(ulp_foreign_run *run, double report[4]);

/* Scores the training part (test = 0) or the test part: loss, accuracy, error of labels, samples. */
ulp_status ulp_foreign_run_score(ulp_foreign_run *run, int test, double score[4]);

/* w (params) = the weights that layers use; master (params) = the weights that updates are added to. Either may be
 * NULL. */
ulp_status ulp_foreign_run_weights(const ulp_foreign_run *run, float *w, float *master);

ULP_C_END
#endif
