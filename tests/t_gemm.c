/* t_gemm.c - matrix products and column sums against scalar sums, for every shape, layout and thread count. */
#include <stdlib.h>

#include "support.h"

#include "formats/rng.h"
#include "kernels/backend.h"

enum { ROOM = 40000, RESULTS = 2048, ISAS = 8 }; /* elements of inputs; of results with their surroundings */

static const ulp_backend *backends[ISAS];
static size_t offered;
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
    ulp_datapath d;
    char text[64];
    const char *at = named_datapaths;
    for (int j = 0; j < i && j < NAMED; j++) at += strcspn(at, " ") + 1;
    if (i < NAMED) snprintf(text, sizeof text, "%.*s", (int)strcspn(at, " "), at);
    else snprintf(text, sizeof text, "serial:binary32:%s", ulp_mode_name((ulp_mode)(i - NAMED)));
    memset(&d, 0, sizeof d);
    ulp_status status = ulp_datapath_parse(&d, text);
    if (status != ULP_OK) fail_msg("%s: %s", text, ulp_status_text(status));
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
    if (bits % 23 == 0) return ulp_from_bits32(special[(bits >> 8) % (sizeof special / sizeof special[0])]);
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
                acc = ulp_arith(ULP_FUSED, (double)a_at(s, i, k), (double)b_at(s, k, j), acc, &d->accumulator, d->rule,
                                word);
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
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* The shape with a layout; the layout's bits are transposes, accumulation, and rows longer than needed. */
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

static void check_gemm(const ulp_gemm_shape *s, const ulp_datapath *d, ulp_stream stream) {
    assert_true(s->m * s->ldc < RESULTS);
    define(s, d, stream);
    for (size_t isa = 0; isa < offered; isa++)
        for (int threads = 1; threads <= (products % 64 == 0 ? 2 : 1);
             threads++) { /* threads that wait for each other are slow */
            ulp_threads_set(threads);
            memcpy(c, start, sizeof c);
            ulp_status status = ulp_backend_gemm(backends[isa], c, a, b, s, (ulp_summation){d, stream});
            if (status != ULP_OK) fail_msg("%s gemm %s: %s", backends[isa]->what, d->name, ulp_status_text(status));
            compare("gemm", backends[isa], s, d, s->ldc > 0 ? s->ldc : 1);
            products++;
        }
    ulp_threads_set(0);
}

static void test_gemm(void **state) {
    (void)state;
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
static void test_fp32(void **state) {
    (void)state;
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
            assert_int_equal(ulp_backend_gemm(backends[isa], c, a, b, &s, (ulp_summation){&d, (ulp_stream){1, 0, 0}}),
                             ULP_OK);
            compare("gemm", backends[isa], &s, &d, s.ldc);
        }
    }
}

