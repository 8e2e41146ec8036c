/* products.c - rows of matrix products: under each datapath at one size, and of a few datapaths at many sizes. */
#include "bench.h"

#include <stdio.h>
#include <string.h>

/* ---- jobs ---- */

static ulp_status run_product(job *j) {
    const size_t n = j->n;
    const ulp_gemm_shape shape = {.m = n, .n = n, .k = n, .lda = n, .ldb = n, .ldc = n};
    const ulp_summation how = {j->datapath, {1, 0, 0}};
    if (j->datapath->result.fits_binary32) return ulp_backend_gemm(j->b->backend, j->z, j->x, j->y, &shape, how);
    return ulp_backend_gemm64(j->b->backend, j->z, j->x, j->y, &shape, how);
}

/* One output by the definition of the datapath, a loop in C. */
static ulp_status run_dot(job *j) {
    *(double *)j->z = ulp_dot(j->datapath, 0.0, (ulp_products){j->x, j->y, j->n, NULL, NULL}, (ulp_stream){1, 0, 0});
    return ULP_OK;
}

/* The operands of size n of a datapath; those of any binary64 values are values of binary16. */
static ulp_status operands_for(matrices *m, const operands **o, size_t n, const ulp_datapath *d) {
    const int wide = m->b->timer == NULL || !d->result.fits_binary32;
    ulp_format fp16;
    ULP_TRY(ulp_format_parse(&fp16, "binary16"));
    return operands_of(m, o, n, d->has_inputs ? &d->a : &fp16, d->has_inputs ? &d->b : &fp16, wide);
}

