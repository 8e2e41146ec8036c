/* matrices.c - the matrices of a product in host and backend memory; see matrices.h. */
#include "matrices.h"

#include <stdlib.h>

static void carve(void *own, ulp_arena *arena) {
    ulp_product *p = own;
    p->device.a = ulp_arena_take(arena, p->m * p->k);
    p->device.b = ulp_arena_take(arena, p->n * p->k);
    p->device.c = ulp_arena_take(arena, p->m * p->n);
    if (!p->wide) return;
    p->device.a64 = ulp_arena_take64(arena, p->m * p->k);
    p->device.b64 = ulp_arena_take64(arena, p->n * p->k);
    p->device.c64 = ulp_arena_take64(arena, p->m * p->n);
}

ulp_status ulp_product_open(ulp_product *p, const ulp_backend *backend, size_t m, size_t n, size_t k, int wide) {
    const size_t a = m * k, b = n * k, c = m * n;
    *p = (ulp_product){.m = m, .n = n, .k = k, .wide = wide};
    p->host.a = malloc((a + b + c) * sizeof(float));
    if (wide) p->host.a64 = malloc((a + b + 2 * c) * sizeof(double));
    if (!p->host.a || (wide && !p->host.a64)) return ULP_NO_MEMORY;
    p->host.b = p->host.a + a;
    p->host.c = p->host.b + b;
    if (wide) {
        p->host.b64 = p->host.a64 + a;
        p->host.c64 = p->host.b64 + b;
        p->other = p->host.c64 + c;
    }
    return ulp_arena_make(&p->arena, backend, carve, p);
}

void ulp_product_close(ulp_product *p) {
    ulp_arena_release(&p->arena);
    free(p->host.a);
    free(p->host.a64);
}

static ulp_gemm_shape shape_of(const ulp_product *p) {
    return (ulp_gemm_shape){.m = p->m, .n = p->n, .k = p->k, .lda = p->k, .ldb = p->k, .ldc = p->n, .b_trans = 1};
}

ulp_status ulp_product_upload(const ulp_product *p) {
    ULP_TRY(p->arena.backend->upload(p->device.a, p->host.a, p->m * p->k * sizeof(float)));
    return p->arena.backend->upload(p->device.b, p->host.b, p->n * p->k * sizeof(float));
}

ulp_status ulp_product_multiply(const ulp_product *p, const ulp_datapath *datapath, ulp_stream stream) {
    const ulp_backend *backend = p->arena.backend;
    const ulp_matrices *on = &p->device;
    const ulp_gemm_shape shape = shape_of(p);
    ULP_TRY(ulp_backend_gemm(backend, on->c, on->a, on->b, &shape, (ulp_summation){datapath, stream}));
    return backend->download(p->host.c, on->c, p->m * p->n * sizeof *on->c);
}

ulp_status ulp_product_multiply_exactly(const ulp_product *p, double *to) {
    const ulp_backend *backend = p->arena.backend;
    const ulp_matrices *on = &p->device;
    const ulp_gemm_shape shape = shape_of(p);
    ulp_datapath exact;
    ULP_TRY(ulp_datapath_parse(&exact, "exact:binary64:rne"));
    ULP_TRY(backend->upload(on->a64, p->host.a64, p->m * p->k * sizeof *on->a64));
    ULP_TRY(backend->upload(on->b64, p->host.b64, p->n * p->k * sizeof *on->b64));
    ULP_TRY(ulp_backend_gemm64(backend, on->c64, on->a64, on->b64, &shape, (ulp_summation){.datapath = &exact}));
    return backend->download(to, on->c64, p->m * p->n * sizeof *to);
}
