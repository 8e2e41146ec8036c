/* t_multiword.c - products of several words: words by hand from the bits of a number, the order of the sums, products
 * of matrices on every instruction set, and what is refused. */
#include "support.h"
#include "instruction_sets.h"

#include "kernels/products/multiword.h"

enum { K = 37, M = 5, N = 6 };

/* A binary32 number with 24 random bits and an exponent in -span .. span. */
static float number(uint64_t *seed, int span) {
    const double m = 1 + (double)(next_random(seed) >> 41) * 0x1p-23;
    return (float)ldexp(next_random(seed) >> 63 ? m : -m,
                        (int)((next_random(seed) >> 33) % (2 * (unsigned)span + 1)) - span);
}

/* bfloat16 by the bits of binary32: cut, or with 0x7fff and the last kept bit added before the cut. */
static float bfloat16_of(float x, int cut) {
    uint32_t bits = ulp_bits32(x);
    if (!cut) bits += 0x7fff + (bits >> 16 & 1);
    return ulp_from_bits32(bits & 0xffff0000u);
}

TEST(words) {
    static const char *const names[2] = {"h100-bf16:words=3", "h100-bf16:words=3:split=rz"};
    uint64_t seed = 3;
    for (int cut = 0; cut < 2; cut++) {
        const ulp_datapath d = datapath_named(names[cut]);
        assert_string_equal(d.a.name, "binary32");
        assert_string_equal(d.word_a.name, "bfloat16");
        for (int i = 0; i < 100000; i++) {
            const float x = number(&seed, 90);
            float left = x;
            for (int w = 1; w <= 3; w++) {
                const float word = bfloat16_of(left, cut);
                const double got = ulp_operand_word((double)x, w, &d.word_a, ulp_word_rule(&d));
                if (got != (double)word) fail_msg("word %d of %a: %a, not %a", w, (double)x, got, (double)word);
                left -= word;
            }
            if (left != 0) fail_msg("%a is not the sum of three words", (double)x);
        }
    }
}

/* The order of the sums, written out. */
TEST(order) {
    static const uint8_t large[6][2] = {{1, 1}, {1, 2}, {1, 3}, {2, 1}, {2, 2}, {3, 1}};
    const ulp_datapath d = datapath_named("h100-bf16:words=3"), e = datapath_named("h100-bf16:words=3:first=small");
    assert_int_equal(ulp_word_pairs(&d), 6);
    for (int t = 0; t < 6; t++) {
        const ulp_word_pair x = ulp_word_pair_of(&d, t), y = ulp_word_pair_of(&e, 5 - t);
        assert_true(x.i == large[t][0] && x.j == large[t][1]);
        assert_true(y.i == large[t][0] && y.j == large[t][1]);
    }
    const ulp_datapath one = datapath_named("h100-e5m2:words=12");
    assert_int_equal(ulp_word_pairs(&one), 78);
}

/* A sum is six sums of the row, each of which starts at the result of the one before. */
TEST(sums) {
    static const char *const rows[] = {"h100-bf16", "a100-bf16", "mi100-bf16", "mi250-bf16", "mi300-bf16", "arm-bf16"};
    uint64_t seed = 7;
    for (size_t r = 0; r < COUNT_OF(rows); r++)
        for (int way = 0; way < 4; way++) {
            char name[64];
            snprintf(name, sizeof name, "%s:words=3%s%s", rows[r], way & 1 ? ":split=rz" : "",
                     way & 2 ? ":first=small" : "");
            const ulp_datapath d = datapath_named(name), row = datapath_named(rows[r]);
            for (int i = 0; i < 300; i++) {
                double a[K], b[K], words[2][4][K];
                for (int k = 0; k < K; k++) {
                    float x = number(&seed, 6), y = number(&seed, 6);
                    a[k] = (double)x, b[k] = (double)y;
                    for (int w = 1; w <= 3; w++) {
                        const float u = bfloat16_of(x, way & 1), v = bfloat16_of(y, way & 1);
                        words[0][w][k] = (double)u, words[1][w][k] = (double)v;
                        x -= u, y -= v;
                    }
                }
                static const uint8_t large[6][2] = {{1, 1}, {1, 2}, {1, 3}, {2, 1}, {2, 2}, {3, 1}};
                double want = (double)number(&seed, 3);
                const double got = ulp_dot(&d, want, (ulp_products){a, b, K, NULL, NULL}, (ulp_stream){0, 0, 0});
                for (int t = 0; t < 6; t++) {
                    const uint8_t *pair = large[way & 2 ? 5 - t : t];
                    want = ulp_dot(&row, want, (ulp_products){words[0][pair[0]], words[1][pair[1]], K, NULL, NULL},
                                   (ulp_stream){0, 0, 0});
                }
                if (ulp_bits64(got) != ulp_bits64(want)) fail_msg("%s: %a, not %a", name, got, want);
            }
        }
}

