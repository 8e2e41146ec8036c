/* progress.c - how far a run is: a bar with the time left on a terminal, a plain line now and then elsewhere. */
#include "experiments/harness/run.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stop_asked;

static void on_signal(int signal_number) {
    (void)signal_number;
    stop_asked = 1;
}

int ulp_stopping(void) { return stop_asked != 0; }

/* The first signal ends the run at the next point; the second one ends the program as usual. */
void ulp_stop_on_signals(void) {
    struct sigaction action = {0};
    action.sa_handler = on_signal;
    action.sa_flags = (int)SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

double ulp_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double cost_of(const ulp_point *point) { return point->cost > 0 ? point->cost : 1; }

void ulp_progress_start(ulp_run *run) {
    ulp_shared *s = run->shared;
    const char *terminal = getenv("TERM");
    s->started = s->shown = ulp_clock();
    s->share = ulp_grow(s->share, run->point_count * sizeof *s->share);
    for (size_t k = 0; k < run->point_count; k++) {
        s->share[k] = run->done[k];
        if (!ulp_run_mine(run, k)) continue;
        s->cost_total += cost_of(&run->points[k]);
        if (run->done[k]) s->cost_before += cost_of(&run->points[k]), s->finished++;
    }
    s->bar = isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

static double cost_done(const ulp_run *run) {
    double done = 0;
    for (size_t k = 0; k < run->point_count; k++)
        if (ulp_run_mine(run, k)) done += run->shared->share[k] * cost_of(&run->points[k]);
    return done;
}

static void print_left(char *text, size_t size, double seconds) {
    if (seconds < 0) snprintf(text, size, "time left unknown");
    else if (seconds < 100) snprintf(text, size, "%.0f s left", seconds);
    else if (seconds < 6000) snprintf(text, size, "%.0f min left", seconds / 60);
    else snprintf(text, size, "%.1f h left", seconds / 3600);
}

void ulp_progress_show(const ulp_run *run, int last) {
    enum { WIDTH = 30 };
    ulp_shared *s = run->shared;
    double now = ulp_clock(), wait = s->bar ? 0.1 : 10.0;
    if (ulp_option_flag(run, "quiet") || run->rank) return;
    if (last) {
        if (s->bar) fprintf(stderr, "\r\033[K");
        return;
    }
    if (now - s->shown < wait) return;
    s->shown = now;
    double done = cost_done(run), fresh = done - s->cost_before;
    double share = s->cost_total > 0 ? done / s->cost_total : 1;
    char left[40], bar[WIDTH + 1];
    print_left(left, sizeof left, fresh > 0 ? (now - s->started) * (s->cost_total - done) / fresh : -1);
    for (int i = 0; i < WIDTH; i++) bar[i] = i < (int)(share * WIDTH) ? '#' : '.';
    bar[WIDTH] = '\0';
    if (s->bar)
        fprintf(stderr, "\r\033[K%s [%s] %3.0f %%  %zu points, %s", run->experiment->name, bar, 100 * share,
                s->finished, left);
    else fprintf(stderr, "%s: %.0f %%, %zu points done, %s\n", run->experiment->name, 100 * share, s->finished, left);
    fflush(stderr);
}

int ulp_rows_progress(ulp_rows *rows, double share) {
    ulp_shared *s = rows->run->shared;
    pthread_mutex_lock(&s->lock);
    if (s->share) s->share[rows->point->index] = share < 0 ? 0 : share > 1 ? 1 : share;
    if (s->share) ulp_progress_show(rows->run, 0);
    if (ulp_stopping() || s->status != ULP_OK) rows->cut = 1;
    pthread_mutex_unlock(&s->lock);
    return rows->cut;
}
