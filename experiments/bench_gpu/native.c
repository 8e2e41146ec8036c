/* native.c - the rows of bench_gpu about the device's own products: cuBLASLt, and Tensor Core instructions. */
#include "bench_gpu.h"

#include <string.h>

static ulp_status native_work(job *t) { return ulp_cuda_product_run(t->product); }

ulp_status native_rate(double *rate, job *t, const ulp_cuda_native *native, size_t n) {
    const bench *b = t->b;
    const size_t m = n * n;
    const ulp_gemm_shape shape = {.m = n, .n = n, .k = n, .lda = n, .ldb = n, .ldc = n};
    const int wide = !native->result.fits_binary32;
    double seconds;
    ulp_status status = operands(b, m, &native->a, &native->b, wide);
    if (status == ULP_OK)
        status = wide ? ulp_cuda_product_begin64(&t->product, native, b->wide, b->wide + m, b->wide + 2 * m, &shape)
                      : ulp_cuda_product_begin(&t->product, native, b->c, b->a, b->b, &shape);
    if (status != ULP_OK) return status;
    status = measure(&seconds, native_work, t);
    ulp_cuda_product_end(t->product);
    *rate = 2e-12 * (double)n * (double)m / seconds;
    return status;
}

static int is_library(const ulp_cuda_native *n) { return strchr(n->name + strlen("native:"), ':') == NULL; }

static int has_types_of(const ulp_cuda_native *n, const ulp_cuda_native *of) {
    return strcmp(n->a.name, of->a.name) == 0 && strcmp(n->b.name, of->b.name) == 0 &&
           strcmp(n->result.name, of->result.name) == 0;
}

/* The rate of the library's product of the same types; if it has none, or `n` is one, that of native:fp32. *to gets the
 * product. 0: neither was measured. */
static double reference_of(ulp_cuda_native *to, const bench *b, const ulp_cuda_native *n) {
    const double *rate = b->rates->native;
    for (size_t i = 0; i < NATIVES && !is_library(n) && ulp_cuda_native_get(i, to) == ULP_OK; i++)
        if (rate[i] > 0.0 && is_library(to) && has_types_of(to, n)) return rate[i];
    for (size_t i = 0; i < NATIVES && ulp_cuda_native_get(i, to) == ULP_OK; i++)
        if (strcmp(to->name, "native:fp32") == 0) return rate[i];
    return 0.0;
}

static ulp_status put_native(const ulp_task *task) {
    const bench *b = task->context;
    const size_t index = ((const point *)task->point)->index;
    ulp_cuda_native native, to;
    job t = {.b = b};
    double rate;
    ULP_TRY(ulp_cuda_native_get(index, &native));
    ULP_TRY(native_rate(&rate, &t, &native, b->native_size));
    b->rates->native[index] = rate;
    const double base = reference_of(&to, b, &native);
    put(task,
        (row){"native", native.name, native.model, (double)b->native_size, rate, "T operations/s", 0, to.name, t.clock},
        base);
    return ULP_OK;
}

/* The products that the device or the build lacks for one reason, of which `index` is one. */
static ulp_status leave_out(const ulp_task *task) {
    ulp_cuda_native native;
    ULP_TRY(ulp_cuda_native_get(((const point *)task->point)->index, &native));
    return ulp_task_fail(task, ULP_UNSUPPORTED, "%s", native.lacks);
}

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

static void plan_absent(ulp_plan *plan) {
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
        ulp_plan_add(plan, &(point){.put = leave_out, .index = i}, 1, "%s", label.data);
        ulp_text_free(&label);
    }
}

void plan_native_products(ulp_plan *plan) {
    ulp_cuda_native native;
    for (int turn = 0; turn < 3; turn++)
        for (size_t i = 0; i < NATIVES && ulp_cuda_native_get(i, &native) == ULP_OK; i++)
            if (native.lacks[0] == '\0' && turn_of(&native) == turn && !is_like_another(&native))
                ulp_plan_add(plan, &(point){.put = put_native, .index = i}, 1, "%s", native.name);
    plan_absent(plan);
}
