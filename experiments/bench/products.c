/* products.c - rows of matrix products: under each datapath at one size, and of a few datapaths at many sizes. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Matrices (n,n) of the formats fa and fb, in binary32 and in binary64. */
typedef struct operands {
    ulp_format fa, fb;
    float *x, *y;
    double *x64, *y64;
} operands;

/* The matrices of a group: a pair for each pair of formats, and the results. */
typedef struct matrices {
    const bench *b;
    size_t n;
    operands *at; /* (count) */
    size_t count, room;
    float *c;
    double *c64;
} matrices;

static ulp_status take(matrices *m, const bench *b, size_t n) {
    *m = (matrices){.b = b, .n = n};
    m->c = b->backend->alloc(n * n * sizeof(float));
    m->c64 = b->backend->alloc(n * n * sizeof(double));
    return m->c && m->c64 ? ULP_OK : ULP_NO_MEMORY;
}

static void release(matrices *m) {
    for (size_t i = 0; i < m->count; i++) {
        free(m->at[i].x);
        free(m->at[i].y);
        free(m->at[i].x64);
        free(m->at[i].y64);
    }
    free(m->at);
    free(m->c);
    free(m->c64);
}

/* Values in (-2, 2), or integers in (-128, 128), rounded to the format. */
static ulp_status fill(const matrices *m, float *x, double *x64, const ulp_format *format, uint32_t state) {
    const size_t count = m->n * m->n;
    if (!x || !x64) return ULP_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = (float)(int32_t)state * (format->is_fixed ? 0x1p-24f : 0x1p-30f);
    }
    const ulp_rounding how = {.format = format, .stream = (ulp_stream){1, 0, 0}};
    const ulp_status status = ulp_backend_round(m->b->backend, x, x, count, how);
    for (size_t i = 0; i < count; i++) x64[i] = (double)x[i];
    return status;
}

/* The operands of a datapath; those of any binary64 values are values of binary16. */
static ulp_status operands_of(matrices *m, const operands **found, const ulp_datapath *d) {
    const ulp_backend *backend = m->b->backend;
    const size_t count = m->n * m->n;
    operands o = {.fa = d->a, .fb = d->b};
    ulp_status status = ULP_OK;
    if (!d->has_inputs) status = ulp_format_parse(&o.fa, "binary16");
    if (!d->has_inputs) o.fb = o.fa;
    for (size_t i = 0; i < m->count; i++)
        if (strcmp(m->at[i].fa.name, o.fa.name) == 0 && strcmp(m->at[i].fb.name, o.fb.name) == 0) {
            *found = &m->at[i];
            return ULP_OK;
        }
    o.x = backend->alloc(count * sizeof(float));
    o.y = backend->alloc(count * sizeof(float));
    o.x64 = backend->alloc(count * sizeof(double));
    o.y64 = backend->alloc(count * sizeof(double));
    m->at = ulp_room_for(m->at, m->count, &m->room, sizeof *m->at);
    m->at[m->count++] = o;
    if (status == ULP_OK) status = fill(m, o.x, o.x64, &o.fa, 1);
    if (status == ULP_OK) status = fill(m, o.y, o.y64, &o.fb, 2);
    *found = &m->at[m->count - 1];
    return status;
}

/* ---- jobs ---- */

static ulp_status run_product(const job *j) {
    const size_t n = j->n;
    const ulp_gemm_shape shape = {.m = n, .n = n, .k = n, .lda = n, .ldb = n, .ldc = n};
    const ulp_summation how = {j->datapath, {1, 0, 0}};
    if (j->datapath->result.fits_binary32) return ulp_backend_gemm(j->b->backend, j->z, j->x, j->y, &shape, how);
    return ulp_backend_gemm64(j->b->backend, j->z, j->x, j->y, &shape, how);
}

/* One output by the definition of the datapath, a loop in C. */
static ulp_status run_dot(const job *j) {
    *(double *)j->z = ulp_dot(j->datapath, 0.0, (ulp_products){j->x, j->y, j->n, NULL, NULL}, (ulp_stream){1, 0, 0});
    return ULP_OK;
}

static job product(const matrices *m, const operands *o, const ulp_datapath *d, int threads) {
    const double n = (double)m->n;
    const int narrow = d->result.fits_binary32;
    job j = {.what = "product",
             .by = "ulplab",
             .threads = threads,
             .unit = PRODUCTS,
             .n = m->n,
             .amount = n * n * n,
             .run = run_product,
             .b = m->b,
             .datapath = d,
             .x = narrow ? (const void *)o->x : o->x64,
             .y = narrow ? (const void *)o->y : o->y64,
             .z = narrow ? (void *)m->c : m->c64};
    job_name(&j, d->name, NULL, NULL);
    return j;
}

static job loop_of(job j, const matrices *m, const operands *o) {
    j.what = "dot";
    j.amount = (double)m->n;
    j.run = run_dot;
    j.x = o->x64;
    j.y = o->y64;
    j.z = m->c64;
    return j;
}

