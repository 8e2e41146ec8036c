/* norm.c - batch normalisation: a thread computes whole channels. */
#include "kernels/cpu/cpu.h"

/* The arrays of an operation. */
typedef struct work {
    double *to;
    const double *sums; /* (2,c): dgamma, dbeta */
    const float *x, *dy;
    ulp_norm by;
} work;

/* The index of the first number of channel c in sample b. */
ULP_INLINE size_t row_at(const ulp_channels *s, size_t b, size_t c) { return (b * s->c + c) * s->n; }

static void statistics_part(void *context, size_t begin, size_t end) {
    const work *t = context;
    const ulp_channels *s = &t->by.shape;
    const double M = (double)(s->B * s->n);
    for (size_t c = begin; c < end; c++) {
        double sum = 0.0, squares = 0.0;
        for (size_t b = 0; b < s->B; b++)
            for (size_t i = 0; i < s->n; i++) sum += (double)t->x[row_at(s, b, c) + i];
        const double mean = sum / M;
        for (size_t b = 0; b < s->B; b++)
            for (size_t i = 0; i < s->n; i++) squares += ulp_norm_square(t->x[row_at(s, b, c) + i], mean);
        t->to[c] = ulp_quieted(mean);
        t->to[s->c + c] = ulp_quieted(squares / M);
    }
}

static void value_part(void *context, size_t begin, size_t end) {
    const work *t = context;
    const ulp_channels *s = &t->by.shape;
    for (size_t c = begin; c < end; c++) {
        const double mean = (double)t->by.statistics[c], inverse = ulp_norm_inverse(t->by.statistics[s->c + c]);
        const double gamma = (double)t->by.w[c], beta = (double)t->by.w[s->c + c];
        for (size_t b = 0; b < s->B; b++)
            for (size_t i = row_at(s, b, c); i < row_at(s, b, c) + s->n; i++)
                t->to[i] = ulp_norm_value(ulp_norm_z(t->x[i], mean, inverse), gamma, beta);
    }
}

static void sums_part(void *context, size_t begin, size_t end) {
    const work *t = context;
    const ulp_channels *s = &t->by.shape;
    for (size_t c = begin; c < end; c++) {
        const double mean = (double)t->by.statistics[c], inverse = ulp_norm_inverse(t->by.statistics[s->c + c]);
        double dgamma = 0.0, dbeta = 0.0;
        for (size_t b = 0; b < s->B; b++)
            for (size_t i = row_at(s, b, c); i < row_at(s, b, c) + s->n; i++) {
                dbeta += (double)t->dy[i];
                dgamma += (double)t->dy[i] * ulp_norm_z(t->x[i], mean, inverse);
            }
        t->to[c] = ulp_quieted(dgamma);
        t->to[s->c + c] = ulp_quieted(dbeta);
    }
}

static void slope_part(void *context, size_t begin, size_t end) {
    const work *t = context;
    const ulp_channels *s = &t->by.shape;
    const double M = (double)(s->B * s->n);
    for (size_t c = begin; c < end; c++) {
        const double mean = (double)t->by.statistics[c], inverse = ulp_norm_inverse(t->by.statistics[s->c + c]);
        const double scale = (double)t->by.w[c] * inverse, dgamma = t->sums[c] / M, dbeta = t->sums[s->c + c] / M;
        for (size_t b = 0; b < s->B; b++)
            for (size_t i = row_at(s, b, c); i < row_at(s, b, c) + s->n; i++)
                t->to[i] = ulp_norm_slope(t->dy[i], ulp_norm_z(t->x[i], mean, inverse), scale, dbeta, dgamma);
    }
}

static ulp_status run(const work *t, void (*part)(void *context, size_t begin, size_t end)) {
    const ulp_channels *s = &t->by.shape;
    ulp_parallel_for(s->B * s->n > 0 ? s->c : 0, 1, part, (void *)t);
    return ULP_OK;
}

ulp_status ULP_CPU(ulp_cpu_norm_statistics)(double *to, const float *x, ulp_channels shape) {
    return run(&(work){.to = to, .x = x, .by = {.shape = shape}}, statistics_part);
}

ulp_status ULP_CPU(ulp_cpu_norm_running)(double *to, const float *running, const float *batch, ulp_channels shape) {
    const size_t M = shape.B * shape.n;
    const double unbiased = ulp_norm_unbiased(M);
    for (size_t i = 0; M > 0 && i < 2 * shape.c; i++)
        to[i] = ulp_norm_running(running[i], batch[i], i < shape.c ? 1.0 : unbiased);
    return ULP_OK;
}

ulp_status ULP_CPU(ulp_cpu_norm)(double *y, const float *x, ulp_norm by) {
    return run(&(work){.to = y, .x = x, .by = by}, value_part);
}

ulp_status ULP_CPU(ulp_cpu_norm_sums)(double *sums, const float *dy, const float *x, ulp_norm by) {
    return run(&(work){.to = sums, .x = x, .dy = dy, .by = by}, sums_part);
}

ulp_status ULP_CPU(ulp_cpu_norm_slope)(double *dx, const float *dy, const float *x, const double *sums, ulp_norm by) {
    return run(&(work){.to = dx, .sums = sums, .x = x, .dy = dy, .by = by}, slope_part);
}
