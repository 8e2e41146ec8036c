/* sweep.c - computes the points of the grid: on threads, or on MPI ranks.
 *
 * Threads take the next point when they are free; under mpirun rank 0 hands out points and writes, the other ranks
 * compute. Which thread or rank computes a point, and when, leaves no trace in its rows. MPI is initialised only in a
 * process that mpirun started.
 */
#include "experiments/harness/run.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(ULP_WITH_MPI)
#include <mpi.h>
#endif

typedef struct sweep {
    ulp_run *run;
    const void *context;
    size_t next;
} sweep;

enum { NO_POINT = -1 };

int ulp_run_mine(const ulp_run *run, size_t point) { return !run->shards || point % run->shards == run->shard; }

/* The next point nobody has taken, or NO_POINT; with the lock held. */
static int64_t take_point(sweep *s) {
    ulp_run *run = s->run;
    if (ulp_stopping() || run->shared->status != ULP_OK) return NO_POINT;
    while (s->next < run->point_count && (run->done[s->next] || !ulp_run_mine(run, s->next))) s->next++;
    return s->next < run->point_count ? (int64_t)s->next++ : NO_POINT;
}

static ulp_status compute_point(const sweep *s, size_t k) {
    ulp_rows *rows = &s->run->rows[k];
    ulp_status status = s->run->experiment->compute(s->run, s->context, &s->run->points[k], rows);
    return rows->cut ? ULP_OK : status;
}

void ulp_point_finish(ulp_run *run, size_t k, ulp_status status, const char *failure) {
    ulp_shared *shared = run->shared;
    if (run->rows[k].cut) return;
    if (status != ULP_OK) {
        if (shared->status == ULP_OK && !shared->failure.length && failure)
            ulp_text_print(&shared->failure, "%s", failure);
        if (shared->status == ULP_OK) shared->status = status;
        return;
    }
    run->done[k] = 1;
    shared->share[k] = 1;
    shared->finished++;
    if (ulp_csv_keep(run, &run->rows[k]) >= 0 && shared->status == ULP_OK) {
        shared->status = ULP_BAD_FILE; /* the message is out */
        ulp_text_print(&shared->failure, "stopped at point '%s'", run->points[k].label);
    }
    if (shared->status == ULP_OK) ulp_training_forget(&run->rows[k]);
    ulp_progress_show(run, 0);
}

static void thread_body(void *context, size_t begin, size_t end) {
    sweep *s = context;
    pthread_mutex_t *lock = &s->run->shared->lock;
    (void)begin;
    (void)end;
    pthread_mutex_lock(lock);
    for (int64_t k; (k = take_point(s)) != NO_POINT;) {
        pthread_mutex_unlock(lock);
        ulp_status status = compute_point(s, (size_t)k);
        pthread_mutex_lock(lock);
        ulp_point_finish(s->run, (size_t)k, status, NULL);
    }
    pthread_mutex_unlock(lock);
}

static size_t points_left(const ulp_run *run) {
    size_t left = 0;
    for (size_t k = 0; k < run->point_count; k++) left += !run->done[k] && ulp_run_mine(run, k);
    return left;
}

static void sweep_threads(sweep *s) {
    size_t left = points_left(s->run), threads = (size_t)s->run->threads;
    if (threads > left) threads = left;
    /* one point, or one at a time: it gets all threads for its array operations */
    if (threads <= 1 || s->run->experiment->threads_inside) thread_body(s, 0, 1);
    else ulp_parallel_for(threads, 1, thread_body, s);
}

#if defined(ULP_WITH_MPI)

enum { HEAD = 4, TAG_DONE = 1, TAG_TEXT, TAG_TAKE }; /* head: point, status, rows, length of the text */

void ulp_ranks_start(ulp_run *run, int *argc, char ***argv) {
    int offered;
    run->ranks = 1;
    if (!getenv("OMPI_COMM_WORLD_SIZE") && !getenv("PMI_SIZE") && !getenv("PMIX_RANK")) return;
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &offered);
    MPI_Comm_rank(MPI_COMM_WORLD, &run->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &run->ranks);
}

