/* training.h - the loop over steps, a learning curve, and checkpoints, shared by training experiments.
 *
 * compute() fills a ulp_training and calls ulp_training_run(), which makes the trainer and takes the steps. After every
 * `every` steps, and after the last step, it calls record(), which puts rows. At the end it calls record() once more,
 * with `final`, for the rows about the whole training. A status of record() other than ULP_OK ends the training.
 *
 *     static ulp_status record(const ulp_task *task, const ulp_trainer *t, const ulp_stretch *s);
 *     const ulp_training training = {.data = data, .options = {...}, .steps = epochs * ulp_epoch_steps(data, batch),
 *                                    .every = ulp_epoch_steps(data, batch), .record = record};
 *     return ulp_training_run(task, &training);
 *
 * Checkpoints are those of checkpoints.h, every `checkpoint` seconds.
 *
 * Divergence is a result. A loss that is not finite, in a step that was not skipped, sets `diverged`. A run ends when
 * its weights become NaN; record() is still called for its last stretch and at its end.
 */
#ifndef ULP_TRAINING_H
#define ULP_TRAINING_H

#include "checkpoints.h"
#include "options.h"
#include "profile.h"
#include "sim/train/train.h"

/* Shares of the gradients of all layers. ULP_NO_NUMBER if no gradients were counted. */
typedef struct ulp_gradient_shares {
    double zero;       /* zero when the layers hand them on, for any reason */
    double flushed;    /* turned to zero by a rounding */
    double overflowed; /* beyond the largest number of the format */
} ulp_gradient_shares;

/* The shares of one step whose gradients were counted. */
ulp_gradient_shares ulp_step_shares(const ulp_step *step);

/* The events since the last call of record(). */
typedef struct ulp_stretch {
    uint64_t steps;  /* steps of the whole training so far */
    uint64_t epochs; /* trips through the training part that these steps have begun */
    double loss;     /* mean training loss of the steps of this stretch that were not skipped; NaN if there are none;
                      * with `final` the loss of the training part, if wanted */
    double moved;    /* share of the weights that the last step has changed; NaN if not wanted */
    int diverged;    /* in this stretch or before */
    int final;       /* 1: the call at the end of the training; the numbers are those of the last stretch */
    double train_accuracy;         /* of the training part, with `final`, if wanted; else ULP_NO_NUMBER */
    ulp_gradient_shares gradients; /* of all counted steps so far */
    ulp_score test;                /* the test part after this stretch */
} ulp_stretch;

typedef struct ulp_training {
    const ulp_data *data;
    ulp_train_options options;
    uint64_t steps, every; /* steps of the whole training, and of a stretch; both at least 1 */
    uint64_t count_every;  /* gradients are counted in every count_every-th step; 0: never */
    int want_moved, want_learned;
    double checkpoint; /* seconds between checkpoints; 0: none */
    /* Put rows about a stretch, or about a step that was taken (NULL: no such rows), into task->rows. */
    ulp_status (*record)(const ulp_task *task, const ulp_trainer *trainer, const ulp_stretch *stretch);
    void (*record_step)(const ulp_task *task, const ulp_step *step);
} ulp_training;

/* The number of steps in one trip through the training part. */
uint64_t ulp_epoch_steps(const ulp_data *data, size_t batch);

/* Called by plan() for every setting with which compute() trains. Options that no trainer takes thus end the run before
 * anything is computed or written. */
ulp_status ulp_training_check(const ulp_plan *plan, const ulp_data *data, const ulp_train_options *options);

/* Give options a second policy (NULL or none: no such policy) for a training of so many steps, which the tail outlives.
 */
void ulp_training_tail(ulp_train_options *options, const ulp_named_tail *tail, uint64_t steps);

ulp_status ulp_training_run(const ulp_task *task, const ulp_training *training);

/* Makes a trainer and takes `steps` steps, or fewer if the run is stopped. It is for points whose own work begins after
 * these steps, which take the first `share` of the progress of the point. There are no rows and no checkpoints. The
 * caller calls ulp_training_close() after success and after failure; *trainer is NULL if there is no trainer. */
ulp_status ulp_training_before(ulp_trainer **trainer, const ulp_task *task, const ulp_data *data,
                               const ulp_train_options *options, uint64_t steps, double share);

/* ---- the cells of a row that describe one step or a whole training, and their means over seeds ---- */

/* The cells of a step have no accuracies, and 0 in the place of epoch and diverged. */
typedef struct ulp_training_cells {
    int64_t step, epoch, scale_log2; /* the number of the step, or the number of steps taken; log2 of the loss scale */
    double loss;                     /* of the batch for a step, else that of the stretch */
    int64_t skipped, diverged;       /* steps; 1 if the training has diverged */
    ulp_gradient_shares gradients;
    double train_accuracy, test_accuracy;
} ulp_training_cells;

#define ULP_TRAINING_COLUMNS_OF(row, field)                                                                            \
    ULP_COLUMNS_OF(row, field, step, scale_log2, loss), ULP_COLUMNS_OF(row, field, skipped),                           \
        ULP_COLUMNS_OF(row, field.gradients, zero), ULP_COLUMNS_OF(row, field.gradients, flushed, overflowed),         \
        ULP_COLUMNS_OF(row, field, train_accuracy, test_accuracy)

/* ulp_cells_of_step() needs a step whose gradients were counted. */
ulp_training_cells ulp_cells_of_step(const ulp_step *step);
ulp_training_cells ulp_cells_of_stretch(const ulp_trainer *trainer, const ulp_stretch *stretch);

/* The mean of the rows that match. `at` is the offset of their cells in the row struct. */
typedef struct ulp_training_mean {
    double accuracy, loss, zero, skipped, scale; /* accuracy (of the test part) and zero are in percent */
    int diverged, n;                             /* rows whose loss is not finite; all rows */
} ulp_training_mean;

ulp_training_mean ulp_training_mean_of(const ulp_table *table, size_t at, ulp_row_match matches, const void *key);

/* Puts six cells into a sheet with these columns. */
#define ULP_TRAINING_MEAN_COLUMNS "accuracy,training loss,diverged,zero,skipped,last scale"
void ulp_training_mean_put(ulp_sheet *sheet, const ulp_training_mean *mean);

#endif
