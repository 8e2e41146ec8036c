/* tensor.c - models of Tensor Core instructions against the instructions: the codes of all results, NaN included. */
#include "operands.h"
#include "sums.h"

#include "kernels/cuda/unit.h"
#include "kernels/probe/probe.h"

/* ---- trials ---- */

static int is_nan(uint64_t code, const ulp_format *f) {
    const double x = ulp_decode(code, f);
    return x != x;
}

/* The code of a NaN is a property of an instruction, except for binary64, whose silicon may have any. */
static int is_same(const matrices *t, size_t i, const ulp_cuda_native *d) {
    return t->got[i] == t->want[i] ||
           (d->result.bits == 64 && is_nan(t->got[i], &d->result) && is_nan(t->want[i], &d->result));
}

static void compare(row *r, const matrices *t, kind what, const ulp_cuda_native *d) {
    for (size_t i = 0; i < t->m * t->n; i++)
        row_true(r, is_same(t, i, d), "%s, (%zu,%zu,%zu)%s: element (%zu,%zu): the instruction gives %0*llx, %s %0*llx",
                 kind_name(what), t->m, t->n, t->k, t->accumulate ? " on C" : "", i / t->n, i % t->n,
                 (int)d->result.bits / 4, (unsigned long long)t->got[i], d->model, (int)d->result.bits / 4,
                 (unsigned long long)t->want[i]);
}

/* Results that are zero, Inf or NaN say little, so that most operands and results have to be other numbers. */
static void require_ordinary(row *r, const matrices *t, kind what, const ulp_format *result) {
    size_t n[] = {t->m * t->k, t->k * t->n, t->m * t->n},
           ordinary[] = {count_ordinary(t->wide_a, n[0]), count_ordinary(t->wide_b, n[1]), 0};
    static const char *const names[] = {"elements of A", "elements of B", "results"};
    for (size_t i = 0; i < n[2]; i++) {
        const double y = ulp_decode(t->want[i], result);
        ordinary[2] += count_ordinary(&y, 1);
    }
    for (size_t i = 0; i < 3; i++)
        if (n[i] >= 64 && 2 * ordinary[i] < n[i]) /* the smallest products have too few */
            row_true(r, 0, "%s, (%zu,%zu,%zu): %zu of %zu %s are finite and not zero", kind_name(what), t->m, t->n,
                     t->k, ordinary[i], n[i], names[i]);
}

static void run_trial(const check *c, row *r, const ulp_cuda_native *d, const ulp_datapath *path, kind what, size_t m,
                      size_t n, size_t k, int accumulate) {
    matrices t = {.m = m, .n = n, .k = k, .accumulate = accumulate, .wide = 1};
    if (d->scale_block != 0) t.blocks = (k + d->scale_block - 1) / d->scale_block;
    matrices_alloc(&t);
    if (what == CANCELLING) { /* NULL stands for scales of 1 */
        free(t.b_scales);
        t.b_scales = NULL;
    }
    fill_operands(&t, what, d, 1000u * d->row + 100u * what + k);
    if (device_codes(c, r, &t, d) && model_codes(c, r, &t, path)) {
        compare(r, &t, what, d);
        if (what != SIGNS) require_ordinary(r, &t, what, &d->result);
    }
    matrices_free(&t);
}

/* Every kind of data, with sizes that are multiples of the tiles and other sizes. On a device the trials of an
 * instruction have more than a million results. */
static void run_trials(const check *c, row *r, const ulp_cuda_native *d, const ulp_datapath *path) {
    for (int what = 0; what < KINDS && !r->stopped; what++) {
        if (d->a.is_fixed && (what == TINY || what == ZEROS || what == TIES)) continue;
        const kind w = (kind)what;
        if (c->small) {
            run_trial(c, r, d, path, w, 13, 7, what == LONG ? 300 : 40, what % 2);
            if (what == NORMAL) run_trial(c, r, d, path, w, 70, 9, 70, 1); /* more than one tile */
        } else if (what == LONG) {
            run_trial(c, r, d, path, w, 160, 161, 8192, 0);
        } else {
            run_trial(c, r, d, path, w, 448, 449, 32, 1);
            run_trial(c, r, d, path, w, 321, 300, 147, 0);
            run_trial(c, r, d, path, w, 16, 8, 64, 1);
        }
    }
    /* most instructions need padding for these k; padding must not change the sign of a zero sum */
    for (size_t k = 1; k <= 7 && !d->a.is_fixed; k++) {
        run_trial(c, r, d, path, SIGNS, 5, 3, k, 1);
        run_trial(c, r, d, path, SIGNS, 5, 3, k, 0);
    }
    run_trial(c, r, d, path, NORMAL, 5, 3, 0, 1);
    run_trial(c, r, d, path, NORMAL, 3, 5, 1, 0);
}

