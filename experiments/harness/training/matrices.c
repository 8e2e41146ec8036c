/* matrices.c - the matrices of a product in host and backend memory; see matrices.h. */
#include "matrices.h"

#include <stdlib.h>

static void carve(ulp_product *p) {
    p->device.a = ulp_arena_take(&p->arena, p->m * p->k);
    p->device.b = ulp_arena_take(&p->arena, p->m * p->k);
    p->device.c = ulp_arena_take(&p->arena, p->m * p->m);
    p->device.a64 = ulp_arena_take64(&p->arena, p->m * p->k);
    p->device.b64 = ulp_arena_take64(&p->arena, p->m * p->k);
    p->device.c64 = ulp_arena_take64(&p->arena, p->m * p->m);
}

ulp_status ulp_product_open(ulp_product *p, const ulp_backend *backend, size_t m, size_t k) {
    const size_t in = m * k, out = m * m;
    *p = (ulp_product){.m = m, .k = k};
    ulp_arena_init(&p->arena, backend);
    carve(p);
    p->host.a = malloc((2 * in + out) * sizeof(float));
    p->host.a64 = malloc((2 * in + 2 * out) * sizeof(double));
    ULP_TRY(p->host.a && p->host.a64 ? ulp_arena_alloc(&p->arena) : ULP_NO_MEMORY);
    carve(p);
    p->host.b = p->host.a + in;
    p->host.c = p->host.b + in;
    p->host.b64 = p->host.a64 + in;
    p->host.c64 = p->host.b64 + in;
    p->other = p->host.c64 + out;
    return ULP_OK;
}

void ulp_product_close(ulp_product *p) {
    ulp_arena_release(&p->arena);
    free(p->host.a);
    free(p->host.a64);
}

static ulp_gemm_shape shape_of(const ulp_product *p) {
    return (ulp_gemm_shape){.m = p->m, .n = p->m, .k = p->k, .lda = p->k, .ldb = p->k, .ldc = p->m, .b_trans = 1};
}

ulp_status ulp_product_upload(const ulp_product *p) {
    const size_t bytes = p->m * p->k * sizeof(float);
    ULP_TRY(p->arena.backend->upload(p->device.a, p->host.a, bytes));
    return p->arena.backend->upload(p->device.b, p->host.b, bytes);
}

ulp_status ulp_product_multiply(const ulp_product *p, const ulp_datapath *datapath, ulp_stream stream) {
    const ulp_backend *backend = p->arena.backend;
    const ulp_matrices *on = &p->device;
    const ulp_gemm_shape shape = shape_of(p);
    ULP_TRY(ulp_backend_gemm(backend, on->c, on->a, on->b, &shape, (ulp_summation){datapath, stream}));
    return backend->download(p->host.c, on->c, p->m * p->m * sizeof *on->c);
}

ulp_status ulp_product_multiply_exactly(const ulp_product *p, double *to) {
    const ulp_backend *backend = p->arena.backend;
    const ulp_matrices *on = &p->device;
    const size_t in = p->m * p->k * sizeof *on->a64;
    const ulp_gemm_shape shape = shape_of(p);
    ulp_datapath exact;
    ULP_TRY(ulp_datapath_parse(&exact, "exact:binary64:rne"));
    ULP_TRY(backend->upload(on->a64, p->host.a64, in));
    ULP_TRY(backend->upload(on->b64, p->host.b64, in));
    ULP_TRY(ulp_backend_gemm64(backend, on->c64, on->a64, on->b64, &shape, (ulp_summation){.datapath = &exact}));
    return backend->download(to, on->c64, p->m * p->m * sizeof *to);
}
