/* t_integer_rows.c - integers of 8 bits with and without a sign, their zero points, and the sums of pairs in 16 bits:
 * against loops of 64-bit integers, on every instruction set, by the oracle, and by the processor's own instructions.
 */
#include "datapath_texts.h"
#include "instruction_sets.h"

enum { M = 3, N = 21, DEPTH = 75 };

static uint64_t seed = 9;
static double a[M * DEPTH], b[N * DEPTH], start[M * N], c[M * N]; /* a (M,k), b (N,k) */

static int below(int n) { return (int)(next_random(&seed) >> 33) % n; }

static int64_t wrapped(int64_t x, int bits) {
    const int64_t most = (int64_t)1 << bits, rest = ((x % most) + most) % most;
    return rest < most / 2 ? rest : rest - most;
}

static int64_t clamped(int64_t x, int bits) {
    const int64_t end = (int64_t)1 << (bits - 1);
    return x < -end ? -end : (x > end - 1 ? end - 1 : x);
}

/* A row as the tests define it. */
typedef struct integer_row {
    const char *name;
    int a_signed, b_signed;
    int za, zb;
    int clamps; /* 0: 32-bit sums wrap; n: they clamp after every n products */
    int pairs;  /* 16-bit sums of pairs: 1 clamp, 2 wrap */
} integer_row;

static const integer_row rows[] = {
    {"uint8", 0, 0, 0, 0, 0, 0},
    {"uint8.int8", 0, 1, 0, 0, 0, 0},
    {"int8.uint8", 1, 0, 0, 0, 0, 0},
    {"uint8:sat", 0, 0, 0, 0, 32, 0},
    {"uint8.int8:sat", 0, 1, 0, 0, 32, 0},
    {"int8.uint8:sat", 1, 0, 0, 0, 32, 0},
    {"uint8:zero-points=128,3", 0, 0, 128, 3, 0, 0},
    {"uint8:zero-points=255,255", 0, 0, 255, 255, 0, 0},
    {"uint8:zero-points=0,255", 0, 0, 0, 255, 0, 0},
    {"uint8.int8:zero-points=128,-128", 0, 1, 128, -128, 0, 0},
    {"uint8.int8:zero-points=7,0", 0, 1, 7, 0, 0, 0},
    {"int8.uint8:zero-points=-128,255", 1, 0, -128, 255, 0, 0},
    {"int8:zero-points=-5,127", 1, 1, -5, 127, 0, 0},
    {"uint8:sat:zero-points=200,1", 0, 0, 200, 1, 32, 0},
    {"uint8.int8:sat:zero-points=255,127", 0, 1, 255, 127, 32, 0},
    {"int8:sat:zero-points=127,127", 1, 1, 127, 127, 32, 0},
    {"maddubs-int8", 0, 1, 0, 0, 0, 1},
    {"maddubs-int8-wrap", 0, 1, 0, 0, 0, 2},
};

/* c + the sum over k of (a - za)(b - zb), of 64-bit integers. */
static double sum_of(const integer_row *r, double from, const double *x, const double *y, size_t k) {
    int64_t sum = (int64_t)from, part = 0;
    for (size_t t = 0; t < k; t++) {
        part += ((int64_t)x[t] - r->za) * ((int64_t)y[t] - r->zb);
        if (r->pairs && (t % 2 == 1 || t + 1 == k)) {
            sum += r->pairs == 1 ? clamped(part, 16) : wrapped(part, 16);
            part = 0;
        } else if (r->clamps && (t % (size_t)r->clamps == (size_t)r->clamps - 1 || t + 1 == k)) {
            sum = clamped(sum + part, 32);
            part = 0;
        }
    }
    return (double)(r->clamps ? sum + part : wrapped(sum + part, 32));
}

static double operand(int is_signed, int ends) {
    const int code = ends ? (below(3) ? 255 : below(2) * 128) : below(256);
    return is_signed ? (double)code - 128 : (double)code;
}

