/* sum_crowd.c - many sums of one stochastic mode, computed as arrays of a backend; see sums.h. */
#include <stdlib.h>

#include "sim/tensor.h"
#include "sums.h"

/* The state of all runs. */
typedef struct state {
    const ulp_sum_crowd *crowd;
    const ulp_sum *sum;
    const ulp_backend *backend;
    ulp_stream stream[ULP_SUM_OPERATIONS];
    size_t runs;
    float *host;   /* (runs) the sums */
    float *arrays; /* (crowd->arrays,runs) backend memory */
} state;

static float *array_of(const state *x, int array) { return x->arrays + (size_t)array * x->runs; }

static ulp_status start(state *x, const ulp_sum_settings *set) {
    const ulp_sum_crowd *crowd = x->crowd;
    ulp_status status = x->backend ? ULP_OK : ulp_backend_get(&x->backend, "cpu");
    if (status != ULP_OK) return status;
    x->host = malloc(x->runs * sizeof *x->host);
    x->arrays = x->backend->alloc((size_t)crowd->arrays * x->runs * sizeof *x->arrays);
    if (!x->host || !x->arrays) return ULP_NO_MEMORY;
    for (int i = 0; i < crowd->operations; i++)
        x->stream[i] = ulp_stream_named(set->seed, "%s %s %s%s", crowd->name, x->sum->format->name, x->sum->mode,
                                        crowd->operation[i].stream);
    for (int i = 0; i < crowd->arrays && status == ULP_OK; i++)
        status = ulp_tensor_fill(x->backend, array_of(x, i), x->runs, (float)crowd->start[i]);
    return status;
}

static ulp_status step(state *x, int64_t k) {
    const ulp_sum_crowd *crowd = x->crowd;
    ulp_status status = ULP_OK;
    if (crowd->counter) status = ulp_tensor_fill(x->backend, array_of(x, crowd->counter), x->runs, (float)k);
    for (int i = 0; i < crowd->operations && status == ULP_OK; i++) {
        const ulp_sum_operation *o = &crowd->operation[i];
        x->stream[i].first = (uint64_t)k << 32;
        status = ulp_backend_map(x->backend, array_of(x, o->to),
                                 (ulp_array_op){o->op, array_of(x, o->a), array_of(x, o->b), NULL}, x->runs,
                                 (ulp_rounding){x->sum->format, x->sum->rule, x->stream[i], NULL});
    }
    return status;
}

static ulp_status put_rows(const ulp_task *task, const state *x, int64_t k, double exact) {
    const ulp_sum_settings *set = task->settings;
    const ulp_status status = x->backend->download(x->host, x->arrays, x->runs * sizeof *x->host);
    if (status != ULP_OK) return status;
    double *values = ulp_grow(NULL, x->runs * sizeof *values);
    for (size_t i = 0; i < x->runs; i++) values[i] = (double)x->host[i];
    for (int64_t i = 0; i < set->paths && i < set->runs; i++) {
        ulp_sum_row r = ulp_sum_row_of(task->rows, x->sum, ULP_SUM_PATH, i + 1, k, values[i]);
        r.exact = exact;
        ulp_row_put(task->rows, &r);
    }
    ulp_sum_row all = ulp_sum_row_of(task->rows, x->sum, ULP_SUM_SPREAD, 0, k, 0);
    all.exact = exact;
    all.runs = ulp_distribution_of(values, x->runs);
    ulp_row_put(task->rows, &all);
    free(values);
    return ULP_OK;
}

ulp_status ulp_sum_put_crowd(const ulp_task *task, const ulp_sum *s, const ulp_sum_crowd *crowd) {
    const ulp_sum_settings *set = task->settings;
    state x = {.crowd = crowd, .sum = s, .backend = set->backend, .runs = (size_t)set->runs};
    double exact = 0;
    ulp_status status = start(&x, set);
    for (int64_t k = crowd->first; k <= crowd->steps && status == ULP_OK; k++) {
        if (k > 0) status = step(&x, k);
        if (k > 0 && crowd->exact_term) exact += crowd->exact_term(k);
        if (status != ULP_OK || (!ulp_sum_has_row(k, crowd->every) && k < crowd->steps)) continue;
        status = put_rows(task, &x, k, exact);
        if (status == ULP_OK && ulp_task_progress(task, (double)k / (double)crowd->steps)) break;
    }
    if (x.arrays) x.backend->release(x.arrays);
    free(x.host);
    return status;
}
