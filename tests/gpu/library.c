/* library.c - the products of cuBLASLt against bounds, sums, orders and models. */
#include "sums.h"

#include "kernels/cuda/unit.h"

/* |error| <= gamma_k sum |a b| with gamma_k = k u / (1 - k u), for every order (Higham 2002, section 3.1). */
static void check_bound(const check *c, const ulp_cuda_native *d) {
    row r = row_for("within the bound of any order:", d);
    if (!r.skipped) {
        matrices x = c->small ? matrices_of(60, 50, 300, d, 5) : matrices_of(300, 280, 700, d, 5);
        const double u = ulp_scale(1.0, -(int)d->result.prec), gamma = (double)x.k * u / (1.0 - (double)x.k * u);
        const int made = device_codes(c, &r, &x, d);
        for (size_t i = 0; made && i < x.m; i++)
            for (size_t j = 0; j < x.n; j++) {
                double exact = 0.0, size = 0.0; /* their own errors are about 2^-43 of the bound */
                for (size_t k = 0; k < x.k; k++) {
                    exact += x.wide_a[i * x.k + k] * x.wide_b[k * x.n + j];
                    size += fabs(x.wide_a[i * x.k + k] * x.wide_b[k * x.n + j]);
                }
                const double got = ulp_decode(x.got[i * x.n + j], &d->result);
                row_true(&r, fabs(got - exact) <= gamma * size * 1.0000001, "element (%zu,%zu): %a, exact %a", i, j,
                         got, exact);
            }
        matrices_free(&x);
    }
    row_end(&r);
}

/* Compare every result of the library with the model, bit for bit. */
static void compare_with(const check *c, row *r, const ulp_cuda_native *d, const char *model, size_t m, size_t n,
                         size_t k) {
    const ulp_datapath path = path_of(r, model);
    matrices x = matrices_of(m, n, k, d, 11);
    if (!r->stopped && device_codes(c, r, &x, d) && model_codes(c, r, &x, &path))
        for (size_t i = 0; i < m * n; i++)
            row_true(r, x.got[i] == x.want[i], "element (%zu,%zu) of (%zu,%zu,%zu): the library gives %llx, %s %llx",
                     i / n, i % n, m, n, k, (unsigned long long)x.got[i], model, (unsigned long long)x.want[i]);
    matrices_free(&x);
}

static void check_exact(const check *c, const ulp_cuda_native *d) {
    row r = row_for("exact:", d);
    if (!r.skipped && c->small) compare_with(c, &r, d, d->model, 60, 50, 300);
    else if (!r.skipped) compare_with(c, &r, d, d->model, 300, 280, 700);
    row_end(&r);
}

/* Sizes that are multiples of the library's alignments, and other sizes. Each product differs from the one before in k,
 * in n or in m, so that descriptors that are kept from the product before are wrong. The last case is the first one. */
static void check_integers(const check *c, const ulp_cuda_native *d) {
    static const struct {
        size_t m, n, k;
        int accumulate;
    } cases[] = {{37, 21, 70, 0}, {37, 21, 70, 1}, {37, 21, 40, 1}, {37, 40, 40, 0}, {20, 40, 40, 1}, {16, 48, 64, 0},
                 {1, 1, 1, 0},    {5, 3, 0, 1},    {3, 5, 0, 0},    {70, 99, 41, 1}, {37, 21, 70, 0}};
    row r = row_for("sums of small integers:", d);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0] && !r.skipped; i++)
        compare_integers(c, &r, d, cases[i].m, cases[i].n, cases[i].k, cases[i].accumulate);
    row_end(&r);
}

/* to = the model of an instruction for the types of d that sums `length` products at once. Returns 0 if there is none.
 */
