/* races.c - large products again and again: every time the same bits. */
#include "sums.h"

#include <stdio.h>
#include <stdlib.h>

/* Repetitions, and the size of the matrices: 8192 in long runs. */
enum { TIMES = 100, SIZE = 4096, LONG_SIZE = 8192, SMALL_SIZE = 150 };

/* x (n) = 256 normally distributed values of f in random order. */
static void fill_spread(float *x, size_t n, const ulp_format *f, uint64_t seed) {
    float value[256];
    const ulp_rule rule = {ULP_RNE, ULP_OVERFLOW_SAT, 0};
    fill_normal(value, 256, f->is_fixed ? 48.0 : 1.0, seed);
    for (size_t i = 0; i < 256; i++) value[i] = (float)ulp_round((double)value[i], f, rule, 0);
    for (size_t i = 0; i < n; i++) x[i] = value[(i * 0x9e3779b97f4a7c15u + seed) >> 56];
}

static void repeat(const check *c, const ulp_cuda_native *d) {
    row r = row_for("the same bits every time:", d);
    const size_t size = c->small ? SMALL_SIZE : c->lengthy ? LONG_SIZE : SIZE, n = size * size;
    const unsigned times = c->small ? 3 : TIMES;
    const ulp_gemm_shape s = {.m = size, .n = size, .k = size, .lda = size, .ldb = size, .ldc = size};
    if (!r.skipped) {
        float *x = room(n, sizeof *x);
        ulp_cuda_product *p = NULL;
        uint64_t differ = 0;
        fill_spread(x, n, &d->a, 61);
        float *a = to_device(c, &r, x, n * sizeof *x);
        fill_spread(x, n, &d->b, 62);
        float *b = to_device(c, &r, x, n * sizeof *x);
        if (a != NULL && b != NULL && row_ok(&r, ulp_cuda_product_begin(&p, d, NULL, a, b, &s), "begin") &&
            row_ok(&r, ulp_cuda_product_repeat(p, times, &differ), "%u times", times)) {
            row_true(&r, differ == 0, "%llu words of results of size %zu differ from the first ones in %u repetitions",
                     (unsigned long long)differ, size, times);
            r.compared = (uint64_t)times * n;
        }
        ulp_cuda_product_end(p);
        c->gpu->release(a);
        c->gpu->release(b);
        free(x);
    }
    row_end(&r);
}

void check_races(const check *c) {
    ulp_cuda_native d;
    for (size_t i = 0; ulp_cuda_native_get(i, &d) == ULP_OK; i++)
        if ((!c->small || i % 5 == 0) && !lacks_generation(&d)) repeat(c, &d);
}
