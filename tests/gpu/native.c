/* native.c - native products: their orders of summation, and the library's products against bounds, sums and models. */
#include "codes.h"

#include "kernels/cuda/unit.h"
#include "kernels/products/summation_tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The k of sums that are long enough to show promotion. */
enum { LONG = 2304 };

static int starts(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

static ulp_datapath path_of(row *r, const char *name) {
    ulp_datapath d;
    memset(&d, 0, sizeof d);
    row_ok(r, ulp_datapath_parse(&d, name), "%s", name);
    return d;
}

/* A row about the native product d; the next call overwrites its name. */
static row row_for(const char *what, const ulp_cuda_native *d) {
    static char name[160];
    snprintf(name, sizeof name, "%s %s", what, d->name + strlen("native:"));
    row r = row_of(name);
    if (!r.skipped && d->lacks[0] != '\0') row_skip(&r, "%s", d->lacks);
    return r;
}

/* ---- operands ---- */

static matrices matrices_of(size_t m, size_t n, size_t k, const ulp_cuda_native *d, uint64_t seed) {
    const ulp_rule rule = {ULP_RNE, ULP_OVERFLOW_SAT, 0};
    matrices x = {.m = m, .n = n, .k = k};
    matrices_alloc(&x);
    fill_normal(x.a, m * k, d->a.is_fixed ? 48.0 : 1.0, seed);
    fill_normal(x.b, k * n, d->b.is_fixed ? 48.0 : 1.0, seed + 1);
    for (size_t i = 0; i < m * k; i++) x.wide_a[i] = x.a[i] = (float)ulp_round((double)x.a[i], &d->a, rule, 0);
    for (size_t i = 0; i < k * n; i++) x.wide_b[i] = x.b[i] = (float)ulp_round((double)x.b[i], &d->b, rule, 0);
    return x;
}

/* ---- orders ---- */

/* The order of a sum of k products as text, and the length of its chain in *chain. Returns 0 if the search failed; the
 * row says why. */
static int find_order(row *r, const ulp_unit *unit, size_t k, char *text, size_t size, size_t *chain) {
    ulp_order order;
    const ulp_status status = ulp_order_find(&order, unit, k, 0);
    text[0] = '\0';
    *chain = 0;
    if (status == ULP_UNSUPPORTED)
        snprintf(text, size, "no tree: the order differs from sum to sum, or results are integers");
    else if (row_ok(r, status, "finding the order")) {
        ulp_order_text(text, size, &order, 0);
        *chain = ulp_order_chain(&order);
        ulp_order_free(&order);
    }
    return !r->stopped;
}

/* An instruction has the order of its model. Most pairs of formats of 4 and 6 bits lack the range for the search. */
static void check_order(const check *c, const ulp_cuda_native *d) {
    const size_t k = c->small ? 70 : 240;
    ulp_datapath path = {.name = ""};
    ulp_order order;
    if (ulp_datapath_parse(&path, d->model) != ULP_OK) return;
    const ulp_unit model = ulp_unit_of(&path);
    const ulp_status status = ulp_order_find(&order, &model, k, 0);
    if (status == ULP_OK) ulp_order_free(&order);
    if (status == ULP_NOT_IN_RANGE) return;
    row r = row_for("order of", d);
    char got[800], want[800];
    size_t chain, model_chain;
    const ulp_cuda_place place = {d, c->small ? 7 : 300, c->small ? 5 : 260};
    if (!r.skipped) {
        const ulp_unit unit = ulp_cuda_unit_in(&place);
        if (find_order(&r, &unit, k, got, sizeof got, &chain) &&
            find_order(&r, &model, k, want, sizeof want, &model_chain)) {
            row_true(&r, strcmp(got, want) == 0 && chain == model_chain, "found %s, but %s has %s", got, d->model,
                     want);
            if (r.wrong == 0) snprintf(r.first, sizeof r.first, "%.390s", got);
        }
    }
    row_end(&r);
}

/* ---- the library ---- */

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

/* x (n) = random integers from -most to most. */
static void fill_integers(float *x, double *wide, size_t n, uint32_t most, uint64_t seed) {
    for (size_t i = 0; i < n; i++) wide[i] = x[i] = (float)(int)(word_of(seed, i) % (2 * most + 1)) - (float)most;
}

/* Every partial sum of small integers is exact, in every order, with every number of kept bits, and in every type. */
static void compare_integers(const check *c, row *r, const ulp_cuda_native *d, size_t m, size_t n, size_t k,
                             int accumulate) {
    matrices x = {.m = m, .n = n, .k = k, .accumulate = accumulate, .wide = d->result.is_fixed};
    matrices_alloc(&x);
    fill_integers(x.a, x.wide_a, m * k, 2, 31);
    fill_integers(x.b, x.wide_b, k * n, 3, 32);
    fill_integers(x.c, x.wide_c, m * n, 40, 33);
    if (!r->stopped && device_codes(c, r, &x, d))
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < n; j++) {
                double want = accumulate ? x.wide_c[i * n + j] : 0.0;
                for (size_t q = 0; q < k; q++) want += x.wide_a[i * k + q] * x.wide_b[q * n + j];
                const double got = ulp_decode(x.got[i * n + j], &d->result);
                row_true(r, got == want, "element (%zu,%zu) of (%zu,%zu,%zu)%s: %g, has to be %g", i, j, m, n, k,
                         accumulate ? " on C" : "", got, want);
            }
    matrices_free(&x);
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
    char want[800];
    size_t chain;
    ulp_format result = d->result;
    const ulp_unit stated = {.dot = emulated_dot, .context = &result, .a = d->a, .b = d->b, .result = result};
    if (find_order(r, &stated, k, want, sizeof want, &chain))
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
        char what[80], text[800], model[ULP_DATAPATH_NAME_MAX];
        size_t chain;
        const ulp_cuda_place place = {d, sizes[i][0], sizes[i][1]};
        snprintf(what, sizeof what, "order in (%zu,%zu,%zu):", sizes[i][0], sizes[i][1], sizes[i][2]);
        row r = row_for(what, d);
        if (!r.skipped) {
            const ulp_unit unit = ulp_cuda_unit_in(&place);
            const int found = find_order(&r, &unit, sizes[i][2], text, sizeof text, &chain);
            row_true(&r, found, "no order");
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

/* Find the promotion interval with which the model gives every bit of an fp8 product; 0 means no promotion. With
 * expected < 0 the product is a call of the library: its order is its own matter, so that the row states what was
 * found. The emulated library has an order that no interval gives. */
static void check_promotion(const check *c, const ulp_cuda_native *d, const char *model, int64_t expected) {
    static const unsigned intervals[] = {0, 32, 64, 96, 128, 192, 256, 384, 512, 1024, 2048};
    row r = row_for("promotion in", d);
    if (!r.skipped) {
        matrices x = c->small ? matrices_of(9, 5, LONG, d, 21) : matrices_of(256, 256, 4608, d, 21);
        int64_t found = -1, several = 0;
        size_t least = x.m * x.n;
        const int fine = device_codes(c, &r, &x, d);
        for (size_t i = 0; fine && i < sizeof intervals / sizeof intervals[0]; i++) {
            char name[ULP_DATAPATH_NAME_MAX + 24];
            size_t wrong = 0;
            snprintf(name, sizeof name, intervals[i] == 0 ? "%s" : "%s:promote=%u", model, intervals[i]);
            const ulp_datapath path = path_of(&r, name);
            if (r.stopped || !model_codes(c, &r, &x, &path)) break;
            for (size_t e = 0; e < x.m * x.n; e++) wrong += x.got[e] != x.want[e];
            if (wrong < least) least = wrong;
            if (wrong != 0) continue;
            several += found >= 0;
            found = intervals[i];
        }
        if (c->emulated && expected < 0)
            row_true(&r, found < 0 && fine, "the emulated library gives the bits of %s, promote=%lld", model,
                     (long long)found);
        else if (expected < 0) row_true(&r, fine, "no results");
        else
            row_true(
                &r, found == expected && several == 0,
                "promotion every %lld products, not %lld; %lld more intervals give all bits; the nearest differs in "
                "%zu of %zu",
                (long long)found, (long long)expected, (long long)several, least, x.m * x.n);
        if (r.wrong == 0 && found < 0)
            snprintf(r.first, sizeof r.first, "none of 0, 32, ..., 2048 products: the nearest differs in %zu of %zu",
                     least, x.m * x.n);
        else if (r.wrong == 0 && several > 0)
            snprintf(r.first, sizeof r.first, "%lld intervals give all bits, the longest every %lld products",
                     (long long)several + 1, (long long)found);
        else if (r.wrong == 0 && found == 0)
            snprintf(r.first, sizeof r.first, "none: %s itself gives all %zu results", model, x.m * x.n);
        else if (r.wrong == 0)
            snprintf(r.first, sizeof r.first, "every %lld products: %s:promote=%lld gives all %zu results",
                     (long long)found, model, (long long)found, x.m * x.n);
        matrices_free(&x);
    }
    row_end(&r);
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

/* Fast accumulation changes results. According to the manual of cuBLAS the flag has an effect only on Ada and Hopper.
 */
static void check_fast(const check *c, const ulp_cuda_native *d) {
    row r = row_for("fast accumulation is another sum:", d);
    if (!r.skipped && c->info.capability != 89 && c->info.capability != 90)
        row_skip(&r, "the flag has an effect only on Ada and Hopper");
    if (!r.skipped) {
        char name[sizeof d->name];
        ulp_cuda_native plain;
        const size_t size = c->small ? 16 : 256;
        matrices x = matrices_of(size, size, LONG, d, 9), y = matrices_of(size, size, LONG, d, 9);
        snprintf(name, sizeof name, "%.*s", (int)(strlen(d->name) - strlen(":fast")), d->name);
        size_t differ = 0;
        if (row_ok(&r, ulp_cuda_native_parse(&plain, name), "%s", name) && device_codes(c, &r, &x, d) &&
            device_codes(c, &r, &y, &plain)) {
            for (size_t i = 0; i < x.m * x.n; i++) differ += x.got[i] != y.got[i];
            row_true(&r, differ > 0, "all %zu results are those of %s", x.m * x.n, name);
            if (r.wrong == 0)
                snprintf(r.first, sizeof r.first, "%zu of %zu results differ from those of %s", differ, x.m * x.n,
                         name);
        }
        matrices_free(&x);
        matrices_free(&y);
    }
    row_end(&r);
}

static void check_library(const check *c, const ulp_cuda_native *d) {
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

void check_native(const check *c) {
    ulp_cuda_native d;
    check_refused_scales(c);
    for (size_t i = 0; ulp_cuda_native_get(i, &d) == ULP_OK; i++) {
        if (!is_instruction(&d)) check_library(c, &d);
        if (d.lacks[0] != '\0' || !is_instruction(&d)) continue;
        if (d.model[0] != '\0' && !d.result.is_fixed && (!c->small || i % 4 == 0)) check_order(c, &d);
        if (strcmp(d.name, "native:wgmma:e4m3") == 0 || starts(d.name, "native:wgmma:e4m3:"))
            check_promotion(c, &d, "h100-e4m3", d.promote);
    }
}
