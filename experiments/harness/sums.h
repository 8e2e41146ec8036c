/* sums.h - points and rows of experiments about running sums (running_sum.h).
 *
 * The plan of an experiment about such sums has, for every format, a point for each rounding mode, and a point for each
 * cure under rne. The row struct begins with a ulp_sum_key:
 *
 *     plan:    ulp_sum_points(plan, &grid);
 *     compute: ulp_sum s = ulp_sum_start(task->point);
 *              ulp_sum_add(&s, term, 0);
 *              r.key = ulp_sum_key_of(&s, PATH, 1);
 *     judge:   const row *r = ulp_sum_find(claims->table, &(ulp_sum_wanted){format, rule, ULP_CURE_NONE, STOP});
 */
#ifndef ULP_HARNESS_SUMS_H
#define ULP_HARNESS_SUMS_H

#include <math.h>

#include "experiments/harness/experiment.h"
#include "experiments/harness/running_sum.h"

#define ULP_SUM_FORMATS "binary32,binary16,tf32,bfloat16,e6m9,e4m3,e5m2,q8.8"

/* ---- points ---- */

typedef struct ulp_sum_point {
    const ulp_format *format;
    const ulp_named_rule *rule;
    ulp_cure cure;
} ulp_sum_point;

/* The costs of points of a format. */
typedef struct ulp_sum_costs {
    double plain, stochastic, cured;
} ulp_sum_costs;

/* The points of each format: all modes without a cure, then the cures. */
typedef struct ulp_sum_grid {
    const ulp_format_list *formats;
    const ulp_rule_list *modes;
    const ulp_cure *cures; /* (cure_count) */
    size_t cure_count;
    ulp_sum_costs costs, costs24; /* costs24: of formats with 24 bits of precision, as binary32 */
} ulp_sum_grid;

void ulp_sum_points(ulp_plan *plan, const ulp_sum_grid *grid);

/* The sum of a point (ulp_sum_point); its value is 0 rounded to the format. */
ulp_sum ulp_sum_start(const void *point);

/* ---- rows ---- */

/* The first field of the row struct. Each experiment defines the words of `what`. */
typedef struct ulp_sum_key {
    const char *format, *mode;
    int cure, what;
    int64_t run; /* an empty cell means all runs */
} ulp_sum_key;

#define ULP_SUM_COLUMNS_OF(row, key, what_words)                                                                       \
    ULP_COLUMNS_OF(row, key, format, mode), ULP_WORDS_AS(row, key.cure, "cure", ULP_CURE_WORDS),                       \
        ULP_WORDS_AS(row, key.what, "what", what_words), ULP_COLUMNS_OF(row, key, run)

/* The key of a row; `run` 0 means all runs. */
ulp_sum_key ulp_sum_key_of(const ulp_sum *s, int what, int64_t run);

typedef struct ulp_sum_wanted {
    const ulp_format *format;   /* a format of the settings; NULL: the run has no such format */
    const ulp_named_rule *rule; /* a rule of the settings, for sums without a cure; NULL: rne */
    ulp_cure cure;
    int what;
} ulp_sum_wanted;

/* The first row of the wanted sum; NULL if the run did not compute it. */
const void *ulp_sum_find(const ulp_table *table, const ulp_sum_wanted *wanted);

/* Writes a number of the sum of a format under rne, with a cure or plain, to the summary. */
void ulp_sum_summary(ulp_claims *c, const char *quantity, double value, const ulp_format *format, ulp_cure cure);

/* The first row of the wanted sum whose cell (int64_t) at offset `at` of the row struct is n; or NULL. */
const void *ulp_sum_find_at(const ulp_table *table, const ulp_sum_wanted *wanted, size_t at, int64_t n);

#endif
