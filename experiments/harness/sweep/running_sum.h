/* running_sum.h - running sums, rounded to a format after every addition: what keeps them moving, and rows that say
 * where they stop.
 *
 * The grid of such an experiment has, for every format, a point per rounding mode and a point per cure under rne:
 *
 *     prepare: ulp_running_points(run, f, cures, CURES, costs);
 *     compute: ulp_running s = ulp_running_start(run, point);
 *              ulp_running_add(&s, term, 0);
 *              ulp_running_key(rows, &s, "path", 1);
 */
#ifndef ULP_RUNNING_H
#define ULP_RUNNING_H

#include "experiments/harness/harness.h"

#include <math.h>

#define ULP_RUNNING_FORMATS "binary32,binary16,tf32,bfloat16,e6m9,e4m3,e5m2,q8.8"

/* kahan: compensated summation, in the format (Kahan 1965, doi:10.1145/363707.363723); master: the sum is kept in
 * binary32 and rounded to the format to be looked at. chunks and first are names for the grid and the rows alone:
 * ulp_running_add() does not know them, and the experiment that has them (counting, stagnation) adds with
 * ulp_running_plus(). */
typedef enum ulp_cure { ULP_CURE_NONE, ULP_CURE_KAHAN, ULP_CURE_MASTER, ULP_CURE_CHUNKS, ULP_CURE_FIRST } ulp_cure;

extern const char *const ulp_cure_names[]; /* "plain" is no cure */

/* ---- the grid ---- */

typedef struct ulp_running_costs {
    double plain, stochastic, cured;
} ulp_running_costs;

/* The points of --formats' number f: all of --modes, then the cures (count). */
void ulp_running_points(ulp_run *run, size_t f, const ulp_cure *cures, size_t count, ulp_running_costs cost);

/* ---- the sum ---- */

typedef struct ulp_running {
    const ulp_format *format;
    const char *mode;
    ulp_rule rule;
    ulp_cure cure;
    int native; /* binary32, rne: what the machine's float does, ten times as fast */
    double value,
        kept; /* value: what is shown; kept: Kahan's correction or the master copy; chunks, first: the experiment's */
} ulp_running;

/* The sum of a point, at zero as the format has it. */
ulp_running ulp_running_start(const ulp_run *run, const ulp_point *point);

static inline double ulp_running_plus(const ulp_running *s, double a, double b, uint32_t word) {
    if (s->native) return (double)((float)a + (float)b);
    return ulp_arith(ULP_ADD, a, b, 0, s->format, s->rule, word);
}

/* One addition; the word is for stochastic modes. */
void ulp_running_add(ulp_running *s, double term, uint32_t word);

/* Equal, or both NaN. */
static inline int ulp_same(double x, double y) { return x == y || (isnan(x) && isnan(y)); }

/* ---- its rows ---- */

#define ULP_RUNNING_COLUMNS "format,mode,cure,what,run"

/* `number` 0: of all runs, an empty cell. */
void ulp_running_key(ulp_rows *rows, const ulp_running *s, const char *what, int64_t number);

/* From check(): the first row of a sum of that kind; the one whose `column` is n. ULP_NO_ROW if the run did not compute
 * it. */
long ulp_running_row(const ulp_run *run, const char *format, const char *mode, ulp_cure cure, const char *what);
long ulp_running_row_at(const ulp_run *run, const char *format, const char *mode, ulp_cure cure, const char *what,
                        const char *column, int64_t n);

/* The row `stop`, where the sum rounded by rne under that cure no longer moves. */
long ulp_running_stop(const ulp_run *run, const char *format, ulp_cure cure);

/* The row `stop` of the sum without a cure, for the claim `text` about it. If the run has the row `open` in its place,
 * the sum was still moving when the option --LIMIT ended it: the claim is skipped, for that, and the answer is
 * ULP_NO_ROW. ULP_NO_ROW without a word if the run did not compute the sum. */
long ulp_running_stop_claimed(ulp_run *run, const char *format, const char *limit, const char *text);

/* A claim about every format under every stochastic mode that has all its random bits. */
void ulp_running_claims(ulp_run *run, void (*claim)(ulp_run *run, const ulp_format *format, const char *mode));

#endif
