/* t_long_sums.c - sums of products rounded to odd that need more than 32 bits, on each instruction set, against
 * ulp_dot(). */
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_long_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
