/* child.h - running a command in a folder, with a fault or without. */
#ifndef FAULTS_CHILD_H
#define FAULTS_CHILD_H

#include "faults.h"
#include "tree.h"

/* The folders of a replay. */
typedef struct places {
    const char *bin, *library; /* of the programs; the interposed library, NULL: none */
    char run[600];             /* where commands run */
    char meta[600];            /* counts, log, stdout and stderr of the commands */
    fault_counts *counts;      /* shared with the library */
} places;

/* The fault that a run meets. */
typedef struct fault_order {
    fault_family family;
    uint64_t at; /* 0: nothing fails, calls are counted */
    const char *how;
    int all;
    const char *clock; /* FAULT_CLOCK or NULL */
} fault_order;

typedef struct outcome {
    int status; /* of the exit, or 128 + signal */
    tree files; /* of places.run; standard output is the file "(stdout)" */
    char *says; /* standard error */
} outcome;

/* Make the folders below `scratch`. */
void places_make(places *p, const char *scratch);

/* Run commands of a shell in places.run. Returns the exit status. */
int run_shell(const places *p, const char *commands);

/* Run a command of a case; `order` NULL: without the library. */
outcome run_command(const places *p, const char *command, const fault_order *order);
void outcome_free(outcome *o);

#endif
