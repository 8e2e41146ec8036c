/* inside.h - the steps of a point, files, MPI ranks, and the watch over processes, shared by the files of a sweep. */
#ifndef ULP_SWEEP_INSIDE_H
#define ULP_SWEEP_INSIDE_H

#include "sweep.h"

/* ---- points.c: the steps of a point (take, compute, finish), which threads and MPI ranks share ---- */

/* Begin a sweep: count the points that are done already, and start the progress line. */
void ulp_sweep_started(ulp_sweep *s);

/* Take the next free point; returns the plan's count if there is none. Call it with the lock held, or on one thread. */
size_t ulp_sweep_take(ulp_sweep *s, size_t *next);
ulp_status ulp_sweep_compute(ulp_sweep *s, size_t k);

/* Record the result of a point: its status and, if another rank computed it, the sentence of a failure. Call it with
 * the lock held. */
void ulp_sweep_finish(ulp_sweep *s, size_t k, ulp_status status, const char *failure);

/* ---- keep.c: OUT.part with the finished points, and the checkpoints of points ---- */

/* Append a finished point, or the line of a point without rows, to OUT.part. */
ulp_status ulp_keep_point(ulp_sweep *s, size_t k, ulp_error *error);

/* Remove the checkpoint of a point, if there is one. */
void ulp_keep_forget(const ulp_sweep *s, size_t k);

/* ---- ranks.c ---- */

/* Run a sweep under mpirun. Points that have as many ranks as there are processes are computed by all processes
 * together, one after another. Then rank 0 assigns the other points and writes files, and the other ranks compute. */
void ulp_ranks_sweep(ulp_sweep *s);

/* ---- watch.c: noticing that a process of an MPI run has died, without the help of MPI ----
 *
 * MPI has no portable answer to a rank that is killed: the others wait for messages for ever, or the launcher ends them
 * with a sentence of its own. A thread of every process looks several times a second whether the processes on its own
 * host live. If one has died, the lowest rank that lives on this host writes one sentence that names the dead rank, and
 * all processes on this host end. The launcher (mpirun, srun) then ends the processes on other hosts.
 */

/* A process of the run; both fields are from the process itself. */
typedef struct ulp_process {
    int pid;
    char host[64];
} ulp_process;

ulp_process ulp_process_self(void);

/* Watch processes (count); `rank` is the index of this process. Nothing is watched if no thread can be made. */
void ulp_watch_start(const char *program, const ulp_process *processes, int count, int rank);

/* Stop watching. Call it before a process may end. */
void ulp_watch_stop(void);

#endif