/* One special value at a time affects its row or column as defined, and no other element. */
static void test_specials(void **state) {
    (void)state;
    static const double specials[] = {INFINITY, -INFINITY, NAN, -0.0, 0x1p-149, -0x1p-127, 0x1.fffffep127};
    for (int i = 0; i < DATAPATHS; i++) {
        ulp_datapath d = datapath(i);
        uint64_t seed = (uint64_t)i;
        for (size_t t = 0; t < sizeof specials / sizeof specials[0]; t++) {
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

static void test_reduce(void **state) {
    (void)state;
    static const size_t sizes[][2] = {{0, 3},  {3, 0},    {1, 1},    {5, 2},   {2, 64},
                                      {9, 65}, {101, 63}, {33, 130}, {1000, 7}};
    for (int i = 0; i < DATAPATHS; i++) {
        ulp_datapath d = datapath(i);
        uint64_t seed = (uint64_t)i;
        ulp_stream stream = {5, (uint64_t)i, 1000};
        for (int kind = 0; kind < 3; kind++)
            for (size_t t = 0; t < sizeof sizes / sizeof sizes[0]; t++) {
                const size_t m = sizes[t][0], n = sizes[t][1];
                fill(a, ROOM, &d.accumulator, kind, &seed), fill(start, RESULTS, &d.accumulator, kind, &seed);
                memcpy(want, start, sizeof want);
                for (size_t j = 0; j < n; j++) {
                    double acc = 0.0;
                    for (size_t k = 0; k < m; k++) {
                        uint32_t word = ulp_mode_is_stochastic(d.rule.mode) ? ulp_random_word(stream, j * m + k) : 0;
                        acc = ulp_arith(ULP_FUSED, 1.0, (double)a[k * n + j], acc, &d.accumulator, d.rule, word);
                    }
                    want[j] = (float)acc;
                }
                for (size_t isa = 0; isa < offered; isa++)
                    for (int threads = 1; threads <= (isa == t % offered ? 2 : 1); threads++) {
                        ulp_gemm_shape s = {.m = m, .n = n};
                        ulp_threads_set(threads);
                        memcpy(c, start, sizeof c);
                        assert_int_equal(ulp_backend_reduce(backends[isa], c, a, m, n, (ulp_summation){&d, stream}),
                                         ULP_OK);
                        compare("reduce", backends[isa], &s, &d, n > 0 ? n : 1);
                    }
            }
    }
    ulp_threads_set(0);
}

/* ---- refusals and names ---- */

static void test_refusals(void **state) {
    (void)state;
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
        assert_int_equal(ulp_backend_reduce(k, NULL, NULL, 2, 0, (ulp_summation){&wrong, stream}), ULP_OK);
        s = good, s.k = 0, s.lda = s.ldb = 0;
        assert_int_equal(ulp_backend_gemm(k, c, NULL, NULL, &s, (ulp_summation){&d, stream}),
                         ULP_OK); /* without products all results are +0 */
        for (int i = 0; i < 6; i++) assert_int_equal(ulp_bits32(c[i]), 0);
        s = good, s.m = 0, s.lda = s.ldb = s.ldc = 0;
        assert_int_equal(ulp_backend_gemm(k, NULL, NULL, NULL, &s, (ulp_summation){&wrong, stream}),
                         ULP_OK); /* without elements nothing is checked */
    }
}

static void expect_name(const char *text, ulp_status right) {
    ulp_datapath d, before;
    memset(&d, 0x5a, sizeof d);
    before = d;
    ulp_status status = ulp_datapath_parse(&d, text);
    if (status != right) fail_msg("'%s': %s; should be: %s", text, ulp_status_text(status), ulp_status_text(right));
    if (right == ULP_OK) assert_string_equal(d.name, text);
    else if (memcmp(&d, &before, sizeof d) != 0) fail_msg("'%s' is refused, and writes the datapath", text);
}

/* Check the status of each name; bars separate the names. */
static void expect_names(const char *names, ulp_status right) {
    char name[128];
    for (const char *at = names;; at++) {
        size_t n = strcspn(at, "|");
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        expect_name(name, right);
        at += n;
        if (*at == '\0') return;
    }
}

static void test_names(void **state) {
    (void)state;
    expect_names("|fp16|fp32:rne|serial|serial:|serial:fp16|serial:fp16:|serial:fp16:up|serial::rne|serial:fp17:rne|"
                 "serial:fp16:rne |serial:fp16:rne/8|serial:fp16:sr/|serial:fp16:sr/x|serial:fp16:sr/8x|"
                 "tensor:fp16:rne|serial:fp16:sat:sat:sat:sat:sat:sat:sat:sat:sat:sat:sat:sat:sat:sat:sat:sat:rne",
                 ULP_BAD_NAME);
    expect_names("serial:fp16:sr/0|serial:fp16:sr/33|serial:fp16:sr/-1|serial:e12m3:rne", ULP_NOT_IN_RANGE);
    expect_names(
        "chunk:fp16:rne|chunk-4:fp16:rne|chunk+4:fp16:rne|chunk 4:fp16:rne|chunk4x:fp16:rne|chunk4|chunk4:|"
        "chunk4:fp16|block:fp16:rne|serial4:fp16:rne|split2:fp16:rne|kahan|kahan:fp16:|pairwise:rne|"
        "exact:fp16:rne:|exact:fp17:rne|int8:wrap|int8:|int4|int8:sat:sat|h100|h100-|h100-fp17|h100-fp16-|"
        "h100-fp16-fp32|h100-e4m3.fp16|h100-e4m3.|h100-.e4m3|a100-e4m3|v100-bf16|h200-fp16|"
        "h100-fp16:Q=1|h100-fp16:L|h100-fp16:L=|h100-fp16:=3|h100-fp16:=|h100-fp16:L=8:|h100-fp16:L=8x|"
        "h100-fp16:L=0x8|h100-fp16:F=20:f=21|h100-fp16:align=|h100-fp16:align=up|h100-fp16:floor=|"
        "serial:fp16:rne:promote=|serial:fp16:rne:promote=x|serial:fp16:promote=8|promote=8|fp32:promote|"
        "int8:za=|int8:za|int8:za=none|fp32:promote=none|h100-fp16:L=none|h100-fp16:L=8:L=4|fp32:promote=8:PROMOTE=8",
        ULP_BAD_NAME);
    expect_names("chunk0:fp16:rne|chunk16777217:fp16:rne|chunk99999999999:fp16:rne|"
                 "chunk18446744073709551617:fp16:rne|block0:fp16:rne|block65:fp16:rne|block4:fp16:rne:promote=6|"
                 "fp32:promote=-1|serial:fp16:rne:promote=0|serial:fp16:rne:promote=16777217|"
                 "serial:fp16:rne:promote=99999999999999999999|h100-fp16:L=0|h100-fp16:L=65|h100-fp16:L=-1|"
                 "h100-fp16:L=256|h100-fp16:F=99|h100-fp16:F=41|h100-fp16:kept=0|h100-fp16:kept=24|"
                 "h100-fp16-fp16:kept=11|h100-e4m3-mma:L=33|h100-fp16:floor=2000|h100-fp16:zero_c=-1001|"
                 "h100-fp16:promote=100|h100-e4m3-mma:promote=16|b200-e4m3-mx:L=16|b200-e2m1-nvf4:L=40|int8:za=300|"
                 "int8:zb=-256|h100-fp16:signed_zero=2",
                 ULP_NOT_IN_RANGE);
    expect_names("serial:fp16:wrap:rne|exact:fp64:rne:promote=4|serial:fp64:rne:promote=8|chunk4:fp16:rne:promote=8|"
                 "int8:promote=32|int8:sat:promote=32|serial:fp16:rne:za=3|h100-fp16:zb=1|serial:fp16:rne:L=4|"
                 "int8:F=3|fp32:align=rz|h100-fp16:align=sr|h100-fp16:output=srb",
                 ULP_UNSUPPORTED);
    expect_names("fp32|fp32:promote=1|chunk1:fp16:rne|chunk16777216:fp16:sr/8|chunk64:q8.8:wrap:rd|"
                 "block64:e4m3:inf:rne|kahan:bf16:sr|pairwise:fp16:rne:promote=16777216|exact:fp64:src/1|"
                 "split:e5m2:sat:ru|int8|int8:sat|int8:za=-255:zb=255|int8:sat:za=0|serial:fp16:sr/32:promote=7|"
                 "h100-fp16:L=64:F=40:kept=1|h100-fp16:align=rd:output=rne:floor=none:zero_c=-1000|"
                 "h100-bf16:signed_zero=1:zero_operand=-126:zero_product=5|h100-e4m3:F=20:kept=20|"
                 "h100-e4m3:promote=128|h100-e4m3-mma:L=32|h100-fp16:L=08|"
                 "h100-fp16:L=00000000000000000000000000000000000000000000000000000000000000000000000000000000008",
                 ULP_OK);
    expect_name("h100-fp16:L=000000000000000000000000000000000000000000000000000000000000000000000000000000000008",
                ULP_BAD_NAME);
    expect_names("v100-fp16|v100-fp16-fp16|t4-fp16|t4-fp16-fp16|a100-fp16|a100-fp16-fp16|a100-bf16|a100-tf32|"
                 "l40s-fp16|l40s-fp16-fp16|l40s-bf16|l40s-tf32|l40s-e4m3|l40s-e5m2|l40s-e4m3-fp16|l40s-e5m2-fp16|"
                 "rtx5090-fp16|rtx5090-bf16|rtx5090-tf32|rtx5090-e4m3|rtx5090-e5m2",
                 ULP_OK);
    static const char *const gpus[] = {"h100", "b200"};
    static const char *const inputs[] = {
        "fp16",      "fp16-fp16", "bf16",     "tf32",          "e4m3",          "e5m2",      "e4m3-fp16",
        "e5m2-fp16", "e4m3-mma",  "e5m2-mma", "e4m3-fp16-mma", "e5m2-fp16-mma", "e4m3.e5m2", "e5m2.e4m3-fp16-mma"};
    for (size_t i = 0; i < 2 * sizeof inputs / sizeof inputs[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s-%s", gpus[i % 2], inputs[i / 2]);
        expect_name(name, ULP_OK);
    }
    expect_names("b200-fp16-mma|b200-fp16-fp16-mma|b200-bf16-mma|b200-tf32-mma", ULP_OK);
    ulp_datapath d = datapath(3);
    assert_int_equal(ulp_datapath_parse(NULL, "fp32"), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_datapath_parse(&d, NULL), ULP_BAD_ARGUMENT);
    assert_non_null(strstr(ulp_datapath_names(), "serial:FORMAT:MODE"));
    assert_true(d.rule.mode == ULP_SRB && d.rule.random_bits == 8 && strcmp(d.accumulator.name, "binary16") == 0);
}

/* The name of a row gives this row, no name occurs twice, and there is no row past the end. */
static void test_rows(void **state) {
    (void)state;
    ulp_datapath d, before, again;
    size_t n = 0;
    for (; ulp_datapath_get(n, &d) == ULP_OK; n++) {
        assert_int_equal(ulp_datapath_parse(&again, d.name), ULP_OK);
        assert_memory_equal(&d, &again, sizeof d);
        for (size_t i = 0; i < n; i++)
            assert_true(ulp_datapath_get(i, &again) == ULP_OK && strcmp(again.name, d.name) != 0);
    }
    assert_true(n > 100);
    before = d;
    for (size_t i = 0; i < 3; i++) assert_int_equal(ulp_datapath_get(i < 2 ? n + i : SIZE_MAX, &d), ULP_BAD_ARGUMENT);
    assert_memory_equal(&d, &before, sizeof d);
    assert_int_equal(ulp_datapath_get(0, NULL), ULP_BAD_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gemm),   cmocka_unit_test(test_fp32),     cmocka_unit_test(test_specials),
        cmocka_unit_test(test_reduce), cmocka_unit_test(test_refusals), cmocka_unit_test(test_names),
        cmocka_unit_test(test_rows),
    };
    for (size_t i = 0; ulp_cpu_isa_name(i) != NULL && i < ISAS; i++)
        if (ulp_cpu_isa_offered(i)) backends[offered++] = ulp_cpu_backend(i);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
