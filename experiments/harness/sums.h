/* sums.h - settings, points, rows, loops and the judge that experiments about running sums (running_sum.h) share.
 *
 * The settings struct of such an experiment begins with a ulp_sum_settings, its points are ulp_sum_point, and its rows
 * are ulp_sum_row. The plan has, for every format, a point for each rounding mode, and a point for each cure under rne.
 * A deterministic point is one sum (ulp_sum_follow); a stochastic point is many sums at once (ulp_sum_put_crowd).
 *
 *     plan:    ulp_sum_points(plan, &grid);
 *     compute: ulp_sum s = ulp_sum_start(task->point);
 *              ulp_sum_row end = ulp_sum_follow(task, &s, &way);
 *              ulp_row_put(task->rows, &end);
 *     judge:   const ulp_sum_row *r = ulp_sum_cured(claims, format, ULP_CURE_KAHAN, ULP_SUM_STOP);
 */
#ifndef ULP_HARNESS_SUMS_H
#define ULP_HARNESS_SUMS_H

#include <math.h>

#include "experiments/harness/claims/spread.h"
#include "experiments/harness/experiment.h"
#include "experiments/harness/running_sum.h"

#define ULP_SUM_FORMATS "binary32,binary16,tf32,bfloat16,e6m9,e4m3,e5m2,q8.8"

typedef struct ulp_sum_settings {
    ulp_format_list formats;
    ulp_rule_list modes;
    int64_t runs, paths; /* of stochastic modes: all runs, and the runs that are written one by one */
    uint64_t seed;
    const ulp_backend *backend; /* NULL: the experiment has no such option and takes the CPU */
} ulp_sum_settings;

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

typedef struct ulp_sum_cures {
    ulp_cure at[4]; /* (count) */
    size_t count;
} ulp_sum_cures;

/* The points of each format: all modes without a cure, then the cures. */
typedef struct ulp_sum_grid {
    const ulp_sum_settings *settings;
    const ulp_sum_cures *cures;
    ulp_sum_costs costs, costs24; /* costs24: of formats with 24 bits of precision, as binary32 */
} ulp_sum_grid;

void ulp_sum_points(ulp_plan *plan, const ulp_sum_grid *grid);

/* The sum of a point (ulp_sum_point); its value is 0 rounded to the format. */
ulp_sum ulp_sum_start(const void *point);

/* ---- rows ---- */

/* The kinds of rows: a step of one sum; where one sum ends, which is a stop, or open if the sum still moves after the
 * last step; a summary of all runs of a stochastic mode. */
enum { ULP_SUM_PATH, ULP_SUM_STOP, ULP_SUM_OPEN, ULP_SUM_SPREAD };
#define ULP_SUM_KINDS "path stop open spread"

typedef struct ulp_sum_row {
    const char *format, *mode;
    int cure, what;
    int64_t run;        /* an empty cell means all runs */
    int64_t n;          /* steps so far; the column has a name of the experiment's own */
    double exact;       /* the sum of ulp_sum_way.exact_term() */
    double copy, value; /* the master copy, or without one the value; the value of the sum in the format */
    ulp_code code;      /* of the value */
    double predicted;   /* the experiment's own; empty unless it sets the field */
    ulp_distribution runs;
} ulp_sum_row;

/* The first columns of such an experiment. */
#define ULP_SUM_COLUMNS                                                                                                \
    ULP_COLUMNS(ulp_sum_row, format, mode), ULP_WORDS(ulp_sum_row, cure, ULP_CURE_WORDS),                              \
        ULP_WORDS(ulp_sum_row, what, ULP_SUM_KINDS), ULP_COLUMNS(ulp_sum_row, run)

/* Whether step k has a row: one of `every` steps, or with every = 0 those of ulp_is_thinned_row(). */
static inline int ulp_sum_has_row(int64_t k, int64_t every) { return every ? k % every == 0 : ulp_is_thinned_row(k); }

/* A row of kind `what` after n steps with a value. `run` 0 means all runs: such a row has no value, copy and code. */
ulp_sum_row ulp_sum_row_of(const ulp_rows *rows, const ulp_sum *s, int what, int64_t run, int64_t n, double value);

/* ---- the two loops ---- */

/* How one sum goes on. */
typedef struct ulp_sum_way {
    void (*step)(ulp_sum *s, int64_t k, const void *settings); /* step k = 1, 2, ... */
    int64_t limit;                                             /* steps at most */
    int64_t every;                                             /* of ulp_sum_has_row() */
    int64_t first;                   /* 0: the start has a row; 1: rows begin after the first step */
    int by_copy;                     /* 1: the sum moves when its copy (ulp_sum_row) moves; 0: when its value moves */
    double (*exact_term)(int64_t k); /* the exact term of step k, for the column `exact`; NULL: no such column */
    const double *end;               /* a value that ends the sum though its copy still moves; NULL: none does */
} ulp_sum_way;

