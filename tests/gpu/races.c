/* races.c - large products again and again: every time the same bits, and the bits of the model where it is asked. */
#include "sums.h"

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

/* Compare results in the corners and in the middle of a product (size,size) of A and B with the model. */
static void compare_places(const check *c, row *r, const ulp_cuda_native *d, const uint64_t *codes, const float *a,
                           const float *b, size_t size) {
    const size_t places[] = {0, 1, size / 4 + 3, size / 2 + 5, size - 2, size - 1},
                 n = sizeof places / sizeof places[0];
    const ulp_datapath path = path_of(r, d->model);
    matrices x = {.m = n, .n = n, .k = size};
    matrices_alloc(&x);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < size; k++) {
            x.wide_a[i * size + k] = x.a[i * size + k] = a[places[i] * size + k];
            x.wide_b[k * n + i] = x.b[k * n + i] = b[k * size + places[i]];
        }
    for (size_t e = 0; e < n * n; e++) x.got[e] = codes[places[e / n] * size + places[e % n]];
    if (!r->stopped && model_codes(c, r, &x, &path))
        row_words(r, x.got, x.want, n * n, "%zux%zu places of the product, %s", n, n, d->model);
    matrices_free(&x);
}

/* The last of the repeated products p. */
static void compare_last(const check *c, row *r, const ulp_cuda_native *d, ulp_cuda_product *p, const float *a,
                         const float *b, size_t size) {
    const size_t bytes = size * size * sizeof(uint64_t);
    uint64_t *codes = room(size * size, sizeof *codes), *device = c->gpu->alloc(bytes);
    if (row_ok(r, device != NULL ? ULP_OK : ULP_NO_MEMORY, "alloc") &&
        row_ok(r, ulp_cuda_product_codes(p, device), "codes") && from_device(c, r, codes, device, bytes))
        compare_places(c, r, d, codes, a, b, size);
    c->gpu->release(device);
    free(codes);
}

static void repeat(const check *c, const ulp_cuda_native *d) {
    row r = row_for("the same bits every time:", d);
    const size_t size = c->small ? SMALL_SIZE : c->lengthy ? LONG_SIZE : SIZE, n = size * size;
    const unsigned times = c->small ? 2 : TIMES;
    const ulp_gemm_shape s = {.m = size, .n = size, .k = size, .lda = size, .ldb = size, .ldc = size};
    if (!r.skipped) {
        float *x = room(n, sizeof *x), *y = room(n, sizeof *y);
        ulp_cuda_product *p = NULL;
        uint64_t differ = 0;
        fill_spread(x, n, &d->a, 61);
        fill_spread(y, n, &d->b, 62);
        float *a = to_device(c, &r, x, n * sizeof *x), *b = to_device(c, &r, y, n * sizeof *y);
        if (a != NULL && b != NULL && row_ok(&r, ulp_cuda_product_begin(&p, d, NULL, a, b, &s), "begin") &&
            row_ok(&r, ulp_cuda_product_repeat(p, times, &differ), "%u times", times)) {
            row_true(&r, differ == 0, "%llu words of results of size %zu differ from the first ones in %u repetitions",
                     (unsigned long long)differ, size, times - 1);
            r.compared = (uint64_t)(times - 1) * n; /* all products but the first one, with the first one */
            if (d->model[0] != '\0') compare_last(c, &r, d, p, x, y, size);
        }
        ulp_cuda_product_end(p);
        c->gpu->release(a);
        c->gpu->release(b);
        free(x);
        free(y);
    }
    row_end(&r);
}

void check_races(const check *c) {
    ulp_cuda_native d;
    for (size_t i = 0; ulp_cuda_native_get(i, &d) == ULP_OK; i++)
        if ((!c->small || i % 5 == 0) && !lacks_generation(&d)) repeat(c, &d);
}
