/* measure.c - reducing equal or random numbers, and the errors of the result; see all_reduce.c. */
#include "all_reduce.h"

#include <math.h>
#include <stdlib.h>

#include "sim/optim/update.h"
#include "sim/normal.h"

row row_of(const ulp_task *task, char text[ULP_REDUCTION_TEXT_MAX]) {
    const point *p = task->point;
    row r;
    ulp_row_clear(task->rows, &r);
    ulp_reduction_print(text, ULP_REDUCTION_TEXT_MAX, &p->how);
    r.data = p->data;
    r.reduction = text;
    r.format = p->how.format.name;
    r.mode = ulp_mode_name((ulp_mode)p->how.rule.mode);
    r.order = p->how.order;
    r.mean = p->how.mean;
    r.ranks = (int64_t)p->ranks;
    r.seed = (int64_t)p->seed;
    return r;
}

/* x (n) = the numbers of a rank. */
static void fill(float *x, size_t n, const point *p, size_t rank) {
    ulp_stream stream = ulp_stream_named(p->seed, "all_reduce %s", ulp_word_of(DATA_WORDS, (size_t)p->data).text);
    stream.first = (uint64_t)rank << 32;
    for (size_t i = 0; i < n; i++) {
        switch (p->data) {
        case ONES: x[i] = 1.0f; break;
        case LARGE: x[i] = 64.0f; break;
        case TINY: x[i] = 0x1p-20f; break;
        case NORMAL: x[i] = (float)ulp_random_normal(stream, i); break;
        default: x[i] = (float)ulp_random_uniform(stream, i); break;
        }
    }
}

/* to (n) = the numbers of a rank after their first rounding, backend memory; scratch (n): host memory. */
static ulp_status enter(const ulp_reduction_job *job, float *to, float *scratch, const point *p, size_t n,
                        size_t rank) {
    fill(scratch, n, p, rank);
    const ulp_status status = job->backend->upload(to, scratch, n * sizeof *to);
    return status == ULP_OK ? ulp_reduction_enter(job, to, to, n, rank) : status;
}

/* result (n) = the mean, host memory. rows (ranks,n): backend memory; of processes that are a rank each only row 0. */
static ulp_status reduce(const ulp_task *task, const ulp_reduction_job *job, float *result, float *rows, size_t n) {
    const point *p = task->point;
    const ulp_ranks *ranks = task->ranks;
    const ulp_backend *backend = job->backend;
    ulp_status status = ranks ? enter(job, rows, result, p, n, ranks->rank) : ULP_OK;
    for (size_t r = 0; !ranks && r < p->ranks && status == ULP_OK; r++)
        status = enter(job, rows + r * n, result, p, n, r);
    if (status == ULP_OK)
        status = ranks ? ulp_reduction_sum_over(job, ranks, rows, n) : ulp_reduction_sum(job, rows, n);
    return status == ULP_OK ? backend->download(result, rows, n * sizeof *result) : status;
}

/* The roundings that an element passes through, in the format. */
static uint64_t roundings_of(const point *p) {
    const size_t R = p->ranks, nodes = (R + p->how.node - 1) / p->how.node;
    uint64_t steps = 0;
    while ((size_t)1 << steps < R) steps++;
    switch ((ulp_reduction_order)p->how.order) {
    case ULP_REDUCE_RING: return R - 1 + 2;
    case ULP_REDUCE_TREE:
    case ULP_REDUCE_DOUBLING: return steps + 2;
    case ULP_REDUCE_TWO_LEVEL: return nodes - 1 + 2;
    case ULP_REDUCE_ORDERS: break;
    }
    return 0;
}

static double bound_of(const point *p) {
    const double u = ldexp(1, p->how.rule.mode == ULP_RNE ? -p->how.format.prec : 1 - p->how.format.prec);
    double factor = ulp_power(1 + u, roundings_of(p));
    if (p->how.order == ULP_REDUCE_TWO_LEVEL) factor *= ulp_power(1 + 0x1p-24, p->how.node);
    return factor - 1;
}

/* Errors of result (n), with sums in the order of the ranks. */
static void put_errors(row *r, const float *result, const point *p, size_t n) {
    double *mean = ulp_grow(NULL, 2 * n * sizeof *mean), *size = mean + n, sum = 0, squares = 0, worst = 0;
    float *x = ulp_grow(NULL, n * sizeof *x);
    for (size_t i = 0; i < 2 * n; i++) mean[i] = 0;
    for (size_t k = 0; k < p->ranks; k++) {
        fill(x, n, p, k);
        for (size_t i = 0; i < n; i++) {
            mean[i] += (double)x[i] / (double)p->ranks;
            size[i] += fabs((double)x[i]) / (double)p->ranks;
        }
    }
    for (size_t i = 0; i < n; i++) {
        const double error = fabs((double)result[i] - mean[i]) / size[i];
        sum += (double)result[i];
        squares += error * error;
        worst = error > worst || error != error ? error : worst;
    }
    r->value = sum / (double)n;
    r->error = sqrt(squares / (double)n);
    r->worst = worst;
    r->bound = bound_of(p);
    free(mean);
    free(x);
}

ulp_status measure(const ulp_task *task) {
    const settings *s = task->settings;
    const point *p = task->point;
    const size_t n = (size_t)s->elements;
    const ulp_backend *backend = s->lesson.backend;
    char text[ULP_REDUCTION_TEXT_MAX];
    row r = row_of(task, text);
    const ulp_reduction_job job = {&p->how, backend, ulp_stream_named(p->seed, "all_reduce sum %s", text), p->ranks};
    float *rows = backend->alloc(p->ranks * n * sizeof *rows), *result = malloc(n * sizeof *result);
    const ulp_status status = rows && result ? reduce(task, &job, result, rows, n) : ULP_NO_MEMORY;
    if (status == ULP_OK) {
        put_errors(&r, result, p, n);
        ulp_row_put(task->rows, &r);
    }
    if (rows) backend->release(rows);
    free(result);
    return status;
}
