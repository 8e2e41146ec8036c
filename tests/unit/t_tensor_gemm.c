/* t_tensor_gemm.c - matrix products of every Tensor Core row against the definition, element by element.
 *
 * The tests use every instruction set, several layouts and thread counts, and data at the ends of the formats. */
#include "tensor_cases.h"
#include "instruction_sets.h"

enum { ROOM = 1 << 14, DEPTH = 1100, SENTINEL = 0x7fedcba9 };

static size_t products, elements, failures;

/* The matrices a (m,k), b (k,n), start (m,n), want (m,n), scales (m,.) and (n,.); then the matrices with a layout. */
static float a[ROOM], b[ROOM], start[ROOM], want[ROOM], a_scales[ROOM], b_scales[ROOM];
static float a_memory[2 * ROOM], b_memory[2 * ROOM], c[2 * ROOM];
static double a_wide[2 * ROOM], b_wide[2 * ROOM], c_wide[2 * ROOM];

/* ---- data ---- */

typedef enum { ORDINARY, SPRINKLED, SMALL, BIG, EMPTY, RANDOM_BITS, EDGES, ONE_NAN, ALIKE, LEVEL, DATA } data;
static const char *const data_names[] = {"ordinary", "specials", "tiny",    "large", "zeros",
                                         "any bits", "edges",    "one NaN", "alike", "level"};

static float value_of(uint32_t code, const oracle_format *f) { return (float)oracle_value(oracle_decode(code, f)); }

/* An exponent near the limits of the format, or near 0, or near the negative of the largest exponent. Products of such
 * numbers are near 1 or near the limits of binary32. */
static int edge(const oracle_format *f, uint64_t *seed) {
    const int low = oracle_emin(f), high = oracle_emax(f);
    switch (between(seed, 0, 5)) {
    case 0: return high - between(seed, 0, 1);
    case 1: return low - between(seed, 0, f->f);
    case 2: return low + between(seed, 0, 2);
    case 3: return -high + between(seed, 0, 9);
    default: return between(seed, 0, 3);
    }
}

static float element(const oracle_format *f, data kind, int centre, uint64_t *seed) {
    const uint32_t sign = (uint32_t)between(seed, 0, 1) << (f->e + f->f);
    switch (kind) {
    case SPRINKLED:
        return value_of(between(seed, 0, 24) == 0 ? code_special(f, seed) : code_near(f, between(seed, -3, 2), seed),
                        f);
    case SMALL:
    case BIG: return value_of(code_near(f, centre + between(seed, -6, 6), seed), f);
    case EMPTY:
        return value_of(between(seed, 0, 2) ? sign : code_near(f, between(seed, -8, 4) - (f->e == 8 ? 30 : 0), seed),
                        f);
    case RANDOM_BITS: {
        const uint32_t code = (uint32_t)(next_random(seed) & ((1ull << code_bits(f)) - 1));
        const float value = value_of(code, f);
        return isfinite(value) || between(seed, 0, 15) == 0
                   ? value
                   : value_of(code_near(f, oracle_emax(f) - between(seed, 0, 3), seed), f);
    }
    case LEVEL: return value_of(code_near(f, centre + between(seed, -2, 1), seed), f); /* anywhere in the range */
    case EDGES: return value_of(code_near(f, edge(f, seed), seed), f);
    default: return value_of(code_near(f, between(seed, -6, 3), seed), f);
    }
}

