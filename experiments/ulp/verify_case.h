/* verify_case.h - one case of ulp verify: a format, a mode and an overflow policy, all inputs against the oracle. */
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
    ulp_rule rule;
    ulp_stream stream;
    int exhaustive;
    uint64_t inputs, per_piece; /* of the case */
    size_t pieces;
    verify_piece *piece;
    int shown;         /* mismatches printed so far */
    journal *journal;  /* or NULL */
    uint64_t finished; /* inputs done, for the bar */
    ulp_progress bar;
    pthread_mutex_t lock; /* of the bar and of messages */
    ulp_status status;
} verify_job;

/* Runs the case and prints its line: number `number` of `of`. 1 if it passed; the job's status says whether it ran. */
int verify_case(verify_job *j, size_t number, size_t of);

#endif
