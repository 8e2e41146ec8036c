/* t_gemm.c - matrix products and column sums against scalar sums, for every shape, layout and thread count. */
#include "support.h"
#include "instruction_sets.h"

enum { ROOM = 40000, RESULTS = 2048 }; /* ROOM: elements of inputs; RESULTS: of c and the memory around it */
static float a[ROOM], b[ROOM], c[RESULTS], start[RESULTS], want[RESULTS];
static uint64_t products;

static const char named_datapaths[] =
    "fp32 serial:fp16:rne serial:fp16:sr serial:fp16:srb/8 serial:fp16:src/1 serial:bf16:rz serial:bf16:sr "
    "serial:e4m3:rne serial:e4m3:inf:ru serial:e4m3:src/5 serial:e5m2:ro serial:e5m2:rd serial:q8.8:rne "
    "serial:q8.8:wrap:rd serial:q8.8:srb/3 serial:q8.0:wrap:rna serial:dlfloat16:rne serial:dlfloat16:sr "
    "serial:tf32:rna serial:fp24:sr serial:fp32:nan:rne serial:fp32:sat:rne serial:fp32:sr/9 serial:fp32:srb/28 "
    "serial:q10.12:src serial:fp32:sr serial:e8m0:rne serial:binary8p4se:rd serial:binary8p4uf:ru "
    "serial:e2m1:rna serial:e5m10:nosub:rd ";
enum { NAMED = 31, DATAPATHS = NAMED + ULP_MODE_COUNT };

/* Datapath i: first those of the list, then binary32 in every mode. */
static ulp_datapath datapath(int i) {
    char text[64];
    if (i < NAMED) snprintf(text, sizeof text, "%s", word_of(named_datapaths, (size_t)i));
    else snprintf(text, sizeof text, "serial:binary32:%s", ulp_mode_name((ulp_mode)(i - NAMED)));
    const ulp_datapath d = datapath_named(text);
    assert_string_equal(d.name, text);
    return d;
}

/* ---- inputs ---- */

/* An operand of a kind. 0: small values whose sums stay in range; 1: all exponents; 2: any bits and special values. */
static float operand(const ulp_format *f, int kind, uint64_t *seed) {
    static const uint32_t special[] = {0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000,
                                       1, 0x80000003, 0x007fffff, 0x7f7fffff};
    uint64_t bits = next_random(seed);
    double near = ((double)(bits >> 40) * 0x1p-22 - 2.0);
    if (kind == 0) return (float)ulp_round(near, f, rule_of(ULP_RNE, ULP_OVERFLOW_SAT, 0), 0);
    if (kind == 1) return (float)(near * ldexp(1, (int)(bits % 41) - 20));
    if (bits % 23 == 0) return ulp_from_bits32(special[(bits >> 8) % (COUNT_OF(special))]);
    return bits % 3 ? (float)near : ulp_from_bits32((uint32_t)(bits >> 8));
}

static void fill(float *to, size_t n, const ulp_format *f, int kind, uint64_t *seed) {
    for (size_t i = 0; i < n; i++) {
        float value = operand(f, kind, seed);
        memcpy(to + i, &value, sizeof value);
    }
}

/* The value rounded to the accumulator's format. */
static float member(float value, const ulp_datapath *d) {
    return (float)ulp_round((double)value, &d->accumulator, rule_of(ULP_RNE, ULP_OVERFLOW_SAT, 0), 0);
}

/* ---- the definition ---- */

static float a_at(const ulp_gemm_shape *s, size_t i, size_t k) {
    return s->a_trans ? a[k * s->lda + i] : a[i * s->lda + k];
}
static float b_at(const ulp_gemm_shape *s, size_t k, size_t j) {
    return s->b_trans ? b[j * s->ldb + k] : b[k * s->ldb + j];
}

