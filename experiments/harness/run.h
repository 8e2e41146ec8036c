/* run.h - the state of one run of an experiment, which experiment.c and run.c share. */
#ifndef ULP_HARNESS_RUN_H
#define ULP_HARNESS_RUN_H

#include "experiment.h"

/* The value of --shard I/N; {0, 0}: all points. */
typedef struct ulp_shard {
    uint64_t index, count;
} ulp_shard;

/* The options of every experiment. */
typedef struct ulp_common {
    int64_t threads;
    const char *out;
    int quick, full, list, resume, restart, quiet;
    ulp_shard shard;
    ulp_text_list merge;
} ulp_common;

typedef struct ulp_run {
    const ulp_experiment *experiment;
    int argc;
    char **argv;
    ulp_common common;
    void *settings, *context;
    ulp_command command;
    ulp_option_group groups[3];
    ulp_arguments arguments;
    ulp_preset preset;
    ulp_plan plan;
    ulp_sweep sweep;
    ulp_claims claims;
    ulp_table table;
    double wall_seconds;
    size_t row_count;
} ulp_run;

/* Begin the head with the settings, before plan() adds its lines; write the CSV, for ulp_place_write(). */
void ulp_run_begin_header(ulp_run *run);
void ulp_run_write_csv(FILE *file, const void *run);

/* Print a command for every point (--list). */
ulp_status ulp_run_list(const ulp_run *run, ulp_error *error);

/* Write NAME.run.json or NAME.claims.tsv of a run; for ulp_place_write_beside(). */
void ulp_run_write_claims(FILE *file, const void *run);
void ulp_run_write_record(FILE *file, const void *run);

#endif