/* Adds fp32, beside the peak and OpenBLAS. Returns the number of the job. */
static ulp_status add_fp32(group *g, matrices *m, const ulp_datapath *fp32, int threads, size_t *added) {
    const operands *o;
    const ulp_status status = operands_of(m, &o, fp32);
    if (status != ULP_OK) return status;
    const job peak = roof_fma(m->b, threads), j = product(m, o, fp32, threads);
    const size_t by_peak = group_add(g, &peak);
#if defined(ULP_WITH_BLAS)
    const job sgemm = roof_sgemm(m->b, m->c, o->x, o->y, m->n, threads);
    const size_t by_sgemm = group_add(g, &sgemm);
    group_compare(g, by_sgemm, by_peak, "peak", SPEED);
#endif
    *added = group_add(g, &j);
#if defined(ULP_WITH_BLAS)
    group_compare(g, *added, by_sgemm, "OpenBLAS", SPEED);
#endif
    group_compare(g, *added, by_peak, "peak", SPEED);
    return ULP_OK;
}

/* ---- the parts ---- */

/* Compares the product of a unit of another vendor than NVIDIA with a100-fp16, if it is there. The NaN of a Tensor Core
 * has all bits set. */
static void compare_unit(group *g, size_t added, const ulp_datapath *d) {
    if (!d->has_inputs || d->a.is_fixed || d->nan_code != 0) return;
    for (size_t other = 0; other < added; other++)
        if (strcmp(g->jobs[other].what, "product") == 0 && strcmp(g->jobs[other].of, "a100-fp16") == 0)
            group_compare(g, added, other, "a100-fp16", TIME);
}

static ulp_status add_datapath(group *g, matrices *m, const ulp_datapath *d, size_t fp32) {
    const operands *o;
    ULP_TRY(operands_of(m, &o, d));
    const job j = product(m, o, d, 1), loop = loop_of(j, m, o);
    const size_t i = strcmp(d->name, g->jobs[fp32].of) == 0 ? fp32 : group_add(g, &j);
    if (i != fp32) {
        for (size_t other = 0; other < g->count; other++)
            if (strncmp(g->jobs[other].by, "OpenBLAS", 8) == 0) group_compare(g, i, other, "OpenBLAS", SPEED);
        group_compare(g, i, fp32, "fp32", TIME);
        compare_unit(g, i, d);
    }
    group_compare(g, i, group_add(g, &loop), "loop in C", SPEED);
    return ULP_OK;
}

ulp_status put_products(const ulp_task *task) {
    const settings *set = task->settings;
    matrices m;
    group g = {0};
    ulp_datapath fp32;
    size_t base = 0;
    ulp_status status = take(&m, task->context, (size_t)set->size);
    if (status == ULP_OK) status = ulp_datapath_parse(&fp32, "fp32");
    if (status == ULP_OK) status = add_fp32(&g, &m, &fp32, 1, &base);
    for (size_t d = 0; d < set->datapaths.count && status == ULP_OK; d++)
        status = add_datapath(&g, &m, &set->datapaths.at[d], base);
    if (status == ULP_OK) status = group_measure(task, &g);
    release(&m);
    return status;
}

/* The datapaths of the rows by size: products in binary32, a rounding after each, a Tensor Core, integers. */
static const char *const by_size[] = {"fp32", "serial:binary16:rne", "h100-fp16", "int8"};
enum { BY_SIZE = sizeof by_size / sizeof *by_size };

static void add_peers(group *g, const bench *b, size_t ours) {
    const peer_offer *offer;
    for (size_t at = 0; (offer = peers_find(b->peers, &at, "product", "fp32", NULL)) != NULL;) {
        job theirs = g->jobs[ours];
        theirs.offer = offer;
        job_name(&theirs, NULL, NULL, offer->by);
        group_compare(g, ours, group_add(g, &theirs), offer->by, SPEED);
    }
}

static ulp_status add_sizes(group *g, matrices *m, const ulp_datapath *d, int threads, size_t added[BY_SIZE]) {
    const operands *o;
    ULP_TRY(add_fp32(g, m, &d[0], threads, &added[0]));
    add_peers(g, m->b, added[0]);
    for (int i = 1; i < BY_SIZE; i++) {
        ULP_TRY(operands_of(m, &o, &d[i]));
        const job j = product(m, o, &d[i], threads);
        added[i] = group_add(g, &j);
        group_compare(g, added[i], added[0], "fp32", TIME);
    }
    return ULP_OK;
}

ulp_status put_sizes(const ulp_task *task) {
    const bench *b = task->context;
    matrices m;
    group g = {0};
    ulp_datapath d[BY_SIZE];
    size_t one[BY_SIZE], all[BY_SIZE];
    ulp_status status = take(&m, b, (size_t)((const point *)task->point)->size);
    for (int i = 0; i < BY_SIZE && status == ULP_OK; i++) status = ulp_datapath_parse(&d[i], by_size[i]);
    if (status == ULP_OK) status = add_sizes(&g, &m, d, 1, one);
    if (status == ULP_OK && b->threads > 1) {
        status = add_sizes(&g, &m, d, b->threads, all);
        for (int i = 0; i < BY_SIZE && status == ULP_OK; i++) group_compare(&g, all[i], one[i], "one thread", SPEED);
    }
    if (status == ULP_OK) status = group_measure(task, &g);
    release(&m);
    return status;
}
