/* rounding.c - the rows of bench_gpu about rounding: a copy on the device, every format and mode, and the counters. */
#include "bench_gpu.h"

static ulp_status copy_work(job *t) {
    const size_t k = t->turn++ % t->b->arrays;
    return ulp_cuda_copy(t->b->y[k], t->b->x[k], t->b->elements * sizeof(float));
}

static ulp_status round_work(job *t) {
    const size_t k = t->turn++ % t->b->arrays;
    return ulp_backend_round(t->b->gpu, t->b->y[k], t->b->x[k], t->b->elements,
                             (ulp_rounding){t->format, t->rule, (ulp_stream){1, 0, 0}, t->stats});
}

/* Each element is read and written once. */
static double gigabytes(const bench *b, double seconds) { return 2e-9 * sizeof(float) * (double)b->elements / seconds; }

static ulp_status put_copy(const ulp_task *task) {
    const bench *b = task->context;
    job t = {.b = b};
    double seconds;
    ULP_TRY(measure(&seconds, copy_work, &t));
    b->rates->copy = gigabytes(b, seconds);
    put(task, (row){"copy", NULL, NULL, (double)b->elements, b->rates->copy, "GB/s", 0, "copy", t.clock},
        b->rates->copy);
    return ULP_OK;
}

static ulp_status put_round(const ulp_task *task) {
    const bench *b = task->context;
    const point *p = task->point;
    ulp_stats stats = {0};
    job t = {.b = b, .format = p->format, .rule = p->mode->rule, .stats = p->counts ? &stats : NULL};
    double seconds;
    ULP_TRY(measure(&seconds, round_work, &t));
    put(task,
        (row){p->counts ? "round and count" : "round", p->format->name, p->mode->name, (double)b->elements,
              gigabytes(b, seconds), "GB/s", 0, "copy", t.clock},
        b->rates->copy);
    return ULP_OK;
}

void plan_rounding(ulp_plan *plan, const settings *set) {
    ulp_plan_add(plan, &(point){.put = put_copy}, 1, "copy");
    for (size_t f = 0; f < set->formats.count; f++)
        for (size_t m = 0; m < set->modes.count; m++) {
            point p = {.put = put_round, .format = &set->formats.at[f], .mode = &set->modes.at[m]};
            ulp_plan_add(plan, &p, 1, "round %s %s", p.format->name, p.mode->name);
            if (f > 0 || m > 0) continue;
            p.counts = 1; /* one row is enough to show the cost of the counters */
            ulp_plan_add(plan, &p, 1, "round and count %s %s", p.format->name, p.mode->name);
        }
}
