/* arrays.c - the arrays of bench_gpu on the device: input and output of rounding, and the operands of products. */
#include "bench_gpu.h"

#include <stdlib.h>

/* Fills x (n) on the device with random numbers in (-scale, scale). The quality of the random numbers does not
 * matter. */
static ulp_status fill(const bench *b, float *x, size_t n, float scale) {
    enum { PIECE = 1 << 20 };
    float *host = malloc(PIECE * sizeof *host);
    uint32_t state = 1;
    ulp_status status = host == NULL ? ULP_NO_MEMORY : ULP_OK;
    for (size_t at = 0; at < n && status == ULP_OK; at += PIECE) {
        const size_t some = n - at < PIECE ? n - at : PIECE;
        for (size_t i = 0; i < some; i++) {
            state = state * 1664525u + 1013904223u;
            host[i] = (float)(int32_t)state * 0x1p-31f * scale;
        }
        status = b->gpu->upload(x + at, host, some * sizeof *host);
    }
    free(host);
    return status;
}

/* Allocates x (n) on the device. *x is NULL if there is no room. */
static ulp_status take(const bench *b, float **x, size_t n) {
    *x = b->gpu->alloc(n * sizeof **x);
    return *x == NULL ? ULP_NO_MEMORY : ULP_OK;
}

ulp_status arrays_open(bench *b) {
    const size_t most = b->size > b->native_size ? b->size : b->native_size, n = most * most;
    float **const matrix[] = {&b->unit, &b->whole, &b->a, &b->b, &b->c};
    ulp_status status = ULP_OK;
    b->x = calloc(2 * b->arrays, sizeof *b->x);
    if (b->x == NULL) return ULP_NO_MEMORY;
    b->y = b->x + b->arrays;
    for (size_t k = 0; k < 2 * b->arrays && status == ULP_OK; k++) status = take(b, &b->x[k], b->elements);
    for (size_t k = 0; k < b->arrays && status == ULP_OK; k++) status = fill(b, b->x[k], b->elements, 2.0f);
    for (size_t k = 0; k < sizeof matrix / sizeof matrix[0] && status == ULP_OK; k++) status = take(b, matrix[k], n);
    b->wide = b->gpu->alloc(3 * n * sizeof *b->wide);
    if (status == ULP_OK) status = b->wide == NULL ? ULP_NO_MEMORY : fill(b, b->unit, n, 2.0f);
    return status == ULP_OK ? fill(b, b->whole, n, 128.0f) : status;
}

void arrays_close(bench *b) {
    for (size_t k = 0; b->x != NULL && k < 2 * b->arrays; k++)
        if (b->x[k] != NULL) b->gpu->release(b->x[k]);
    float *const matrices[] = {b->unit, b->whole, b->a, b->b, b->c};
    for (size_t k = 0; k < sizeof matrices / sizeof matrices[0]; k++)
        if (matrices[k] != NULL) b->gpu->release(matrices[k]);
    if (b->wide != NULL) b->gpu->release(b->wide);
    free(b->x);
}

/* Converts `from` (n) to binary64. Both arrays are on the device. */
static ulp_status widen(const bench *b, double *to, const float *from, size_t n) {
    float *x = malloc(n * sizeof *x);
    double *wide = malloc(n * sizeof *wide);
    ulp_status status = x == NULL || wide == NULL ? ULP_NO_MEMORY : b->gpu->download(x, from, n * sizeof *x);
    for (size_t i = 0; status == ULP_OK && i < n; i++) wide[i] = (double)x[i];
    if (status == ULP_OK) status = b->gpu->upload(to, wide, n * sizeof *wide);
    free(wide);
    free(x);
    return status;
}

/* Fills x (n) with numbers of a format. If binary32 does not hold all numbers of the format, x gets some that binary32
 * holds. */
static ulp_status numbers(const bench *b, float *x, size_t n, const ulp_format *format) {
    const float *from = format->is_fixed ? b->whole : b->unit;
    if (!format->fits_binary32) return ulp_cuda_copy(x, from, n * sizeof *x);
    return ulp_backend_round(b->gpu, x, from, n, (ulp_rounding){.format = format});
}

ulp_status operands(const bench *b, size_t m, const ulp_format *fa, const ulp_format *fb, int wide) {
    ULP_TRY(numbers(b, b->a, m, fa));
    ULP_TRY(numbers(b, b->b, m, fb));
    if (wide) ULP_TRY(widen(b, b->wide + m, b->a, m));
    return wide ? widen(b, b->wide + 2 * m, b->b, m) : ULP_OK;
}
