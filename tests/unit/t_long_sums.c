/* t_long_sums.c - sums with more bits than the integers of vectors have, on each instruction set, against ulp_dot():
 * sums of products rounded to odd, one-sided sums that are cut, block sums that binary64 does not hold, pairs of
 * products of any range, and groups beside a subnormal c. */
#include "support.h"

#include "kernels/backend.h"

/* Sums of large products of one exponent on RISC-V, which need more than 32 bits, and their cancelling forms. */
TEST(long_sums) {
    enum { K = 37 };
    static const char *const names[] = {"riscv-e4m3", "riscv-e5m2", "riscv-bf16:L=16:F=27", "riscv-bf16"};
    size_t wrong = 0;
    for (size_t n = 0; n < 4 * 64; n++) {
        float a[K], b[K], c, y;
        double x[K], z[K];
        uint64_t seed = n;
        ulp_datapath d = datapath_named(names[n % 4]);
        const double most[2] = {2.0 - ldexp(1.0, 1 - d.a.prec), 2.0 - ldexp(1.0, 1 - d.b.prec)};
        for (int i = 0; i < K; i++) {
            const int tiny = (int)(next_random(&seed) % 16) < (int)(n / 4 % 4),
                      sign = n / 16 % 2 && next_random(&seed) % 2;
            x[i] = a[i] = (float)ldexp(sign ? -most[0] : most[0], tiny ? -5 : 3);
            z[i] = b[i] = (float)ldexp(most[1], tiny ? 3 - (int)(next_random(&seed) % 8) : 3);
        }
        y = c = (float)ldexp(1.0, 10 - (int)(next_random(&seed) % 40));
        const float want = (float)ulp_dot(&d, (double)c, (ulp_products){x, z, K, NULL, NULL}, (ulp_stream){1, 0, 0});
        const ulp_gemm_shape shape = {.m = 1, .n = 1, .k = K, .lda = K, .ldb = 1, .ldc = 1, .accumulate = 1};
        for (size_t isa = 0; ulp_cpu_isa_name(isa) != NULL; isa++, y = c) {
            if (!ulp_cpu_isa_offered(isa)) continue;
            assert_ok(ulp_backend_gemm(ulp_cpu_backend(isa), &y, a, b, &shape, (ulp_summation){.datapath = &d}));
            wrong += ulp_bits32(y) != ulp_bits32(want);
        }
    }
    assert_int_equal(wrong, 0);
}

/* Products rounded to odd that are so far below the largest one that binary32 does not hold their multiples: each still
 * counts as one unit. Few products are not zero, so that the units decide. */
TEST(far_products) {
    enum { M = 2, K = 24, N = 20, ROUNDS = 400 };
    static const char *const names[] = {"riscv-bf16", "riscv-bf16:F=20", "riscv-bf16:L=16:F=27", "mi300-bf16"};
    size_t wrong = 0;
    for (size_t n = 0; n < ROUNDS; n++) {
        static float a[M * K], b[K * N], y[M * N];
        uint64_t seed = n;
        ulp_datapath d = datapath_named(names[n % (COUNT_OF(names))]);
        for (int i = 0; i < M * K; i++) {
            const uint64_t r = next_random(&seed);
            a[i] = r % 3 ? 0.0f
                         : (float)ldexp((double)(128 + (r >> 8) % 128) * (r >> 20 & 1 ? 1 : -1),
                                        -133 - 7 + (int)(r >> 32) % 250);
            if (a[i] != (float)ulp_round((double)a[i], &d.a, (ulp_rule){0}, 0)) a[i] = 0x1p-133f;
        }
        for (int i = 0; i < K * N; i++) b[i] = (float)ldexp(1.0, n % 8 < 4 ? 0 : (int)(next_random(&seed) % 14) - 7);
        const ulp_gemm_shape shape = {.m = M, .n = N, .k = K, .lda = K, .ldb = N, .ldc = N};
        for (size_t isa = 0; ulp_cpu_isa_name(isa) != NULL; isa++) {
            if (!ulp_cpu_isa_offered(isa)) continue;
            assert_ok(ulp_backend_gemm(ulp_cpu_backend(isa), y, a, b, &shape, (ulp_summation){.datapath = &d}));
            for (int i = 0; i < M * N; i++) {
                double x[K], z[K];
                for (int k = 0; k < K; k++) x[k] = a[i / N * K + k], z[k] = b[k * N + i % N];
                const float want = (float)ulp_dot(&d, 0.0, (ulp_products){x, z, K, NULL, NULL}, (ulp_stream){1, 0, 0});
                wrong += ulp_bits32(y[i]) != ulp_bits32(want);
            }
        }
    }
    assert_int_equal(wrong, 0);
}

