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

/* ---- products under datapaths ---- */

static ulp_status datapath_operands(const bench *b, const ulp_datapath *d) {
    ulp_format fp16;
    ulp_status status = ulp_format_parse(&fp16, "binary16");
    if (status != ULP_OK) return status;
    return operands(b, b->size * b->size, d->has_inputs ? &d->a : &fp16, d->has_inputs ? &d->b : &fp16,
                    !d->result.fits_binary32);
}

ulp_status put_products(const ulp_task *task) {
    const ulp_datapath_list *datapaths = &((const settings *)task->settings)->datapaths;
    const bench *b = task->context;
    const double n = (double)b->size, products = n * n * n;
    double seconds, chain;
    ulp_datapath fp32;
    job t = {.b = b, .datapath = &fp32};
    ulp_status status = ulp_datapath_parse(&fp32, "fp32");
    if (status == ULP_OK) status = datapath_operands(b, &fp32);
    if (status == ULP_OK) status = measure(&seconds, gemm_work, &t);
    if (status != ULP_OK) return ulp_task_fail(task, status, "fp32: %s", ulp_backend_error());
    chain = products / seconds;
    for (size_t d = 0; d < datapaths->count; d++) {
        t.datapath = &datapaths->at[d];
        status = datapath_operands(b, t.datapath);
        if (status == ULP_OK) status = measure(&seconds, gemm_work, &t);
        if (status != ULP_OK) return ulp_task_fail(task, status, "%s: %s", t.datapath->name, ulp_backend_error());
        const double rate = products / seconds;
        ulp_row_put(task->rows,
                    &(row){"gemm", t.datapath->name, NULL, n, rate * 1e-9, "G products/s", rate / chain, t.clock});
        if (ulp_task_progress(task, (double)(d + 1) / (double)datapaths->count)) return ULP_OK;
    }
    return ULP_OK;
}

/* ---- products of the device itself ---- */

/* The product that the others are compared with. */
#define REFERENCE "native:fp32"

static ulp_status put_native(const ulp_task *task, const ulp_cuda_native *native, double *chain) {
    const bench *b = task->context;
    const size_t n = b->native_size, m = n * n;
    const ulp_gemm_shape shape = {.m = n, .n = n, .k = n, .lda = n, .ldb = n, .ldc = n};
    const int wide = !native->result.fits_binary32;
    job t = {.b = b};
    double seconds;
    ulp_status status = operands(b, m, &native->a, &native->b, wide);
    if (status == ULP_OK)
        status = wide ? ulp_cuda_product_begin64(&t.product, native, b->wide, b->wide + m, b->wide + 2 * m, &shape)
                      : ulp_cuda_product_begin(&t.product, native, b->c, b->a, b->b, &shape);
    if (status != ULP_OK) return status;
    status = measure(&seconds, native_work, &t);
    ulp_cuda_product_end(t.product);
    if (status != ULP_OK) return status;
    const double rate = 2e-12 * (double)n * (double)m / seconds;
    if (strcmp(native->name, REFERENCE) == 0) *chain = rate;
    ulp_row_put(task->rows, &(row){"native", native->name, native->model, (double)n, rate, "T operations/s",
                                   *chain > 0 ? rate / *chain : ULP_NO_NUMBER, t.clock});
    return ULP_OK;
}

ulp_status put_native_products(const ulp_task *task) {
    ulp_cuda_native native;
    double chain = 0.0;
    for (int first = 1; first >= 0; first--) /* the reference comes first */
        for (size_t i = 0; ulp_cuda_native_get(i, &native) == ULP_OK; i++) {
            if (native.lacks[0] != '\0' || (strcmp(native.name, REFERENCE) == 0) != first) continue;
            const ulp_status status = put_native(task, &native, &chain);
            if (status == ULP_UNSUPPORTED) continue; /* the library has no algorithm for this size */
            if (status != ULP_OK) return ulp_task_fail(task, status, "%s: %s", native.name, ulp_backend_error());
            if (ulp_task_progress(task, (double)(i % 64) / 64.0)) return ULP_OK;
        }
    return ULP_OK;
}