static void define(const ulp_gemm_shape *s, const ulp_datapath *d, ulp_stream stream) {
    memcpy(want, start, sizeof want);
    for (size_t i = 0; i < s->m; i++)
        for (size_t j = 0; j < s->n; j++) {
            double acc = s->accumulate ? (double)start[i * s->ldc + j] : 0.0;
            for (size_t k = 0; k < s->k; k++) {
                uint64_t index = ((uint64_t)i * s->n + j) * s->k + k;
                uint32_t word = ulp_mode_is_stochastic(d->rule.mode) ? ulp_random_word(stream, index) : 0;
                acc = ulp_arith((ulp_scalar_op){ULP_FUSED, (double)a_at(s, i, k), (double)b_at(s, k, j), acc},
                                &d->accumulator, d->rule, word);
            }
            want[i * s->ldc + j] = (float)acc;
        }
}

/* Whether x and y have the same bits, or x is the NaN of results and y is NaN. */
static int same_bits(float x, float y) {
    return ulp_bits32(x) == ulp_bits32(y) || (isnan(y) && ulp_bits32(x) == 0x7fc00000u);
}

static void compare(const char *what, const ulp_backend *backend, const ulp_gemm_shape *s, const ulp_datapath *d,
                    size_t row) {
    for (size_t i = 0; i < RESULTS; i++) {
        if (same_bits(c[i], want[i])) continue;
        fail_msg("%s %s %s, m %zu n %zu k %zu, lda %zu ldb %zu ldc %zu, trans %d %d, accumulate %d, %d threads: "
                 "element (%zu,%zu) is %a, not %a",
                 backend->what, what, d->name, s->m, s->n, s->k, s->lda, s->ldb, s->ldc, s->a_trans, s->b_trans,
                 s->accumulate, ulp_threads_get(), i / row, i % row, (double)c[i], (double)want[i]);
    }
}

/* ---- gemm ---- */

static const size_t shapes[][3] = {{1, 1, 1},    {1, 1, 0},   {3, 2, 0},  {2, 3, 1},   {1, 70, 5},  {70, 1, 5},
                                   {5, 64, 7},   {6, 32, 16}, {7, 33, 3}, {12, 65, 9}, {13, 31, 2}, {3, 129, 4},
                                   {17, 19, 23}, {2, 2, 101}, {0, 5, 3},  {5, 0, 3},   {0, 0, 0}};
enum { SHAPES = COUNT_OF(shapes) };

/* Shape i with a layout; the bits of the layout are transposes, accumulation, and rows longer than needed. */
static ulp_gemm_shape shape_of(size_t i, unsigned layout) {
    const size_t m = shapes[i][0], n = shapes[i][1], k = shapes[i][2], pad = layout & 8 ? 3 + i % 5 : 0;
    ulp_gemm_shape s = {.m = m,
                        .n = n,
                        .k = k,
                        .ldc = n + pad,
                        .a_trans = layout & 1,
                        .b_trans = (layout >> 1) & 1,
                        .accumulate = (layout >> 2) & 1};
    s.lda = (s.a_trans ? m : k) + pad;
    s.ldb = (s.b_trans ? k : n) + (pad > 0 ? pad + 2 : 0);
    return s;
}

/* Check a product under every instruction set; a few products also with two threads, which are slow on small shapes. */
static void check_gemm(const ulp_gemm_shape *s, const ulp_datapath *d, ulp_stream stream) {
    assert_true(s->m * s->ldc < RESULTS);
    define(s, d, stream);
    for (size_t isa = 0; isa < offered; isa++)
        for (int threads = 1; threads <= (products % 64 == 0 ? 2 : 1); threads++) {
            ulp_threads_set(threads);
            memcpy(c, start, sizeof c);
            ulp_status status = ulp_backend_gemm(backends[isa], c, a, b, s, (ulp_summation){d, stream});
            if (status != ULP_OK) fail_msg("%s gemm %s: %s", backends[isa]->what, d->name, ulp_status_text(status));
            compare("gemm", backends[isa], s, d, s->ldc > 0 ? s->ldc : 1);
            products++;
        }
    ulp_threads_set(0);
}

