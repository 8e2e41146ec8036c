/* curves.h - runs found by their names among the rows, and their columns read as curves over the steps. */
#ifndef ULP_EXPERIMENT_RECURRENCE_CURVES_H
#define ULP_EXPERIMENT_RECURRENCE_CURVES_H

#include "recurrence.h"

/* One column of one run against its steps. */
typedef struct curve {
    int n;
    double step[ULP_STEPS_MAX + 1], value[ULP_STEPS_MAX + 1]; /* (n) */
} curve;

/* The fields that a run has to share with a row, beside the part. */
enum { CELL = 1, GAIN = 2, SEED = 4, ARITHMETIC = 8, MODE = 16, SUMS = 32, SCALE = 64, RUN = 127 };

/* The first row, at or after *i, of a run of states or gradients that is like a row; NULL if there is none. *i gets its
 * place. */
const row *next_run(const ulp_claims *c, size_t *i, const row *like, unsigned same);

/* The column at an offset of the row struct, of all rows that are like a row. */
void read_curve(curve *to, const ulp_claims *c, const row *like, unsigned same, size_t at);

/* Least squares slope of log value on step, where from <= step <= to; NaN below 5 rows. */
double slope(const curve *c, double from, double to);

/* The step at which value first reaches a level, log value between two rows taken as straight; NaN: never, or from the
 * start. */
double reaches(const curve *c, double level);

#endif
