/* native_scales.c - native products: factors of A and B, and block scales, that are refused. */
#include "sums.h"

/* A native product without factors refuses a factor. */
static void refuse_factors(const check *c) {
    row r = row_of("factors of A and B: refused where there are none");
    ulp_cuda_native d;
    float *memory = c->gpu->alloc(64 * sizeof *memory);
    const ulp_gemm_shape s = {.m = 1, .n = 1, .k = 1, .lda = 1, .ldb = 1, .ldc = 1};
    for (size_t i = 0; ulp_cuda_native_get(i, &d) == ULP_OK && !r.skipped; i++) {
        if (d.lacks[0] != '\0' || (d.a.bits == 8 && !is_instruction(&d))) continue;
        d.b_scale = 2.0f;
        row_true(&r, ulp_cuda_native_gemm(&d, memory, memory + 16, memory + 32, &s) == ULP_UNSUPPORTED, "%s", d.name);
    }
    c->gpu->release(memory);
    row_end(&r);
}

/* Block scales that a product refuses. */
static void refuse_block_scales(const check *c) {
    row r = row_of("block scales of native products: what is refused");
    ulp_cuda_native d;
    const float numbers[2] = {0.0f, 1.5f};
    const ulp_gemm_shape plain = {.m = 1, .n = 1, .k = 1, .lda = 1, .ldb = 1, .ldc = 1};
    float *memory = r.skipped ? NULL : c->gpu->alloc(sizeof numbers);
    if (memory != NULL && row_ok(&r, c->gpu->upload(memory, numbers, sizeof numbers), "upload"))
        for (size_t i = 0; ulp_cuda_native_get(i, &d) == ULP_OK; i++) {
            ulp_gemm_shape left = plain, right = plain;
            left.a_scales = right.b_scales = memory + 1;
            if (d.lacks[0] != '\0' || d.result.is_fixed || d.result.bits == 64) continue;
            /* 1.5 is a value of e4m3 and not of e8m0 */
            const ulp_status want = d.scale_block == 0 ? ULP_BAD_ARGUMENT : d.scale.prec > 1 ? ULP_OK : ULP_NO_CODE;
            row_true(&r, ulp_cuda_native_gemm(&d, memory, memory, memory, &left) == want, "%s: of A", d.name);
            row_true(&r, ulp_cuda_native_gemm(&d, memory, memory, memory, &right) == want, "%s: of B", d.name);
        }
    c->gpu->release(memory);
    row_end(&r);
}

void check_refused_scales(const check *c) {
    refuse_factors(c);
    refuse_block_scales(c);
}