static int row_with_length(char *to, const ulp_cuda_native *d, size_t length) {
    static const char *const families[] = {"native:wgmma:", "native:mma:"}, *const ends[] = {"", "-k8", "-k4"};
    char type[64];
    ulp_cuda_native other;
    ulp_datapath path;
    snprintf(type, sizeof type, "%.*s", (int)strcspn(d->name + strlen("native:"), ":"), d->name + strlen("native:"));
    for (size_t f = 0; f < 2; f++)
        for (size_t e = 0; e < 3; e++) {
            char name[160];
            memset(&path, 0, sizeof path);
            snprintf(name, sizeof name, "%s%s%s", families[f], type, ends[e]);
            if (ulp_cuda_native_parse(&other, name) != ULP_OK || other.model[0] == '\0' ||
                ulp_datapath_parse(&path, other.model) != ULP_OK)
                continue;
            if (path.kind != ULP_ALIGNED || path.fused.length != length || path.fused.late) continue;
            strcpy(to, other.model);
            return 1;
        }
    return 0;
}

/* The order of the emulated library, written a second time: the sum of even k, plus the sum of odd k. */
static ulp_status emulated_dot(void *context, uint64_t *code, double c, ulp_products p) {
    const ulp_rule rule = {ULP_RNE, ULP_OVERFLOW_INF, 0};
    const ulp_format *f = context;
    double sums[2] = {0.0, 0.0};
    for (size_t i = 0; i < p.k; i++) sums[i % 2] = ulp_round(sums[i % 2] + p.a[i] * p.b[i], f, rule, 0);
    return ulp_encode(code, ulp_round(c + ulp_round(sums[0] + sums[1], f, rule, 0), f, rule, 0), f);
}

static void compare_with_emulated(row *r, const ulp_cuda_native *d, const char *got, size_t k) {
    char want[ORDER_TEXT];
    size_t chain;
    ulp_format result = d->result;
    const ulp_unit stated = {.dot = emulated_dot, .context = &result, .a = d->a, .b = d->b, .result = result};
    if (find_order(r, &stated, k, want, &chain))
        row_true(r, strcmp(got, want) == 0, "found %.150s, not the emulated library's %.150s", got, want);
}

/* Find the order of the library's sums. If the order is a chain of blocks of a Tensor Core row, the results have the
 * bits of this row. */
static void check_library_order(const check *c, const ulp_cuda_native *d) {
    static const size_t large[][3] = {{16, 16, 128}, {512, 512, 256}, {1024, 768, 256}},
                        small[][3] = {{16, 16, 64}, {40, 24, 35}};
    const int few = c->small || c->emulated;
    const size_t(*const sizes)[3] = few ? small : large,
                        count = few ? sizeof small / sizeof small[0] : sizeof large / sizeof large[0];
    for (size_t i = 0; i < count; i++) {
        char what[80], text[ORDER_TEXT], model[ULP_DATAPATH_NAME_MAX];
        size_t chain;
        const ulp_cuda_place place = {d, sizes[i][0], sizes[i][1]};
        snprintf(what, sizeof what, "order in (%zu,%zu,%zu):", sizes[i][0], sizes[i][1], sizes[i][2]);
        row r = row_for(what, d);
        if (!r.skipped) {
            const ulp_unit unit = ulp_cuda_unit_in(&place);
            const int found = find_order(&r, &unit, sizes[i][2], text, &chain);
            if (found) r.compared++; /* the order is the library's own matter: the row states it */
            if (found && c->emulated) compare_with_emulated(&r, d, text, sizes[i][2]);
            if (found && chain > 0 && row_with_length(model, d, chain))
                compare_with(c, &r, d, model, sizes[i][0], sizes[i][1], sizes[i][2]);
            else model[0] = '\0';
            if (r.wrong == 0)
                snprintf(r.first, sizeof r.first, "%.300s%s%s", text, model[0] != '\0' ? ", the bits of " : "", model);
        }
        row_end(&r);
    }
}

