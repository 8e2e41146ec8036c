/* ranks.c - a sweep over MPI ranks: points that all ranks compute together, and points that rank 0 assigns.
 *
 * No other file includes <mpi.h>. MPI is initialised only in a process that mpirun started.
 */
#include "inside.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "experiments/harness/cli/message.h"

#if defined(ULP_WITH_MPI)
#include <limits.h>
#include <mpi.h>

enum { HEAD = 4, TAG_DONE = 1, TAG_TEXT, TAG_TAKE, TAG_EXCHANGE }; /* head: point, status, rows, length of the text */
enum { NO_POINT = -1 };

static const char *own_name; /* of the program, for messages of any rank */

void ulp_ranks_start(ulp_sweep *s, const char *program, int *argc, char ***argv) {
    int offered;
    const ulp_process self = ulp_process_self();
    own_name = program;
    s->ranks = 1;
    if (!getenv("OMPI_COMM_WORLD_SIZE") && !getenv("PMI_SIZE") && !getenv("PMIX_RANK")) return;
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &offered);
    MPI_Comm_rank(MPI_COMM_WORLD, &s->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s->ranks);
    ulp_process *all = ulp_grow(NULL, (size_t)s->ranks * sizeof *all);
    MPI_Allgather(&self, (int)sizeof self, MPI_BYTE, all, (int)sizeof self, MPI_BYTE, MPI_COMM_WORLD);
    ulp_watch_start(program, all, s->ranks, s->rank);
    MPI_Barrier(MPI_COMM_WORLD); /* no process ends before all have looked at it */
    free(all);
}

void ulp_ranks_end(void) {
    int started;
    MPI_Initialized(&started);
    if (!started) return;
    ulp_watch_stop();
    MPI_Barrier(MPI_COMM_WORLD); /* no process ends while another one watches it */
    MPI_Finalize();
}

/* Wait for a message without a busy loop, because rank 0 shares its processor with ranks that compute. */
static int wait_for_rank(void) {
    const struct timespec pause = {0, 500000};
    MPI_Status about;
    for (int arrived = 0;;) {
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_DONE, MPI_COMM_WORLD, &arrived, &about);
        if (arrived) return about.MPI_SOURCE;
        nanosleep(&pause, NULL);
    }
}

