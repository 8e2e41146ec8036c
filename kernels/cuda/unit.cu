// unit.cu - one sum of products by a native product, for the prober.
#include "device.h"
#include "unit.h"

#include <stdlib.h>

namespace {

/* The operands in one block of device memory: C (m,n), A (m,k), and B transposed (n,k), whose other elements are zeros;
 * and the scales of A (m,blocks) and of B (n,blocks), whose other elements are ones. */
struct operands {
    double *c, *a, *b;
    float *a_scales, *b_scales; /* NULL: all are 1 */
};

/* Scales (rows,blocks) with those of the sum in the first row. NULL if there is no memory. */
float *lay_out_scales(ulp_status *status, const double *from, size_t rows, size_t blocks) {
    float *device = static_cast<float *>(ulp_cuda_room(rows * blocks * sizeof *device)),
          *host = static_cast<float *>(malloc(rows * blocks * sizeof *host));
    if (device == NULL || host == NULL) *status = ULP_NO_MEMORY;
    for (size_t i = 0; *status == ULP_OK && i < rows * blocks; i++) host[i] = i < blocks ? (float)from[i] : 1.0f;
    if (*status == ULP_OK) *status = ulp_cuda_upload(device, host, rows * blocks * sizeof *host);
    free(host);
    return device;
}

ulp_status lay_out(operands *to, const ulp_cuda_place *p, double c, const ulp_products &from) {
    const size_t k = from.k, elements = p->m * p->n + (p->m + p->n) * k, block = p->native->scale_block,
                 blocks = block == 0 ? 0 : (k + block - 1) / block;
    to->c = static_cast<double *>(ulp_cuda_room(elements * sizeof *to->c));
    if (to->c == NULL) return ULP_NO_MEMORY;
    to->a = to->c + p->m * p->n;
    to->b = to->a + p->m * k;
    ULP_TRY(ulp_cuda_zero(to->c, elements * sizeof *to->c));
    ULP_TRY(ulp_cuda_upload(to->c, &c, sizeof c));
    ULP_TRY(ulp_cuda_upload(to->a, from.a, k * sizeof *from.a));
    ULP_TRY(ulp_cuda_upload(to->b, from.b, k * sizeof *from.b));
    ulp_status status = ULP_OK;
    if (blocks > 0 && from.a_scales != NULL) to->a_scales = lay_out_scales(&status, from.a_scales, p->m, blocks);
    if (blocks > 0 && from.b_scales != NULL) to->b_scales = lay_out_scales(&status, from.b_scales, p->n, blocks);
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
    shape.a_scales = from->a_scales;
    shape.b_scales = from->b_scales;
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
    if (p->native->scale_block == 0 && (products.a_scales != NULL || products.b_scales != NULL)) return ULP_UNSUPPORTED;
    ULP_TRY(ulp_cuda_open());
    ulp_status status = lay_out(&o, p, c, products);
    if (status == ULP_OK) status = multiply(p, code, &o, products.k, accumulate);
    ulp_cuda_release(o.c);
    ulp_cuda_release(o.a_scales);
    ulp_cuda_release(o.b_scales);
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
    unit.scale_block = native->scale_block;
    unit.scale = native->scale;
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
