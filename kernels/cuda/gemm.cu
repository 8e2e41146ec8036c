// gemm.cu - matrix products under a datapath: the check of the inputs, and the choice of the kind of product.
#include "gemm.h"
#include "kept.h"
#include "native.h"
#include "operations.h"

namespace {

/* *found = 1 if an element of x (rows, width) is not a value of the format. Of an array that is kept, and whose
 * elements are known to be values of the format, nothing is asked. */
template <typename T>
ulp_status check_values(uint32_t *found, const T *x, size_t rows, size_t width, size_t ld, const ulp_format *f) {
    const ulp_native_array array = {rows, width, ld, 1, 0, 0, 0, false, false};
    unsigned char *none = NULL;
    if (ulp_cuda_kept_codes(&none, x, &array, f) == ULP_KEPT_OLD) return ULP_OK;
    const ulp_format format = *f;
    return ulp_cuda_each(rows * width, "members of a format", [=] __device__(size_t e) {
        const double v = (double)x[e / width * ld + e % width];
        bool bad;
        if (v != v) bad = format.nan_codes == ULP_NAN_NONE;
        else if (v - v != 0.0) bad = !format.has_inf || (v < 0.0 && !format.is_signed);
        else bad = ulp_round_exact(ulp_exact_of(v), &format, {ULP_RNE, ULP_OVERFLOW_SAT, 0}, 0) != v;
        if (bad) atomicOr(found, 1u);
    });
}

template <typename T> ulp_status check_inputs(const T *a, const T *b, const ulp_gemm_shape *s, const ulp_datapath *d) {
    ulp_cuda_question q;
    if (!d->has_inputs || s->k == 0) return ULP_OK;
    ulp_status status = ulp_cuda_question_begin(&q, s->deferred != 0);
    if (status != ULP_OK) return status;
    status = check_values(q.found, a, s->a_trans ? s->k : s->m, s->a_trans ? s->m : s->k, s->lda, &d->a);
    if (status == ULP_OK)
        status = check_values(q.found, b, s->b_trans ? s->n : s->k, s->b_trans ? s->k : s->n, s->ldb, &d->b);
    return ulp_cuda_question_end(&q, status);
}

template <typename T> ulp_cuda_job<T> job_of(T *c, const T *a, const T *b, const ulp_gemm_shape *s, ulp_summation by) {
    const ulp_datapath *d = by.datapath;
    ulp_cuda_job<T> w = {};
    w.c = c;
    w.a = a;
    w.b = b;
    w.m = s->m;
    w.n = s->n;
    w.k = s->k;
    w.a_row = s->a_trans ? 1 : s->lda;
    w.a_column = s->a_trans ? s->lda : 1;
    w.b_row = s->b_trans ? 1 : s->ldb;
    w.b_column = s->b_trans ? s->ldb : 1;
    w.c_row = s->c_trans ? 1 : s->ldc;
    w.c_column = s->c_trans ? s->ldc : 1;
    w.accumulate = s->accumulate != 0;
    w.a_scales = s->a_scales;
    w.b_scales = s->b_scales;
    w.blocks = d->scale_block == 0 ? 0 : (s->k + d->scale_block - 1) / d->scale_block;
    w.words = ulp_datapath_words(d, s->k);
    w.stream = by.stream;
    return w;
}

/* Tries the kinds in order. The last kind computes every job. */
template <typename T, size_t N>
ulp_status first_of(ulp_status (*const (&kinds)[N])(const ulp_cuda_job<T> &, const ulp_datapath &),
                    const ulp_cuda_job<T> &w, const ulp_datapath &d) {
    ulp_status status = ULP_UNSUPPORTED;
    for (size_t i = 0; status == ULP_UNSUPPORTED && i < N; i++) status = kinds[i](w, d);
    return status;
}

ulp_status choose(const ulp_cuda_job<float> &w, const ulp_datapath &d) {
    static ulp_status (*const kinds[])(const ulp_cuda_job<float> &, const ulp_datapath &) = {
        ulp_cuda_gemm_fp32, ulp_cuda_gemm_aligned, ulp_cuda_gemm_groups, ulp_cuda_gemm_lanes, ulp_cuda_gemm_any};
    return first_of(kinds, w, d);
}

ulp_status choose(const ulp_cuda_job<double> &w, const ulp_datapath &d) {
    static ulp_status (*const kinds[])(const ulp_cuda_job<double> &, const ulp_datapath &) = {ulp_cuda_gemm_int8,
                                                                                              ulp_cuda_gemm_any};
    return first_of(kinds, w, d);
}

ulp_status by_device(const ulp_cuda_native *native, float *c, const float *a, const float *b, const ulp_gemm_shape *s) {
    return ulp_cuda_native_gemm(native, c, a, b, s);
}

ulp_status by_device(const ulp_cuda_native *native, double *c, const double *a, const double *b,
                     const ulp_gemm_shape *s) {
    return ulp_cuda_native_gemm64(native, c, a, b, s);
}

template <typename T> ulp_status multiply(T *c, const T *a, const T *b, const ulp_gemm_shape *s, ulp_summation by) {
    const ulp_datapath *d = by.datapath;
    ulp_status status = ulp_cuda_open();
    if (status != ULP_OK || s->m == 0 || s->n == 0) return status;
    if (d->split_k != 0) return ULP_UNSUPPORTED; // ulp_backend_gemm() asks for the product of each part
    if (d->kind == ULP_NATIVE) {
        ulp_cuda_native native;
        status = ulp_native_of(&native, d);
        return status == ULP_OK ? by_device(&native, c, a, b, s) : status;
    }
    status = check_inputs(a, b, s, d);
    return status == ULP_OK ? choose(job_of(c, a, b, s, by), *d) : status;
}

} // namespace

ulp_status ulp_cuda_gemm(float *c, const float *a, const float *b, const ulp_gemm_shape *shape, ulp_summation by) {
    return multiply(c, a, b, shape, by);
}

ulp_status ulp_cuda_gemm64(double *c, const double *a, const double *b, const ulp_gemm_shape *shape, ulp_summation by) {
    return multiply(c, a, b, shape, by);
}

/* Column sums are the product of a row of ones with x. The products are exact. */
ulp_status ulp_cuda_reduce(float *y, const float *x, size_t m, size_t n, ulp_summation by) {
    ulp_status status = ulp_cuda_open();
    if (status != ULP_OK) return status;
    float *ones = static_cast<float *>(ulp_cuda_room(m * sizeof *ones));
    if (ones == NULL) return ULP_NO_MEMORY;
    ulp_gemm_shape shape = {};
    shape.m = 1;
    shape.n = n;
    shape.k = m;
    shape.lda = m;
    shape.ldb = shape.ldc = n;
    status = ulp_cuda_each(m, "ones", [=] __device__(size_t i) { ones[i] = 1.0f; });
    if (status == ULP_OK) status = ulp_cuda_gemm(y, ones, x, &shape, by);
    ulp_cuda_release(ones);
    return status;
}
