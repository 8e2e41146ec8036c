/* sums.c - which products, rows, operands, sums of integers, orders, shared by the checks of native products. */
#include "sums.h"

#include "kernels/products/summation_tree.h"

int is_instruction(const ulp_cuda_native *d) {
    return starts(d->name, "native:mma:") || starts(d->name, "native:wgmma:") || starts(d->name, "native:tcgen05:");
}

int lacks_generation(const ulp_cuda_native *d) {
    return d->lacks[0] != '\0' && is_instruction(d) && !starts(d->name, "native:mma:");
}

int is_left_out(const check *c, const ulp_cuda_native *d, size_t i) {
    return c->small && i % 4 != 0 && starts(d->name, "native:tcgen05:") && strchr(d->name, '.') != NULL;
}

ulp_datapath path_of(row *r, const char *name) {
    ulp_datapath d;
    memset(&d, 0, sizeof d);
    row_ok(r, ulp_datapath_parse(&d, name), "%s", name);
    return d;
}

row row_for(const char *what, const ulp_cuda_native *d) {
    static char name[160];
    snprintf(name, sizeof name, "%s %s", what, d->name + strlen("native:"));
    row r = row_of(name);
    if (!r.skipped && d->lacks[0] != '\0') row_skip(&r, "%s", d->lacks);
    return r;
}

matrices matrices_of(size_t m, size_t n, size_t k, const ulp_cuda_native *d, uint64_t seed) {
    const ulp_rule rule = {ULP_RNE, ULP_OVERFLOW_SAT, 0};
    matrices x = {.m = m, .n = n, .k = k};
    matrices_alloc(&x);
    fill_normal(x.a, m * k, d->a.is_fixed ? 48.0 : 1.0, seed);
    fill_normal(x.b, k * n, d->b.is_fixed ? 48.0 : 1.0, seed + 1);
    for (size_t i = 0; i < m * k; i++) x.wide_a[i] = x.a[i] = (float)ulp_round((double)x.a[i], &d->a, rule, 0);
    for (size_t i = 0; i < k * n; i++) x.wide_b[i] = x.b[i] = (float)ulp_round((double)x.b[i], &d->b, rule, 0);
    return x;
}

int find_order(row *r, const ulp_unit *unit, size_t k, char *text, size_t *chain) {
    ulp_order order;
    const ulp_status status = ulp_order_find(&order, unit, k, 0);
    text[0] = '\0';
    *chain = 0;
    if (status == ULP_UNSUPPORTED) snprintf(text, ORDER_TEXT, "%s", NO_TREE);
    else if (status == ULP_NOT_IN_RANGE) row_skip(r, "the formats lack the range for the search");
    else if (row_ok(r, status, "finding the order")) {
        ulp_order_text(text, ORDER_TEXT, &order, 0);
        if (strstr(text, "...") != NULL) row_true(r, 0, "the order of %zu products does not fit: %.100s", k, text);
        *chain = ulp_order_chain(&order);
        ulp_order_free(&order);
    }
    return !r->stopped && !r->skipped;
}

/* x (n) = random integers from -most to most. */
static void fill_integers(float *x, double *wide, size_t n, uint32_t most, uint64_t seed) {
    for (size_t i = 0; i < n; i++) wide[i] = x[i] = (float)(int)(word_of(seed, i) % (2 * most + 1)) - (float)most;
}

void compare_integers(const check *c, row *r, const ulp_cuda_native *d, size_t m, size_t n, size_t k, int accumulate) {
    matrices x = {.m = m, .n = n, .k = k, .accumulate = accumulate, .wide = !d->result.fits_binary32};
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

void check_promotion(const check *c, const ulp_cuda_native *d, const char *model, int64_t expected) {
    static const unsigned intervals[] = {0, 32, 64, 96, 128, 192, 256, 384, 512, 1024, 2048};
    row r = row_for("promotion in", d);
    if (!r.skipped) {
        matrices x = c->small ? matrices_of(9, 5, LONG_K, d, 21) : matrices_of(256, 256, 4608, d, 21);
        float *start = room(x.m * x.n, sizeof *start); /* the model's results overwrite C */
        x.accumulate = expected >= 0;
        if (x.accumulate) fill_normal(start, x.m * x.n, 4.0, 23);
        memcpy(x.c, start, x.m * x.n * sizeof *start);
        int64_t found = -1, several = 0;
        size_t least = x.m * x.n;
        const int fine = device_codes(c, &r, &x, d);
        for (size_t i = 0; fine && i < sizeof intervals / sizeof intervals[0]; i++) {
            char name[ULP_DATAPATH_NAME_MAX + 24];
            size_t wrong = 0;
            snprintf(name, sizeof name, intervals[i] == 0 ? "%s" : "%s:promote=%u", model, intervals[i]);
            const ulp_datapath path = path_of(&r, name);
            memcpy(x.c, start, x.m * x.n * sizeof *start);
            if (r.stopped || !model_codes(c, &r, &x, &path)) break;
            for (size_t e = 0; e < x.m * x.n; e++) wrong += x.got[e] != x.want[e];
            if (wrong < least) least = wrong;
            if (wrong != 0) continue;
            several += found >= 0;
            found = intervals[i];
        }
        const int asked = fine && !r.stopped;
        if (asked && c->emulated && expected < 0)
            row_true(&r, found < 0, "the emulated library gives the bits of %s, promote=%lld", model, (long long)found);
        else if (asked && expected < 0) r.compared += x.m * x.n; /* the row states what was found */
        else if (asked)
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
        free(start);
        matrices_free(&x);
    }
    row_end(&r);
}