static void check(const integer_row *r, const ulp_datapath *d, size_t k, int ends, int accumulate) {
    static const double near[] = {0, 2147483647, -2147483648.0, 2147400000, -5};
    for (size_t i = 0; i < M * k; i++) a[i] = operand(r->a_signed, ends);
    for (size_t i = 0; i < N * k; i++) b[i] = operand(r->b_signed, ends);
    for (size_t i = 0; i < M * N; i++) start[i] = near[below(5)];
    const ulp_gemm_shape s = {
        .m = M, .n = N, .k = k, .lda = k, .ldb = k, .ldc = N, .b_trans = 1, .accumulate = (uint8_t)accumulate};
    const ulp_backend *oracle = NULL;
    assert_ok(ulp_backend_get(&oracle, "mpfr"));
    for (size_t isa = 0; isa <= offered; isa++) {
        const ulp_backend *backend = isa < offered ? backends[isa] : oracle;
        memcpy(c, start, sizeof c);
        assert_ok(ulp_backend_gemm64(backend, c, a, b, &s, (ulp_summation){d, {0}}));
        for (size_t i = 0; i < M; i++)
            for (size_t j = 0; j < N; j++) {
                const double want = sum_of(r, accumulate ? start[i * N + j] : 0, a + i * k, b + j * k, k);
                if (c[i * N + j] != want)
                    fail_msg("%s, %s %s, k %zu, accumulate %d: element %zu,%zu is %.0f, not %.0f", r->name,
                             backend->name, backend->what, k, accumulate, i, j, c[i * N + j], want);
            }
    }
    for (size_t j = 0; j < N; j++) {
        const double got = ulp_dot(d, start[j], (ulp_products){a, b + j * k, k, NULL, NULL}, (ulp_stream){0});
        assert_true(got == sum_of(r, start[j], a, b + j * k, k));
    }
}

TEST(rows) {
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        const ulp_datapath d = datapath_named(rows[r].name);
        for (size_t k = 0; k <= DEPTH; k = k < 9 ? k + 1 : k * 2 + 1)
            for (int t = 0; t < 4; t++) check(&rows[r], &d, k, t & 1, t >> 1);
        check(&rows[r], &d, DEPTH, 1, 1);
    }
}

/* The pairs by hand: 255 127 + 255 127 = 64770 is beyond 16 bits. */
TEST(pairs) {
    static const double x[4] = {255, 255, 255, 255}, y[2][4] = {{127, 127, 127, 127}, {-128, -128, 1, -1}};
    const ulp_datapath sat = datapath_named("maddubs-int8"), wrap = datapath_named("maddubs-int8-wrap");
    const ulp_stream none = {0};
    assert_true(ulp_dot(&sat, 0, (ulp_products){x, y[0], 4, NULL, NULL}, none) == 2 * 32767);
    assert_true(ulp_dot(&sat, 0, (ulp_products){x, y[0], 3, NULL, NULL}, none) == 32767 + 255 * 127);
    assert_true(ulp_dot(&sat, 0, (ulp_products){x, y[1], 4, NULL, NULL}, none) == -32768);
    assert_true(ulp_dot(&wrap, 0, (ulp_products){x, y[0], 4, NULL, NULL}, none) == 2 * (64770 - 65536));
    assert_true(ulp_dot(&wrap, 5, (ulp_products){x, y[1], 4, NULL, NULL}, none) == 5 + 65536 - 65280);
    assert_true(ulp_dot(&sat, 2147483647, (ulp_products){x, y[0], 4, NULL, NULL}, none) ==
                2147483647.0 + 2 * 32767 - 0x1p32);
}

/* The processor's own instructions have the bits of the model. */
TEST(native) {
    ulp_datapath d;
    ulp_error why;
    const ulp_status status = ulp_datapath_native(&d, "native:maddubs-int8", &why);
    if (status == ULP_NO_DEVICE) {
        print_message("%s\n", why.text);
        skip();
    }
    assert_ok(status);
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        if (rows[r].pairs != 1) continue;
        for (size_t k = 0; k <= DEPTH; k++) {
            for (size_t i = 0; i < M * k; i++) a[i] = operand(0, below(2));
            for (size_t i = 0; i < N * k; i++) b[i] = operand(1, below(2));
            for (size_t i = 0; i < M * N; i++) c[i] = start[i] = (double)(below(2000) - 1000) * 2000000;
            const ulp_gemm_shape s = {
                .m = M, .n = N, .k = k, .lda = k, .ldb = k, .ldc = N, .b_trans = 1, .accumulate = 1};
            assert_ok(ulp_backend_gemm64(backends[offered - 1], c, a, b, &s, (ulp_summation){&d, {0}}));
            for (size_t i = 0; i < M * N; i++)
                assert_true(c[i] == sum_of(&rows[r], start[i], a + i / N * k, b + i % N * k, k));
        }
    }
}

