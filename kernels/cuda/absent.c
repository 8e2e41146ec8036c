/* absent.c - the interface of the CUDA backend in a build without CUDA: every call returns ULP_NO_DEVICE. */
#include "unit.h"

static ulp_status absent(const void *needed) { return needed == NULL ? ULP_BAD_ARGUMENT : ULP_NO_DEVICE; }

ulp_status ulp_cuda_backend(const ulp_backend **backend) { return absent(backend); }

const char *ulp_cuda_lacks(void) {
    return "this build has no CUDA: nvcc was missing or too old when it was made, or it is a build for sanitizers";
}

const char *ulp_cuda_error(void) { return ""; }

ulp_status ulp_cuda_describe(ulp_cuda_info *info) { return absent(info); }

ulp_status ulp_cuda_timer_open(ulp_cuda_timer **timer) { return absent(timer); }

ulp_status ulp_cuda_timer_start(ulp_cuda_timer *timer) { return absent(timer); }

ulp_status ulp_cuda_timer_stop(ulp_cuda_timer *timer, double *seconds) {
    (void)seconds;
    return absent(timer);
}

void ulp_cuda_timer_close(ulp_cuda_timer *timer) { (void)timer; }

ulp_status ulp_cuda_clock(double *hertz) { return absent(hertz); }
ulp_status ulp_cuda_copy(void *y, const void *x, size_t bytes) {
    (void)x, (void)bytes;
    return absent(y);
}

ulp_status ulp_cuda_product_repeat(ulp_cuda_product *product, unsigned times, uint64_t *different) {
    (void)times, (void)different;
    return absent(product);
}

ulp_status ulp_cuda_native_get(size_t i, ulp_cuda_native *native) {
    (void)i;
    return absent(native);
}
ulp_status ulp_cuda_native_parse(ulp_cuda_native *native, const char *text) {
    (void)text;
    return absent(native);
}
ulp_status ulp_cuda_native_gemm(const ulp_cuda_native *native, float *c, const float *a, const float *b,
                                const ulp_gemm_shape *shape) {
    (void)c, (void)a, (void)b, (void)shape;
    return absent(native);
}
ulp_status ulp_cuda_native_gemm64(const ulp_cuda_native *native, double *c, const double *a, const double *b,
                                  const ulp_gemm_shape *shape) {
    (void)c, (void)a, (void)b, (void)shape;
    return absent(native);
}
ulp_status ulp_cuda_product_begin(ulp_cuda_product **product, const ulp_cuda_native *native, const float *c,
                                  const float *a, const float *b, const ulp_gemm_shape *shape) {
    (void)product, (void)c, (void)a, (void)b, (void)shape;
    return absent(native);
}
ulp_status ulp_cuda_product_begin64(ulp_cuda_product **product, const ulp_cuda_native *native, const double *c,
                                    const double *a, const double *b, const ulp_gemm_shape *shape) {
    (void)product, (void)c, (void)a, (void)b, (void)shape;
    return absent(native);
}
ulp_status ulp_cuda_product_run(ulp_cuda_product *product) { return absent(product); }
ulp_status ulp_cuda_product_values(ulp_cuda_product *product, float *c) {
    (void)c;
    return absent(product);
}
ulp_status ulp_cuda_product_values64(ulp_cuda_product *product, double *c) {
    (void)c;
    return absent(product);
}
ulp_status ulp_cuda_product_codes(ulp_cuda_product *product, uint64_t *codes) {
    (void)codes;
    return absent(product);
}
void ulp_cuda_product_end(ulp_cuda_product *product) { (void)product; }

static ulp_status no_sum(void *context, uint64_t *code, double c, ulp_products products) {
    (void)context, (void)code, (void)c, (void)products;
    return ULP_NO_DEVICE;
}
ulp_unit ulp_cuda_unit_of(const ulp_cuda_native *native) {
    return (ulp_unit){.dot = no_sum, .a = native->a, .b = native->b, .result = native->result};
}
ulp_unit ulp_cuda_unit_in(const ulp_cuda_place *place) { return ulp_cuda_unit_of(place->native); }