TEST(gemm) {
    for (int i = 0; i < DATAPATHS; i++) {
        ulp_datapath d = datapath(i);
        uint64_t seed = (uint64_t)i, before = products;
        for (int kind = 0; kind < 3; kind++) {
            fill(a, ROOM, &d.accumulator, kind, &seed), fill(b, ROOM, &d.accumulator, kind, &seed),
                fill(start, RESULTS, &d.accumulator, kind, &seed);
            for (size_t j = 0; j < RESULTS; j++) start[j] = member(start[j], &d);
            for (size_t shape = 0; shape < SHAPES; shape++)
                for (unsigned layout = 0; layout < 16; layout++) {
                    if ((layout + shape + (unsigned)(i + kind)) % (shape < 4 ? 1 : 2 * thinned(3)) != 0) continue;
                    ulp_gemm_shape s = shape_of(shape, layout);
                    check_gemm(&s, &d, (ulp_stream){(uint64_t)i + 1, 9, layout * 5u});
                }
        }
        if (products == before) fail_msg("%s: no case", d.name);
    }
    print_message("%llu products\n", (unsigned long long)products);
}

/* fp32 gives the result of a loop of fmaf(); the sum is longer than those of the shapes above. */
TEST(fp32) {
    ulp_datapath d = datapath(0);
    assert_int_equal(d.accumulator.prec, 24);
    uint64_t seed = 3;
    for (int kind = 0; kind < 3; kind++) {
        fill(a, ROOM, &d.accumulator, kind, &seed), fill(b, ROOM, &d.accumulator, kind, &seed),
            fill(start, RESULTS, &d.accumulator, kind, &seed);
        ulp_gemm_shape s = {.m = 11, .n = 37, .k = 900, .lda = 900, .ldb = 37, .ldc = 37, .accumulate = kind == 1};
        memcpy(want, start, sizeof want);
        for (size_t i = 0; i < s.m; i++)
            for (size_t j = 0; j < s.n; j++) {
                float acc = s.accumulate ? start[i * s.ldc + j] : 0.0f;
                for (size_t k = 0; k < s.k; k++) acc = fmaf(a_at(&s, i, k), b_at(&s, k, j), acc);
                want[i * s.ldc + j] = acc;
            }
        for (size_t isa = 0; isa < offered; isa++) {
            memcpy(c, start, sizeof c);
            assert_ok(ulp_backend_gemm(backends[isa], c, a, b, &s, (ulp_summation){&d, (ulp_stream){1, 0, 0}}));
            compare("gemm", backends[isa], &s, &d, s.ldc);
        }
    }
}

/* One special value at a time affects its row or column as defined, and no other element. */
TEST(specials) {
    static const double specials[] = {INFINITY, -INFINITY, NAN, -0.0, 0x1p-149, -0x1p-127, 0x1.fffffep127};
    for (int i = 0; i < DATAPATHS; i++) {
        ulp_datapath d = datapath(i);
        uint64_t seed = (uint64_t)i;
        for (size_t t = 0; t < COUNT_OF(specials); t++) {
            fill(a, ROOM, &d.accumulator, 0, &seed), fill(b, ROOM, &d.accumulator, 0, &seed);
            memset(start, 0, sizeof start);
            ulp_gemm_shape s = {.m = 7, .n = 35, .k = 6, .lda = 6, .ldb = 35, .ldc = 35};
            a[3 * 6 + 2] = (float)specials[t];
            b[4 * 35 + 33] = (float)specials[(t + 1) % 7];
            check_gemm(&s, &d, (ulp_stream){7, t, 0});
        }
        /* a sum of negative zeros starts at +0 */
        for (size_t j = 0; j < 64; j++) a[j] = -0.0f, b[j] = 1.0f;
        ulp_gemm_shape s = {.m = 2, .n = 2, .k = 3, .lda = 3, .ldb = 2, .ldc = 2};
        check_gemm(&s, &d, (ulp_stream){7, 7, 0});
        if (d.accumulator.has_zero && d.rule.mode != ULP_RD) assert_int_equal(ulp_bits32(want[0]), 0);
    }
}

