/* loss_scaling.h - what the grid and the claims of loss_scaling.c share: scalers, scales and how they are called. */
#ifndef ULP_EXPERIMENT_LOSS_SCALING_H
#define ULP_EXPERIMENT_LOSS_SCALING_H

#include "experiments/harness/harness.h"
#include "sim/policy.h"

enum {
    REFERENCE = -2,
    STATIC = -1,
    SCALERS = 10
}; /* in place of a scaler: binary32 without one, a scale of --scales */

/* How the gradients are kept within the format's range. */
typedef struct scaler_row {
    const char *name;
    ulp_scaling_time tensor; /* when the scale per tensor is chosen; ULP_UNSCALED: the loss has a scale */
    int saturates;           /* what is larger than all that the history held */
    int grows;               /* takes --interval */
    const char *way;         /* what the scale of one that does not grow did */
} scaler_row;

extern const scaler_row scalers[SCALERS];

/* The static scales (log2) of the first network (0) and of the others. */
const double *scales_of(const ulp_run *run, size_t net, size_t *count);

/* What the table calls a scaler of the loss with its settings. */
void scaler_label(const ulp_run *run, char *text, size_t size, int64_t scaler, const ulp_format *format);

/* Prints the table and tests the claims. */
void loss_scaling_check(ulp_run *run, const void *context);

#endif
