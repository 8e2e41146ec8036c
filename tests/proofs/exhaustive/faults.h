/* faults.h - wrong roundings: a right rounding of arrays, and a fault that changes some of its results.
 *
 * A fault is a row: the case that it is planted in, its change of one result, and a window of inputs around the change.
 * The faults of one case stand together.
 */
#ifndef ULP_TESTS_FAULTS_H
#define ULP_TESTS_FAULTS_H

#include "tool/sweep/sweep.h"
#include "kernels/backend.h"

/* The result for x, whose word is u, where the right result is y. */
typedef float (*fault_change)(float x, uint32_t u, float y, const ulp_format *f);

typedef struct fault {
    const char *what, *format, *mode, *policy;
    fault_change change;
    sweep_span window;
} fault;

enum { FAULTS = 22 };
extern const fault faults[FAULTS];

/* A rounding with a fault; NULL: none. */
typedef struct faulty {
    const ulp_backend *backend;
    ulp_format format;
    ulp_rule rule;
    fault_change change;
} faulty;

/* The case of a fault, without its change. */
faulty fault_case(const fault *of);

/* y (n) = x (n) rounded, with the fault; `context` is a faulty. A sweep_question calls it. */
ulp_status fault_round(void *context, void *y, const void *x, size_t n);

/* The number of faults from `first` on that have the case of `first`. */
size_t fault_group(size_t first);

/* The plain sweep of one span: counts[i] (n) grows by the number of inputs whose result with the fault first + i is not
 * the oracle's. The oracle is asked about every input. */
ulp_status fault_plain(const sweep_span *span, size_t first, size_t n, uint64_t *counts);

/* The sweep by runs of spans with a fault, or without one for change = NULL. */
ulp_status fault_sweep(const sweep_span *spans, size_t count, faulty *by, sweep_result *result);

#endif
