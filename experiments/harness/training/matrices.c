/* matrices.c - the matrices of a product in backend memory: C = A B under a datapath, and exactly; see matrices.h. */
#include "matrices.h"

void ulp_matrices_carve(ulp_matrices *to, ulp_arena *arena, size_t m, size_t k) {
    *to = (ulp_matrices){.m = m, .k = k};
    to->a = ulp_arena_take(arena, m * k);
    to->b = ulp_arena_take(arena, m * k);
    to->c = ulp_arena_take(arena, m * m);
    to->a64 = ulp_arena_take64(arena, m * k);
    to->b64 = ulp_arena_take64(arena, m * k);
    to->c64 = ulp_arena_take64(arena, m * m);
}

static ulp_gemm_shape shape_of(const ulp_matrices *x) {
    return (ulp_gemm_shape){.m = x->m, .n = x->m, .k = x->k, .lda = x->k, .ldb = x->k, .ldc = x->m, .b_trans = 1};
}

ulp_status ulp_matrices_upload(const ulp_backend *backend, const ulp_matrices *to, const float *a, const float *b) {
    const size_t bytes = to->m * to->k * sizeof(float);
    const ulp_status status = a != NULL ? backend->upload(to->a, a, bytes) : ULP_OK;
    return status == ULP_OK && b != NULL ? backend->upload(to->b, b, bytes) : status;
}

ulp_status ulp_matrices_multiply(const ulp_backend *backend, float *to, const ulp_matrices *of,
                                 const ulp_datapath *datapath, ulp_stream stream) {
    const ulp_gemm_shape shape = shape_of(of);
    const ulp_status status = ulp_backend_gemm(backend, of->c, of->a, of->b, &shape, (ulp_summation){datapath, stream});
    return status == ULP_OK ? backend->download(to, of->c, of->m * of->m * sizeof *to) : status;
}

ulp_status ulp_matrices_multiply_exactly(const ulp_backend *backend, double *to, const ulp_matrices *by,
                                         const double *a64, const double *b64) {
    const size_t in = by->m * by->k * sizeof(double);
    const ulp_gemm_shape shape = shape_of(by);
    ulp_datapath exact;
    ulp_status status = ulp_datapath_parse(&exact, "exact:binary64:rne");
    if (status == ULP_OK) status = backend->upload(by->a64, a64, in);
    if (status == ULP_OK) status = backend->upload(by->b64, b64, in);
    if (status == ULP_OK)
        status = ulp_backend_gemm64(backend, by->c64, by->a64, by->b64, &shape, (ulp_summation){.datapath = &exact});
    return status == ULP_OK ? backend->download(to, by->c64, by->m * by->m * sizeof *to) : status;
}
