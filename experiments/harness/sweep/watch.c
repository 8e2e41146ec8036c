/* watch.c - a thread that looks whether the processes of a run live; see inside.h. */
#include "inside.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "experiments/harness/cli/message.h"
#include "experiments/harness/cli/text.h"

enum { LOOK_MS = 50, LINGER_MS = 3000 };

static struct watch {
    pthread_t thread;
    int started, count, rank;
    int stopped;
    const char *program;
    ulp_process *processes; /* (count); pid 0: not watched */
} watch;

ulp_process ulp_process_self(void) {
    ulp_process p = {.pid = (int)getpid()};
    if (gethostname(p.host, sizeof p.host - 1) != 0) p.host[0] = '\0';
    return p;
}

static void sleep_ms(int ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL); }

/* Whether a process has ended and its parent has not asked for its status; 0 where there is no /proc. */
static int is_zombie(int pid) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    const size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    text[n] = '\0';
    const char *state = strrchr(text, ')'); /* the name of the program is in parentheses, and then comes the state */
    return state && (strncmp(state, ") Z", 3) == 0 || strncmp(state, ") X", 3) == 0);
}

static int is_gone(int pid) { return (kill(pid, 0) != 0 && errno == ESRCH) || is_zombie(pid); }

/* The lowest rank whose process is gone; -1 if all processes live. */
static int find_dead(void) {
    for (int r = 0; r < watch.count; r++)
        if (watch.processes[r].pid && is_gone(watch.processes[r].pid)) return r;
    return -1;
}

/* The lowest rank on this host that lives. */
static int find_speaker(void) {
    int r = 0;
    while (r < watch.rank && (!watch.processes[r].pid || is_gone(watch.processes[r].pid))) r++;
    return r;
}

/* Every process lingers, so that no other process takes this one for the dead rank. */
static void *look(void *unused) {
    int dead = -1;
    (void)unused;
    while (!__atomic_load_n(&watch.stopped, __ATOMIC_ACQUIRE) && (dead = find_dead()) < 0) sleep_ms(LOOK_MS);
    if (dead < 0) return NULL;
    if (find_speaker() == watch.rank)
        ulp_complain(watch.program,
                     "rank %d of %d (process %d on %s) has died, so all ranks stop; finished points are kept beside "
                     "the CSV: the same command with --resume goes on",
                     dead, watch.count, watch.processes[dead].pid, watch.processes[dead].host);
    sleep_ms(LINGER_MS);
    _exit(ULP_EXIT_FAILED);
}

void ulp_watch_start(const char *program, const ulp_process *processes, int count, int rank) {
    sigset_t all, before;
    watch = (struct watch){.program = program, .count = count, .rank = rank};
    watch.processes = ulp_grow(NULL, (size_t)count * sizeof *processes);
    for (int r = 0; r < count; r++) {
        watch.processes[r] = processes[r];
        const int is_here = r != rank && strcmp(processes[r].host, processes[rank].host) == 0;
        if (!is_here || is_gone(processes[r].pid)) watch.processes[r].pid = 0; /* gone: a container of its own */
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the other threads */
    watch.started = pthread_create(&watch.thread, NULL, look, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void ulp_watch_stop(void) {
    __atomic_store_n(&watch.stopped, 1, __ATOMIC_RELEASE);
    if (watch.started) pthread_join(watch.thread, NULL);
    watch.started = 0;
    free(watch.processes);
    watch.processes = NULL;
}