static void fill(const oracle *o, data kind, size_t m, size_t n, size_t k, uint64_t *seed) {
    const oracle_format *f = o->promote > 0 ? &oracle_formats[0] : o->acc;
    const int centre = kind == LEVEL   ? between(seed, o->acc->f == 23 ? -150 : -26, o->acc->f == 23 ? 130 : 17)
                       : kind == SMALL ? centre_of(o, TINY, seed)
                       : kind == BIG   ? centre_of(o, LARGE, seed)
                                       : 0;
    const int half = is_scaled(o) ? 0 : centre / 2, shift = between(seed, -3, 3);
    for (size_t i = 0; i < m * k; i++) a[i] = element(o->a, kind, half + shift, seed);
    for (size_t i = 0; i < k * n; i++) b[i] = element(o->b, kind, half - shift, seed);
    for (size_t i = 0; i < m * n; i++)
        start[i] = element(f, kind == ALIKE ? ORDINARY : kind,
                           kind == EDGES ? 0 : centre + between(seed, kind == LEVEL ? -3 : -20, 2), seed);
    /* products that cancel: the previous k with the other sign */
    for (size_t p = 1; p < k; p++) {
        if (kind == ONE_NAN || between(seed, 0, 3) > 0) continue;
        for (size_t i = 0; i < m; i++) a[i * k + p] = -a[i * k + p - 1];
        for (size_t j = 0; j < n; j++) b[p * n + j] = b[(p - 1) * n + j];
    }
    if (kind == EMPTY) { /* some rows, some columns and most k in a range are zero */
        for (size_t p = 0; p < k; p++) {
            for (size_t i = m / 3; i < (m + 1) / 2; i++) a[i * k + p] = p % 2 ? -0.0f : 0.0f;
            for (size_t j = n / 2; j < n / 2 + n / 4; j++) b[p * n + j] = 0.0f;
            if (p < k / 4 || p >= k / 4 + 40 || p % 4 == 3) continue;
            for (size_t i = 0; i < m; i++) a[i * k + p] = 0.0f; /* zeros times large values */
            for (size_t j = 0; j < n; j++) b[p * n + j] = value_of(code_near(o->b, oracle_emax(o->b) - 2, seed), o->b);
        }
        for (size_t i = 0; i < m * n; i += 2) start[i] = i % 4 ? -0.0f : 0.0f;
    }
    if (kind == ONE_NAN && m * n * k > 0) {
        if (o->a->specials == ORACLE_FINITE || between(seed, 0, 3) == 0) start[next_random(seed) % (m * n)] = NAN;
        else a[next_random(seed) % (m * k)] = NAN;
        if (o->b->specials == ORACLE_IEEE) b[next_random(seed) % (k * n)] = INFINITY;
    }
    if (kind == ALIKE) /* equal values: the accumulator stagnates, or overflows in binary16 */
        for (size_t i = 0; i < m * k || i < k * n; i++) {
            if (i < m * k) a[i] = value_of(code_near(o->a, between(seed, 0, 1), &(uint64_t){7}), o->a);
            if (i < k * n) b[i] = value_of(code_near(o->b, between(seed, 0, 1), &(uint64_t){9}), o->b);
        }
    if (!is_scaled(o)) return;
    const size_t blocks = (k + (size_t)o->scale_block - 1) / (size_t)o->scale_block;
    const int style = kind == RANDOM_BITS ? ANY : kind == SMALL ? TINY : kind == BIG ? LARGE : NEAR;
    for (size_t i = 0; i < (m > n ? m : n) * blocks; i++) {
        float x, y;
        do x = (float)scale_value(o, scale_code(o, style, centre / 2 + between(seed, -6, 6), seed));
        while (isnan(x) && kind != SPRINKLED && kind != RANDOM_BITS);
        do y = (float)scale_value(o, scale_code(o, style, centre - centre / 2 + between(seed, -6, 6), seed));
        while (isnan(y) && kind != SPRINKLED && kind != RANDOM_BITS);
        if (i < m * blocks) a_scales[i] = x;
        if (i < n * blocks) b_scales[i] = y;
    }
}

/* ---- the definition ---- */

static void define(const ulp_datapath *d, const oracle *o, const ulp_gemm_shape *s) {
    double x[DEPTH], y[DEPTH], sa[DEPTH], sb[DEPTH];
    const size_t block = is_scaled(o) ? (size_t)o->scale_block : 1, blocks = (s->k + block - 1) / block;
    for (size_t i = 0; i < s->m; i++)
        for (size_t j = 0; j < s->n; j++) {
            for (size_t p = 0; p < s->k; p++) x[p] = (double)a[i * s->k + p], y[p] = (double)b[p * s->n + j];
            for (size_t p = 0; is_scaled(o) && p < blocks; p++)
                sa[p] = (double)a_scales[i * blocks + p], sb[p] = (double)b_scales[j * blocks + p];
            const ulp_products terms = {x, y, s->k, s->a_scales != NULL ? sa : NULL, s->b_scales != NULL ? sb : NULL};
            const double from = s->accumulate ? (double)start[i * s->n + j] : 0.0;
            want[i * s->n + j] = (float)ulp_dot(d, from, terms, (ulp_stream){1, 0, 0});
        }
}

