/* cells.h - the cells of a row that describe one step or a whole training, and the means of these cells over seeds. */
#ifndef ULP_TRAINING_CELLS_H
#define ULP_TRAINING_CELLS_H

#include "training.h"

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