/* ---- reduce ---- */

TEST(reduce) {
    static const size_t sizes[][2] = {{0, 3},  {3, 0},    {1, 1},    {5, 2},   {2, 64},
                                      {9, 65}, {101, 63}, {33, 130}, {1000, 7}};
    for (int i = 0; i < DATAPATHS; i++) {
        ulp_datapath d = datapath(i);
        uint64_t seed = (uint64_t)i;
        ulp_stream stream = {5, (uint64_t)i, 1000};
        for (int kind = 0; kind < 3; kind++)
            for (size_t t = 0; t < COUNT_OF(sizes); t++) {
                const size_t m = sizes[t][0], n = sizes[t][1];
                fill(a, ROOM, &d.accumulator, kind, &seed), fill(start, RESULTS, &d.accumulator, kind, &seed);
                memcpy(want, start, sizeof want);
                for (size_t j = 0; j < n; j++) {
                    double acc = 0.0;
                    for (size_t k = 0; k < m; k++) {
                        uint32_t word = ulp_mode_is_stochastic(d.rule.mode) ? ulp_random_word(stream, j * m + k) : 0;
                        acc = ulp_arith((ulp_scalar_op){ULP_FUSED, 1.0, (double)a[k * n + j], acc}, &d.accumulator,
                                        d.rule, word);
                    }
                    want[j] = (float)acc;
                }
                for (size_t isa = 0; isa < offered; isa++)
                    for (int threads = 1; threads <= (isa == t % offered ? 2 : 1); threads++) {
                        ulp_gemm_shape s = {.m = m, .n = n};
                        ulp_threads_set(threads);
                        memcpy(c, start, sizeof c);
                        assert_ok(ulp_backend_reduce(backends[isa], c, a, m, n, (ulp_summation){&d, stream}));
                        compare("reduce", backends[isa], &s, &d, n > 0 ? n : 1);
                    }
            }
    }
    ulp_threads_set(0);
}

/* ---- refusals ---- */

