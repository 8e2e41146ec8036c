/* curves.h - runs found by their names among the rows, and their columns read as curves over the steps. */
#ifndef ULP_EXPERIMENT_RECURRENCE_CURVES_H
#define ULP_EXPERIMENT_RECURRENCE_CURVES_H

#include "recurrence.h"

/* One column of one run against its steps. */
typedef struct curve {
    int n;
    double step[ULP_STEPS_MAX + 1], value[ULP_STEPS_MAX + 1]; /* (n) */
} curve;

/* What names a run; NULL: any. */
typedef struct name {
    const char *part, *cell, *gain, *seed, *arithmetic, *mode, *sums, *scale;
} name;

int is_named(const ulp_run *run, long row, const name *k);
name name_of(const ulp_run *run, long row);

/* The first row, at or after `row`, of a run of states or gradients; ULP_NO_ROW: none. */
long next_run(const ulp_run *run, long row, const name *k);

void read_curve(curve *c, const ulp_run *run, const name *k, const char *column);

/* Least squares slope of log value on step, where from <= step <= to; NaN below 5 rows. */
double slope(const curve *c, double from, double to);

/* The step at which value first reaches a level, log value between two rows taken as straight; NaN: never, or from the
 * start. */
double reaches(const curve *c, double level);

#endif