static void check_native_row(const check *c, const ulp_cuda_native *d) {
    char name[160];
    ulp_datapath path;
    memset(&path, 0, sizeof path);
    snprintf(name, sizeof name, "%s is %s", d->name + strlen("native:"), d->model[0] != '\0' ? d->model : "no row");
    row r = row_of(name);
    if (r.skipped) return;
    if (d->lacks[0] != '\0') row_skip(&r, "%s", d->lacks);
    else if (d->model[0] == '\0') row_skip(&r, "no model is known for this device");
    else if (row_ok(&r, ulp_datapath_parse(&path, d->model), "%s", d->model)) run_trials(c, &r, d, &path);
    row_end(&r);
}

/* Products as values instead of codes, in every layout; refused operands and names. */
static void check_values(const check *c) {
    row r = row_of("values of native products: layouts, and what is refused");
    ulp_cuda_native d, whole;
    ulp_datapath path;
    memset(&path, 0, sizeof path);
    enum { M = 19, N = 21, K = 23, LD = 40, ALL = LD * LD };
    float a[ALL], b[ALL], start[ALL], got[ALL], want[ALL];
    if (r.skipped || !row_ok(&r, ulp_cuda_native_parse(&d, "native:mma:fp16"), "parse") || d.model[0] == '\0') {
        row_end(&r);
        return;
    }
    row_ok(&r, ulp_datapath_parse(&path, d.model), "%s", d.model);
    fill_codes(a, ALL, &d.a, 1, 3);
    fill_codes(b, ALL, &d.b, 1, 4);
    fill_normal(start, ALL, 3.0, 5);
    float *da = to_device(c, &r, a, sizeof a), *db = to_device(c, &r, b, sizeof b),
          *dc = to_device(c, &r, start, sizeof start);
    for (unsigned which = 0; which < 16 && !r.stopped; which++) {
        const ulp_gemm_shape s = {.m = M,
                                  .n = N,
                                  .k = K,
                                  .lda = LD,
                                  .ldb = LD,
                                  .ldc = LD,
                                  .a_trans = which & 1,
                                  .b_trans = which >> 1 & 1,
                                  .c_trans = which >> 2 & 1,
                                  .accumulate = (uint8_t)(which >> 3)};
        memcpy(want, start, sizeof want);
        row_ok(&r, c->gpu->upload(dc, start, sizeof start), "upload");
        row_ok(&r, ulp_cuda_native_gemm(&d, dc, da, db, &s), "layout %u", which);
        row_ok(&r, ulp_backend_gemm(c->cpu, want, a, b, &s, (ulp_summation){.datapath = &path}), "layout %u on the CPU",
               which);
        if (from_device(c, &r, got, dc, sizeof got)) row_floats(&r, got, want, ALL, "layout %u", which);
    }
    const ulp_gemm_shape s = {.m = M, .n = N, .k = K, .lda = LD, .ldb = LD, .ldc = LD};
    a[K - 1] = 1.0f + 0x1p-11f;
    row_ok(&r, c->gpu->upload(da, a, sizeof a), "upload");
    row_true(&r, ulp_cuda_native_gemm(&d, dc, da, db, &s) == ULP_NO_CODE, "1 + 2^-11 is no fp16");
    row_true(&r,
             ulp_cuda_native_parse(&whole, "native:mma:int8") == ULP_OK &&
                 ulp_cuda_native_gemm(&whole, dc, da, db, &s) == ULP_UNSUPPORTED,
             "int32 results do not fit floats");
    row_true(&r, ulp_cuda_native_gemm(&d, dc, NULL, db, &s) == ULP_BAD_ARGUMENT, "no A");
    static const char *const strange[] = {"native:",
                                          "native:mma:",
                                          "native:mma:fp17",
                                          "mma:fp16",
                                          "native:mma:fp16:promote=128",
                                          "native:wgmma:e4m3:promote=0",
                                          "native:wgmma:e4m3:promote=48",
                                          "native:wgmma:e4m3:promote=64x",
                                          "native:wgmma:e4m3-fp16:promote=64",
                                          "native:mma:fp16 "};
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++)
        row_true(&r, ulp_cuda_native_parse(&whole, strange[i]) == ULP_BAD_NAME, "'%s' was taken", strange[i]);
    row_true(&r,
             ulp_cuda_native_parse(&whole, "native:wgmma:bf16:promote=48") == ULP_OK && whole.promote == 48 &&
                 strcmp(whole.name, "native:wgmma:bf16:promote=48") == 0,
             "promote=48 is three bf16 instructions");
    row_true(&r,
             ulp_cuda_native_parse(&whole, "native:WGMMA:bf16:PROMOTE=048") == ULP_OK &&
                 strcmp(whole.name, "native:wgmma:bf16:promote=48") == 0,
             "a native product has one text");
    c->gpu->release(da);
    c->gpu->release(db);
    c->gpu->release(dc);
    row_end(&r);
}