/* One-sided sums near ties and near powers of two of both signs: c is 2^e or next to it, and products are large, or
 * units of the bits below c that decide. */
TEST(one_sided_sums) {
    enum { K = 24, N = 64, ROUNDS = 250 };
    static const char *const names[] = {
        "mi300-fp16",     "mi300-bf16",         "mi300-tf32",           "mi300-e4m3fnuz",
        "mi300-e5m2fnuz", "mi300-fp16:join=31", "mi300-fp16:normal=28", "mi300-e4m3fnuz:c_cut=0"};
    size_t wrong = 0, wide = 0;
    for (size_t n = 0; n < ROUNDS * (COUNT_OF(names)); n++) {
        static float a[K], b[K * N], c[N], y[N], want[N];
        double x[K], z[K];
        uint64_t seed = n;
        ulp_datapath d = datapath_named(names[n % (COUNT_OF(names))]);
        const double most = 2.0 - ldexp(1.0, 1 - d.a.prec);
        const int small = d.a.emin / 2 > -6 ? d.a.emin / 2 : -6;
        for (int i = 0; i < K; i++) {
            const uint64_t r = next_random(&seed);
            a[i] = (float)(r % 3 == 0 ? 0.0 : ldexp(r >> 8 & 1 ? most : 1.0, (int)(r >> 16) % 4 ? 0 : small));
        }
        for (int i = 0; i < K * N; i++) {
            const uint64_t r = next_random(&seed);
            b[i] = (float)ldexp((r & 1 ? -1 : 1) * (r & 2 ? most : 1.0),
                                r & 4 ? 0 : -(int)(r >> 8 & 3) - (r & 8 ? 0 : -small));
        }
        for (int j = 0; j < N; j++) {
            const uint64_t r = next_random(&seed);
            const double next = ldexp((double)((int)(r >> 16 & 3) - 1), -23);
            c[j] = (float)ldexp((r & 1 ? -1 : 1) * (1.0 + next + (r & 2 ? 0.5 : 0.0)),
                                (int)(r >> 8 & 31) - (r & 4 ? 24 : -14));
            for (int i = 0; i < K; i++) x[i] = a[i], z[i] = b[i * N + j];
            want[j] = (float)ulp_dot(&d, (double)c[j], (ulp_products){x, z, K, NULL, NULL}, (ulp_stream){1, 0, 0});
            wide += fabsf(want[j]) >= 8.0f;
        }
        const ulp_gemm_shape shape = {.m = 1, .n = N, .k = K, .lda = K, .ldb = N, .ldc = N, .accumulate = 1};
        for (size_t isa = 0; ulp_cpu_isa_name(isa) != NULL; isa++) {
            if (!ulp_cpu_isa_offered(isa)) continue;
            memcpy(y, c, sizeof y);
            assert_ok(ulp_backend_gemm(ulp_cpu_backend(isa), y, a, b, &shape, (ulp_summation){.datapath = &d}));
            for (int j = 0; j < N; j++) wrong += ulp_bits32(y[j]) != ulp_bits32(want[j]);
        }
    }
    assert_int_equal(wrong, 0);
    assert_true(wide > 1000);
}

