/* products.c - the rows of bench_gpu about products emulated under datapaths, and what they are compared with. */
#include "bench_gpu.h"

static ulp_status gemm_work(job *t) {
    const size_t n = t->b->size, all = n * n;
    const ulp_gemm_shape shape = {.m = n, .n = n, .k = n, .lda = n, .ldb = n, .ldc = n};
    const ulp_stream stream = {1, 0, 0};
    if (t->datapath->result.fits_binary32)
        return ulp_backend_gemm(t->b->gpu, t->b->c, t->b->a, t->b->b, &shape, (ulp_summation){t->datapath, stream});
    return ulp_backend_gemm64(t->b->gpu, t->b->wide, t->b->wide + all, t->b->wide + 2 * all, &shape,
                              (ulp_summation){t->datapath, stream});
}

static ulp_status datapath_operands(const bench *b, const ulp_datapath *d) {
    ulp_format fp16;
    ULP_TRY(ulp_format_parse(&fp16, "binary16"));
    return operands(b, b->size * b->size, d->has_inputs ? &d->a : &fp16, d->has_inputs ? &d->b : &fp16,
                    !d->result.fits_binary32);
}

/* Products per second, times 10^-9. */
static ulp_status gemm_rate(double *rate, job *t) {
    const double n = (double)t->b->size;
    double seconds;
    ULP_TRY(datapath_operands(t->b, t->datapath));
    ULP_TRY(measure(&seconds, gemm_work, t));
    *rate = 1e-9 * n * n * n / seconds;
    return ULP_OK;
}

/* The library in binary32, or the chain fp32 if the library is not there or has no algorithm for this size. */
static ulp_status put_reference(const ulp_task *task) {
    const bench *b = task->context;
    ulp_cuda_native library;
    ulp_datapath fp32;
    double rate;
    job t = {.b = b, .datapath = &fp32};
    ulp_status status = ulp_cuda_native_parse(&library, "native:fp32");
    if (status == ULP_OK) status = native_rate(&rate, &t, &library, b->size);
    const int is_library = status != ULP_UNSUPPORTED;
    if (status == ULP_OK) rate *= 500.0; /* of 10^12 operations, two for a product */
    if (!is_library) {
        status = ulp_datapath_parse(&fp32, "fp32");
        if (status == ULP_OK) status = gemm_rate(&rate, &t);
    }
    if (status != ULP_OK) return status;
    b->rates->products = rate;
    b->rates->reference = is_library ? "native:fp32" : "fp32";
    const char *name = b->rates->reference;
    put(task, (row){"reference", name, NULL, (double)b->size, rate, "G products/s", 0, name, t.clock}, rate);
    return ULP_OK;
}

static ulp_status put_product(const ulp_task *task) {
    const bench *b = task->context;
    job t = {.b = b, .datapath = ((const point *)task->point)->datapath};
    double rate;
    ULP_TRY(gemm_rate(&rate, &t));
    put(task,
        (row){"gemm", t.datapath->name, NULL, (double)b->size, rate, "G products/s", 0, b->rates->reference, t.clock},
        b->rates->products);
    return ULP_OK;
}

void plan_products(ulp_plan *plan, const settings *set) {
    ulp_plan_add(plan, &(point){.put = put_reference}, 1, "reference");
    for (size_t d = 0; d < set->datapaths.count; d++) {
        const point p = {.put = put_product, .datapath = &set->datapaths.at[d]};
        ulp_plan_add(plan, &p, 1, "gemm %s", p.datapath->name);
    }
}
