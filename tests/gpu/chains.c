/* chains.c - long sums of instructions: their order, their promotion, binary64, 8-bit integers that clamp. */
#include "sums.h"

#include "kernels/cuda/unit.h"

/* An instruction has the order of its model. */
static void check_order(const check *c, const ulp_cuda_native *d) {
    row r = row_for("order of", d);
    char got[ORDER_TEXT], want[ORDER_TEXT];
    size_t chain, model_chain;
    const size_t k = c->small ? 70 : 240;
    const ulp_cuda_place place = {d, c->small ? 7 : 300, c->small ? 5 : 260};
    if (!r.skipped) {
        const ulp_datapath path = path_of(&r, d->model);
        const ulp_unit unit = ulp_cuda_unit_in(&place), model = ulp_unit_of(&path);
        const int known = find_order(&r, &model, k, want, &model_chain);
        if (known && strcmp(want, NO_TREE) == 0) {
            row_skip(&r, "%s has no tree", d->model);
        } else if (known) { /* a search that finds nothing on the device is a difference, too */
            find_order(&r, &unit, k, got, &chain);
            row_true(&r, strcmp(got, want) == 0 && chain == model_chain, "found %s, but %s has %s", got, d->model,
                     want);
            if (r.wrong == 0) snprintf(r.first, sizeof r.first, "%.390s", got);
        }
    }
    row_end(&r);
}

/* Sums of binary64 are chains of fma in ascending k. For k that is no multiple of 4 the product is padded, and a sum of
 * -0 stays -0. */
static void check_binary64(const check *c) {
    row r = row_of("binary64: k = 1 to 7, zeros of both signs, long chains");
    ulp_cuda_native d;
    if (!r.skipped && row_ok(&r, ulp_cuda_native_parse(&d, "native:mma:fp64"), "parse")) {
        const ulp_datapath path = path_of(&r, d.model);
        for (size_t k = 1; k <= 10 && !r.stopped; k++)
            for (int zeros = 0; zeros < 2; zeros++) {
                matrices x = matrices_of(9, 10, k <= 7 ? k : 100 * k + 1, &d, 40 + k);
                x.wide = x.accumulate = 1;
                for (size_t i = 0; i < x.m * x.k; i++)
                    x.wide_a[i] = zeros ? 0.0 * x.wide_a[i] : ulp_scale(x.wide_a[i], (int)word_of(41, i) % 40);
                for (size_t i = 0; i < x.m * x.n; i++) x.wide_c[i] = zeros ? -0.0 : (double)(int)word_of(42, i);
                if (device_codes(c, &r, &x, &d) && model_codes(c, &r, &x, &path))
                    row_words(&r, x.got, x.want, x.m * x.n, "k = %zu, %s", x.k, zeros ? "zeros" : "numbers");
                matrices_free(&x);
            }
    }
    row_end(&r);
}

/* Products of 8-bit integers on starts near the ends of 32 bits, which pass an end and come back within an
 * instruction. */
static void check_clamps(const check *c, const ulp_cuda_native *d) {
    row r = row_for("beyond 32 bits and back:", d);
    if (!r.skipped && d->model[0] == '\0') row_skip(&r, "no model is known for this device");
    if (!r.skipped) {
        const ulp_datapath path = path_of(&r, d->model);
        matrices x = matrices_of(40, 30, 96, d, 50);
        x.wide = x.accumulate = 1;
        for (size_t i = 0; i < x.m * x.k; i++) x.wide_a[i] = word_of(51, i) % 2 ? 127.0 : -128.0;
        for (size_t i = 0; i < x.k * x.n; i++) x.wide_b[i] = word_of(52, i) % 2 ? 127.0 : -128.0;
        for (size_t i = 0; i < x.m * x.n; i++)
            x.wide_c[i] =
                i % 2 ? 0x1p31 - 1.0 - (double)(word_of(53, i) % 100000) : (double)(word_of(53, i) % 100000) - 0x1p31;
        if (device_codes(c, &r, &x, d) && model_codes(c, &r, &x, &path))
            row_words(&r, x.got, x.want, x.m * x.n, "%s", d->model);
        matrices_free(&x);
    }
    row_end(&r);
}

static void check_promotions(const check *c) {
    static const char *const names[] = {"native:wgmma:e4m3", "native:wgmma:e4m3:promote=32",
                                        "native:wgmma:e4m3:promote=64", "native:wgmma:e4m3:promote=128"};
    ulp_cuda_native d;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (ulp_cuda_native_parse(&d, names[i]) == ULP_OK) check_promotion(c, &d, "h100-e4m3", d.promote);
}

void check_chains(const check *c) {
    ulp_cuda_native d;
    check_binary64(c);
    for (size_t i = 0; ulp_cuda_native_get(i, &d) == ULP_OK; i++) {
        if (!is_instruction(&d) || lacks_generation(&d)) continue;
        if (d.result.is_fixed) check_clamps(c, &d);
        else if (d.lacks[0] == '\0' && d.model[0] != '\0' && (!c->small || i % 8 == 0)) check_order(c, &d);
    }
    check_promotions(c);
}
