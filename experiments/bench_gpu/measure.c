/* measure.c - measures the time of one call on a GPU, by events in its stream. */
#include "bench_gpu.h"
#include "experiments/harness/claims/spread.h"

enum { BATCHES = 41 };

ulp_status measure(double *median, work todo, job *t) {
    double batch[BATCHES], once = 0.0, sum = 0.0;
    ulp_status status = todo(t);
    if (status == ULP_OK) status = ulp_cuda_timer_start(t->b->timer);
    if (status == ULP_OK) status = todo(t);
    if (status == ULP_OK) status = ulp_cuda_timer_stop(t->b->timer, &once);
    const double share = t->b->seconds / BATCHES / (once + 1e-7);
    const size_t calls = share < 1.0 ? 1 : share > 1e5 ? 100000 : (size_t)share;
    size_t batches = 0;
    for (; status == ULP_OK && batches < BATCHES && (batches < 5 || sum < t->b->seconds); batches++) {
        double seconds = 0.0;
        status = ulp_cuda_timer_start(t->b->timer);
        for (size_t i = 0; i < calls && status == ULP_OK; i++) status = todo(t);
        if (status == ULP_OK) status = ulp_cuda_timer_stop(t->b->timer, &seconds);
        batch[batches] = seconds / (double)calls;
        sum += seconds;
    }
    if (status != ULP_OK) return status;
    ulp_sort_numbers(batch, batches);
    *median = batch[batches / 2];
    return ULP_OK;
}
