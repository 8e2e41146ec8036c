/* curves.h - finds runs among the rows, and reads their columns as curves over the steps. */
#ifndef ULP_EXPERIMENT_RECURRENCE_CURVES_H
#define ULP_EXPERIMENT_RECURRENCE_CURVES_H

#include "recurrence.h"

/* One column of one run, by step. */
typedef struct curve {
    int n;
    double step[ULP_STEPS_MAX + 1], value[ULP_STEPS_MAX + 1]; /* (n) */
} curve;

/* The fields in which a run has to agree with a row, in addition to the part. */
enum { CELL = 1, GAIN = 2, SEED = 4, ARITHMETIC = 8, MODE = 16, SUMS = 32, SCALE = 64, RUN = 127 };

/* The first row, from row *i on, of a run of states or gradients that agrees with `like` in the fields `same`. *i gets
 * the index of the row. NULL if there is no such run. */
const row *next_run(const ulp_claims *c, size_t *i, const row *like, unsigned same);

/* Reads the column at offset `at` (a double in the row struct) of all rows that agree with `like` in the fields
 * `same`. */
void read_curve(curve *to, const ulp_claims *c, const row *like, unsigned same, size_t at);

/* The least squares slope of the log of the value over the step, for from <= step <= to. NaN for less than 5 rows. */
double slope(const curve *c, double from, double to);

/* The step at which the value first reaches a level. The log of the value is linear between two rows. NaN if the value
 * never reaches the level, or if its first row does. */
double reaches(const curve *c, double level);

#endif
