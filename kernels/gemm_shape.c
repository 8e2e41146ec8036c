/* gemm_shape.c - whether the sizes and row lengths of a matrix product fit together. */
#include "backend.h"

ulp_status ulp_gemm_shape_check(const void *a, const void *b, const ulp_gemm_shape *s) {
    if (s->m == 0 || s->n == 0) return ULP_OK;
    if (s->ldc < (s->c_trans ? s->m : s->n)) return ULP_BAD_ARGUMENT;
    if (s->k == 0) return ULP_OK;
    const int fits = s->lda >= (s->a_trans ? s->m : s->k) && s->ldb >= (s->b_trans ? s->k : s->n);
    return a == NULL || b == NULL || !fits ? ULP_BAD_ARGUMENT : ULP_OK;
}
