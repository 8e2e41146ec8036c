/* measure.c - measures the time of one call on a GPU, by events in its stream, and puts the row. */
#include "bench_gpu.h"
#include "experiments/harness/claims/spread.h"

enum { BATCHES = 41 };

/* *seconds gets the time of `calls` calls. */
static ulp_status batch_of(double *seconds, size_t calls, work todo, job *t) {
    ULP_TRY(ulp_cuda_timer_start(t->b->timer));
    for (size_t i = 0; i < calls; i++) ULP_TRY(todo(t));
    return ulp_cuda_timer_stop(t->b->timer, seconds);
}

ulp_status clock_now(double *megahertz) {
    double hertz = 0.0;
    const ulp_status status = ulp_cuda_clock(&hertz);
    *megahertz = 1e-6 * hertz;
    return status;
}

ulp_status measure(double *median, work todo, job *t) {
    double batch[BATCHES], once = 0.0, sum = 0.0;
    ulp_status status = todo(t);
    if (status == ULP_OK) status = batch_of(&once, 1, todo, t);
    const double share = t->b->seconds / BATCHES / (once + 1e-7);
    const size_t calls = share < 1.0 ? 1 : share > 1e5 ? 100000 : (size_t)share;
    while (status == ULP_OK && sum < t->b->seconds) { /* the clock rises, caches fill */
        double seconds = 0.0;
        status = batch_of(&seconds, calls, todo, t);
        sum += seconds + 1e-7 * (double)calls;
    }
    size_t batches = 0;
    sum = 0.0;
    for (; status == ULP_OK && batches < BATCHES && (batches < 5 || sum < t->b->seconds); batches++) {
        double seconds = 0.0;
        status = batch_of(&seconds, calls, todo, t);
        batch[batches] = seconds / (double)calls;
        sum += seconds;
    }
    if (status == ULP_OK) status = clock_now(&t->clock);
    if (status != ULP_OK) return status;
    ulp_sort_numbers(batch, batches);
    *median = batch[batches / 2];
    return ULP_OK;
}

void put(const ulp_task *task, row r, double base) {
    r.ratio = base > 0.0 ? r.rate / base : ULP_NO_NUMBER;
    if (!(base > 0.0)) r.against = NULL;
    ulp_row_put(task->rows, &r);
}
