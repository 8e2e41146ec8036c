/* verify_case.h - one case of ulp verify: all inputs for a format, a mode and an overflow policy. */
#ifndef ULP_TOOL_VERIFY_CASE_H
#define ULP_TOOL_VERIFY_CASE_H

#include "experiments/harness/cli/progress.h"
#include "journal.h"
#include "kernels/backend.h"

#include <pthread.h>

typedef struct verify_piece {
    uint64_t mismatches, hash;
    int done;
} verify_piece;

typedef struct verify_job {
    const char *program; /* for messages */
    const ulp_backend *backend;
    ulp_format format;
    ulp_named_rule mode; /* as the user spells it; without a number of random bits if --bits gives the number */
    ulp_rule rule;
    ulp_stream stream;
    int exhaustive;
    uint64_t inputs, per_piece; /* number of inputs of the case, and of a piece */
    size_t pieces;
    verify_piece *piece;
    int shown;         /* number of mismatches printed so far */
    journal *journal;  /* may be NULL */
    uint64_t finished; /* number of inputs done, for the bar */
    ulp_progress bar;
    pthread_mutex_t lock; /* protects the bar and messages */
    ulp_status status;
} verify_job;

/* Run a case, and print its line with "NUMBER/OF". Returns 1 if the case passed; j->status says whether it ran. */
int verify_case(verify_job *j, size_t number, size_t of);

#endif
