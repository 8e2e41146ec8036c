/* sweep.h - computes the grid points of a plan: on threads, MPI ranks or shards, and keeps finished ones in a file.
 *
 * While a sweep goes on, finished points are appended to OUT.part (table/pieces.h). A run does not touch the points
 * that a stopped run has left there, unless --resume takes them up or --restart forgets them. One run at a time writes
 * to a place: it holds a lock on OUT.part, which the system drops with the process, so that a killed run blocks nobody.
 * Which thread, rank or shard computes a point, and when, leaves no trace in its rows.
 */
#ifndef ULP_SWEEP_SWEEP_H
#define ULP_SWEEP_SWEEP_H

#include <stdint.h>
#include <stdio.h>

#include "experiments/harness/cli/options.h"
#include "experiments/harness/cli/progress.h"
#include "experiments/harness/table/output.h"
#include "experiments/harness/table/table.h"
#include "formats/rng.h"
#include "plan.h"

typedef struct ulp_sweep ulp_sweep;

/* What computes one point: everything that it may depend on. */
typedef struct ulp_task {
    const void *settings, *context, *point;
    const char *label;
    ulp_rows *rows;   /* where the point's rows go */
    const char *file; /* a name for a file that belongs to the point while it is computed (a checkpoint); the sweep
                         removes it when the point is kept. NULL: there is no place */
    int resumed;      /* the run goes on from a stopped one: the file may hold the beginning of this point */
    ulp_sweep *sweep;
    size_t index; /* the point's place in the plan; never let a number depend on it */
} ulp_task;

/* For points that take long: the share of this point that is done. Non-zero means that the run is being stopped: return
 * any status soon, the point is thrown away and a resumed run computes it again. */
int ulp_task_progress(const ulp_task *task, double share);

/* Sets the sentence behind a status and returns the status, as ulp_plan_fail(). */
ulp_status ulp_task_fail(const ulp_task *task, ulp_status status, const char *what, ...) ULP_PRINTF(3, 4);

/* A stream of its own for every use: its number is the FNV-1a 64 hash of the formatted name. Name the use and the thing
 * that it belongs to, "stagnation %s %s run %d", never a point's place in the plan. */
ulp_stream ulp_stream_named(uint64_t seed, const char *format, ...) ULP_PRINTF(2, 3);

/* ---- for the program's main ---- */

/* A point while the sweep goes on. */
typedef struct ulp_work {
    ulp_rows rows;
    char *file;    /* ulp_task.file */
    double share;  /* done so far, 0 to 1 */
    int done, cut; /* cut: the point was told to stop early, its rows do not count */
} ulp_work;

struct ulp_sweep {
    /* what the program says */
    const char *program; /* for messages; NULL: silent */
    const ulp_plan *plan;
    const ulp_column *columns;
    const void *settings, *context;
    ulp_status (*compute)(const ulp_task *task);
    int threads, threads_inside; /* inside: points one by one, each with all threads for its array operations */
    int uncut;                   /* its numbers belong to one process at one time: nothing is kept for another */
    size_t shard, shards;        /* this run computes points k with k mod shards = shard; shards 0: all */
    int resume, restart, quiet;
    ulp_text_list merge; /* paths */
    ulp_place place;
    int rank, ranks;
    /* what the sweep keeps */
    char *head;      /* the lines that files of pieces begin with */
    char *part;      /* OUT.part */
    FILE *part_file; /* locked while it is open */
    ulp_work *work;  /* (plan->count) */
    ulp_failure failure;
    pthread_mutex_t lock;
    ulp_status status; /* the first failure */
    ulp_progress progress;
    double cost_total, started;
    size_t finished, resumed;
};

/* MPI, where mpirun started this process: sets rank and ranks. */
void ulp_ranks_start(ulp_sweep *s, const char *program, int *argc, char ***argv);
void ulp_ranks_dismiss(ulp_sweep *s); /* rank 0 gives up: the others end */
void ulp_ranks_end(void);

/* Room for the plan's points; then, on rank 0, ulp_sweep_open: reads merged files, locks the place, takes up or spares
 * what a stopped run left. -1, or the exit status after a message. */
void ulp_sweep_begin(ulp_sweep *s, const char *head);
int ulp_sweep_open(ulp_sweep *s);

/* Computes the points that are missing. What happened is in work[k].done and status. */
void ulp_sweep_run(ulp_sweep *s);

/* Whether every point of this shard is done. */
int ulp_sweep_complete(const ulp_sweep *s);
int ulp_sweep_mine(const ulp_sweep *s, size_t point); /* the point belongs to this shard */

/* Writes the shard's file: -1, or the exit status after a message. */
int ulp_sweep_write_shard(const ulp_sweep *s);

/* Removes OUT.part, the files of its points and the lock: nothing in them is needed any more. */
void ulp_sweep_close(ulp_sweep *s);
void ulp_sweep_free(ulp_sweep *s);

#endif