/* Goes on with a sum until a step leaves its value and its correction or copy as they are, or to the limit. Puts the
 * rows of its path and returns the row of its end, whose n is the last step that moves the sum, or the limit if it is
 * open. In chunks, the states at the ends of chunks are compared, and only these have rows. */
ulp_sum_row ulp_sum_follow(const ulp_task *task, ulp_sum *s, const ulp_sum_way *way);

/* An operation of a step of all runs: array `to` = round(array a `op` array b). */
typedef struct ulp_sum_operation {
    ulp_op op;
    int to, a, b;
    const char *stream; /* the name of its random stream after those of experiment, format and mode: "" or " NAME" */
} ulp_sum_operation;

enum { ULP_SUM_ARRAYS = 8, ULP_SUM_OPERATIONS = 4 /* at most */ };

/* How many sums go on at once. Each array has a number for each run. Array 0 is the sums. */
typedef struct ulp_sum_crowd {
    const char *name;                /* of the experiment, for the names of streams */
    int64_t steps, every, first;     /* every, first: as of ulp_sum_way */
    int arrays, operations, counter; /* counter: the array that holds the number of the step; 0: none does */
    double start[ULP_SUM_ARRAYS];    /* what the arrays hold at the start */
    ulp_sum_operation operation[ULP_SUM_OPERATIONS]; /* of every step, in this order */
    double (*exact_term)(int64_t k);                 /* as of ulp_sum_way */
} ulp_sum_crowd;

/* Computes the runs of a stochastic mode, and puts the rows of the first paths and of all runs. In step k, run i takes
 * word k 2^32 + i of the stream of each operation, so no run depends on the number of runs. */
ulp_status ulp_sum_put_crowd(const ulp_task *task, const ulp_sum *s, const ulp_sum_crowd *crowd);

/* ---- the judge ---- */

typedef struct ulp_sum_wanted {
    const ulp_format *format;   /* a format of the settings; NULL: the run has no such format */
    const ulp_named_rule *rule; /* a rule of the settings, for sums without a cure; NULL: rne */
    ulp_cure cure;
    int what;
} ulp_sum_wanted;

/* The first row of the wanted sum, or the first after n steps; NULL if the run did not compute it. */
const ulp_sum_row *ulp_sum_find(const ulp_table *table, const ulp_sum_wanted *wanted);
const ulp_sum_row *ulp_sum_find_at(const ulp_table *table, const ulp_sum_wanted *wanted, int64_t n);

/* The first row of kind `what` of the sum with this cure under rne, by format or by its name; NULL if there is none. */
const ulp_sum_row *ulp_sum_cured(const ulp_claims *c, const ulp_format *format, ulp_cure cure, int what);
const ulp_sum_row *ulp_sum_named(const ulp_claims *c, const char *format, ulp_cure cure, int what);

/* The row of kind `what` after n steps of the sum without a cure; NULL if there is none, or if the rule is NULL. */
const ulp_sum_row *ulp_sum_after(const ulp_claims *c, const ulp_format *format, const ulp_named_rule *rule, int what,
                                 int64_t n);

/* The rule of --modes with this name; NULL if there is none. */
const ulp_named_rule *ulp_sum_rule(const ulp_claims *c, const char *name);

/* Calls `claim` for every format and every stochastic mode with all random bits. */
typedef void ulp_sum_claim(ulp_claims *c, const ulp_format *format, const ulp_named_rule *rule);
void ulp_sum_each_stochastic(ulp_claims *c, ulp_sum_claim *claim);

/* The stop of the plain sum of a format under rne, for a claim about it. NULL if there is none; if the sum still moves
 * after the last step, the claim `text` is skipped, because the option `limit` is `steps`. */
const ulp_sum_row *ulp_sum_stop_for(ulp_claims *c, const char *format, const char *text, const char *limit,
                                    int64_t steps);

/* Puts the cells of the ends of a format: of the plain sums in `modes` (words separated by blanks), then of the cures.
 * `stop` or `open`, or both, are NULL if there is no such row. */
typedef void ulp_sum_put_end(ulp_sheet *sheet, const ulp_sum_row *stop, const ulp_sum_row *open);
void ulp_sum_put_ends(ulp_sheet *sheet, const ulp_claims *c, const ulp_format *format, const char *modes,
                      const ulp_sum_cures *cures, ulp_sum_put_end *put);

/* Calls `summary` for every sum of a format under rne that stops: the plain sum, then the cures. `of` is "FORMAT rne
 * CURE", the words of the sum in NAME.summary.csv. */
typedef void ulp_sum_summary(ulp_claims *c, const ulp_sum_row *stop, const char *of);
void ulp_sum_summarize(ulp_claims *c, const ulp_format *format, const ulp_sum_cures *cures, ulp_sum_summary *summary);

#endif
