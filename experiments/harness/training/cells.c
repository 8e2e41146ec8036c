/* cells.c - the cells of a row about a training, and their means; see cells.h. */
#include "cells.h"

#include <math.h>

ulp_training_cells ulp_cells_of_step(const ulp_step *step) {
    return (ulp_training_cells){.step = (int64_t)step->step,
                                .scale_log2 = step->scale_log2,
                                .loss = step->loss,
                                .skipped = step->skipped,
                                .gradients = ulp_step_shares(step),
                                .train_accuracy = ULP_NO_NUMBER,
                                .test_accuracy = ULP_NO_NUMBER};
}

ulp_training_cells ulp_cells_of_stretch(const ulp_trainer *trainer, const ulp_stretch *stretch) {
    return (ulp_training_cells){.step = (int64_t)stretch->steps,
                                .epoch = (int64_t)stretch->epochs,
                                .scale_log2 = trainer->scaler.log2,
                                .loss = stretch->loss,
                                .skipped = (int64_t)trainer->scaler.skipped,
                                .diverged = stretch->diverged,
                                .gradients = stretch->gradients,
                                .train_accuracy = stretch->train_accuracy,
                                .test_accuracy = stretch->test.accuracy};
}

ulp_training_mean ulp_training_mean_of(const ulp_table *table, size_t at, ulp_row_match matches, const void *key) {
    ulp_training_mean m = {0};
    const char *row;
    for (size_t i = 0; (row = ulp_table_find(table, &i, matches, key)) != NULL; i++) {
        const ulp_training_cells *cells = (const void *)(row + at);
        m.accuracy += 100 * cells->test_accuracy;
        m.loss += cells->loss;
        m.zero += 100 * cells->gradients.zero;
        m.skipped += (double)cells->skipped;
        m.scale += (double)cells->scale_log2;
        m.diverged += !isfinite(cells->loss);
        m.n++;
    }
    const double n = m.n ? m.n : 1;
    return (ulp_training_mean){m.accuracy / n, m.loss / n, m.zero / n, m.skipped / n, m.scale / n, m.diverged, m.n};
}

void ulp_training_mean_put(ulp_sheet *sheet, const ulp_training_mean *m) {
    ulp_sheet_put_row(sheet, "%.2f,%.4g,%d of %d,%.2f,%.1f,2^%.1f", m->accuracy, m->loss, m->diverged, m->n, m->zero,
                      m->skipped, m->scale);
}