static void receive_point(ulp_sweep *s, const int64_t head[HEAD], int source) {
    const size_t k = (size_t)head[0], length = (size_t)head[3];
    char *text = ulp_grow(NULL, length + 1);
    MPI_Recv(text, (int)length, MPI_CHAR, source, TAG_TEXT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    text[length] = '\0';
    if (head[1] == ULP_OK) {
        ulp_text_add(&s->work[k].rows.text, text, length);
        s->work[k].rows.count = (size_t)head[2];
    }
    ulp_sweep_finish(s, k, (ulp_status)head[1], text);
    free(text);
}

/* Rank 0: receive results and assign points, until all points are assigned and every rank knows that. */
static void hand_out(ulp_sweep *s) {
    size_t at = 0;
    for (int active = s->ranks - 1; active > 0;) {
        const int source = wait_for_rank();
        int64_t head[HEAD], next = NO_POINT;
        MPI_Recv(head, HEAD, MPI_INT64_T, source, TAG_DONE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (head[0] != NO_POINT) receive_point(s, head, source);
        const size_t k = ulp_sweep_take(s, &at);
        if (k < s->plan->count) next = (int64_t)k;
        MPI_Send(&next, 1, MPI_INT64_T, source, TAG_TAKE, MPI_COMM_WORLD);
        active -= next == NO_POINT;
    }
}

/* Other ranks: ask for a point, compute it, and send its rows. */
static void serve(ulp_sweep *s) {
    int64_t head[HEAD] = {NO_POINT, ULP_OK, 0, 0};
    const char *text = NULL;
    for (;;) {
        MPI_Send(head, HEAD, MPI_INT64_T, 0, TAG_DONE, MPI_COMM_WORLD);
        if (text) MPI_Send(text, (int)head[3], MPI_CHAR, 0, TAG_TEXT, MPI_COMM_WORLD);
        MPI_Recv(&head[0], 1, MPI_INT64_T, 0, TAG_TAKE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (head[0] == NO_POINT) return;
        const ulp_work *work = &s->work[head[0]];
        head[1] = ulp_sweep_compute(s, (size_t)head[0]);
        if (work->cut) head[1] = ULP_BAD_FILE;
        text = head[1] == ULP_OK ? ulp_text_of(&work->rows.text) : s->failure.error.text;
        head[2] = (int64_t)work->rows.count;
        head[3] = (int64_t)strlen(text);
    }
}

/* Rank 0 tells the other ranks whether there is a sweep. */
static int goes_on(int sweep) {
    MPI_Bcast(&sweep, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return sweep;
}

void ulp_ranks_dismiss(ulp_sweep *s) {
    if (s->ranks > 1 && s->rank == 0) goes_on(0);
}

/* ---- points that all ranks compute together ---- */

static ulp_status exchange(void *context, ulp_message out, ulp_message in) {
    (void)context;
    if (out.bytes > INT_MAX || in.bytes > INT_MAX) return ULP_NOT_IN_RANGE;
    MPI_Sendrecv(out.data, (int)out.bytes, MPI_BYTE, out.bytes ? (int)out.rank : MPI_PROC_NULL, TAG_EXCHANGE, in.data,
                 (int)in.bytes, MPI_BYTE, in.bytes ? (int)in.rank : MPI_PROC_NULL, TAG_EXCHANGE, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    return ULP_OK;
}

/* Whether any rank stops; all ranks call it together. */
static int agree(int stop) {
    int any = 0;
    MPI_Allreduce(&stop, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any;
}

/* Compute a point on all ranks. The rows of rank 0 count; those of the other ranks are equal. */
static void compute_together(ulp_sweep *s, size_t k) {
    const ulp_status status = ulp_sweep_compute(s, k);
    if (status == ULP_NO_MEMORY) { /* of this rank alone: the others wait for its messages */
        ulp_complain(own_name, "rank %d: no memory for the point '%s'", s->rank, s->plan->points[k].label);
        MPI_Abort(MPI_COMM_WORLD, ULP_EXIT_FAILED);
    }
    if (s->rank == 0) ulp_sweep_finish(s, k, status, NULL);
    else if (status != ULP_OK) s->status = status;
}

/* The points with as many ranks as there are processes. Rank 0 knows which of them a stopped run has finished. */
static void sweep_together(ulp_sweep *s) {
    const ulp_ranks all = {(size_t)s->rank, (size_t)s->ranks, NULL, exchange};
    if (!s->ranks_of) return;
    for (size_t k = 0; k < s->plan->count; k++) {
        int done = s->work[k].done;
        if (s->ranks_of(s->plan->points[k].point) != all.count || !ulp_sweep_mine(s, k)) continue;
        MPI_Bcast(&done, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (done) continue;
        if (agree(ulp_stopping() || s->status != ULP_OK)) return;
        s->together = &all;
        s->agree = agree;
        compute_together(s, k);
        s->together = NULL;
        s->agree = NULL;
        s->shared++;
    }
}

void ulp_ranks_sweep(ulp_sweep *s) {
    if (!goes_on(1)) return;
    sweep_together(s);
    if (s->rank == 0) hand_out(s);
    else serve(s);
}

#else

void ulp_ranks_start(ulp_sweep *s, const char *program, int *argc, char ***argv) {
    const char *size = getenv("OMPI_COMM_WORLD_SIZE");
    (void)argc;
    (void)argv;
    s->ranks = 1;
    if (!size) size = getenv("PMI_SIZE");
    if (!size || atoi(size) < 2) return;
    ulp_complain(program, "started as one of %s MPI ranks, but this build has no MPI: build with it, or use --shard",
                 size);
    exit(ULP_EXIT_LACKING);
}

void ulp_ranks_end(void) {}
void ulp_ranks_dismiss(ulp_sweep *s) { (void)s; }
void ulp_ranks_sweep(ulp_sweep *s) { (void)s; }

#endif
