/* products.c - the matrix products of bench_gpu: emulated under datapaths, and those of the device itself. */
#include "bench_gpu.h"

#include <string.h>

static ulp_status gemm_work(job *t) {
    const size_t n = t->b->size, all = n * n;
    const ulp_gemm_shape shape = {.m = n, .n = n, .k = n, .lda = n, .ldb = n, .ldc = n};
    const ulp_stream stream = {1, 0, 0};
    if (t->datapath->result.fits_binary32)
        return ulp_backend_gemm(t->b->gpu, t->b->c, t->b->a, t->b->b, &shape, (ulp_summation){t->datapath, stream});
    return ulp_backend_gemm64(t->b->gpu, t->b->wide, t->b->wide + all, t->b->wide + 2 * all, &shape,
                              (ulp_summation){t->datapath, stream});
}

static ulp_status native_work(job *t) { return ulp_cuda_product_run(t->product); }

/* ---- products of the device itself ---- */

/* Operations per second, times 10^-12, of a native product with m = n = k. */
static ulp_status native_rate(double *rate, job *t, const ulp_cuda_native *native, size_t n) {
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

/* The products by the library, whose rates the others are compared with. The first one is native:fp32. */
typedef struct reference {
    ulp_cuda_native native;
    double rate;
} reference;

typedef struct references {
    reference at[32];
    size_t count;
} references;

static int is_library(const ulp_cuda_native *n) { return strchr(n->name + strlen("native:"), ':') == NULL; }

/* The library's product of the same types; else the first reference. NULL if there is none. */
static const reference *reference_of(const references *r, const ulp_cuda_native *n) {
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->at[i].native.a.name, n->a.name) == 0 && strcmp(r->at[i].native.b.name, n->b.name) == 0 &&
            strcmp(r->at[i].native.result.name, n->result.name) == 0 && !is_library(n))
            return &r->at[i];
    return r->count > 0 ? &r->at[0] : NULL;
}

static ulp_status put_native(const ulp_task *task, const ulp_cuda_native *native, references *known) {
    const bench *b = task->context;
    job t = {.b = b};
    double rate;
    const ulp_status status = native_rate(&rate, &t, native, b->native_size);
    if (status != ULP_OK) return status;
    if (is_library(native) && known->count < sizeof known->at / sizeof known->at[0])
        known->at[known->count++] = (reference){*native, rate};
    const reference *to = reference_of(known, native);
    ulp_row_put(task->rows,
                &(row){"native", native->name, native->model, (double)b->native_size, rate, "T operations/s",
                       to != NULL ? rate / to->rate : ULP_NO_NUMBER, to != NULL ? to->native.name : NULL, t.clock});
    return ULP_OK;
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

ulp_status put_native_products(const ulp_task *task) {
    ulp_cuda_native native;
    references known = {.count = 0};
    for (int turn = 0; turn < 3; turn++)
        for (size_t i = 0; ulp_cuda_native_get(i, &native) == ULP_OK; i++) {
            if (native.lacks[0] != '\0' || turn_of(&native) != turn || is_like_another(&native)) continue;
            const ulp_status status = put_native(task, &native, &known);
            if (status == ULP_UNSUPPORTED) continue; /* the library has no algorithm for this size */
            if (status != ULP_OK) return ulp_task_fail(task, status, "%s: %s", native.name, ulp_backend_error());
            if (ulp_task_progress(task, (double)(i % 64) / 64.0)) return ULP_OK;
        }
    return ULP_OK;
}

/* ---- products under datapaths ---- */

static ulp_status datapath_operands(const bench *b, const ulp_datapath *d) {
    ulp_format fp16;
    ulp_status status = ulp_format_parse(&fp16, "binary16");
    if (status != ULP_OK) return status;
    return operands(b, b->size * b->size, d->has_inputs ? &d->a : &fp16, d->has_inputs ? &d->b : &fp16,
                    !d->result.fits_binary32);
}

/* *rate gets the products per second of the library in binary32, or of the chain fp32 if the library is not there;
 * *name gets the name of the one that was timed. */
static ulp_status reference_rate(double *rate, const char **name, const bench *b) {
    const double n = (double)b->size, products = n * n * n;
    ulp_cuda_native library;
    ulp_datapath fp32;
    double seconds;
    job t = {.b = b, .datapath = &fp32};
    ulp_status status = ulp_cuda_native_parse(&library, "native:fp32");
    if (status == ULP_OK && library.lacks[0] == '\0') {
        *name = "native:fp32";
        status = native_rate(rate, &t, &library, b->size);
        *rate *= 0.5e12;
        if (status != ULP_UNSUPPORTED) return status;
    }
    *name = "fp32";
    status = ulp_datapath_parse(&fp32, "fp32");
    if (status == ULP_OK) status = datapath_operands(b, &fp32);
    if (status == ULP_OK) status = measure(&seconds, gemm_work, &t);
    *rate = products / seconds;
    return status;
}

ulp_status put_products(const ulp_task *task) {
    const ulp_datapath_list *datapaths = &((const settings *)task->settings)->datapaths;
    const bench *b = task->context;
    const double n = (double)b->size, products = n * n * n;
    double seconds, base;
    const char *against;
    job t = {.b = b};
    ulp_status status = reference_rate(&base, &against, b);
    if (status != ULP_OK) return ulp_task_fail(task, status, "%s: %s", against, ulp_backend_error());
    for (size_t d = 0; d < datapaths->count; d++) {
        t.datapath = &datapaths->at[d];
        status = datapath_operands(b, t.datapath);
        if (status == ULP_OK) status = measure(&seconds, gemm_work, &t);
        if (status != ULP_OK) return ulp_task_fail(task, status, "%s: %s", t.datapath->name, ulp_backend_error());
        const double rate = products / seconds;
        ulp_row_put(task->rows, &(row){"gemm", t.datapath->name, NULL, n, rate * 1e-9, "G products/s", rate / base,
                                       against, t.clock});
        if (ulp_task_progress(task, (double)(d + 1) / (double)datapaths->count)) return ULP_OK;
    }
    return ULP_OK;
}
