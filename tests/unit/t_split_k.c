/* t_split_k.c - sums with split-k=N:FORMAT: parts written out one by one, sums by hand, products of matrices of every
 * layout on every instruction set, and what is refused. */
#include "datapath_texts.h"
#include "instruction_sets.h"

#include "kernels/products/split_k.h"

enum { M = 5, N = 6, DEPTH = 203, ROOM = 8 };

static uint64_t seed = 5;

static size_t below(size_t n) { return (size_t)(next_random(&seed) >> 33) % n; }

/* A value of a format: 7 random bits, a few powers of two. */
static double value(const ulp_format *f) {
    if (f->is_fixed) return (double)below(256) - (f->is_signed ? 128 : 0);
    const double x = (1 + (double)below(128) / 128) * ldexp(1, (int)below(6) - 3);
    return ulp_round(below(2) ? -x : x, f, (ulp_rule){ULP_RNE, ULP_OVERFLOW_SAT, 0}, 0);
}

/* ---- one sum ---- */

/* binary32 to bfloat16 by its bits, to nearest even. */
static double bfloat16_of(double x) {
    const uint32_t bits = ulp_bits32((float)x);
    return (double)ulp_from_bits32((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u);
}

/* The sum of parts that begin at the places of a list, with FORMAT fp32 or bf16 and results in binary32. */
static double by_hand(const ulp_datapath *row, double c, const ulp_products *p, const size_t *begin, size_t parts,
                      int is_bf16) {
    float total = 0.0f;
    for (size_t i = 0; i < parts; i++) {
        const ulp_products part = {p->a + begin[i], p->b + begin[i], begin[i + 1] - begin[i], NULL, NULL};
        const double sum = ulp_dot(row, 0.0, part, (ulp_stream){0, 0, 0});
        total += (float)(is_bf16 ? bfloat16_of(sum) : sum);
    }
    return (double)(total + (float)c);
}

/* Where the parts of sums begin, counted by hand: h100-fp16 has steps of 16, fp32 steps of one, nvf4 steps of 64. */
TEST(parts) {
    static const struct {
        const char *row, *setting;
        size_t k, parts, begin[8];
    } cases[] = {
        {"h100-fp16", ":split-k=4:fp32", 128, 4, {0, 32, 64, 96, 128}},
        {"h100-fp16", ":split-k=4:bf16", 130, 3, {0, 48, 96, 130}},   /* 9 steps: 3, 3, 3 and none */
        {"h100-fp16", ":split-k=3:fp32", 65, 3, {0, 32, 64, 65}},     /* 5 steps: 2, 2, 1 */
        {"h100-fp16", ":split-k=65536:bf16", 40, 3, {0, 16, 32, 40}}, /* more parts than steps */
        {"h100-fp16", ":split-k=1:bf16", 40, 1, {0, 40}},             /* one part is rounded, too */
        {"fp32", ":split-k=4:fp32", 10, 4, {0, 3, 6, 9, 10}},
        {"fp32", ":split-k=6:bf16", 9, 5, {0, 2, 4, 6, 8, 9}},
        {"fp32", ":split-k=7:bf16", 0, 0, {0}},
        {"chunk4:fp32:rne", ":split-k=2:fp32", 10, 2, {0, 5, 10}}, /* chunks begin anew in each part */
        {"block4:fp32:rne", ":split-k=2:bf16", 18, 2, {0, 12, 18}},
        {"h100-e4m3:promote=64", ":split-k=2:fp32", 256, 2, {0, 128, 256}},
        {"mi250-bf16", ":split-k=2:bf16", 9, 2, {0, 8, 9}},
        {"h100-e4m3-mma", ":split-k=2:bf16", 97, 2, {0, 64, 97}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char name[96];
        snprintf(name, sizeof name, "%s%s", cases[i].row, cases[i].setting);
        const ulp_datapath d = datapath_named(name), row = datapath_named(cases[i].row);
        const ulp_format any = named("bf16"), *f = d.has_inputs ? &d.a : &any;
        for (int t = 0; t < 50; t++) {
            double a[DEPTH * 2], b[DEPTH * 2];
            for (size_t k = 0; k < cases[i].k; k++) a[k] = value(f), b[k] = value(f);
            const ulp_products p = {a, b, cases[i].k, NULL, NULL};
            const double c = t % 2 ? value(&any) : 0.0, got = ulp_dot(&d, c, p, (ulp_stream){0, 0, 0});
            const int is_bf16 = strstr(cases[i].setting, "bf16") != NULL;
            const double want = by_hand(&row, c, &p, cases[i].begin, cases[i].parts, is_bf16);
            if (ulp_bits64(got) != ulp_bits64(want)) fail_msg("%s, k %zu: %a, not %a", d.name, p.k, got, want);
        }
    }
}

static double sum_of(const char *name, double c, const double *a, size_t k) {
    static const double ones[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const ulp_datapath d = datapath_named(name);
    return ulp_dot(&d, c, (ulp_products){a, ones, k, NULL, NULL}, (ulp_stream){0, 0, 0});
}

/* Sums whose results follow from the definition by hand. */
TEST(by_hand) {
    const double large[4] = {2048, 1, 1, 1};
    assert_true(sum_of("serial:fp16:rne", 0, large, 4) == 2048);                /* 2049 goes to the even neighbour */
    assert_true(sum_of("serial:fp16:rne:split-k=2:fp16", 0, large, 4) == 2050); /* 2048 + 2 */
    assert_true(sum_of("serial:fp16:rne:split-k=4:fp16", 0, large, 4) == 2052); /* 2051 in binary32, then to even */
    assert_true(sum_of("serial:fp16:rne:split-k=4:fp16", 1, large, 4) == 2052); /* c is added in binary32 */
    assert_true(sum_of("serial:fp16:rne:split-k=4:fp16", -3, large, 4) == 2048);
    assert_true(sum_of("fp32:split-k=1:e5m2", 0, large, 1) == 2048);
    const double over[2] = {40000, 40000};
    assert_true(isinf(sum_of("fp32:split-k=1:fp16", 0, over, 2)));   /* 80000 is beyond binary16 */
    assert_true(sum_of("fp32:split-k=2:fp16", 0, over, 2) == 80000); /* two parts are not */
    assert_true(sum_of("fp32:split-k=2:fp16:sat", 0, over, 2) == 80000);
    assert_true(sum_of("fp32:split-k=1:fp16:sat", 0, over, 2) == 65504);      /* the policy of FORMAT */
    assert_true(isinf(sum_of("serial:fp16:rne:split-k=2:fp32", 0, over, 2))); /* the result's */
    const double zeros[2] = {-0.0, -0.0};
    assert_false(signbit(sum_of("fp32:split-k=2:fp32", -0.0, zeros, 2))); /* a total starts at +0 */
    assert_false(signbit(sum_of("fp32:split-k=2:fp32", -0.0, zeros, 0)));
    assert_true(sum_of("fp32:split-k=2:fp32", 3.5, zeros, 0) == 3.5);
    const double ends[2] = {127, 127};
    assert_true(sum_of("int8:split-k=2:q32.0", 2147483647, ends, 2) == 2147483647.0 + 254 - 0x1p32); /* wraps */
    assert_true(sum_of("int8:sat:split-k=2:q32.0", 2147483647, ends, 2) == 2147483647.0);
    assert_true(sum_of("int8:split-k=2:q8.0", 0, ends, 2) == 254); /* parts of 127 fit 8 bits */
    assert_true(sum_of("int8:split-k=1:q8.0", 0, ends, 2) == 127); /* 254 does not */
    const double nan[2] = {1, NAN};
    assert_true(isnan(sum_of("fp32:split-k=2:fp16", 0, nan, 2)));
}

/* ---- products of matrices ---- */

static double a[M * DEPTH], b[DEPTH * N], c[2][M * N * ROOM], want[M * N];
static float a_narrow[M * DEPTH], b_narrow[DEPTH * N], c_narrow[M * N * ROOM], scales[2][DEPTH * N];
static double a_row[DEPTH], b_column[DEPTH], a_scale[DEPTH], b_scale[DEPTH];

/* Compares a product on every instruction set, and by the oracle, with sums one by one. */
static void check_product(const ulp_datapath *d, int wide, size_t k) {
    const ulp_format any = named("bf16"), *fa = d->has_inputs ? &d->a : &any, *fb = d->has_inputs ? &d->b : &any;
    const size_t blocks = d->scale_block != 0 ? (k + d->scale_block - 1) / d->scale_block : 0;
    ulp_gemm_shape s = {.m = M,
                        .n = N,
                        .k = k,
                        .a_trans = (uint8_t)below(2),
                        .b_trans = (uint8_t)below(2),
                        .c_trans = (uint8_t)below(2),
                        .accumulate = (uint8_t)below(2)};
    const size_t gap = below(2);
    s.lda = s.a_trans ? M : k, s.ldb = s.b_trans ? k : N, s.ldc = (s.c_trans ? M : N) + gap;
    const size_t i_step = s.c_trans ? 1 : s.ldc, j_step = s.c_trans ? s.ldc : 1;
    for (size_t i = 0; i < M * k; i++) a_narrow[i] = (float)(a[i] = value(fa));
    for (size_t i = 0; i < k * N; i++) b_narrow[i] = (float)(b[i] = value(fb));
    for (size_t i = 0; i < M * N * ROOM; i++) c[0][i] = (double)(float)value(&any);
    for (size_t i = 0; i < N * blocks; i++)
        for (int x = 0; x < 2; x++) scales[x][i] = (float)ldexp(1, (int)below(5) - 2);
    if (blocks > 0) s.a_scales = scales[0], s.b_scales = scales[1];
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < N; j++) {
            for (size_t t = 0; t < k; t++) {
                a_row[t] = a[s.a_trans ? t * M + i : i * k + t];
                b_column[t] = b[s.b_trans ? j * k + t : t * N + j];
            }
            for (size_t g = 0; g < blocks; g++)
                a_scale[g] = (double)scales[0][i * blocks + g], b_scale[g] = (double)scales[1][j * blocks + g];
            const ulp_products p = {a_row, b_column, k, blocks ? a_scale : NULL, blocks ? b_scale : NULL};
            want[i * N + j] = ulp_dot(d, s.accumulate ? c[0][i * i_step + j * j_step] : 0.0, p, (ulp_stream){0, 0, 0});
        }
    const ulp_backend *oracle = NULL;
    assert_ok(ulp_backend_get(&oracle, "mpfr"));
    for (size_t isa = 0; isa <= offered; isa++) {
        const ulp_backend *backend = isa < offered ? backends[isa] : oracle;
        const ulp_summation by = {d, {0, 0, 0}};
        memcpy(c[1], c[0], sizeof c[0]);
        for (size_t i = 0; i < M * N * ROOM; i++) c_narrow[i] = (float)c[0][i];
        assert_ok(wide ? ulp_backend_gemm64(backend, c[1], a, b, &s, by)
                       : ulp_backend_gemm(backend, c_narrow, a_narrow, b_narrow, &s, by));
        for (size_t i = 0; i < M * N * ROOM && !wide; i++) c[1][i] = (double)c_narrow[i];
        for (size_t i = 0; i < M; i++)
            for (size_t j = 0; j < N; j++) {
                double *got = &c[1][i * i_step + j * j_step];
                if (!same_result(*got, want[i * N + j]))
                    fail_msg("%s, %s %s: element %zu,%zu is %a, not %a", d->name, backend->name, backend->what, i, j,
                             *got, want[i * N + j]);
                *got = c[0][i * i_step + j * j_step];
            }
        assert_memory_equal(c[1], c[0], sizeof c[0]); /* nothing else was written */
    }
}

TEST(matrices) {
    static const char names[] =
        "serial:fp16:rne:split-k=2:fp16 serial:bf16:rz:split-k=5:e4m3 fp32:split-k=3:bf16 fp32:split-k=4:fp32 "
        "split:fp16:rd:split-k=3:fp16 chunk8:fp16:rne:split-k=3:fp32 pairwise:fp16:rne:split-k=2:bf16 "
        "kahan:bf16:rne:split-k=3:bf16 exact:fp16:rne:split-k=4:fp16 block4:fp32:rne:split-k=7:fp32 "
        "h100-fp16:split-k=4:fp32 h100-fp16-fp16:split-k=3:fp16 h100-e4m3:promote=64:split-k=2:bf16 "
        "mi300-bf16:split-k=3:fp32 amx-bf16:split-k=2:fp32 b200-e2m1-nvf4:split-k=2:fp32 b200-e4m3-mx:split-k=3:fp16 "
        "b200-e2m1-mxf4x16:split-k=2:bf16 int8:split-k=3:q32.0 int8:sat:split-k=2:q20.0 vnni-int8:split-k=4:q16.0 "
        "maddubs-int8:split-k=2:q32.0 serial:fp64:rne:split-k=3:fp64 serial:fp64:rne:split-k=3:fp16";
    for (size_t i = 0; *word_of(names, i); i++) {
        const ulp_datapath d = datapath_named(word_of(names, i));
        for (int t = 0; t < 24; t++) {
            const int wide = !d.result.fits_binary32 || t % 4 == 0;
            check_product(&d, wide, t == 1 ? 0 : 1 + below(DEPTH - 1));
        }
    }
}

/* Column sums, and products that are rounded. */
TEST(composed) {
    const ulp_datapath d = datapath_named("serial:fp16:rne:split-k=3:bf16");
    const ulp_format half = named("e5m2"), any = named("bf16");
    const ulp_summation by = {&d, {0, 0, 0}};
    const ulp_rounding rounding = {.format = &half, .rule = {ULP_RZ, ULP_OVERFLOW_INF, 0}};
    const ulp_gemm_shape s = {.m = M, .n = N, .k = 40, .lda = 40, .ldb = N, .ldc = N};
    float y[64];
    for (size_t i = 0; i < M * 40; i++) a_narrow[i] = (float)value(&any);
    for (size_t i = 0; i < 40 * N; i++) b_narrow[i] = (float)value(&any);
    for (size_t isa = 0; isa < offered; isa++) {
        assert_ok(ulp_backend_gemm_round(backends[isa], y, a_narrow, b_narrow, &s, by, rounding));
        for (size_t i = 0; i < M * N; i++) {
            for (size_t k = 0; k < 40; k++) {
                a_row[k] = (double)a_narrow[i / N * 40 + k];
                b_column[k] = (double)b_narrow[k * N + i % N];
            }
            const double sum = ulp_dot(&d, 0, (ulp_products){a_row, b_column, 40, NULL, NULL}, (ulp_stream){0, 0, 0});
            assert_true((double)y[i] == ulp_round(sum, &half, rounding.rule, 0));
        }
        assert_ok(ulp_backend_reduce(backends[isa], y, b_narrow, 40, N, by));
        for (size_t j = 0; j < N; j++) {
            for (size_t k = 0; k < 40; k++) a_row[k] = 1, b_column[k] = (double)b_narrow[k * N + j];
            assert_true((double)y[j] ==
                        ulp_dot(&d, 0, (ulp_products){a_row, b_column, 40, NULL, NULL}, (ulp_stream){0, 0, 0}));
        }
    }
}

/* Operands that the row does not hold are refused, as without parts; no array is written. */
TEST(bad_operands) {
    const ulp_datapath d = datapath_named("h100-e4m3:split-k=2:fp32");
    const ulp_gemm_shape s = {.m = 1, .n = 1, .k = 64, .lda = 64, .ldb = 1, .ldc = 1};
    for (size_t i = 0; i < 64; i++) a_narrow[i] = b_narrow[i] = 1.0f;
    a_narrow[50] = 1.03125f;
    for (size_t isa = 0; isa < offered; isa++) {
        c_narrow[0] = 7.0f;
        assert_int_equal(ulp_backend_gemm(backends[isa], c_narrow, a_narrow, b_narrow, &s, (ulp_summation){&d, {0}}),
                         ULP_NO_CODE);
        assert_true(c_narrow[0] == 7.0f);
    }
}

TEST(names) {
    static const taken_name good[] = {
        {"H100-FP16:Split-K=4:FP32", "h100-fp16:split-k=4:binary32"},
        {"h100-fp16:split-k=04:fp32:F=20", "h100-fp16:split-k=4:binary32:F=20"},
        {"h100-fp16:F=20:split-k=4:e4m3:sat", "h100-fp16:split-k=4:e4m3:sat:F=20"},
        {"h100-e4m3:split-k=2:bf16:promote=64", "h100-e4m3:promote=64:split-k=2:bfloat16"},
        {"fp32:split-k=65536:cfloat8_1_4_3:bias=3", "fp32:split-k=65536:cfloat8_1_4_3:bias=3"},
        {"int8:sat:split-k=2:q16.0:wrap:za=3", "int8:sat:split-k=2:q16.0:wrap:za=3"}};
    static const refused_name bad[] = {
        {"fp32:split-k=0:fp16", "'split-k=0:fp16': N of split-k=N:FORMAT is a whole number from 1 to 65536",
         ULP_NOT_IN_RANGE},
        {"fp32:split-k=65537:fp16", "from 1 to 65536", ULP_NOT_IN_RANGE},
        {"fp32:split-k=99999999999999999999:fp16", "from 1 to 65536", ULP_NOT_IN_RANGE},
        {"fp32:split-k=-2:fp16", "split-k is N:FORMAT", ULP_BAD_NAME},
        {"fp32:split-k=x:fp16", "split-k is N:FORMAT", ULP_BAD_NAME},
        {"fp32:split-k=2x:fp16", "split-k is N:FORMAT", ULP_BAD_NAME},
        {"fp32:split-k=2", "'split-k=2': split-k is N:FORMAT", ULP_BAD_NAME},
        {"fp32:split-k=", "split-k is N:FORMAT", ULP_BAD_NAME},
        {"fp32:split-k=2:", "no format ''", ULP_BAD_NAME},
        {"fp32:split-k=2:fp17", "no format 'fp17'", ULP_BAD_NAME},
        {"fp32:split-k=2:e12m3", "no format 'e12m3'", ULP_NOT_IN_RANGE},
        {"fp32:split-k", "split-k needs a value", ULP_BAD_NAME},
        {"fp32:split-k=2:fp16:split-k=3:fp16", "split-k is given twice", ULP_BAD_NAME},
        {"fp32:split-k=2:fp64", "have to fit binary32", ULP_UNSUPPORTED},
        {"serial:fp16:sr:split-k=2:fp16", "not with a stochastic mode", ULP_UNSUPPORTED},
        {"h100-bf16:words=2:split-k=2:fp32", "not with words=", ULP_UNSUPPORTED},
    };
    names_are_taken(good, COUNT_OF(good));
    names_are_refused(bad, COUNT_OF(bad));
}

TESTS(find_backends, NULL)