/* Operands that the first word does not hold give NaN. */
TEST(beyond) {
    const ulp_datapath d = datapath_named("h100-fp16:words=2");
    const double one = 1, beyond = 70000, infinite = INFINITY, nan = NAN, tiny = 0x1p-80;
    const ulp_stream none = {0, 0, 0};
    assert_true(isnan(ulp_dot(&d, 0, (ulp_products){&beyond, &one, 1, NULL, NULL}, none)));
    assert_true(isnan(ulp_dot(&d, 0, (ulp_products){&infinite, &one, 1, NULL, NULL}, none)));
    assert_true(isnan(ulp_dot(&d, 0, (ulp_products){&one, &nan, 1, NULL, NULL}, none)));
    assert_true(ulp_dot(&d, 3, (ulp_products){&tiny, &one, 1, NULL, NULL}, none) == 3);
    assert_true(ulp_dot(&d, 3, (ulp_products){NULL, NULL, 0, NULL, NULL}, none) == 3);
}

/* Products, column sums, and products that are rounded, against sums one by one. */
TEST(matrices) {
    const ulp_datapath d = datapath_named("b200-bf16:words=3:first=small");
    ulp_format half;
    float a[M * K], b[K * N], y[M * N + K], ones[M];
    uint64_t seed = 11;
    assert_ok(ulp_format_parse(&half, "binary16"));
    for (size_t i = 0; i < M * K; i++) a[i] = number(&seed, 5);
    for (size_t i = 0; i < K * N; i++) b[i] = number(&seed, 5);
    for (size_t i = 0; i < M; i++) ones[i] = 1;
    const ulp_gemm_shape s = {.m = M, .n = N, .k = K, .lda = K, .ldb = N, .ldc = N};
    const ulp_summation by = {&d, {0, 0, 0}};
    const ulp_rounding rounding = {.format = &half, .rule = {ULP_RZ, ULP_OVERFLOW_INF, 0}};
    for (size_t isa = 0; isa < offered; isa++) {
        assert_ok(ulp_backend_gemm_round(backends[isa], y, a, b, &s, by, rounding));
        for (size_t i = 0; i < M; i++)
            for (size_t j = 0; j < N; j++) {
                double u[K], v[K];
                for (size_t k = 0; k < K; k++) u[k] = (double)a[i * K + k], v[k] = (double)b[k * N + j];
                const double sum = ulp_dot(&d, 0, (ulp_products){u, v, K, NULL, NULL}, (ulp_stream){0, 0, 0});
                assert_true((double)y[i * N + j] == ulp_round(sum, &half, rounding.rule, 0));
            }
        assert_ok(ulp_backend_reduce(backends[isa], y, a, M, K, by));
        for (size_t k = 0; k < K; k++) {
            double u[M], v[M];
            for (size_t i = 0; i < M; i++) u[i] = (double)ones[i], v[i] = (double)a[i * K + k];
            assert_true((double)y[k] == ulp_dot(&d, 0, (ulp_products){u, v, M, NULL, NULL}, (ulp_stream){0, 0, 0}));
        }
        double wide[M * N];
        const double x[M * K] = {0};
        assert_int_equal(ulp_backend_gemm64(backends[isa], wide, x, x, &s, by), ULP_UNSUPPORTED);
    }
}

TEST(names) {
    static const struct {
        const char *text, *canonical;
    } good[] = {{"h100-bf16:WORDS=3", "h100-bf16:words=3"},
                {"h100-bf16:first=small:words=2", "h100-bf16:words=2:first=small"},
                {"h100-bf16:words=1:split=rne:first=large", "h100-bf16:words=1"},
                {"h100-e4m3:promote=64:words=5:split=rz", "h100-e4m3:promote=64:words=5:split=rz"}};
    static const char bad[] =
        "h100-bf16:words=0 h100-bf16:words=13 h100-bf16:words=x h100-bf16:split=rz h100-bf16:first=small fp32:words=2 "
        "int8:words=2 b200-e2m1-nvf4:words=2 serial:fp16:rne:words=2 vnni-int8:words=2 h100-bf16:words=2:split=ru";
    ulp_datapath d;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        d = datapath_named(good[i].text);
        assert_string_equal(d.name, good[i].canonical);
        const ulp_datapath again = datapath_named(d.name);
        assert_string_equal(again.name, d.name);
        assert_memory_equal(&again.word_a, &d.word_a, sizeof d.word_a);
    }
    for (size_t i = 0; *word_of(bad, i); i++) {
        ulp_error why;
        if (ulp_datapath_parse(&d, word_of(bad, i)) == ULP_OK) fail_msg("%s is a datapath", word_of(bad, i));
        ulp_datapath_explain(&why, word_of(bad, i));
        if (strlen(why.text) < 20) fail_msg("%s: '%s'", word_of(bad, i), why.text);
    }
}

TESTS(find_backends, NULL)