/* Products that a row asks by name. */
typedef struct named {
    row *r;
    char without[300]; /* those that the device lacks or that have no model, for the end of the row */
} named;

/* *d and *path = the product `name` and its model. Returns 0 if the device lacks it, or no model is known. */
static int has_model(named *all, ulp_cuda_native *d, ulp_datapath *path, const char *name) {
    memset(path, 0, sizeof *path);
    if (!row_ok(all->r, ulp_cuda_native_parse(d, name), "%s", name)) return 0;
    if (d->lacks[0] == '\0' && d->model[0] != '\0')
        return row_ok(all->r, ulp_datapath_parse(path, d->model), "%s", d->model);
    const size_t used = strlen(all->without);
    snprintf(all->without + used, sizeof all->without - used, " %s", name + strlen("native:"));
    return 0;
}

static void named_end(named *all) {
    if (all->r->wrong == 0 && all->without[0] != '\0')
        snprintf(all->r->first, sizeof all->r->first, "without%s, which this device lacks", all->without);
    row_end(all->r);
}

/* Results with several rows and columns of tiles, and results with more than 65535 columns of tiles, which is the
 * largest second dimension of a grid. */
static void check_tiles(const check *c) {
    row r = row_of("results of many tiles");
    named all = {&r, ""};
    enum { SMALL_ONES = 6, MANY = 65536 };
    static const struct {
        const char *name;
        size_t m, n;
    } cases[] = {{"native:mma:fp16", 130, 260},
                 {"native:wgmma:fp16", 300, 130},
                 {"native:tcgen05:fp16", 300, 130},
                 {"native:tcgen05:e2m1-nvf4", 130, 270},
                 {"native:mma:fp64", 20, 37},
                 {"native:mma:fp64", 2, MANY * 8 + 3},
                 {"native:mma:fp16-fp16", 2, MANY * 64 + 3},
                 {"native:wgmma:fp16-fp16", 2, MANY * 128 + 3}};
    for (size_t i = 0; i < (c->small ? SMALL_ONES : sizeof cases / sizeof cases[0]) && !r.skipped; i++) {
        ulp_cuda_native d;
        ulp_datapath path;
        if (has_model(&all, &d, &path, cases[i].name)) run_trial(c, &r, &d, &path, CODES, cases[i].m, cases[i].n, 1, 0);
    }
    named_end(&all);
}

/* One sum with a start value, through the interface of the prober: alone, and in the corner of a larger product. */
static void compare_sum(row *r, const ulp_cuda_native *d, const ulp_datapath *path, size_t k, double start) {
    enum { MOST = 40 };
    float x[2 * MOST];
    double a[MOST], b[MOST];
    const ulp_products products = {a, b, k, NULL, NULL};
    const ulp_cuda_place place = {d, 19, 11};
    const ulp_unit model = ulp_unit_of(path), units[] = {ulp_cuda_unit_of(d), ulp_cuda_unit_in(&place)};
    uint64_t want = 0;
    fill_normal(x, 2 * MOST, 3.0, 300 + k);
    for (size_t i = 0; i < k; i++) /* a third of a float has all bits of a double */
        a[i] = in_format((double)x[i] / 3.0, &d->a), b[i] = in_format((double)x[MOST + i] / 3.0, &d->b);
    if (!row_ok(r, model.dot(model.context, &want, start, products), "%s on the CPU", path->name)) return;
    for (size_t u = 0; u < sizeof units / sizeof units[0]; u++) {
        uint64_t got = ~want;
        row_ok(r, units[u].dot(units[u].context, &got, start, products), "%s", d->name);
        row_true(r, got == want, "%s, %s: %a and %zu products: %llx, %s %llx", d->name,
                 u == 0 ? "alone" : "in a product", start, k, (unsigned long long)got, path->name,
                 (unsigned long long)want);
    }
}

