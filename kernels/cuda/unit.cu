// unit.cu - one sum of products by a native product, for the prober.
#include "device.h"
#include "unit.h"

namespace {

ulp_status form(const ulp_cuda_native *native, uint64_t *code, double *room, size_t k) {
    ulp_gemm_shape shape = {};
    ulp_cuda_product *product = NULL;
    shape.m = shape.n = shape.ldc = shape.ldb = 1;
    shape.k = shape.lda = k;
    shape.accumulate = 1;
    uint64_t *out = static_cast<uint64_t *>(ulp_cuda_room(sizeof *out));
    ulp_status status = out == NULL ? ULP_NO_MEMORY : ulp_cuda_product_begin64(&product, native, room, room + 1, room + 1 + k, &shape);
    if (status == ULP_OK) status = ulp_cuda_product_run(product);
    if (status == ULP_OK) status = ulp_cuda_product_codes(product, out);
    if (status == ULP_OK) status = ulp_cuda_download(code, out, sizeof *out);
    ulp_cuda_product_end(product);
    ulp_cuda_release(out);
    return status;
}

ulp_status dot(void *context, uint64_t *code, double c, const double *a, const double *b, size_t k, ulp_scales scales) {
    if (scales.a != NULL || scales.b != NULL) return ULP_UNSUPPORTED;
    double *room = static_cast<double *>(ulp_cuda_room((2 * k + 1) * sizeof *room)); /* c, a, b */
    if (room == NULL) return ULP_NO_MEMORY;
    ulp_status status = ulp_cuda_upload(room, &c, sizeof c);
    if (status == ULP_OK) status = ulp_cuda_upload(room + 1, a, k * sizeof *a);
    if (status == ULP_OK) status = ulp_cuda_upload(room + 1 + k, b, k * sizeof *b);
    if (status == ULP_OK) status = form(static_cast<const ulp_cuda_native *>(context), code, room, k);
    ulp_cuda_release(room);
    return status;
}

} // namespace

ulp_unit ulp_cuda_unit_of(const ulp_cuda_native *native) {
    ulp_unit unit = {};
    unit.dot = dot;
    unit.context = const_cast<ulp_cuda_native *>(native); /* only read */
    unit.a = native->a;
    unit.b = native->b;
    unit.result = native->result;
    return unit;
}
