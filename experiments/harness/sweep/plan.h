/* plan.h - the grid points of a run, in the order of its CSV, and the header lines that decide its numbers.
 *
 * Each experiment defines the struct of a point: the data that one point needs in addition to the settings.
 */
#ifndef ULP_SWEEP_PLAN_H
#define ULP_SWEEP_PLAN_H

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/harness/cli/options.h"
#include "formats/round.h"

/* An error that threads share. The first sentence stays. */
typedef struct ulp_failure {
    pthread_mutex_t lock;
    ulp_error error;
} ulp_failure;

/* A grid point of the plan. */
typedef struct ulp_planned {
    void *point; /* the experiment's struct */
    double cost; /* relative work, for the estimate of the time left */
    char *label; /* "binary16 rne", unique in the plan; the name of the point in --list, files and messages */
} ulp_planned;

/* A report about the run itself, such as where its time went. plan() sets it, and points add to `own` under the lock of
 * the sweep. At the end of the run print() prints it, and write() writes it into the folder of the CSV. print and
 * release may be NULL. */
typedef struct ulp_plan_report {
    void *own;          /* NULL: no report */
    const char *ending; /* of the file: ".profile.csv" */
    void (*print)(const void *own, FILE *screen);
    void (*write)(FILE *file, const void *own);
    void (*release)(void *own);
} ulp_plan_report;

typedef struct ulp_plan {
    const void *settings;
    void *context;
    size_t point_size;
    ulp_planned *points; /* (count) in the order of the CSV */
    size_t count, room;
    ulp_text header; /* lines "# key: value" */
    ulp_failure *failure;
    const ulp_arguments *arguments; /* for plan(): which options were given (ulp_setting_given) */
    ulp_plan_report report;
} ulp_plan;

/* Append a copy of the point (point_size bytes). The arguments from `label` on form its label. */
void ulp_plan_add(ulp_plan *plan, const void *point, double cost, const char *label, ...) ULP_PRINTF(4, 5);

/* Add a header line for a thing that decides the numbers and is not an option: data set and checksum, network. */
void ulp_plan_note(ulp_plan *plan, const char *key, const char *value, ...) ULP_PRINTF(3, 4);

/* Set the sentence that explains a status, and return the status. The message of the program is this sentence alone, so
 * it has to say what failed and why. Without a sentence the message is the text of the status. */
ulp_status ulp_plan_fail(const ulp_plan *plan, ulp_status status, const char *what, ...) ULP_PRINTF(3, 4);

/* End the program if two points have the same label, which is a mistake in the experiment. */
void ulp_plan_check(const ulp_plan *plan);
void ulp_plan_free(ulp_plan *plan);

/* As ulp_plan_fail(), for ulp_task_fail(). */
ulp_status ulp_fail_shared(ulp_failure *failure, ulp_status status, const char *what, va_list arguments);

#endif
