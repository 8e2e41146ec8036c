/* measure.c - measures the jobs of a group in rounds, and puts their rows.
 *
 * A round measures every job once, for --seconds / --rounds, and the jobs that it is compared with again if their last
 * measurement is older than FRESH seconds. A ratio is therefore a quotient of two measurements that lie close together
 * in time, so that a busy neighbour slows both of them, and the ratio of a row is the median of the ratios of the
 * rounds. The time of work on one thread is the processor time of the thread, which does not count the time that other
 * programs take; the time of work on several threads, and of work beside it, is that of the clock. A job whose calls
 * take long leaves the rounds when it has taken --seconds, after five rounds at the earliest.
 */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/harness/claims/spread.h"

#define FRESH 0.25
enum { LEAST_ROUNDS = 5 };

#if defined(ULP_WITH_BLAS)
void openblas_set_num_threads(int n);
#endif

/* ---- groups ---- */

static void set_text(char *to, size_t size, const char *text) {
    if (text) snprintf(to, size, "%.*s", (int)size - 1, text);
}

void job_name(job *j, const char *of, const char *mode, const char *by) {
    set_text(j->of, sizeof j->of, of);
    set_text(j->mode, sizeof j->mode, mode);
    set_text(j->by, sizeof j->by, by);
}

size_t group_add(group *g, const job *j) {
    g->jobs = ulp_room_for(g->jobs, g->count, &g->room, sizeof *g->jobs);
    g->jobs[g->count] = *j;
    return g->count++;
}

void group_compare(group *g, size_t one, size_t other, const char *name, int relation) {
    g->comparisons = ulp_room_for(g->comparisons, g->pairs, &g->pairs_room, sizeof *g->comparisons);
    g->comparisons[g->pairs++] = (comparison){.one = one, .other = other, .name = name, .relation = relation};
}

static void empty(group *g) {
    for (size_t i = 0; i < g->count; i++) free(g->jobs[i].rates);
    for (size_t i = 0; i < g->pairs; i++) free(g->comparisons[i].ratios);
    free(g->jobs);
    free(g->comparisons);
    *g = (group){0};
}

/* ---- one measurement ---- */

static void keep(double **at, size_t *count, size_t *room, double x) {
    *at = ulp_room_for(*at, *count, room, sizeof **at);
    (*at)[(*count)++] = x;
}

static ulp_status time_calls(job *j, size_t calls) {
    ulp_status status = ULP_OK;
    const double began = ulp_clock(), thread_began = ulp_clock_of_thread();
    for (size_t i = 0; i < calls && status == ULP_OK; i++) status = j->run(j);
    j->once.thread = (ulp_clock_of_thread() - thread_began + 1e-9) / (double)calls;
    j->once.clock = (ulp_clock() - began + 1e-9) / (double)calls;
    return status;
}

/* The seconds of work on one thread are its processor time, unless it is compared with work on several threads. */
static double seconds_of(const job *j, int threads) { return threads == 1 ? j->once.thread : j->once.clock; }

/* The time of a call, from as many calls as fit `slice`. The first call, which fills the caches, does not count unless
 * it is longer than the slice. */
static ulp_status measure(group *g, size_t i, double slice) {
    job *j = &g->jobs[i];
    const double began = ulp_clock();
    ulp_status status = ULP_OK;
    if (j->offer) {
        if (!peer_measure(&j->once, j->offer, j->n, j->threads, slice)) status = ULP_NO_DEVICE;
    } else {
        ulp_threads_set(j->threads);
#if defined(ULP_WITH_BLAS)
        openblas_set_num_threads(j->threads);
#endif
        status = time_calls(j, 1);
        for (size_t calls = 1; status == ULP_OK && j->once.clock * (double)calls < slice / 2;) {
            calls = (size_t)(slice / j->once.clock) + 1;
            status = time_calls(j, calls);
        }
    }
    j->ended = ulp_clock();
    j->spent += j->ended - began;
    if (status != ULP_OK) g->failed = i;
    else keep(&j->rates, &j->count, &j->room, j->amount / seconds_of(j, j->threads));
    return status;
}

static int is_fresh(const job *j) { return j->count && ulp_clock() - j->ended < FRESH; }

