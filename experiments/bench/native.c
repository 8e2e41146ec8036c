/* native.c - rows of a device's own products: cuBLASLt, and Tensor Core instructions. */
#include "bench.h"

#include <string.h>

enum { NATIVES = 256 };

/* ---- jobs ---- */

static int is_library(const ulp_cuda_native *n) { return strchr(n->name + strlen("native:"), ':') == NULL; }

static ulp_status run_native(job *j) { return ulp_cuda_product_run(j->product); }

ulp_status native_job(job *j, const bench *b, const ulp_cuda_native *native, size_t n) {
    const matrices *m = b->matrices;
    const ulp_gemm_shape shape = {.m = n, .n = n, .k = n, .lda = n, .ldb = n, .ldc = n};
    const int wide = !native->result.fits_binary32;
    const operands *o;
    *j = job_new(b, "native", run_native, n, OPERATIONS, 2 * (double)n * (double)n * (double)n);
    job_name(j, native->name, native->model, is_library(native) || native->fast ? "cuBLASLt" : "instructions");
    const ulp_status status = operands_of(b->matrices, &o, n, &native->a, &native->b, wide);
    if (status != ULP_OK) return status;
    return wide ? ulp_cuda_product_begin64(&j->product, native, m->c64, o->x64, o->y64, &shape)
                : ulp_cuda_product_begin(&j->product, native, m->c, o->x, o->y, &shape);
}

/* ---- what a native product is compared with ---- */

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

ulp_status put_native(const ulp_task *task) {
    const bench *b = task->context;
    ulp_cuda_native native, to;
    group g = {0};
    job j;
    ulp_status status = ulp_cuda_native_get(((const point *)task->point)->index, &native);
    if (status == ULP_OK && native.lacks[0]) return ulp_task_fail(task, ULP_UNSUPPORTED, "%s", native.lacks);
    if (status == ULP_OK) status = native_job(&j, b, &native, (size_t)((const settings *)task->settings)->native_size);
    if (status != ULP_OK) return status;
    j.keep = native.name;
    reference_of(&to, b, &native);
    group_add(&g, &j);
    if (strcmp(to.name, native.name) != 0) group_compare_kept(&g, b, 0, to.name, to.name);
    status = group_measure(task, &g);
    ulp_cuda_product_end(j.product);
    return status;
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