/* The result of c and k products on each instruction set differs from the definition in so many. */
static size_t count_wrong(const char *name, float c, const float *a, const float *b, size_t k) {
    double x[8], z[8];
    size_t wrong = 0;
    ulp_datapath d = datapath_named(name);
    for (size_t i = 0; i < k; i++) x[i] = (double)a[i], z[i] = (double)b[i];
    const float want = (float)ulp_dot(&d, (double)c, (ulp_products){x, z, k, NULL, NULL}, (ulp_stream){1, 0, 0});
    const ulp_gemm_shape shape = {.m = 1, .n = 1, .k = k, .lda = k, .ldb = 1, .ldc = 1, .accumulate = 1};
    for (size_t isa = 0; ulp_cpu_isa_name(isa) != NULL; isa++) {
        float y = c;
        if (!ulp_cpu_isa_offered(isa)) continue;
        assert_ok(ulp_backend_gemm(ulp_cpu_backend(isa), &y, a, b, &shape, (ulp_summation){.datapath = &d}));
        wrong += ulp_bits32(y) != ulp_bits32(want);
    }
    return wrong;
}

/* A tie that a product breaks, 20 to 60 bits below c; and sums at the end of the range of binary16. */
TEST(block_sums) {
    static const char *const names[] = {"mi100-fp16", "mi100-bf16", "arm-e5m2"}, *const half = "arm-e5m2-fp16";
    size_t wrong = 0;
    for (size_t n = 0; n < COUNT_OF(names); n++)
        for (int t = 2; t < 34; t++)
            for (int e = -12; e <= 0; e++)
                for (int sign = -1; sign <= 1; sign++) {
                    const float c = (float)ldexp(1.0 + (t % 2) * 0x1p-23, t), half_ulp = (float)ldexp(1.0, t - 24);
                    const int up = (t - 24) / 2; /* half an ulp as a product of two powers */
                    const float a[2] = {(float)ldexp(1.0, up), (float)ldexp(sign, e)},
                                b[2] = {half_ulp / a[0], (float)ldexp(1.0, e)};
                    wrong += count_wrong(names[n], c, a, b, 2);
                }
    for (int i = 0; i < 64; i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            const float c = (float)sign * (32768.0f + 32.0f * (float)(16 * i)), a[2] = {(float)sign * 128.0f, 4.0f},
                        b[2] = {256.0f - (float)(64 * (i % 3)), 4.0f * (float)(i % 5 - 2)};
            wrong += count_wrong(half, c, a, b, 2);
            const float largest = (float)sign * 65504.0f, d[2] = {(float)sign * 4.0f, 0.25f},
                        f[2] = {4.0f, 0.25f * (float)(i % 5 - 2)};
            wrong += count_wrong(half, largest, d, f, 2);
        }
    assert_int_equal(wrong, 0);
}

/* Steps of two products whose ranges differ by up to 500 bits, so that no number of binary64 holds their sum; odd
 * lengths have a last step of one product, and sums meet zeros. */