/* Copy the matrices to memory with a layout: transposes, and rows longer than needed with NaN between them. */
static void lay_out(ulp_gemm_shape *s, unsigned layout) {
    const size_t pad = layout & 4 ? 3 : 0;
    s->a_trans = layout & 1, s->b_trans = layout >> 1 & 1;
    s->lda = (s->a_trans ? s->m : s->k) + pad, s->ldb = (s->b_trans ? s->k : s->n) + 2 * pad, s->ldc = s->n + pad;
    const size_t rows_a = s->a_trans ? s->k : s->m, rows_b = s->b_trans ? s->n : s->k;
    for (size_t i = 0; i < rows_a * s->lda; i++) a_memory[i] = NAN;
    for (size_t i = 0; i < rows_b * s->ldb; i++) b_memory[i] = NAN;
    for (size_t i = 0; i < s->m; i++)
        for (size_t p = 0; p < s->k; p++) a_memory[s->a_trans ? p * s->lda + i : i * s->lda + p] = a[i * s->k + p];
    for (size_t p = 0; p < s->k; p++)
        for (size_t j = 0; j < s->n; j++) b_memory[s->b_trans ? j * s->ldb + p : p * s->ldb + j] = b[p * s->n + j];
}

/* The number of checked elements of c; some are beyond its end. */
static size_t extent(const ulp_gemm_shape *s) { return s->m * s->ldc + 200; }

static void clear(const ulp_gemm_shape *s) {
    for (size_t i = 0; i < extent(s); i++) c[i] = ulp_from_bits32(SENTINEL);
    for (size_t i = 0; s->accumulate && i < s->m; i++)
        for (size_t j = 0; j < s->n; j++) c[i * s->ldc + j] = start[i * s->n + j];
}

/* Check that c equals `want`, and that the elements around c are unchanged. */
static void compare(const char *what, const char *isa, const char *name, const char *kind, const ulp_gemm_shape *s) {
    size_t wrong = 0;
    for (size_t i = 0; i < extent(s); i++) {
        const size_t row = s->ldc > 0 ? i / s->ldc : 0, column = s->ldc > 0 ? i % s->ldc : 0;
        const int inside = row < s->m && column < s->n;
        const float right = inside ? want[row * s->n + column] : 0.0f;
        const uint32_t expected = !inside ? SENTINEL : isnan(right) ? 0x7fc00000u : ulp_bits32(right);
        if (ulp_bits32(c[i]) == expected) continue;
        failures++;
        if (wrong++ == 0 && failures < 400)
            print_message("%s %s %s, %s, m %zu n %zu k %zu, lda %zu ldb %zu ldc %zu, trans %d %d, accumulate %d, "
                          "scales %d %d, %d threads: "
                          "element (%zu,%zu) is %a (%08x), not %a (%08x)\n",
                          isa, what, name, kind, s->m, s->n, s->k, s->lda, s->ldb, s->ldc, s->a_trans, s->b_trans,
                          s->accumulate, s->a_scales != NULL, s->b_scales != NULL, ulp_threads_get(), row, column,
                          (double)c[i], ulp_bits32(c[i]), (double)right, expected);
    }
    elements += s->m * s->n;
}

/* Check gemm64, whose results are the same values. */
static void check_wide(const ulp_backend *backend, const ulp_datapath *d, const char *kind, const ulp_gemm_shape *s) {
    for (size_t i = 0; i < 2 * ROOM; i++) a_wide[i] = (double)a_memory[i], b_wide[i] = (double)b_memory[i];
    for (size_t i = 0; i < 2 * ROOM; i++) c_wide[i] = -1.0;
    for (size_t i = 0; s->accumulate && i < s->m * s->ldc; i++) c_wide[i] = (double)c[i];
    if (backend->gemm64 == NULL) return;
    ulp_status status =
        ulp_backend_gemm64(backend, c_wide, a_wide, b_wide, s, (ulp_summation){d, (ulp_stream){1, 0, 0}});
    if (status != ULP_OK) fail_msg("%s gemm64 %s: %s", backend->what, d->name, ulp_status_text(status));
    for (size_t i = 0; i < s->m; i++)
        for (size_t j = 0; j < s->n; j++)
            if (!same_result(c_wide[i * s->ldc + j], (double)want[i * s->n + j]) && failures++ < 400)
                print_message("%s gemm64 %s, %s: element (%zu,%zu) is %a, not %a\n", backend->what, d->name, kind, i, j,
                              c_wide[i * s->ldc + j], (double)want[i * s->n + j]);
}

/* ---- products ---- */

static const size_t shapes[][3] = {{1, 1, 1},    {3, 5, 7},    {17, 33, 50}, {2, 3, 0}, {37, 65, 96},
                                   {5, 70, 33},  {70, 3, 64},  {0, 5, 3},    {5, 0, 3}, {4, 5, 1030},
                                   {1, 130, 17}, {16, 16, 32}, {9, 1, 200}};
enum { SHAPES = COUNT_OF(shapes) };

