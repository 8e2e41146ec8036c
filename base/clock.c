/* clock.c - the time in seconds; see clock.h. */
#include "clock.h"

#include <pthread.h>
#include <time.h>

static double seconds_of(clockid_t clock) {
    struct timespec at;
    clock_gettime(clock, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* A clock of a machine that is moved or stopped may go back: the time goes on from the latest look. */
double ulp_clock(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static double latest, lost;
    const double now = seconds_of(CLOCK_MONOTONIC);
    pthread_mutex_lock(&lock);
    if (now + lost < latest) lost = latest - now;
    const double seconds = latest = now + lost;
    pthread_mutex_unlock(&lock);
    return seconds;
}

double ulp_clock_of_thread(void) { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }
