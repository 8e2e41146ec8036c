/* definition.c - the product under any datapath: the step function of kernels/products/sum.h, output by output. */
#include "gemm.h"

typedef struct work {
    const ulp_job *job;
    size_t blocks;               /* number of scales of a row or column */
    double *a, *b;               /* rows of A (m, k) and columns of B (n, k) */
    double *a_scales, *b_scales; /* (m, blocks), (n, blocks) */
} work;

static void pack_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t k = w->job->s.k;
    for (size_t j = begin; j < end; j++) {
        for (size_t i = 0; i < k; i++) w->b[j * k + i] = job_at(w->job, w->job->b, b_index(w->job, i, j));
        for (size_t i = 0; i < w->blocks; i++)
            w->b_scales[j * w->blocks + i] =
                w->job->s.b_scales == NULL ? 1.0 : (double)w->job->s.b_scales[j * w->blocks + i];
    }
}

static void one_output(const work *w, const double *a, const double *a_scales, size_t i, size_t j) {
    const ulp_job *job = w->job;
    const size_t at = i * job->s.ldc + j;
    ulp_stream stream = job->stream;
    stream.first += word_index(job, i, j);
    ulp_products products = {a, w->b + j * job->s.k, job->s.k, NULL, NULL};
    if (w->blocks > 0) products.a_scales = a_scales, products.b_scales = w->b_scales + j * w->blocks;
    double start = job->s.accumulate ? job_at(job, job->c, at) : 0.0;
    double y = ulp_dot(job->datapath, start, products, stream);
    if (job->wide) ((double *)job->c)[at] = y == y ? y : ulp_quiet_nan();
    else ((float *)job->c)[at] = canonical((float)y);
}

static void rows_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_gemm_shape *s = &w->job->s;
    for (size_t i = begin; i < end; i++) {
        double *a = w->a + i * s->k, *scales = w->a_scales + i * w->blocks;
        for (size_t k = 0; k < s->k; k++) a[k] = job_at(w->job, w->job->a, a_index(w->job, i, k));
        for (size_t g = 0; g < w->blocks; g++)
            scales[g] = s->a_scales == NULL ? 1.0 : (double)s->a_scales[i * w->blocks + g];
        for (size_t j = 0; j < s->n; j++) one_output(w, a, scales, i, j);
    }
}

int ULP_CPU(ulp_serves_definition)(const ulp_job *job) { return job->datapath->kind != ULP_NATIVE; }

ulp_status ULP_CPU(ulp_product_definition)(const ulp_job *job) {
    const size_t per = job->datapath->scale_block;
    work w = {.job = job, .blocks = per == 0 ? 0 : (job->s.k + per - 1) / per};
    rooms r = {.count = 0};
    w.a = rooms_take(&r, job->s.m * (job->s.k + w.blocks), sizeof *w.a);
    w.b = rooms_take(&r, job->s.n * (job->s.k + w.blocks), sizeof *w.b);
    if (!r.failed) {
        w.a_scales = w.a + job->s.m * job->s.k;
        w.b_scales = w.b + job->s.n * job->s.k;
        ulp_parallel_for(job->s.n, 16, pack_part, &w);
        ulp_parallel_for(job->s.m, 1, rows_part, &w);
    }
    return rooms_end(&r);
}