static void check_products(const char *name) {
    oracle o;
    uint64_t seed = 11;
    size_t turn = 0;
    for (const char *at = name; *at; at++) seed = seed * 31 + (unsigned char)*at, turn += (unsigned char)*at;
    if (!oracle_find(&o, name)) fail_msg("%s: no row of the oracle", name);
    ulp_datapath d = datapath_named(name);
    for (data kind = 0; kind < DATA; kind++)
        for (size_t i = 0; i < SHAPES; i++) {
            ulp_gemm_shape s = {.m = shapes[i][0], .n = shapes[i][1], .k = shapes[i][2]};
            turn++;
            if ((s.m * s.n * s.k > 20000 ? turn % (3 * thinned(5)) : turn % thinned(3)) != 0) continue;
            s.accumulate = turn / 2 % 2, s.a_scales = is_scaled(&o) && turn % 8 != 5 ? a_scales : NULL;
            s.b_scales = is_scaled(&o) && turn % 8 > 1 ? b_scales : NULL;
            fill(&o, kind, s.m, s.n, s.k, &seed);
            define(&d, &o, &s);
            for (unsigned part = 0; part < 2; part++) {
                lay_out(&s, (unsigned)(turn * 3 + part * 5) % 8);
                for (size_t isa = 0; isa < offered; isa++)
                    for (int threads = 1; threads <= (turn % 8 == 0 && part == 0 ? 2 : 1); threads++) {
                        ulp_threads_set(threads);
                        clear(&s);
                        const ulp_status status = ulp_backend_gemm(backends[isa], c, a_memory, b_memory, &s,
                                                                   (ulp_summation){&d, (ulp_stream){1, 0, 0}});
                        if (status != ULP_OK)
                            fail_msg("%s gemm %s: %s", backends[isa]->what, name, ulp_status_text(status));
                        compare("gemm", backends[isa]->what, name, data_names[kind], &s);
                        products++;
                    }
            }
            ulp_threads_set(0);
            clear(&s);
            if (turn % 8 == 3) check_wide(backends[turn % offered], &d, data_names[kind], &s);
        }
}

TEST(rows) {
    static const char mixed[] =
        "h100-e4m3.e5m2 l40s-e5m2.e4m3-fp16 h100-e4m3.e5m2-mma h100-e5m2.e4m3-fp16-mma b200-e2m1.e5m2 "
        "rtx5090-e3m2.e2m3 rtx5090-e3m2.e2m3-mx b200-e5m2.e2m1-mx rtx5090-e2m3.e4m3-fp16";
    char name[64];
    size_t rows = 0;
    for (size_t i = 0; oracle_name(i, name, sizeof name); i++)
        if (strchr(name, '.') == NULL) check_products(name), rows++;
    for (size_t i = 0; *word_of(mixed, i); i++) check_products(word_of(mixed, i)), rows++;
    print_message("%zu products of %zu rows, %zu elements, %zu wrong\n", products, rows, elements, failures);
    assert_true(rows > 60);
    assert_int_equal(failures, 0);
}

TEST(settings) {
    static const char names[] =
        "h100-fp16:F=20 h100-fp16:F=36 h100-fp16:F=8 h100-fp16:L=8 h100-fp16:L=3 h100-fp16:L=64 a100-tf32:L=1 "
        "h100-bf16:F=40 l40s-e5m2:F=16:kept=16 a100-bf16:kept=7 h100-fp16-fp16:kept=6 a100-bf16:align=rd "
        "h100-e4m3:align=rd h100-fp16-fp16:output=rz h100-bf16:output=rne h100-bf16:zero_operand=-126 "
        "a100-tf32:zero_operand=-126 h100-e4m3:zero_operand=0 h100-fp16-fp16:zero_operand=-14 "
        "rtx5090-bf16:zero_product=-127 b200-e4m3:zero_product=9 rtx5090-fp16-fp16:zero_product=-15 "
        "a100-bf16:zero_c=-126 h100-fp16:zero_c=4 h100-e4m3-mma:zero_c=4 h100-bf16:floor=none b200-tf32:floor=-100 "
        "b200-e5m2:floor=3 v100-fp16-fp16:floor=0 h100-bf16:signed_zero=1 rtx5090-tf32:signed_zero=1:align=rd "
        "h100-e4m3:promote=64 h100-e4m3:promote=32 l40s-e5m2:promote=128 a100-fp16-fp16:promote=16 "
        "h100-e5m2-fp16-mma:promote=32 b200-e4m3-mx:promote=32 b200-e2m1-nvf4:promote=64 b200-e4m3-mx:F=13:kept=13 "
        "b200-e2m1-nvf4:F=25 h100-bf16:promote=16:floor=none:F=30";
    const size_t before = products, wrong = failures;
    size_t rows = 0;
    for (; *word_of(names, rows); rows++) check_products(word_of(names, rows));
    print_message("%zu products of %zu rows with settings, %zu wrong\n", products - before, rows, failures - wrong);
    assert_int_equal(failures, wrong);
}

