/* products.c - rows of matrix products: under each datapath, of a few datapaths at many sizes, of a device itself. */
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

/* The operands of size n of a datapath. Those of any binary64 values are values of binary16; of sums in fixed point and
 * of blocks, values of the accumulator: their paths depend on the operands. */
static ulp_status operands_for(matrices *m, const operands **o, size_t n, const ulp_datapath *d) {
    const int wide = m->b->timer == NULL || !d->result.fits_binary32;
    ulp_format fp16;
    ULP_TRY(ulp_format_parse(&fp16, "binary16"));
    const ulp_format *any =
        d->accumulator.is_fixed || (d->kind == ULP_SERIAL && d->length > 1) ? &d->accumulator : &fp16;
    return operands_of(m, o, n, d->has_inputs ? &d->a : any, d->has_inputs ? &d->b : any, wide);
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

/* Adds fp32, compared with the peak and OpenBLAS, which is *sgemm, or *sgemm = *added. */
static ulp_status add_fp32(group *g, matrices *m, const ulp_datapath *fp32, int threads, size_t *added, size_t *sgemm) {
    const operands *o;
    ULP_TRY(operands_for(m, &o, m->n, fp32));
    const job j = product(m, o, m->n, fp32, threads);
    const size_t by_peak = group_add(g, roof_fma(m->b, threads));
#if defined(ULP_WITH_BLAS)
    *sgemm = group_add(g, roof_sgemm(m->b, m->c, o->x, o->y, m->n, threads));
    group_compare(g, *sgemm, by_peak, "peak", SPEED);
    *added = group_add(g, j);
    group_compare(g, *added, *sgemm, "OpenBLAS", SPEED);
#else
    *sgemm = *added = group_add(g, j);
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
    const job j = product(m, o, m->n, d, threads);
    const size_t i = strcmp(d->name, g->jobs[fp32].of) == 0 ? fp32 : group_add(g, j);
    if (i != fp32) {
        if (!by_size && sgemm != fp32) group_compare(g, i, sgemm, "OpenBLAS", SPEED);
        group_compare(g, i, fp32, "fp32", TIME);
        if (!by_size) compare_unit(g, i, d);
    }
    if (!by_size) group_compare(g, i, group_add(g, loop_of(j, m, o)), "loop in C", SPEED);
    return ULP_OK;
}

/* ---- on the CPU ---- */

/* Adds fp32 and the products under some datapaths on some number of threads. */
static ulp_status add_products(group *g, matrices *m, const ulp_datapath *fp32, const ulp_datapath *d, size_t count,
                               int threads, int by_size) {
    const peer_offer *offer;
    size_t base = 0, sgemm = 0;
    ULP_TRY(add_fp32(g, m, fp32, threads, &base, &sgemm));
    for (size_t at = 0; by_size && (offer = peers_find(m->b->peers, &at, "product", "fp32", NULL)) != NULL;)
        group_compare_offer(g, base, offer, SPEED);
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

enum { NATIVES = 256 };

/* ---- native products of a device: cuBLASLt, and Tensor Core instructions ---- */

static int is_library(const ulp_cuda_native *n) { return strchr(n->name + strlen("native:"), ':') == NULL; }

static ulp_status run_native(job *j) { return ulp_cuda_product_run(j->product); }

/* A native product of size n, which the caller ends by ulp_cuda_product_end(j->product). */
static ulp_status native_job(job *j, const bench *b, const ulp_cuda_native *native, size_t n) {
    const matrices *m = b->matrices;
    const ulp_gemm_shape shape = {.m = n, .n = n, .k = n, .lda = n, .ldb = n, .ldc = n};
    const int wide = !native->result.fits_binary32;
    const operands *o;
    *j = job_new(b, "native", run_native, n, OPERATIONS, 2 * (double)n * (double)n * (double)n);
    job_name(j, native->name, native->model, is_library(native) || native->fast ? "cuBLASLt" : "instructions");
    ULP_TRY(operands_of(b->matrices, &o, n, &native->a, &native->b, wide));
    return wide ? ulp_cuda_product_begin64(&j->product, native, m->c64, o->x64, o->y64, &shape)
                : ulp_cuda_product_begin(&j->product, native, m->c, o->x, o->y, &shape);
}

/* ---- references for a native product ---- */

static int has_types_of(const ulp_cuda_native *n, const ulp_cuda_native *of) {
    return strcmp(n->a.name, of->a.name) == 0 && strcmp(n->b.name, of->b.name) == 0 &&
           strcmp(n->result.name, of->result.name) == 0;
}

/* *to gets the library's product of the same types if it was measured; if not, or if `n` is one, native:fp32. */
static void reference_of(ulp_cuda_native *to, const bench *b, const ulp_cuda_native *n) {
    for (size_t i = 0; i < NATIVES && !is_library(n) && ulp_cuda_native_get(i, to) == ULP_OK; i++)
        if (is_library(to) && has_types_of(to, n) && kept_rate(b, to->name) > 0) return;
    (void)ulp_cuda_native_parse(to, "native:fp32");
}

/* Measures the native product j, compared with the rate of `to` if that is not NULL. */
static ulp_status put_native_job(const ulp_task *task, job j, const char *to) {
    group g = {0};
    group_add(&g, j);
    if (to) group_compare_kept(&g, task->context, 0, to, to);
    const ulp_status status = group_measure(task, &g);
    ulp_cuda_product_end(j.product);
    return status;
}

ulp_status put_native(const ulp_task *task) {
    const bench *b = task->context;
    ulp_cuda_native native, to;
    job j;
    ULP_TRY(ulp_cuda_native_get(((const point *)task->point)->index, &native));
    if (native.lacks[0]) return ulp_task_fail(task, ULP_UNSUPPORTED, "%s", native.lacks);
    ULP_TRY(native_job(&j, b, &native, (size_t)((const settings *)task->settings)->native_size));
    j.keep = native.name;
    reference_of(&to, b, &native);
    return put_native_job(task, j, strcmp(to.name, native.name) != 0 ? to.name : NULL);
}

/* ---- the points ---- */

/* native:fp32, then the library's other products, then the other ones. */
static int turn_of(const ulp_cuda_native *n) {
    if (strcmp(n->name, "native:fp32") == 0) return 0;
    return is_library(n) || n->fast ? 1 : 2;
}

/* Of the pairs of 8, 6 and 4 bits of tcgen05, which have one rate, e4m3.e5m2 stands for the mixed ones. */
static int is_like_another(const ulp_cuda_native *n) {
    return strncmp(n->name, "native:tcgen05:", 15) == 0 && strchr(n->name, '.') != NULL &&
           strstr(n->name, ":e4m3.e5m2") == NULL;
}

/* Adds a point for each reason why products are left out, under the name of the first one. */
static void plan_absent(ulp_plan *plan, int part) {
    ulp_cuda_native first, native;
    for (size_t i = 0; ulp_cuda_native_get(i, &first) == ULP_OK; i++) {
        size_t same = 0, before = 0;
        for (size_t k = 0; first.lacks[0] != '\0' && ulp_cuda_native_get(k, &native) == ULP_OK; k++) {
            if (strcmp(native.lacks, first.lacks) != 0 || is_like_another(&native)) continue;
            same++;
            before += k < i;
        }
        if (same == 0 || before > 0) continue;
        ulp_text label = {0};
        ulp_text_print(&label, "%s", first.name);
        if (same > 1) ulp_text_print(&label, " and %zu more", same - 1);
        ulp_plan_add(plan, &(point){.part = part, .index = i}, 1, "%s", label.data);
        ulp_text_free(&label);
    }
}

void plan_native(ulp_plan *plan, const settings *set, int part) {
    ulp_cuda_native native;
    (void)set;
    for (int turn = 0; turn < 3; turn++)
        for (size_t i = 0; i < NATIVES && ulp_cuda_native_get(i, &native) == ULP_OK; i++)
            if (native.lacks[0] == '\0' && turn_of(&native) == turn && !is_like_another(&native))
                ulp_plan_add(plan, &(point){.part = part, .index = i}, 1, "%s", native.name);
    plan_absent(plan, part);
}

/* ---- on a device: products under datapaths ---- */

/* The reference for products: the library in binary32, or the chain fp32 if the library is not there or has no
 * algorithm for this size. */
static const char *const references[] = {"native:fp32", "fp32"}, *const kept_names[] = {"reference native:fp32",
                                                                                        "reference fp32"};

static ulp_status put_library(const ulp_task *task) {
    const bench *b = task->context;
    ulp_cuda_native library;
    job j;
    ULP_TRY(ulp_cuda_native_parse(&library, references[0]));
    ULP_TRY(native_job(&j, b, &library, (size_t)b->size));
    j.what = "reference";
    j.unit = PRODUCTS;
    j.amount /= 2;
    j.keep = kept_names[0];
    return put_native_job(task, j, NULL);
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
    group_add(&g, j);
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
