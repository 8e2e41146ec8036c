/* counting.h - what the sums and the claims of counting share: settings, rows, and where a count is predicted to stop.
 */
#ifndef ULP_EXPERIMENT_COUNTING_H
#define ULP_EXPERIMENT_COUNTING_H

#include "experiments/harness/claims/spread.h"
#include "experiments/harness/sums.h"

typedef struct settings {
    ulp_format_list formats;
    ulp_rule_list modes;
    int64_t limit, terms, runs, paths, chunk;
    uint64_t seed;
    const ulp_backend *backend;
} settings;

/* Rows: a sum on its way, its end (stop, or open if it still moved at --limit), all runs of a stochastic mode. */
enum { PATH, STOP, OPEN, SPREAD };
#define WHAT_WORDS "path stop open spread"

typedef struct row {
    ulp_sum_key key;
    int64_t n;
    double value;
    ulp_code code;
    double predicted;
    ulp_distribution runs;
} row;

enum { CURES = 3 };
static const ulp_cure cures[CURES] = {ULP_CURE_CHUNKS, ULP_CURE_KAHAN, ULP_CURE_MASTER};

/* What rounding makes of everything far beyond the range: the end where sums that leave it stay. */
static inline double end_of(const ulp_format *format, ulp_rule rule) {
    return ulp_round(4 * format->max, format, rule, 0);
}

/* Where a deterministic count stops; 0 if nothing is predicted. */
int predict(double *value, const ulp_format *f, ulp_rule rule, ulp_cure cure, int64_t chunk);

/* Prints the table and tests the claims. */
void judge(ulp_claims *claims);

#endif