static job product(const matrices *m, const operands *o, size_t n, const ulp_datapath *d, int threads) {
    const int narrow = d->result.fits_binary32;
    job j = job_new(m->b, "product", run_product, n, PRODUCTS, (double)n * (double)n * (double)n);
    j.threads = threads;
    j.datapath = d;
    j.x = narrow ? (const void *)o->x : o->x64;
    j.y = narrow ? (const void *)o->y : o->y64;
    j.z = narrow ? (void *)m->c : m->c64;
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

/* Adds other libraries, compared with the product `ours`. */
static void add_peers(group *g, const bench *b, size_t ours) {
    const peer_offer *offer;
    for (size_t at = 0; (offer = peers_find(b->peers, &at, "product", "fp32", NULL)) != NULL;) {
        job theirs = g->jobs[ours];
        theirs.offer = offer;
        job_name(&theirs, NULL, NULL, offer->by);
        group_compare(g, ours, group_add(g, &theirs), offer->by, SPEED);
    }
}

/* Adds fp32, compared with the peak and OpenBLAS, which is *sgemm, or *sgemm = *added. */
static ulp_status add_fp32(group *g, matrices *m, const ulp_datapath *fp32, int threads, size_t *added, size_t *sgemm) {
    const operands *o;
    const ulp_status status = operands_for(m, &o, m->n, fp32);
    if (status != ULP_OK) return status;
    const job peak = roof_fma(m->b, threads), j = product(m, o, m->n, fp32, threads);
    const size_t by_peak = group_add(g, &peak);
#if defined(ULP_WITH_BLAS)
    const job blas = roof_sgemm(m->b, m->c, o->x, o->y, m->n, threads);
    *sgemm = group_add(g, &blas);
    group_compare(g, *sgemm, by_peak, "peak", SPEED);
    *added = group_add(g, &j);
    group_compare(g, *added, *sgemm, "OpenBLAS", SPEED);
#else
    *sgemm = *added = group_add(g, &j);
#endif
    group_compare(g, *added, by_peak, "peak", SPEED);
    return ULP_OK;
}

/* Compares the product of a unit of another vendor than NVIDIA with a100-fp16, if it is there. The NaN of a Tensor Core
 * has all bits set. */
static void compare_unit(group *g, size_t added, const ulp_datapath *d) {
    if (!d->has_inputs || d->a.is_fixed || d->nan_code != 0) return;
    for (size_t other = 0; other < added; other++)
        if (strcmp(g->jobs[other].what, "product") == 0 && strcmp(g->jobs[other].of, "a100-fp16") == 0)
            group_compare(g, added, other, "a100-fp16", TIME);
}

/* Adds the product under a datapath, compared with fp32. If it is no product by size, also with OpenBLAS, a unit and
 * the loop. */
static ulp_status add_product(group *g, matrices *m, const ulp_datapath *d, int threads, int by_size, size_t fp32,
                              size_t sgemm) {
    const operands *o;
    ULP_TRY(operands_for(m, &o, m->n, d));
    const job j = product(m, o, m->n, d, threads), loop = loop_of(j, m, o);
    const size_t i = strcmp(d->name, g->jobs[fp32].of) == 0 ? fp32 : group_add(g, &j);
    if (i != fp32) {
        if (!by_size && sgemm != fp32) group_compare(g, i, sgemm, "OpenBLAS", SPEED);
        group_compare(g, i, fp32, "fp32", TIME);
        if (!by_size) compare_unit(g, i, d);
    }
    if (!by_size) group_compare(g, i, group_add(g, &loop), "loop in C", SPEED);
    return ULP_OK;
}

/* ---- on the CPU ---- */

/* Adds fp32 and the products under some datapaths on some number of threads. */
static ulp_status add_products(group *g, matrices *m, const ulp_datapath *fp32, const ulp_datapath *d, size_t count,
                               int threads, int by_size) {
    size_t base = 0, sgemm = 0;
    ULP_TRY(add_fp32(g, m, fp32, threads, &base, &sgemm));
    if (by_size) add_peers(g, m->b, base);
    for (size_t i = 0; i < count; i++) ULP_TRY(add_product(g, m, &d[i], threads, by_size, base, sgemm));
    return ULP_OK;
}

ulp_status put_products(const ulp_task *task) {
    const settings *set = task->settings;
    const bench *b = task->context;
    matrices m;
    group g = {0};
    ulp_datapath fp32;
    ulp_status status = matrices_open(&m, b, (size_t)b->size);
    if (status == ULP_OK) status = ulp_datapath_parse(&fp32, "fp32");
    if (status == ULP_OK) status = add_products(&g, &m, &fp32, set->datapaths.at, set->datapaths.count, 1, 0);
    if (status == ULP_OK) status = group_measure(task, &g);
    matrices_release(&m);
    return status;
}

ulp_status put_sizes(const ulp_task *task) {
    /* products in binary32, a rounding after each, a Tensor Core, integers */
    static const char *const names[] = {"fp32", "serial:binary16:rne", "h100-fp16", "int8"};
    enum { NAMES = sizeof names / sizeof *names };
    const bench *b = task->context;
    matrices m;
    group g = {0};
    ulp_datapath d[NAMES];
    ulp_status status = matrices_open(&m, b, (size_t)((const point *)task->point)->size);
    for (int i = 0; i < NAMES && status == ULP_OK; i++) status = ulp_datapath_parse(&d[i], names[i]);
    if (status == ULP_OK) status = add_products(&g, &m, &d[0], d + 1, NAMES - 1, 1, 1);
    const size_t before = g.count;
    if (status == ULP_OK && b->threads > 1) status = add_products(&g, &m, &d[0], d + 1, NAMES - 1, b->threads, 1);
    for (size_t i = before; i < g.count && status == ULP_OK; i++)
        if (g.jobs[i].run == run_product && !g.jobs[i].offer) group_compare(&g, i, i - before, "one thread", SPEED);
    if (status == ULP_OK) status = group_measure(task, &g);
    matrices_release(&m);
    return status;
}

/* ---- on a device ---- */

/* What products are compared with: the library in binary32, or the chain fp32 if the library is not there or has no
 * algorithm for this size. */
static const char *const references[] = {"native:fp32", "fp32"}, *const kept_names[] = {"reference native:fp32",
                                                                                        "reference fp32"};

static ulp_status put_library(const ulp_task *task) {
    const bench *b = task->context;
    ulp_cuda_native library;
    group g = {0};
    job j;
    ulp_status status = ulp_cuda_native_parse(&library, references[0]);
    if (status == ULP_OK) status = native_job(&j, b, &library, (size_t)b->size);
    if (status != ULP_OK) return status;
    j.what = "reference";
    j.unit = PRODUCTS;
    j.amount /= 2;
    j.keep = kept_names[0];
    group_add(&g, &j);
    status = group_measure(task, &g);
    ulp_cuda_product_end(j.product);
    return status;
}

/* Measures a product that is no native one; `keep` as of a job. */
static ulp_status put_product(const ulp_task *task, const ulp_datapath *d, const char *what, const char *keep) {
    const bench *b = task->context;
    const operands *o;
    group g = {0};
    ULP_TRY(operands_for(b->matrices, &o, (size_t)b->size, d));
    job j = product(b->matrices, o, (size_t)b->size, d, 1);
    j.what = what;
    j.keep = keep;
    group_add(&g, &j);
    for (int k = 0; k < 2 && !keep; k++) group_compare_kept(&g, b, 0, kept_names[k], references[k]);
    return group_measure(task, &g);
}

ulp_status put_device_product(const ulp_task *task) {
    const point *p = task->point;
    ulp_datapath fp32;
    if (p->datapath) return put_product(task, p->datapath, "product", NULL);
    ulp_status status = put_library(task);
    if (status != ULP_UNSUPPORTED) return status;
    status = ulp_datapath_parse(&fp32, references[1]);
    return status == ULP_OK ? put_product(task, &fp32, "reference", kept_names[1]) : status;
}

void plan_device_products(ulp_plan *plan, const settings *set, int part) {
    ulp_plan_add(plan, &(point){.part = part}, 1, "reference");
    for (size_t d = 0; d < set->datapaths.count; d++)
        ulp_plan_add(plan, &(point){.part = part, .datapath = &set->datapaths.at[d]}, 1, "product %s",
                     set->datapaths.at[d].name);
}