/* to (m,n) = the device's product of x, as values. */
static int device_values(const check *c, row *r, const matrices *x, const ulp_cuda_native *d, float *to) {
    const ulp_gemm_shape s = matrices_shape(x);
    float *a = to_device(c, r, x->a, x->m * x->k * sizeof *a), *b = to_device(c, r, x->b, x->k * x->n * sizeof *b);
    float *out = c->gpu->alloc(x->m * x->n * sizeof *out);
    const int done = a != NULL && b != NULL && out != NULL &&
                     row_ok(r, ulp_cuda_native_gemm(d, out, a, b, &s), "%s", d->name) &&
                     from_device(c, r, to, out, x->m * x->n * sizeof *to);
    c->gpu->release(a);
    c->gpu->release(b);
    c->gpu->release(out);
    return done;
}

/* Scales that are powers of two multiply the results exactly. */
static void check_scales(const check *c, const ulp_cuda_native *d) {
    row r = row_for("scales of A and B:", d);
    if (!r.skipped) {
        matrices x = c->small ? matrices_of(30, 40, 64, d, 3) : matrices_of(70, 90, 256, d, 3);
        float *plain = room(x.m * x.n, sizeof *plain), *scaled = room(x.m * x.n, sizeof *scaled);
        ulp_cuda_native with = *d;
        with.a_scale = 0.125f;
        with.b_scale = 32.0f;
        if (device_values(c, &r, &x, d, plain) && device_values(c, &r, &x, &with, scaled)) {
            for (size_t i = 0; i < x.m * x.n; i++) plain[i] *= 4.0f;
            row_floats(&r, scaled, plain, x.m * x.n, "1/8 and 32");
        }
        free(plain);
        free(scaled);
        matrices_free(&x);
    }
    row_end(&r);
}

/* How many results fast accumulation changes. According to the manual of cuBLAS the flag has an effect only on Ada and
 * Hopper.
 */
static void check_fast(const check *c, const ulp_cuda_native *d) {
    row r = row_for("results that fast accumulation changes:", d);
    if (!r.skipped && c->info.capability != 89 && c->info.capability != 90)
        row_skip(&r, "the flag has an effect only on Ada and Hopper");
    if (!r.skipped) {
        char name[sizeof d->name];
        ulp_cuda_native plain;
        const size_t size = c->small ? 16 : 256;
        matrices x = matrices_of(size, size, LONG_K, d, 9), y = matrices_of(size, size, LONG_K, d, 9);
        snprintf(name, sizeof name, "%.*s", (int)(strlen(d->name) - strlen(":fast")), d->name);
        size_t differ = 0;
        if (row_ok(&r, ulp_cuda_native_parse(&plain, name), "%s", name) && device_codes(c, &r, &x, d) &&
            device_codes(c, &r, &y, &plain)) {
            for (size_t i = 0; i < x.m * x.n; i++) differ += x.got[i] != y.got[i];
            r.compared += x.m * x.n; /* the effect is the library's own matter: the row states it */
            if (c->emulated) row_true(&r, differ > 0, "all %zu results are those of %s", x.m * x.n, name);
            if (r.wrong == 0)
                snprintf(r.first, sizeof r.first, "%zu of %zu results differ from those of %s", differ, x.m * x.n,
                         name);
        }
        matrices_free(&x);
        matrices_free(&y);
    }
    row_end(&r);
}

static void check_product(const check *c, const ulp_cuda_native *d) {
    const int fp8 = d->a.bits == 8 && !d->a.is_fixed;
    if (d->model[0] != '\0') check_exact(c, d);
    else if (d->a.prec == 24) check_bound(c, d);
    check_integers(c, d);
    if (!d->result.is_fixed) check_library_order(c, d);
    if (fp8) check_scales(c, d);
    if (d->fast) check_fast(c, d);
    if (fp8 && c->info.capability == 90) {
        char model[64];
        snprintf(model, sizeof model, "h100-%.*s", (int)strcspn(d->name + strlen("native:"), ":"),
                 d->name + strlen("native:"));
        check_promotion(c, d, model, -1);
    }
}

void check_library(const check *c) {
    ulp_cuda_native d;
    check_refused_scales(c);
    for (size_t i = 0; ulp_cuda_native_get(i, &d) == ULP_OK; i++)
        if (!is_instruction(&d)) check_product(c, &d);
}
