/* t_flush.c - formats that flush subnormals, against MPFR: conversions of numbers and of arrays, and operations. */
#include "support.h"
#include "instruction_sets.h"

#include "kernels/backend.h"
#include "kernels/mpfr/reference.h"

static const char *const formats[] = {"e5m2:daz",         "e5m2:ftz",        "e4m3:ftz:daz", "e3m4:daz:ftz",
                                      "e2m1:ftz",         "fp16:ftz",        "bf16:daz:ftz", "e5m2:ftz:sat",
                                      "e8m1:ftz",         "binary8p3se:ftz", "fp32:ftz",     "binary8p1se:ftz",
                                      "e4m3fnuz:daz:ftz", "fp64:daz:ftz"};

static double number_near(const ulp_format *f, uint64_t *seed) {
    const double ends[] = {f->min_normal, f->min_normal / 2, f->min_positive, f->min_positive / 2, 1.0, f->max};
    const uint64_t u = next_random(seed);
    const double end = ends[u % 6], step = ldexp(end, -f->prec - 3), x = end + (double)((int)(u >> 8 & 63) - 32) * step;
    return u >> 20 & 1 ? -x : x;
}

static ulp_rule some_rule(int mode, uint64_t *seed) {
    return rule_of(mode, ULP_OVERFLOW_DEFAULT,
                   ulp_mode_is_stochastic((uint32_t)mode) ? 1 + (int)(next_random(seed) % 32) : 0);
}

TEST(conversions) {
    enum { N = 400 };
    uint64_t seed = 3;
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        const ulp_format f = named(formats[i]);
        ulp_reference *ref = ulp_reference_new(&f);
        for (int mode = 0; mode < ULP_MODE_COUNT; mode++)
            for (size_t k = 0; k < N; k++) {
                const ulp_rule rule = some_rule(mode, &seed);
                const uint32_t word = (uint32_t)next_random(&seed);
                const double x = number_near(&f, &seed), y = ulp_round(x, &f, rule, word);
                const double want = ulp_reference_round(ref, x, 0, rule, word);
                if (!same_result(y, want)) fail_case("round", x, 0, 0, &f, rule, word, y, want);
                assert_false((f.flushes & ULP_FLUSH_RESULTS) && y != 0 && fabs(y) < f.min_normal);
            }
        ulp_reference_free(ref);
    }
}

TEST(operations) {
    uint64_t seed = 5;
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        const ulp_format f = named(formats[i]);
        ulp_reference *ref = ulp_reference_new(&f);
        for (int mode = 0; mode < ULP_MODE_COUNT; mode++)
            for (int op = 0; op < ULP_OP_COUNT; op++)
                for (size_t k = 0; k < 300; k++) {
                    const ulp_rule rule = some_rule(mode, &seed);
                    const uint32_t word = (uint32_t)next_random(&seed);
                    double v[3];
                    for (int j = 0; j < 3; j++) {
                        const uint64_t u = next_random(&seed), small = (uint64_t)1 << (f.prec + 1);
                        v[j] = ulp_decode(u & 1 ? u >> 8 : (u >> 8) % small | (u >> 7 & 1) << (f.bits - 1), &f);
                    }
                    const ulp_scalar_op of = {(ulp_op)op, v[0], v[1], v[2]};
                    const double y = ulp_arith(of, &f, rule, word), want = ulp_reference_arith(ref, of, rule, word);
                    if (!same_result(y, want))
                        fail_case(ulp_op_name((ulp_op)op), v[0], v[1], v[2], &f, rule, word, y, want);
                }
        ulp_reference_free(ref);
    }
}

/* Arrays of the backend round like single numbers; operations on arrays and sums of products refuse the format. */
TEST(arrays) {
    enum { N = 1000 };
    static double x[N], y[N];
    static float x32[N], y32[N];
    uint64_t seed = 7;
    const ulp_backend *cpu;
    ulp_datapath d;
    assert_ok(ulp_backend_get(&cpu, "cpu"));
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        const ulp_format f = named(formats[i]);
        const ulp_stream stream = {1, 2, 3};
        for (size_t k = 0; k < N; k++) x[k] = number_near(&f, &seed), x32[k] = (float)x[k];
        for (int mode = 0; mode < ULP_MODE_COUNT; mode++) {
            const ulp_rule rule = rule_of(mode, 0, 0);
            assert_ok(ulp_backend_round64(cpu, y, x, N, (ulp_rounding){&f, rule, stream, NULL}));
            for (size_t k = 0; k < N; k++)
                assert_true(same_result(y[k], ulp_round(x[k], &f, rule, ulp_random_word(stream, k))));
            if (!f.fits_binary32) continue;
            assert_ok(ulp_backend_round(cpu, y32, x32, N, (ulp_rounding){&f, rule, stream, NULL}));
            for (size_t k = 0; k < N; k++)
                assert_true(
                    same_result((double)y32[k], ulp_round((double)x32[k], &f, rule, ulp_random_word(stream, k))));
        }
        const ulp_array_op op = {ULP_ADD, x32, x32, x32};
        assert_int_equal(ulp_backend_map(cpu, y32, op, N, (ulp_rounding){&f, rule_of(0, 0, 0), stream, NULL}),
                         ULP_UNSUPPORTED);
        assert_int_equal(ulp_rule_check(&f, rule_of(0, 0, 0)), ULP_UNSUPPORTED);
        assert_ok(ulp_rule_check_single(&f, rule_of(0, 0, 0)));
    }
    assert_int_not_equal(ulp_datapath_parse(&d, "serial:fp16:ftz:rne"), ULP_OK);
}

TEST(names) {
    ulp_format f = named("BF16:DAZ:FTZ"), g;
    assert_int_equal(f.flushes, ULP_FLUSH_INPUTS | ULP_FLUSH_RESULTS);
    assert_string_equal(f.name, "bfloat16:daz:ftz");
    g = named("bf16:daz");
    assert_false(ulp_format_equal(&f, &g));
    assert_int_equal(ulp_format_parse(&g, "q8.8:daz"), ULP_UNSUPPORTED);
    assert_int_equal(ulp_format_parse(&g, "posit8:ftz"), ULP_UNSUPPORTED);
    assert_int_equal(ulp_format_parse(&g, "bf16:nosub:ftz"), ULP_UNSUPPORTED);
    assert_int_equal(ulp_format_parse(&g, "bf16:ftz:nosub"), ULP_UNSUPPORTED);
    assert_int_equal(ulp_format_parse(&g, "bf16:ftz:ftz"), ULP_BAD_NAME);
}

TESTS(find_backends, NULL)
