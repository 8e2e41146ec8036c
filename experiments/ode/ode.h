/* ode.h - settings, points and rows of ode. */
#ifndef ULP_EXPERIMENT_ODE_H
#define ULP_EXPERIMENT_ODE_H

#include "experiments/harness/experiment.h"

typedef struct settings {
    ulp_format_list formats;
    ulp_rule_list modes;
    int64_t longest, runs;
    ulp_integer_list paths;
    uint64_t seed;
} settings;

enum { DECAY, SCAN, CIRCLE, PATH };
#define KIND_WORDS "decay scan circle path"

/* A point of the plan. A scan computes all n (the field n is 0), and its rule is rne. */
typedef struct point {
    int kind;
    const ulp_format *format;
    const ulp_named_rule *rule;
    int64_t n;
} point;

typedef struct row {
    int kind;
    const char *format, *mode;
    int64_t n, step;
    double u, v;
    ulp_code code;
    double mean, rms, most, polygon, off, radius;
} row;

#define ODE_START 0x1p-6 /* y0 */

/* 10^(k / 3), rounded to a whole number; 3 <= k <= ode_thirds(). */
static inline int64_t ode_steps(int k) {
    static const int64_t mantissas[] = {10000000, 21544347, 46415888};
    int64_t scale = 1;
    for (int i = k / 3; i < 7; i++) scale *= 10;
    return (mantissas[k % 3] + scale / 2) / scale;
}
static inline int ode_thirds(const settings *s) { return 3 * (int)s->longest; }

#endif
