/* product_operations.c - the composed operations of operations.def: matrix products, alone, rounded, in batches, and
 * sums of columns. A product of several words, or of parts of k, is several products of the backend.
 */
#include "backend.h"

#include "multiword_gemm.h"
#include "split_k_gemm.h"

#include <stdlib.h>

static ulp_status check_gemm(const void *c, const void *a, const void *b, const ulp_gemm_shape *s,
                             const ulp_datapath *d) {
    if (s == NULL || d == NULL) return ULP_BAD_ARGUMENT;
    if (s->m == 0 || s->n == 0) return ULP_OK;
    if (c == NULL || ulp_gemm_shape_check(a, b, s) != ULP_OK) return ULP_BAD_ARGUMENT;
    if ((s->a_scales != NULL || s->b_scales != NULL) && d->scale_block == 0) return ULP_BAD_ARGUMENT;
    return ulp_rule_check(&d->accumulator, d->rule);
}

static ulp_status check_gemm32(const float *c, const float *a, const float *b, const ulp_gemm_shape *s,
                               const ulp_datapath *d) {
    if (s == NULL || d == NULL) return ULP_BAD_ARGUMENT;
    return d->result.fits_binary32 ? check_gemm(c, a, b, s, d) : ULP_UNSUPPORTED;
}

static ulp_status check_reduce(const float *y, const float *x, size_t m, size_t n, const ulp_datapath *d) {
    if (d == NULL || (n > 0 && y == NULL) || (m > 0 && n > 0 && x == NULL)) return ULP_BAD_ARGUMENT;
    if (!d->result.fits_binary32) return ULP_UNSUPPORTED;
    return n == 0 ? ULP_OK : ulp_rule_check(&d->accumulator, d->rule);
}

/* Whether a product is several products of the backend: of words, or of parts of k. The oracle forms parts by a text
 * of its own. */
static int is_of_parts(const ulp_backend *backend, const ulp_datapath *d) {
    return d->split_k != 0 && backend->machine != ULP_OF_NO_MACHINE;
}

static int is_composed(const ulp_backend *backend, const ulp_datapath *d) {
    return d->words != 0 || is_of_parts(backend, d);
}

/* The product, whose arguments are checked, by the backend, or as several products. */
static ulp_status multiply(const ulp_backend *backend, float *c, const float *a, const float *b,
                           const ulp_gemm_shape *shape, ulp_summation by) {
    if (is_of_parts(backend, by.datapath)) return ulp_split_k_gemm(backend, c, a, b, shape, by.datapath);
    return by.datapath->words != 0 ? ulp_multiword_gemm(backend, c, a, b, shape, by.datapath)
                                   : backend->gemm(c, a, b, shape, by);
}

ulp_status ulp_backend_gemm(const ulp_backend *backend, float *c, const float *a, const float *b,
                            const ulp_gemm_shape *shape, ulp_summation summation) {
    if (!(backend->gemm != NULL)) return ULP_UNSUPPORTED;
    ULP_TRY(check_gemm32(c, a, b, shape, summation.datapath));
    return multiply(backend, c, a, b, shape, summation);
}

ulp_status ulp_backend_gemm64(const ulp_backend *backend, double *c, const double *a, const double *b,
                              const ulp_gemm_shape *shape, ulp_summation summation) {
    if (summation.datapath != NULL && summation.datapath->words != 0) return ULP_UNSUPPORTED;
    if (!(backend->gemm64 != NULL)) return ULP_UNSUPPORTED;
    ULP_TRY(check_gemm(c, a, b, shape, summation.datapath));
    return is_of_parts(backend, summation.datapath) ? ulp_split_k_gemm64(backend, c, a, b, shape, summation.datapath)
                                                    : backend->gemm64(c, a, b, shape, summation);
}

static ulp_status check_gemm_round(const float *c, const float *a, const float *b, const ulp_gemm_shape *s,
                                   const ulp_datapath *d, const ulp_rounding *r) {
    ULP_TRY(check_gemm32(c, a, b, s, d));
    if (s->c_trans || (s->m > 1 && s->ldc != s->n)) return ULP_BAD_ARGUMENT;
    if (r->format == NULL) return ULP_BAD_ARGUMENT;
    ULP_TRY(ulp_rule_check_single(r->format, r->rule));
    return r->format->fits_binary32 ? ULP_OK : ULP_UNSUPPORTED;
}

