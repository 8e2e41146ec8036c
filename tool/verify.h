/* verify.h - the parts of ulp verify: a case of sampled inputs, sweeps of all inputs by runs, results of other
 * programs. */
#ifndef ULP_TOOL_VERIFY_H
#define ULP_TOOL_VERIFY_H

#include "experiments/harness/cli/progress.h"
#include "journal.h"
#include "tool.h"

#include <pthread.h>

/* ---- verify_case.c: all inputs for a format, a mode and an overflow policy ---- */

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

/* ---- verify_runs.c: the cases of --exhaustive, swept by runs (sweep/sweep.h), a case per thread ---- */

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

/* ---- verify_files.c: results in a file, of any program ---- */

typedef struct verify_files {
    const char *inputs, *results;                   /* paths of arrays of the same shape */
    const ulp_format *inputs_codes, *results_codes; /* of their codes; NULL: they hold values */
    ulp_format format;
    const ulp_rule_list *modes; /* that the results may follow */
    int overflow;               /* of every rule */
    uint64_t bits;              /* random bits of a mode without a number of them */
    ulp_stream stream;          /* the random word of element i is ulp_random_word(stream, i) */
} verify_files;

/* Round each input by the oracle and compare the bits with the result; NaN equals NaN. Prints a line of PASS or FAIL
 * for each mode. The first differences of a single mode are shown on stderr; of several modes the last line names those
 * that the results follow, and the check fails if there is none. */
ulp_status verify_files_run(const verify_files *job, const char *program, ulp_error *error);

#endif