static void check_starts(void) {
    row r = row_of("sums on starts, one at a time");
    named all = {&r, ""};
    static const char *const names[] = {"native:mma:fp16",     "native:mma:fp16-fp16", "native:mma:bf16",
                                        "native:mma:tf32",     "native:mma:fp64",      "native:mma:e4m3",
                                        "native:mma:e5m2",     "native:wgmma:bf16",    "native:wgmma:e4m3",
                                        "native:tcgen05:bf16", "native:tcgen05:e2m1"};
    static const double starts[] = {1.0, -12.0, 0x1p-20, -0x1.8p10, -0.0};
    static const size_t lengths[] = {0, 1, 5, 40};
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !r.skipped; i++) {
        ulp_cuda_native d;
        ulp_datapath path;
        if (!has_model(&all, &d, &path, names[i])) continue;
        for (size_t s = 0; s < sizeof starts / sizeof starts[0]; s++)
            for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++)
                compare_sum(&r, &d, &path, lengths[k], starts[s]);
    }
    named_end(&all);
}

/* The prober finds the same properties of the instruction and of its model. */
static void check_probe(const ulp_cuda_native *d) {
    char name[160];
    ulp_datapath path;
    ulp_probe silicon, model;
    memset(&path, 0, sizeof path);
    snprintf(name, sizeof name, "probe of %s", d->name + strlen("native:"));
    row r = row_of(name);
    if (r.skipped) return;
    const ulp_unit unit = ulp_cuda_unit_of(d);
    if (d->lacks[0] != '\0') row_skip(&r, "%s", d->lacks);
    else if (d->model[0] == '\0') row_skip(&r, "no model is known for this device");
    else if (row_ok(&r, ulp_datapath_parse(&path, d->model), "%s", d->model) &&
             row_ok(&r, ulp_probe_unit(&silicon, &unit), "probing")) {
        const ulp_unit of_model = ulp_unit_of(&path);
        row_ok(&r, ulp_probe_unit(&model, &of_model), "probing %s", d->model);
        for (int i = 0; i < ULP_PROPERTY_COUNT && !r.stopped; i++) {
            const ulp_property *got = &silicon.property[i], *want = &model.property[i];
            const int any_code = i == ULP_P_NAN && d->result.bits == 64; /* silicon's NaN of binary64 is not fixed */
            char found[64], wanted[64];
            ulp_property_text(found, (ulp_property_id)i, got->found, got->value);
            ulp_property_text(wanted, (ulp_property_id)i, want->found, want->value);
            row_true(&r,
                     got->found == want->found && (got->value == want->value || any_code) &&
                         strcmp(got->how, want->how) == 0,
                     "%s: found %s (%s), of %s: %s (%s)", ulp_property_name((ulp_property_id)i), found, got->how,
                     d->model, wanted, want->how);
        }
        row_true(&r, silicon.runs == model.runs, "the prober used another number of sums");
    }
    row_end(&r);
}

/* A device that lacks the instructions of a generation has one row for all of them; its name has the row of which
 * report.sh makes a short run. */
static const struct {
    const char *family, *row;
} generations[] = {{"native:wgmma:", "wgmma:e4m3 and all other products by wgmma"},
                   {"native:tcgen05:", "tcgen05:e4m3-mx and all other products by tcgen05"}};

static void skip_generations(void) {
    for (size_t g = 0; g < sizeof generations / sizeof generations[0]; g++) {
        ulp_cuda_native d;
        size_t i = 0;
        while (ulp_cuda_native_get(i, &d) == ULP_OK &&
               strncmp(d.name, generations[g].family, strlen(generations[g].family)) != 0)
            i++;
        row r = row_of(generations[g].row);
        if (r.skipped || !lacks_generation(&d)) continue;
        row_skip(&r, "%s", d.lacks);
        row_end(&r);
    }
}

void check_tensor_cores(const check *c) {
    ulp_cuda_native d;
    check_values(c);
    check_starts();
    check_tiles(c);
    skip_generations();
    for (size_t i = 0; ulp_cuda_native_get(i, &d) == ULP_OK; i++) {
        if (!is_instruction(&d) || lacks_generation(&d)) continue;
        check_native_row(c, &d);
        if (!c->small || strcmp(d.model, "h100-fp16") == 0 || strstr(d.name, "mma:e4m3-fp16") != NULL) check_probe(&d);
    }
}