void ulp_ranks_end(const ulp_run *run) {
    int started;
    (void)run;
    MPI_Initialized(&started);
    if (started) MPI_Finalize();
}

/* Waits without spinning: rank 0 shares its processor with ranks that compute. */
static int wait_for_rank(void) {
    const struct timespec pause = {0, 500000};
    MPI_Status about;
    for (int there = 0;;) {
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_DONE, MPI_COMM_WORLD, &there, &about);
        if (there) return about.MPI_SOURCE;
        nanosleep(&pause, NULL);
    }
}

static void receive_point(ulp_run *run, const int64_t head[HEAD], int source) {
    size_t k = (size_t)head[0], length = (size_t)head[3];
    char *text = ulp_grow(NULL, length + 1);
    MPI_Recv(text, (int)length, MPI_CHAR, source, TAG_TEXT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    text[length] = '\0';
    if (head[1] == ULP_OK) {
        ulp_text_add(&run->rows[k].text, text, length);
        run->rows[k].count = (size_t)head[2];
    }
    ulp_point_finish(run, k, (ulp_status)head[1], text);
    free(text);
}

/* Rank 0: gives a point to whoever asks, until there is none and everyone knows. */
static void hand_out(sweep *s, int dismiss) {
    for (int active = s->run->ranks - 1; active > 0;) {
        int source = wait_for_rank();
        int64_t head[HEAD], next;
        MPI_Recv(head, HEAD, MPI_INT64_T, source, TAG_DONE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (head[0] != NO_POINT) receive_point(s->run, head, source);
        next = dismiss ? NO_POINT : take_point(s);
        MPI_Send(&next, 1, MPI_INT64_T, source, TAG_TAKE, MPI_COMM_WORLD);
        active -= next == NO_POINT;
    }
}

/* Other ranks: ask, compute, answer. */
static void serve(sweep *s) {
    int64_t head[HEAD] = {NO_POINT, ULP_OK, 0, 0};
    const ulp_text *text = NULL;
    for (;;) {
        MPI_Send(head, HEAD, MPI_INT64_T, 0, TAG_DONE, MPI_COMM_WORLD);
        if (text) MPI_Send(text->data, (int)text->length, MPI_CHAR, 0, TAG_TEXT, MPI_COMM_WORLD);
        MPI_Recv(&head[0], 1, MPI_INT64_T, 0, TAG_TAKE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (head[0] == NO_POINT) return;
        head[1] = compute_point(s, (size_t)head[0]);
        if (s->run->rows[head[0]].cut) head[1] = ULP_BAD_FILE;
        text = head[1] == ULP_OK ? &s->run->rows[head[0]].text : &s->run->shared->failure;
        head[2] = (int64_t)s->run->rows[head[0]].count;
        head[3] = (int64_t)text->length;
    }
}

void ulp_ranks_dismiss(ulp_run *run) {
    sweep s = {.run = run};
    if (run->ranks > 1 && run->rank == 0) hand_out(&s, 1);
}

static int sweep_ranks(sweep *s) {
    if (s->run->ranks == 1) return 0;
    if (s->run->rank == 0) hand_out(s, 0);
    else serve(s);
    return 1;
}

#else

void ulp_ranks_start(ulp_run *run, int *argc, char ***argv) {
    const char *size = getenv("OMPI_COMM_WORLD_SIZE");
    (void)argc;
    (void)argv;
    run->ranks = 1;
    if (!size) size = getenv("PMI_SIZE");
    if (!size || atoi(size) < 2) return;
    fprintf(stderr, "%s: started as one of %s MPI ranks, but this build has no MPI: build with it, or use --shard\n",
            run->experiment->name, size);
    exit(ULP_EXIT_LACKING);
}

void ulp_ranks_end(const ulp_run *run) { (void)run; }
void ulp_ranks_dismiss(ulp_run *run) { (void)run; }
static int sweep_ranks(sweep *s) { return (void)s, 0; }

#endif

void ulp_sweep(ulp_run *run, const void *context) {
    sweep s = {.run = run, .context = context};
    if (!sweep_ranks(&s)) sweep_threads(&s);
}
