/* codes.c - matrix products as codes: of a native product on the device, and of its model on the CPU. */
#include "codes.h"

void matrices_alloc(matrices *x) {
    const size_t a = x->m * x->k, b = x->k * x->n, c = x->m * x->n;
    x->a = room(a, sizeof *x->a);
    x->b = room(b, sizeof *x->b);
    x->c = room(c, sizeof *x->c);
    x->wide_a = room(a, sizeof *x->wide_a);
    x->wide_b = room(b, sizeof *x->wide_b);
    x->wide_c = room(c, sizeof *x->wide_c);
    if (x->blocks > 0) {
        x->a_scales = room(x->m * x->blocks, sizeof *x->a_scales);
        x->b_scales = room(x->n * x->blocks, sizeof *x->b_scales);
    }
    x->got = room(c, sizeof *x->got);
    x->want = room(c, sizeof *x->want);
}

void matrices_free(matrices *x) {
    void *all[] = {x->a, x->b, x->c, x->wide_a, x->wide_b, x->wide_c, x->a_scales, x->b_scales, x->got, x->want};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
}

ulp_gemm_shape matrices_shape(const matrices *x) {
    return (ulp_gemm_shape){
        .m = x->m, .n = x->n, .k = x->k, .lda = x->k, .ldb = x->n, .ldc = x->n, .accumulate = (uint8_t)x->accumulate};
}

int device_codes(const check *c, row *r, matrices *x, const ulp_cuda_native *d) {
    ulp_gemm_shape s = matrices_shape(x);
    const size_t n = x->m * x->n, size = x->wide ? sizeof(double) : sizeof(float);
    const void *hosts[] = {x->wide ? (const void *)x->wide_a : x->a, x->wide ? (const void *)x->wide_b : x->b,
                           x->wide ? (const void *)x->wide_c : x->c};
    void *a = to_device(c, r, hosts[0], x->m * x->k * size), *b = to_device(c, r, hosts[1], x->k * x->n * size);
    void *start = x->accumulate ? to_device(c, r, hosts[2], n * size) : NULL;
    float *a_scales = x->a_scales != NULL ? to_device(c, r, x->a_scales, x->m * x->blocks * sizeof *a_scales) : NULL;
    float *b_scales = x->b_scales != NULL ? to_device(c, r, x->b_scales, x->n * x->blocks * sizeof *b_scales) : NULL;
    uint64_t *codes = c->gpu->alloc(n * sizeof *codes);
    s.a_scales = a_scales;
    s.b_scales = b_scales;
    ulp_cuda_product *p = NULL;
    int fine = a != NULL && b != NULL && codes != NULL && (start != NULL || !x->accumulate);
    fine = fine && (a_scales == NULL) == (x->a_scales == NULL) && (b_scales == NULL) == (x->b_scales == NULL);
    fine = fine && row_ok(r,
                          x->wide ? ulp_cuda_product_begin64(&p, d, start, a, b, &s)
                                  : ulp_cuda_product_begin(&p, d, start, a, b, &s),
                          "%s: begin", d->name);
    fine = fine && row_ok(r, ulp_cuda_product_run(p), "%s: run", d->name);
    fine = fine && row_ok(r, ulp_cuda_product_codes(p, codes), "%s: codes", d->name);
    fine = fine && from_device(c, r, x->got, codes, n * sizeof *codes);
    ulp_cuda_product_end(p);
    c->gpu->release(a);
    c->gpu->release(b);
    c->gpu->release(start);
    c->gpu->release(a_scales);
    c->gpu->release(b_scales);
    c->gpu->release(codes);
    return fine;
}

int model_codes(const check *c, row *r, matrices *x, const ulp_datapath *path) {
    ulp_gemm_shape s = matrices_shape(x);
    const ulp_stream none = {0, 0, 0};
    s.a_scales = x->a_scales;
    s.b_scales = x->b_scales;
    const int narrow = path->result.fits_binary32;
    const ulp_status status =
        narrow ? ulp_backend_gemm(c->cpu, x->c, x->a, x->b, &s, (ulp_summation){path, none})
               : ulp_backend_gemm64(c->cpu, x->wide_c, x->wide_a, x->wide_b, &s, (ulp_summation){path, none});
    int fine = row_ok(r, status, "%s on the CPU", path->name);
    for (size_t i = 0; fine && i < x->m * x->n; i++)
        fine = row_ok(r, ulp_datapath_code(&x->want[i], narrow ? (double)x->c[i] : x->wide_c[i], path),
                      "%s: a result's code", path->name);
    return fine;
}
