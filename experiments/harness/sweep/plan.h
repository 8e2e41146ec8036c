/* plan.h - the grid points of a run, in the order of its CSV, and the header lines that decide its numbers.
 *
 * A point is a small struct of the experiment's own: everything that one point needs beside the settings.
 */
#ifndef ULP_SWEEP_PLAN_H
#define ULP_SWEEP_PLAN_H

#include <pthread.h>
#include <stddef.h>

#include "experiments/harness/cli/options.h"
#include "formats/round.h"

/* The sentence behind a status that is not ULP_OK; the first one counts. Threads may share it. */
typedef struct ulp_failure {
    pthread_mutex_t lock;
    ulp_text sentence;
} ulp_failure;

/* A grid point of the plan. */
typedef struct ulp_planned {
    void *point; /* the experiment's struct */
    double cost; /* relative work, for the time left */
    char *label; /* "binary16 rne": unique in the plan; names the point in --list, files and messages */
} ulp_planned;

typedef struct ulp_plan {
    size_t point_size;
    ulp_planned *points; /* (count) in the order of the CSV */
    size_t count, room;
    ulp_text header; /* lines "# key: value" */
    ulp_failure *failure;
    const ulp_arguments *arguments; /* for plan(): which options were given (ulp_setting_given) */
} ulp_plan;

/* Appends a copy of the point (point_size bytes); the rest of the arguments form its label. */
void ulp_plan_add(ulp_plan *plan, const void *point, double cost, const char *label, ...) ULP_PRINTF(4, 5);

/* One more header line: data set and checksum, network, everything that decides the numbers and is no option. */
void ulp_plan_note(ulp_plan *plan, const char *key, const char *value, ...) ULP_PRINTF(3, 4);

/* For the sentence behind a status: returns the status. The sentence is all that is printed: it says what failed and
 * why; a status that speaks for itself needs no sentence. */
ulp_status ulp_plan_fail(const ulp_plan *plan, ulp_status status, const char *what, ...) ULP_PRINTF(3, 4);

/* Two points with one label are a mistake of the experiment: the program stops. */
void ulp_plan_check(const ulp_plan *plan);
void ulp_plan_free(ulp_plan *plan);

/* The same for ulp_task_fail(). */
ulp_status ulp_fail_with(ulp_failure *failure, ulp_status status, const char *what, va_list arguments);

#endif