TEST(pairs_of_any_range) {
    enum { M = 3, K = 31, N = 70, ROUNDS = 24 };
    static const char *const names[] = {"mi100-bf16",     "block2:fp32:rne", "block2:fp32:ru",
                                        "block2:fp32:sr", "block2:e8m12:ro", "block2:fp32:rd"};
    size_t wrong = 0;
    for (size_t n = 0; n < ROUNDS; n++) {
        static float a[M * K], b[K * N], y[M * N];
        uint64_t seed = 77 + n;
        const ulp_datapath d = datapath_named(names[n % COUNT_OF(names)]);
        for (int i = 0; i < M * K + K * N; i++) {
            const uint64_t r = next_random(&seed);
            const int even = i < M * K ? i % K : (i - M * K) / N;
            const double x = ldexp((double)(128 + r % 128) * (r >> 10 & 1 ? 1 : -1), (int)(r >> 40) % 110 - 67);
            float *const to = i < M * K ? &a[i] : &b[i - M * K];
            *to = r >> 11 & 7 ? (float)x : 0.0f;
            if ((r >> 16) % 3 == 0 && even % 2 == 1) *to = i < M * K ? -to[-1] : to[-N]; /* products that cancel */
        }
        const ulp_gemm_shape shape = {.m = M, .n = N, .k = K, .lda = K, .ldb = N, .ldc = N};
        const ulp_summation how = {.datapath = &d, .stream = {5, 2, 0}};
        for (size_t isa = 0; ulp_cpu_isa_name(isa) != NULL; isa++) {
            if (!ulp_cpu_isa_offered(isa)) continue;
            assert_ok(ulp_backend_gemm(ulp_cpu_backend(isa), y, a, b, &shape, how));
            for (int i = 0; i < M * N; i++) {
                double x[K], z[K];
                for (int k = 0; k < K; k++) x[k] = (double)a[i / N * K + k], z[k] = (double)b[k * N + i % N];
                const ulp_stream words = {5, 2, (uint64_t)i * ulp_datapath_words(&d, K)};
                const float want = (float)ulp_dot(&d, 0.0, (ulp_products){x, z, K, NULL, NULL}, words);
                wrong += ulp_bits32(y[i]) != ulp_bits32(want);
            }
        }
    }
    assert_int_equal(wrong, 0);
}

/* A subnormal c has the exponent -126 in the alignment: this cuts a term that is a bit or two below the unit. All
 * columns are equal, because a column of zeros would take the vectors another way. */
TEST(groups_beside_a_subnormal_c) {
    enum { K = 64, N = 128 };
    static float a[K], b[K * N], c[N], y[N], sb[N * 2];
    size_t wrong = 0, cut = 0;
    ulp_datapath d = datapath_named("b200-e2m1-mxf4");
    for (int e = -149; e < -120; e++)
        for (int below = -166; below < -155; below++)
            for (int sign = -1; sign <= 1; sign += 2) {
                const float sa[2] = {0x1p-64f, 0x1p-80f};
                double x[K] = {0}, z[K] = {0}, xs[2] = {sa[0], sa[1]}, zs[2] = {sa[0], ldexp(1.0, below + 80)};
                for (int i = 0; i < 16; i++) x[i] = z[i] = 1.0; /* 2^-124, with the exponent -128 */
                x[K / 2] = 1.0;
                z[K / 2] = sign; /* +-2^below */
                for (int i = 0; i < K * N; i++) a[i / N] = (float)x[i / N], b[i] = (float)z[i / N];
                for (int j = 0; j < N; j++)
                    c[j] = ldexpf(1.0f, e), sb[2 * j] = (float)zs[0], sb[2 * j + 1] = (float)zs[1];
                const float want =
                    (float)ulp_dot(&d, (double)c[0], (ulp_products){x, z, K, xs, zs}, (ulp_stream){1, 0, 0});
                const ulp_gemm_shape shape = {.m = 1,
                                              .n = N,
                                              .k = K,
                                              .lda = K,
                                              .ldb = N,
                                              .ldc = N,
                                              .accumulate = 1,
                                              .a_scales = sa,
                                              .b_scales = sb};
                cut += want == 0x1p-124f + c[0] && sign < 0;
                for (size_t isa = 0; ulp_cpu_isa_name(isa) != NULL; isa++) {
                    if (!ulp_cpu_isa_offered(isa)) continue;
                    memcpy(y, c, sizeof y);
                    assert_ok(ulp_backend_gemm(ulp_cpu_backend(isa), y, a, b, &shape, (ulp_summation){.datapath = &d}));
                    for (int j = 0; j < N; j++) wrong += ulp_bits32(y[j]) != ulp_bits32(want);
                }
            }
    assert_int_equal(wrong, 0);
    assert_true(cut > 100);
}

TESTS(NULL, NULL)