/* Operands beyond the codes are refused. */
TEST(operands) {
    static const struct {
        const char *name;
        double a, b;
    } bad[] = {{"uint8", 256, 0},
               {"uint8", -1, 0},
               {"uint8", 0, -1},
               {"uint8.int8", 0, 128},
               {"uint8.int8", 0.5, 0},
               {"uint8", NAN, 0},
               {"int8.uint8", 0, 255.5},
               {"int8.uint8", 128, 0},
               {"maddubs-int8", -1, 0},
               {"maddubs-int8", 0, 128},
               {"uint8:zero-points=128,0", -1, 0}};
    const ulp_gemm_shape s = {.m = 1, .n = 1, .k = 1, .lda = 1, .ldb = 1, .ldc = 1};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        const ulp_datapath d = datapath_named(bad[i].name);
        for (size_t isa = 0; isa < offered; isa++)
            if (ulp_backend_gemm64(backends[isa], c, &bad[i].a, &bad[i].b, &s, (ulp_summation){&d, {0}}) != ULP_NO_CODE)
                fail_msg("%s takes %g and %g", bad[i].name, bad[i].a, bad[i].b);
    }
}

TEST(names) {
    static const taken_name good[] = {{"UINT8:ZERO-POINTS=128,0", "uint8:za=128"},
                                      {"uint8.int8:sat:zero-points=0,-128", "uint8.int8:sat:zb=-128"},
                                      {"int8:zero-points=3,-5", "int8:za=3:zb=-5"},
                                      {"int8:zero-points=0,0", "int8"},
                                      {"vnni-int16:zero-points=-255,255", "vnni-int16:za=-255:zb=255"},
                                      {"maddubs-int8", "maddubs-int8"}};
    static const refused_name bad[] = {
        {"uint8:zero-points=256,0", "the zero point of a is uq8.0, 0 to 255", ULP_NOT_IN_RANGE},
        {"uint8:zero-points=-1,0", "the zero point of a is uq8.0, 0 to 255", ULP_NOT_IN_RANGE},
        {"uint8.int8:zero-points=255,128", "the zero point of b is q8.0, -128 to 127", ULP_NOT_IN_RANGE},
        {"int8:zero-points=-129,0", "-128 to 127", ULP_NOT_IN_RANGE},
        {"vnni-int16:zero-points=256,0", "-255 to 255", ULP_NOT_IN_RANGE},
        {"int8:zero-points=99999999999999999999,0", "-128 to 127", ULP_NOT_IN_RANGE},
        {"int8:zero-points=3", "zero-points is ZA,ZB", ULP_BAD_NAME},
        {"int8:zero-points=3,", "zero-points is ZA,ZB", ULP_BAD_NAME},
        {"int8:zero-points=3,4,5", "zero-points is ZA,ZB", ULP_BAD_NAME},
        {"int8:zero-points=,4", "zero-points is ZA,ZB", ULP_BAD_NAME},
        {"int8:zero-points=1.5,4", "zero-points is ZA,ZB", ULP_BAD_NAME},
        {"int8:zero-points= 3,4", "zero-points is ZA,ZB", ULP_BAD_NAME},
        {"h100-fp16:zero-points=1,2", "is of int8, uint8 and vnni only", ULP_UNSUPPORTED},
        {"maddubs-int8:zero-points=1,2", "is of int8, uint8 and vnni only", ULP_UNSUPPORTED},
        {"maddubs-int8:za=1", "is of int8, uint8 and vnni only", ULP_UNSUPPORTED},
        {"maddubs-int8:promote=4", "promote", ULP_UNSUPPORTED},
        {"fast-accumulation", "h100-e4m3:promote=128", ULP_BAD_NAME},
        {"use_fast_accum", "h100-e4m3 (or l40s-e4m3)", ULP_BAD_NAME},
        {"h100-e4m3:fast_accum=1", "h100-e4m3:promote=128", ULP_BAD_NAME},
        {"H100-E4M3:FastAccumulation", "h100-e4m3:promote=128", ULP_BAD_NAME},
    };
    names_are_taken(good, COUNT_OF(good));
    names_are_refused(bad, COUNT_OF(bad));
    assert_non_null(strstr(ulp_datapath_names(), "use_fast_accum"));
}

TESTS(find_backends, NULL)
