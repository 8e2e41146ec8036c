/* verify_runs.h - the cases of ulp verify --exhaustive, swept by runs (sweep/sweep.h), a case per thread. */
#ifndef ULP_TOOL_VERIFY_RUNS_H
#define ULP_TOOL_VERIFY_RUNS_H

#include "journal.h"
#include "kernels/backend.h"

#include <stdio.h>

typedef struct verify_runs_case {
    const ulp_format *format;
    const char *mode;
    ulp_rule rule; /* of a deterministic mode */
} verify_runs_case;

typedef struct verify_runs {
    const char *program; /* for messages */
    const ulp_backend *backend;
    const verify_runs_case *cases; /* (count) */
    size_t count, of;              /* of: the number of all cases, for the lines */
    journal *journal;              /* may be NULL */
    FILE *list;                    /* gets the list of runs of the only case; NULL: nobody reads the list */
} verify_runs;

/* Sweep the cases, and print a line for each in their order. *failed grows by the number of cases that failed. */
ulp_status verify_runs_all(const verify_runs *v, size_t *failed);

#endif
