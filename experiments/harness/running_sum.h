/* running_sum.h - a running sum that is rounded to a format after every addition, and cures for its stagnation.
 *
 *     ulp_sum s = ulp_sum_of(&format, "rne", (ulp_rule){0}, ULP_CURE_KAHAN);
 *     ulp_sum_begin(&s, 100);
 *     ulp_sum_add(&s, 0.01, 0);      s.value is the sum
 */
#ifndef ULP_HARNESS_RUNNING_SUM_H
#define ULP_HARNESS_RUNNING_SUM_H

#include "formats/round.h"

/* The cures:
 *
 *  - kahan: compensated summation in the format (Kahan 1965, doi:10.1145/363707.363723)
 *  - master: the sum is kept in binary32; its value is this sum rounded to the format
 *  - chunks: the terms are added in chunks of `period` terms, and the sums of complete chunks are added
 *  - first: the terms are added first, and their sum is added to the start */
typedef enum ulp_cure { ULP_CURE_NONE, ULP_CURE_KAHAN, ULP_CURE_MASTER, ULP_CURE_CHUNKS, ULP_CURE_FIRST } ulp_cure;
#define ULP_CURE_WORDS "plain kahan master chunks first"

typedef struct ulp_sum {
    const ulp_format *format;
    const char *mode;
    ulp_rule rule;
    ulp_cure cure;
    int native;            /* 1: binary32 and rne; the machine's float is used, which is ten times as fast */
    double start, value;   /* the sum before the first term and now, in the format */
    double kept;           /* kahan: the correction; master: the master copy; chunks, first: the sum of terms */
    int64_t period, terms; /* chunks: terms in a chunk, at least 1; terms since the last complete chunk */
} ulp_sum;

/* A sum that starts at 0 rounded to the format. The format has to outlive the sum. */
ulp_sum ulp_sum_of(const ulp_format *format, const char *mode, ulp_rule rule, ulp_cure cure);

/* Lets the sum start at `start` rounded to nearest even in the format. */
void ulp_sum_begin(ulp_sum *s, double start);

static inline double ulp_sum_plus(const ulp_sum *s, double a, double b, uint32_t word) {
    if (s->native) return (double)((float)a + (float)b);
    return ulp_arith((ulp_scalar_op){ULP_ADD, a, b, 0}, s->format, s->rule, word);
}

/* Add a term to the sum; `word` is the random word of stochastic modes without a cure. */
void ulp_sum_add(ulp_sum *s, double term, uint32_t word);

/* Whether x and y are equal, or both NaN. */
static inline int ulp_same(double x, double y) { return x == y || (x != x && y != y); }

#endif