TEST(refusals) {
    const ulp_stream stream = {1, 0, 0};
    for (size_t isa = 0; isa < offered; isa++) {
        const ulp_backend *k = backends[isa];
        ulp_datapath d = datapath(1), wide = d, wrong = d;
        const ulp_gemm_shape good = {.m = 2, .n = 3, .k = 4, .lda = 4, .ldb = 3, .ldc = 3};
        ulp_gemm_shape s;
        static double a64[16], c64[16];
        wide.accumulator = wide.result = named("binary64");
        wrong.rule.random_bits = 40;
#define REFUSES(change)                                                                                                \
    s = good, change, assert_int_equal(ulp_backend_gemm(k, c, a, b, &s, (ulp_summation){&d, stream}), ULP_BAD_ARGUMENT)
        REFUSES(s.lda = 3);
        REFUSES(s.ldb = 2);
        REFUSES(s.ldc = 2);
        REFUSES(s.ldc = 0);
        REFUSES((s.a_trans = 1, s.lda = 1));
        REFUSES((s.b_trans = 1, s.ldb = 3));
        REFUSES(s.a_scales = a); /* the datapath has no scales */
        REFUSES(s.b_scales = b);
        REFUSES((s.k = 0, s.ldc = 2));
#undef REFUSES
        assert_int_equal(ulp_backend_gemm(k, NULL, a, b, &good, (ulp_summation){&d, stream}), ULP_BAD_ARGUMENT);
        assert_int_equal(ulp_backend_gemm(k, c, NULL, b, &good, (ulp_summation){&d, stream}), ULP_BAD_ARGUMENT);
        assert_int_equal(ulp_backend_gemm(k, c, a, NULL, &good, (ulp_summation){&d, stream}), ULP_BAD_ARGUMENT);
        assert_int_equal(ulp_backend_gemm(k, c, a, b, NULL, (ulp_summation){&d, stream}), ULP_BAD_ARGUMENT);
        assert_int_equal(ulp_backend_gemm(k, c, a, b, &good, (ulp_summation){NULL, stream}), ULP_BAD_ARGUMENT);
        assert_int_equal(ulp_backend_gemm(k, c, a, b, &good, (ulp_summation){&wrong, stream}), ULP_BAD_ARGUMENT);
        assert_int_equal(ulp_backend_gemm(k, c, a, b, &good, (ulp_summation){&wide, stream}), ULP_UNSUPPORTED);
        assert_int_equal(ulp_backend_gemm(k, NULL, NULL, NULL, &good, (ulp_summation){&wide, stream}),
                         ULP_UNSUPPORTED); /* refused before arrays and shapes are checked */
        assert_int_equal(ulp_backend_gemm64(k, NULL, a64, a64, &good, (ulp_summation){&wide, stream}),
                         ULP_BAD_ARGUMENT);
        assert_int_equal(ulp_backend_gemm64(k, c64, NULL, a64, &good, (ulp_summation){&wide, stream}),
                         ULP_BAD_ARGUMENT);
        assert_int_equal(ulp_backend_gemm64(k, c64, a64, NULL, &good, (ulp_summation){&wide, stream}),
                         ULP_BAD_ARGUMENT);
        assert_int_equal(ulp_backend_gemm64(k, c64, a64, a64, NULL, (ulp_summation){&wide, stream}), ULP_BAD_ARGUMENT);
        assert_int_equal(ulp_backend_gemm64(k, c64, a64, a64, &good, (ulp_summation){NULL, stream}), ULP_BAD_ARGUMENT);
        assert_int_equal(ulp_backend_gemm64(k, c64, a64, a64, &good, (ulp_summation){&wrong, stream}),
                         ULP_BAD_ARGUMENT);
        assert_int_equal(ulp_backend_reduce(k, NULL, a, 2, 3, (ulp_summation){&d, stream}), ULP_BAD_ARGUMENT);
        assert_int_equal(ulp_backend_reduce(k, c, NULL, 2, 3, (ulp_summation){&d, stream}), ULP_BAD_ARGUMENT);
        assert_int_equal(ulp_backend_reduce(k, c, a, 2, 3, (ulp_summation){NULL, stream}), ULP_BAD_ARGUMENT);
        assert_int_equal(ulp_backend_reduce(k, c, a, 2, 3, (ulp_summation){&wrong, stream}), ULP_BAD_ARGUMENT);
        assert_int_equal(ulp_backend_reduce(k, c, a, 2, 3, (ulp_summation){&wide, stream}), ULP_UNSUPPORTED);
        assert_int_equal(ulp_backend_reduce(k, c, a, (size_t)1 << 59, 3, (ulp_summation){&wrong, stream}),
                         ULP_BAD_ARGUMENT); /* refused before memory is allocated */
        assert_ok(ulp_backend_reduce(k, NULL, NULL, 2, 0, (ulp_summation){&wrong, stream}));
        s = good, s.k = 0, s.lda = s.ldb = 0;
        assert_ok(ulp_backend_gemm(k, c, NULL, NULL, &s,
                                   (ulp_summation){&d, stream})); /* without products all results are +0 */
        for (int i = 0; i < 6; i++) assert_int_equal(ulp_bits32(c[i]), 0);
        s = good, s.m = 0, s.lda = s.ldb = s.ldc = 0;
        assert_ok(ulp_backend_gemm(k, NULL, NULL, NULL, &s,
                                   (ulp_summation){&wrong, stream})); /* without elements nothing is checked */
    }
}

TESTS(find_backends, NULL)
