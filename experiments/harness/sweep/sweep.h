/* sweep.h - computing the grid points of a plan on threads, MPI ranks or shards, and keeping finished points in a file.
 *
 * During a sweep finished points are appended to OUT.part (table/pieces.h). A run refuses to start if a stopped run has
 * left points there, unless the user says --resume, which uses the points, or --restart, which deletes them. A run
 * holds a lock on OUT.part, so that only one run at a time writes to it. The system drops the lock when the process
 * ends, so a killed run blocks no other run. The rows of a point do not depend on the thread, rank or shard that
 * computes the point, nor on the time.
 *
 * The points of an uncut sweep are timings of one process: OUT.part of a stopped run is for readers alone, and the next
 * run writes it anew. A sweep that goes on is an uncut one whose points need each other little: a point without rows
 * becomes a line `# failed: LABEL: WHY` or `# left out: LABEL: WHY` of OUT.part and of the head of the CSV.
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
#include "kernels/reduction/ranks.h"
#include "plan.h"

typedef struct ulp_sweep ulp_sweep;

/* The computation of one point: all data that the rows of the point may depend on, and the place for the rows. */
typedef struct ulp_task {
    const void *settings, *context, *point;
    const char *label;
    ulp_rows *rows;   /* gets the rows of the point */
    const char *file; /* name for a checkpoint of the point, which the sweep removes in the end; NULL: no checkpoint */
    int resumed;      /* 1: the run continues a stopped run; `file` may hold the beginning of the point */
    ulp_sweep *sweep;
    size_t index;           /* index of the point in the plan; no number may depend on it */
    const ulp_ranks *ranks; /* the processes that compute this point together, each a rank of it; NULL: one process */
} ulp_task;

/* Report the share of a long point that is done. A result other than 0 means that the run stops: compute() has to
 * return soon, with any status. The point does not count, and a resumed run computes it again. */
int ulp_task_progress(const ulp_task *task, double share);

/* Set the sentence that explains a status, and return the status, as ulp_plan_fail() does. */
ulp_status ulp_task_fail(const ulp_task *task, ulp_status status, const char *what, ...) ULP_PRINTF(3, 4);

/* A random stream for one use. Its number is the FNV-1a 64 hash of the formatted name. The name says the use and its
 * parameters, "stagnation %s %s run %d", and never the index of a point in the plan. */
ulp_stream ulp_stream_named(uint64_t seed, const char *format, ...) ULP_PRINTF(2, 3);

/* ---- for the program's main ---- */

/* The state of a point during a sweep. */
typedef struct ulp_work {
    ulp_rows rows;
    char *file;    /* ulp_task.file */
    double share;  /* done so far, 0 to 1 */
    int done, cut; /* cut: the point stopped early, and its rows do not count */
    char *missing; /* the line of a point without rows in a sweep that goes on; else NULL */
} ulp_work;

struct ulp_sweep {
    /* set by the program */
    const char *program; /* name for messages; NULL: no messages */
    const ulp_plan *plan;
    const ulp_column *columns;
    ulp_status (*compute)(const ulp_task *task);
    size_t (*ranks_of)(const void *point); /* the ranks that a point is about; NULL: no point is about ranks */
    int threads, threads_inside; /* inside: points run one by one, each with all threads for its array operations */
    int uncut;                   /* 1: all points belong to one process (timings); none is kept for another process */
    int goes_on;                 /* 1: as of ulp_experiment */
    size_t shard, shards;        /* this run computes the points k with k mod shards = shard; shards 0: all points */
    int resume, restart, quiet;
    ulp_text_list merge; /* paths */
    ulp_place place;
    int rank, ranks;
    /* set by the sweep */
    char *head;      /* the head of files of pieces */
    char *part;      /* OUT.part */
    FILE *part_file; /* locked while it is open */
    ulp_work *work;  /* (plan->count) */
    ulp_failure failure;
    pthread_mutex_t lock;
    ulp_status status; /* of the first failure */
    ulp_progress progress;
    double cost_total, started;
    size_t finished, resumed;  /* finished: points that are done and have their rows */
    size_t failed, left_out;   /* points without rows in a sweep that goes on */
    const ulp_ranks *together; /* while all processes compute one point; `agree` says whether any of them stops */
    int (*agree)(int stop);
    size_t shared; /* number of points that all processes have computed together */
};

/* Start MPI if mpirun started this process, and set rank and ranks. */
void ulp_ranks_start(ulp_sweep *s, const char *program, int *argc, char ***argv);
void ulp_ranks_dismiss(ulp_sweep *s); /* end the other ranks; rank 0 calls it if the sweep does not start */
void ulp_ranks_end(void);

/* ulp_sweep_begin() makes room for the points of the plan. Then, on rank 0, ulp_sweep_open() reads merged files, locks
 * the place, and uses or protects the points of a stopped run. */
void ulp_sweep_begin(ulp_sweep *s, const char *head);
ulp_status ulp_sweep_open(ulp_sweep *s, ulp_error *error);

/* Compute the missing points. work[k].done and status say what happened. */
void ulp_sweep_run(ulp_sweep *s);

/* Whether every point of this shard is done. */
int ulp_sweep_complete(const ulp_sweep *s);

/* Whether the point belongs to this shard. */
static inline int ulp_sweep_mine(const ulp_sweep *s, size_t point) {
    return !s->shards || point % s->shards == s->shard;
}

/* Write the file of the shard. */
ulp_status ulp_sweep_write_shard(const ulp_sweep *s, ulp_error *error);

/* Remove OUT.part with its lock, and the checkpoints of points. Call it when they are not needed any more. */
void ulp_sweep_close(ulp_sweep *s);
void ulp_sweep_free(ulp_sweep *s);

#endif
