// unit.cu - one sum of products by a native product, for the prober.
#include "device.h"
#include "unit.h"

namespace {

/* The operands in one block of device memory: C (m,n), A (m,k), and B transposed (n,k). All other elements are
 * zeros. */
struct operands {
    double *c, *a, *b;
};

ulp_status lay_out(operands *to, const ulp_cuda_place *p, double c, const ulp_products &from) {
    const size_t k = from.k, elements = p->m * p->n + (p->m + p->n) * k;
    to->c = static_cast<double *>(ulp_cuda_room(elements * sizeof *to->c));
    if (to->c == NULL) return ULP_NO_MEMORY;
    to->a = to->c + p->m * p->n;
    to->b = to->a + p->m * k;
    ulp_status status = ulp_cuda_zero(to->c, elements * sizeof *to->c);
    if (status == ULP_OK) status = ulp_cuda_upload(to->c, &c, sizeof c);
    if (status == ULP_OK) status = ulp_cuda_upload(to->a, from.a, k * sizeof *from.a);
    if (status == ULP_OK) status = ulp_cuda_upload(to->b, from.b, k * sizeof *from.b);
    return status;
}

ulp_status multiply(const ulp_cuda_place *p, uint64_t *code, const operands *from, size_t k, bool accumulate) {
    ulp_gemm_shape shape = {};
    ulp_cuda_product *product = NULL;
    shape.m = p->m;
    shape.n = shape.ldc = p->n;
    shape.k = shape.lda = shape.ldb = k;
    shape.b_trans = 1;
    shape.accumulate = accumulate;
    uint64_t *out = static_cast<uint64_t *>(ulp_cuda_room(p->m * p->n * sizeof *out));
    ulp_status status =
        out == NULL ? ULP_NO_MEMORY : ulp_cuda_product_begin64(&product, p->native, from->c, from->a, from->b, &shape);
    if (status == ULP_OK) status = ulp_cuda_product_run(product);
    if (status == ULP_OK) status = ulp_cuda_product_codes(product, out);
    if (status == ULP_OK) status = ulp_cuda_download(code, out, sizeof *out);
    ulp_cuda_product_end(product);
    ulp_cuda_release(out);
    return status;
}

ulp_status run_sum(const ulp_cuda_place *p, uint64_t *code, double c, const ulp_products &products, bool accumulate) {
    operands o = {};
    if (products.a_scales != NULL || products.b_scales != NULL) return ULP_UNSUPPORTED;
    ulp_status status = ulp_cuda_open();
    if (status == ULP_OK) status = lay_out(&o, p, c, products);
    if (status == ULP_OK) status = multiply(p, code, &o, products.k, accumulate);
    ulp_cuda_release(o.c);
    return status;
}

ulp_status dot(void *context, uint64_t *code, double c, ulp_products products) {
    const ulp_cuda_place one = {static_cast<const ulp_cuda_native *>(context), 1, 1};
    return run_sum(&one, code, c, products, true);
}

ulp_status dot_in(void *context, uint64_t *code, double c, ulp_products products) {
    return run_sum(static_cast<const ulp_cuda_place *>(context), code, c, products, ulp_bits64(c) != 0);
}

ulp_unit unit_with(const ulp_cuda_native *native) {
    ulp_unit unit = {};
    unit.a = native->a;
    unit.b = native->b;
    unit.result = native->result;
    return unit;
}

} // namespace

/* The functions only read the contexts. */

ulp_unit ulp_cuda_unit_of(const ulp_cuda_native *native) {
    ulp_unit unit = unit_with(native);
    unit.dot = dot;
    unit.context = const_cast<ulp_cuda_native *>(native);
    return unit;
}

ulp_unit ulp_cuda_unit_in(const ulp_cuda_place *place) {
    ulp_unit unit = unit_with(place->native);
    unit.dot = dot_in;
    unit.context = const_cast<ulp_cuda_place *>(place);
    return unit;
}
