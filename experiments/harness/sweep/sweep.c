/* sweep.c - running a sweep, on threads or MPI ranks; see sweep.h. */
#include "sweep.h"

#include "kernels/backend.h"
#include "inside.h"

/* The shared state of the threads; each thread takes the next point when it is free. */
typedef struct team {
    ulp_sweep *sweep;
    size_t next;
} team;

static void thread_body(void *own, size_t begin, size_t end) {
    team *c = own;
    ulp_sweep *s = c->sweep;
    (void)begin;
    (void)end;
    pthread_mutex_lock(&s->lock);
    for (size_t k; (k = ulp_sweep_take(s, &c->next)) < s->plan->count;) {
        pthread_mutex_unlock(&s->lock);
        const ulp_status status = ulp_sweep_compute(s, k);
        pthread_mutex_lock(&s->lock);
        ulp_sweep_finish(s, k, status, NULL);
    }
    pthread_mutex_unlock(&s->lock);
}

static size_t points_left(const ulp_sweep *s) {
    size_t left = 0;
    for (size_t k = 0; k < s->plan->count; k++) left += !s->work[k].done && ulp_sweep_mine(s, k);
    return left;
}

void ulp_sweep_run(ulp_sweep *s) {
    team c = {.sweep = s};
    const size_t left = points_left(s), threads = (size_t)s->threads < left ? (size_t)s->threads : left;
    ulp_sweep_started(s);
    if (s->ranks > 1) ulp_ranks_sweep(s);
    /* points one at a time: each gets all threads for its array operations */
    else if (threads <= 1 || s->threads_inside) thread_body(&c, 0, 1);
    else ulp_parallel_for(threads, 1, thread_body, &c);
    ulp_progress_clear(&s->progress);
}