/* ---- inputs that are not values of the formats ---- */

static void expect_refusal(const ulp_datapath *d, ulp_gemm_shape *s, int of_b, size_t i, size_t p, float value) {
    float *at = of_b ? &b[p * s->n + i] : &a[i * s->k + p], saved = *at;
    *at = value;
    for (unsigned layout = 0; layout < 8; layout++) {
        lay_out(s, layout);
        clear(s);
        for (size_t isa = 0; isa < offered; isa++) {
            ulp_status status =
                ulp_backend_gemm(backends[isa], c, a_memory, b_memory, s, (ulp_summation){d, (ulp_stream){1, 0, 0}});
            if (status != ULP_NO_CODE)
                fail_msg("%s %s: %a in %c at (%zu,%zu), layout %u: %s", backends[isa]->what, d->name, (double)value,
                         of_b ? 'B' : 'A', i, p, layout, ulp_status_text(status));
            for (size_t j = 0; j < extent(s); j++)
                if (ulp_bits32(c[j]) != SENTINEL)
                    fail_msg("%s %s: refused, but element %zu was written", backends[isa]->what, d->name, j);
        }
    }
    *at = saved;
}

TEST(refused) {
    char name[64];
    size_t refusals = 0;
    uint64_t seed = 21;
    for (size_t row = 0; oracle_name(row, name, sizeof name); row++) {
        oracle o;
        if (strchr(name, '.') != NULL && row % 7 != 0) continue;
        assert_true(oracle_find(&o, name));
        ulp_datapath d = datapath_named(name);
        ulp_gemm_shape s = {.m = 5, .n = 35, .k = 2 * step_of(&o) + 3};
        fill(&o, ORDINARY, s.m, s.n, s.k, &seed);
        for (int of_b = 0; of_b < 2; of_b++) {
            const oracle_format *f = of_b ? o.b : o.a;
            const float least = ldexpf(1, oracle_emin(f) - f->f),
                        largest = value_of(f->specials == ORACLE_IEEE
                                               ? oracle_inf(f, 0) - 1
                                               : (1u << (f->e + f->f)) - (f->specials == ORACLE_NAN_ONLY ? 2 : 1),
                                           f);
            const float bad[] = {1.0f + ldexpf(1, -f->f - 1),
                                 1.0f + 0x1p-23f,
                                 -0.75f * 2 * least,
                                 least / 2,
                                 0x1.8p-149f + least / 2,
                                 -largest * (1 + ldexpf(1, -f->f - 2)),
                                 f->specials == ORACLE_IEEE ? 0x1.000002p0f : -INFINITY,
                                 f->specials == ORACLE_FINITE ? NAN : 0x1.fffffep-2f};
            for (size_t i = 0; i < COUNT_OF(bad); i++) {
                const size_t rows = of_b ? s.n : s.m, where = next_random(&seed) % 3;
                if (bad[i] == 0.0f || (float)least / 2 * 2 != least) continue;
                expect_refusal(&d, &s, of_b,
                               where == 0   ? 0
                               : where == 1 ? rows - 1
                                            : next_random(&seed) % rows,
                               where == 0   ? 0
                               : where == 1 ? s.k - 1
                                            : next_random(&seed) % s.k,
                               bad[i]);
                refusals++;
            }
        }
    }
    print_message("%zu values refused\n", refusals);
    assert_true(refusals > 500);
}

/* A format without signs has no -Inf. */
TEST(refused_sign) {
    ulp_datapath d;
    ulp_gemm_shape s = {.m = 2, .n = 3, .k = 4};
    assert_ok(ulp_datapath_parse(&d, "serial:fp32:rne"));
    d.has_inputs = 1;
    d.a = d.b = named("binary8p3ue");
    assert_true(d.a.has_inf && !d.a.is_signed);
    for (size_t i = 0; i < 12; i++) a[i] = b[i] = i == 5 ? INFINITY : 1.0f;
    lay_out(&s, 0);
    for (size_t isa = 0; isa < offered; isa++)
        assert_ok(
            ulp_backend_gemm(backends[isa], c, a_memory, b_memory, &s, (ulp_summation){&d, (ulp_stream){1, 0, 0}}));
    expect_refusal(&d, &s, 0, 1, 1, -INFINITY);
    expect_refusal(&d, &s, 1, 2, 3, -INFINITY);
    expect_refusal(&d, &s, 0, 1, 1, -1.0f);
}

TESTS(find_backends, NULL)
