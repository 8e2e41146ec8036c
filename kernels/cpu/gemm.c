/* gemm.c - matrix products under a datapath: what is asked for, and which kind of product takes it. */
#include "gemm.h"

#include <stdlib.h>
#include <string.h>

void *ULP_CPU(ulp_gemm_room)(size_t n, size_t size) { return aligned_alloc(64, (n * size + 127) / 64 * 64); }

static ulp_status check(const ulp_job *w) {
    const ulp_gemm_shape *s = &w->s;
    if (s->m == 0 || s->n == 0) return ULP_OK;
    if (w->c == NULL || s->ldc < s->n) return ULP_BAD_ARGUMENT;
    if (s->k > 0 && (w->a == NULL || w->b == NULL || s->lda < (s->a_trans ? s->m : s->k) || s->ldb < (s->b_trans ? s->k : s->n)))
        return ULP_BAD_ARGUMENT;
    if ((s->a_scales != NULL || s->b_scales != NULL) && w->datapath->scale_block == 0) return ULP_BAD_ARGUMENT;
    return ulp_rule_check(&w->datapath->accumulator, w->datapath->rule);
}

/* Whether rows x width elements are values of a format: those that rounding does not move. */
static ulp_status members(const ulp_job *w, const void *array, size_t rows, size_t width, size_t ld, const ulp_format *f) {
    enum { PART = 256 };
    double x[PART], y[PART];
    const int nan = f->nan_codes != ULP_NAN_NONE;
    const ulp_rule rule = {ULP_RNE, ULP_OVERFLOW_SAT, 0};
    uint32_t strange = 0;
    for (size_t i = 0; i < rows && strange == 0; i++)
        for (size_t j = 0; j < width; j += PART) {
            const size_t n = width - j < PART ? width - j : PART;
            for (size_t l = 0; l < n; l++) x[l] = job_at(w, array, i * ld + j + l);
            ulp_status status = ULP_CPU(ulp_cpu_round64)(y, x, n, f, rule, (ulp_stream){0}, NULL);
            if (status != ULP_OK) return status;
            for (size_t l = 0; l < n; l++) {
                const uint32_t is_nan = x[l] != x[l], infinite = x[l] - x[l] != 0.0 && !is_nan;
                strange |= is_nan ? (uint32_t)!nan : (infinite ? (uint32_t)!f->has_inf : (uint32_t)(x[l] != y[l]));
            }
        }
    return strange ? ULP_NO_CODE : ULP_OK;
}

static ulp_status check_inputs(const ulp_job *w) {
    const ulp_gemm_shape *s = &w->s;
    const ulp_datapath *d = w->datapath;
    if (!d->has_inputs) return ULP_OK;
    ulp_status status = members(w, w->a, s->a_trans ? s->k : s->m, s->a_trans ? s->m : s->k, s->lda, &d->a);
    return status != ULP_OK ? status : members(w, w->b, s->b_trans ? s->n : s->k, s->b_trans ? s->k : s->n, s->ldb, &d->b);
}

static ulp_status run(const ulp_job *w) {
    static ulp_status (*const kinds[])(const ulp_job *) = {ULP_CPU(ulp_gemm_fp32), ULP_CPU(ulp_gemm_aligned),
                                                           ULP_CPU(ulp_gemm_serial), ULP_CPU(ulp_gemm_any)};
    ulp_status status = check(w);
    if (status != ULP_OK || w->s.m == 0 || w->s.n == 0) return status;
    status = w->s.k > 0 ? check_inputs(w) : ULP_OK;
    if (status != ULP_OK) return status;
    status = ULP_UNSUPPORTED;
    for (size_t i = 0; status == ULP_UNSUPPORTED && i < sizeof kinds / sizeof kinds[0]; i++) status = kinds[i](w);
    return status;
}

ulp_status ULP_CPU(ulp_cpu_gemm)(float *c, const float *a, const float *b, const ulp_gemm_shape *shape,
                                 const ulp_datapath *datapath, ulp_stream stream) {
    if (shape == NULL || datapath == NULL) return ULP_BAD_ARGUMENT;
    if (!datapath->result.fits_binary32) return ULP_UNSUPPORTED;
    const ulp_job job = {.c = c, .a = a, .b = b, .s = *shape, .datapath = datapath, .stream = stream};
    return run(&job);
}

ulp_status ULP_CPU(ulp_cpu_gemm64)(double *c, const double *a, const double *b, const ulp_gemm_shape *shape,
                                   const ulp_datapath *datapath, ulp_stream stream) {
    if (shape == NULL || datapath == NULL) return ULP_BAD_ARGUMENT;
    const ulp_job job = {.c = c, .a = a, .b = b, .wide = 1, .s = *shape, .datapath = datapath, .stream = stream};
    return run(&job);
}

/* Column sums are the product of a row of ones with x: the products are exact. */
ulp_status ULP_CPU(ulp_cpu_reduce)(float *y, const float *x, size_t m, size_t n, const ulp_datapath *datapath,
                                   ulp_stream stream) {
    if (datapath == NULL || (n > 0 && y == NULL) || (m > 0 && n > 0 && x == NULL)) return ULP_BAD_ARGUMENT;
    float *ones = ULP_CPU(ulp_gemm_room)(m, sizeof *ones);
    if (ones == NULL) return ULP_NO_MEMORY;
    for (size_t i = 0; i < m; i++) ones[i] = 1.0f;
    const ulp_gemm_shape shape = {.m = 1, .n = n, .k = m, .lda = m, .ldb = n, .ldc = n};
    ulp_status status = ULP_CPU(ulp_cpu_gemm)(y, ones, x, &shape, datapath, stream);
    free(ones);
    return status;
}
