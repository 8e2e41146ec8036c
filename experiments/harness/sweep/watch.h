/* watch.h - noticing that a process of an MPI run has died, without the help of MPI.
 *
 * MPI has no portable answer to a rank that is killed: the others wait for messages for ever, or the launcher ends them
 * with a sentence of its own. A thread of every process looks several times a second whether the processes on its own
 * host live. If one has died, the lowest rank that lives on this host writes one sentence that names the dead rank, and
 * all processes on this host end. The launcher (mpirun, srun) then ends the processes on other hosts.
 */
#ifndef ULP_SWEEP_WATCH_H
#define ULP_SWEEP_WATCH_H

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
