/* t_long_sums.c - sums with more bits than the integers of vectors have, on each instruction set, against ulp_dot():
 * sums of products rounded to odd, and one-sided sums that are cut. */
#include "support.h"

#include "kernels/backend.h"

/* Sums of large products of one exponent on RISC-V, which need more than 32 bits, and their cancelling forms. */
static void test_long_sums(void **state) {
    (void)state;
    enum { K = 37 };
    static const char *const names[] = {"riscv-e4m3", "riscv-e5m2", "riscv-bf16:L=16:F=27", "riscv-bf16"};
    size_t wrong = 0;
    for (size_t n = 0; n < 4 * 64; n++) {
        float a[K], b[K], c, y;
        double x[K], z[K];
        uint64_t seed = n;
        ulp_datapath d;
        assert_int_equal(ulp_datapath_parse(&d, names[n % 4]), ULP_OK);
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
            assert_int_equal(ulp_backend_gemm(ulp_cpu_backend(isa), &y, a, b, &shape, (ulp_summation){.datapath = &d}),
                             ULP_OK);
            wrong += ulp_bits32(y) != ulp_bits32(want);
        }
    }
    assert_int_equal(wrong, 0);
}

/* One-sided sums near ties and near powers of two of both signs: c is 2^e or next to it, and products are large, or
 * units of the bits below c that decide. */
static void test_one_sided_sums(void **state) {
    (void)state;
    enum { K = 24, N = 64, ROUNDS = 250 };
    static const char *const names[] = {
        "mi300-fp16",     "mi300-bf16",         "mi300-tf32",           "mi300-e4m3fnuz",
        "mi300-e5m2fnuz", "mi300-fp16:join=31", "mi300-fp16:normal=28", "mi300-e4m3fnuz:c_cut=0"};
    size_t wrong = 0, wide = 0;
    for (size_t n = 0; n < ROUNDS * (sizeof names / sizeof names[0]); n++) {
        static float a[K], b[K * N], c[N], y[N], want[N];
        double x[K], z[K];
        uint64_t seed = n;
        ulp_datapath d;
        assert_int_equal(ulp_datapath_parse(&d, names[n % (sizeof names / sizeof names[0])]), ULP_OK);
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
            assert_int_equal(ulp_backend_gemm(ulp_cpu_backend(isa), y, a, b, &shape, (ulp_summation){.datapath = &d}),
                             ULP_OK);
            for (int j = 0; j < N; j++) wrong += ulp_bits32(y[j]) != ulp_bits32(want[j]);
        }
    }
    assert_int_equal(wrong, 0);
    assert_true(wide > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_long_sums), cmocka_unit_test(test_one_sided_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