ulp_status ulp_backend_gemm_round(const ulp_backend *backend, float *c, const float *a, const float *b,
                                  const ulp_gemm_shape *shape, ulp_summation summation, ulp_rounding rounding) {
    const int both = backend->gemm_round != NULL;
    if (!(both || (backend->gemm != NULL && backend->round != NULL))) return ULP_UNSUPPORTED;
    ULP_TRY(check_gemm_round(c, a, b, shape, summation.datapath, &rounding));
    if (both && !is_composed(backend, summation.datapath))
        return backend->gemm_round(c, a, b, shape, summation, rounding);
    ULP_TRY(multiply(backend, c, a, b, shape, summation));
    return backend->round(c, c, shape->m * shape->n, rounding);
}

/* Column sums as the product of a row of ones with x. */
static ulp_status reduce_by_product(const ulp_backend *backend, float *y, const float *x, size_t m, size_t n,
                                    ulp_summation by) {
    const ulp_gemm_shape shape = {.m = 1, .n = n, .k = m, .lda = m, .ldb = n, .ldc = n};
    float *host = malloc((m + 1) * sizeof *host), *ones = backend->alloc((m + 1) * sizeof *ones);
    ulp_status status = host != NULL && ones != NULL ? ULP_OK : ULP_NO_MEMORY;
    for (size_t i = 0; i < m && status == ULP_OK; i++) host[i] = 1.0f;
    if (status == ULP_OK) status = backend->upload(ones, host, m * sizeof *ones);
    if (status == ULP_OK) status = multiply(backend, y, ones, x, &shape, by);
    if (ones != NULL) backend->release(ones);
    free(host);
    return status;
}

ulp_status ulp_backend_reduce(const ulp_backend *backend, float *y, const float *x, size_t m, size_t n,
                              ulp_summation summation) {
    if (!(backend->reduce != NULL)) return ULP_UNSUPPORTED;
    ULP_TRY(check_reduce(y, x, m, n, summation.datapath));
    return is_composed(backend, summation.datapath) ? reduce_by_product(backend, y, x, m, n, summation)
                                                    : backend->reduce(y, x, m, n, summation);
}

/* Checks a batch whose products have elements. */
static ulp_status check_gemm_batch(const float *c, const float *a, const float *b, const ulp_gemm_batch *batch,
                                   const ulp_datapath *d) {
    if (batch == NULL || batch->b_share == 0) return ULP_BAD_ARGUMENT;
    const ulp_gemm_shape *s = &batch->shape;
    if (s->a_scales != NULL || s->b_scales != NULL) return ULP_BAD_ARGUMENT;
    return batch->outer * batch->inner > 0 ? check_gemm32(c, a, b, s, d) : ULP_OK;
}

ulp_status ulp_backend_gemm_batch(const ulp_backend *backend, float *c, const float *a, const float *b,
                                  const ulp_gemm_batch *batch, ulp_summation summation) {
    const ulp_datapath *d = summation.datapath;
    if (!(backend->gemm_batch != NULL || backend->gemm != NULL)) return ULP_UNSUPPORTED;
    ULP_TRY(check_gemm_batch(c, a, b, batch, d));
    if (backend->gemm_batch != NULL && !is_composed(backend, d)) return backend->gemm_batch(c, a, b, batch, summation);
    const uint64_t words = batch->shape.m * batch->shape.n * ulp_datapath_words(d, batch->shape.k);
    for (size_t k = 0; k < batch->outer * batch->inner; k++, summation.stream.first += words) {
        const size_t o = k / batch->inner, i = k % batch->inner;
        ULP_TRY(multiply(backend, c + o * batch->c_stride[0] + i * batch->c_stride[1],
                         a + o * batch->a_stride[0] + i * batch->a_stride[1],
                         b + o * batch->b_stride[0] + i / batch->b_share * batch->b_stride[1], &batch->shape,
                         summation));
    }
    return ULP_OK;
}