/* Measures a job and the jobs that it is compared with. */
static ulp_status measure_beside(group *g, size_t i, double slice) {
    for (size_t k = 0; k < g->pairs; k++)
        if (g->comparisons[k].one == i && !is_fresh(&g->jobs[g->comparisons[k].other]))
            ULP_TRY(measure(g, g->comparisons[k].other, slice));
    ULP_TRY(measure(g, i, slice));
    for (size_t k = 0; k < g->pairs; k++) {
        comparison *c = &g->comparisons[k];
        if (c->one != i) continue;
        const job *j = &g->jobs[i], *other = &g->jobs[c->other];
        const int threads = j->threads > other->threads ? j->threads : other->threads;
        const double speed = j->amount / seconds_of(j, threads) / (other->amount / seconds_of(other, threads));
        keep(&c->ratios, &c->count, &c->room, c->relation == TIME ? 1 / speed : speed);
    }
    return ULP_OK;
}

/* ---- rows ---- */

/* The value of a sorted array below which a share lies; between two values it is interpolated. */
static double quantile(const double *sorted, size_t count, double share) {
    const double at = share * (double)(count - 1);
    const size_t i = (size_t)at;
    return i + 1 < count ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[i];
}

static void put_row(const ulp_task *task, const job *j, const comparison *c) {
    const double unit = j->unit == STEPS ? 1 : 1e-9;
    row r;
    ulp_row_clear(task->rows, &r);
    r.group = task->label;
    r.what = j->what;
    r.of = *j->of ? j->of : NULL;
    r.mode = *j->mode ? j->mode : NULL;
    r.by = j->by;
    r.threads = j->threads;
    if (j->n) r.n = (int64_t)j->n;
    r.unit = j->unit;
    r.rate = quantile(j->rates, j->count, 0.5) * unit;
    r.q1 = quantile(j->rates, j->count, 0.25) * unit;
    r.q3 = quantile(j->rates, j->count, 0.75) * unit;
    r.rounds = (int64_t)j->count;
    if (c) {
        r.beside = c->name;
        r.relation = c->relation;
        r.ratio = quantile(c->ratios, c->count, 0.5);
        r.ratio_q1 = quantile(c->ratios, c->count, 0.25);
        r.ratio_q3 = quantile(c->ratios, c->count, 0.75);
        r.goal = goal_of(j, c);
    }
    ulp_row_put(task->rows, &r);
}

static void put_rows(const ulp_task *task, const group *g) {
    for (size_t i = 0; i < g->count; i++) ulp_sort_numbers(g->jobs[i].rates, g->jobs[i].count);
    for (size_t i = 0; i < g->count; i++) {
        int compared = 0;
        for (size_t k = 0; k < g->pairs; k++) {
            comparison *c = &g->comparisons[k];
            if (c->one != i) continue;
            compared = 1;
            ulp_sort_numbers(c->ratios, c->count);
            put_row(task, &g->jobs[i], c);
        }
        if (!compared) put_row(task, &g->jobs[i], NULL);
    }
}

static ulp_status fail(const ulp_task *task, const job *j, ulp_status status) {
    if (j->offer)
        return ulp_task_fail(task, status, "--peers %s: the worker failed at %s %s %s", peer_command(j->offer), j->what,
                             j->of, j->mode);
    return ulp_task_fail(task, status, "%s %s %s: %s", j->what, j->of, j->mode,
                         *ulp_backend_error() ? ulp_backend_error() : ulp_status_text(status));
}

ulp_status group_measure(const ulp_task *task, group *g) {
    const settings *set = task->settings;
    const double slice = set->seconds / (double)set->rounds;
    ulp_status status = ULP_OK;
    int stopped = 0;
    for (int64_t round = 0; round < set->rounds && status == ULP_OK && !stopped; round++)
        for (size_t i = 0; i < g->count && status == ULP_OK && !stopped; i++) {
            if (round < LEAST_ROUNDS || g->jobs[i].spent < set->seconds) status = measure_beside(g, i, slice);
            if (status != ULP_OK) fail(task, &g->jobs[g->failed], status);
            const double done = (double)round + (double)i / (double)g->count;
            stopped = ulp_task_progress(task, done / (double)set->rounds);
        }
    if (status == ULP_OK && !stopped) put_rows(task, g);
    empty(g);
    return status;
}
