/* t_scaled_codes.c - the operations on scaled blocks and integers against the definitions, in every instruction set. */
#include <stdlib.h>

#include "support.h"

#include "instruction_sets.h"
#include "kernels/backend.h"

enum { MOST = 65536 };

static float x[MOST], y[MOST];
static uint8_t bytes[16], packed[16];

/* ---- scaled blocks ---- */

enum { ROWS = 7, ROW = 331, ALL = ROWS * ROW };

/* Rows of numbers: normal ones of several sizes, middles of elements times a power of two, tiny and special ones. */
static void fill_rows(const ulp_block *b, uint64_t seed, int special) {
    for (size_t i = 0; i < ALL; i++) {
        const uint64_t bits = next_random(&seed);
        const int exponent = (int)(i / 64 * 7 % 60) - 30;
        const double element = ulp_decode(bits >> 40, &b->element), other = ulp_decode((bits >> 40) + 1, &b->element);
        const double middle = (element + other) / 2;
        x[i] = (float)ldexp(i % 3 == 0 && isfinite(middle) ? middle : (double)(int32_t)bits * 0x1p-31, exponent);
        if (i / 64 % 9 == 8) x[i] *= 0x1p-100f;
        if (i / 32 % 11 == 10) x[i] = i % 2 ? -0.0f : 0.0f;
        if (special && bits % 509 == 0) x[i] = i % 2 ? INFINITY : -INFINITY;
        if (special && bits % 509 == 1) x[i] = NAN;
        if (special && bits % 127 == 2) x[i] = ulp_from_bits32((uint32_t)(bits >> 32));
        if (bits % 63 == 3) x[i] = ldexpf(x[i], -130);
    }
}

static void block_case(const ulp_block *b, float tensor_scale, ulp_rule rule, uint64_t seed) {
    static uint8_t elements[2][ALL], scales[2][ALL];
    static float values[ALL];
    const ulp_block_array array = {b, ROW, tensor_scale};
    const size_t per_row = ulp_block_scales(ROW, b);
    fill_rows(b, seed, seed % 2 != 0);
    for (size_t r = 0; r < ROWS; r++)
        assert_ok(ulp_block_encode(elements[0] + r * ROW, scales[0] + r * per_row, x + r * ROW, array, rule,
                                   (ulp_stream){seed, 2, 10 + r * ROW}));
    for (size_t isa = 0; isa < offered; isa++) {
        memset(elements[1], 0x55, ALL);
        memset(scales[1], 0x55, ALL);
        assert_ok(ulp_backend_block_encode(backends[isa], elements[1], scales[1], x, ROWS, array, rule,
                                           (ulp_stream){seed, 2, 10}));
        for (size_t i = 0; i < ROWS * per_row; i++)
            if (scales[0][i] != scales[1][i])
                fail_msg("%s, %s, mode %s, tensor scale %a: scale %zu is %x, not %x", backends[isa]->what, b->name,
                         ulp_mode_name((ulp_mode)rule.mode), (double)tensor_scale, i, scales[1][i], scales[0][i]);
        for (size_t i = 0; i < ALL; i++)
            if (elements[0][i] != elements[1][i])
                fail_msg("%s, %s, mode %s, tensor scale %a: element %zu of %a is %x, not %x", backends[isa]->what,
                         b->name, ulp_mode_name((ulp_mode)rule.mode), (double)tensor_scale, i, (double)x[i],
                         elements[1][i], elements[0][i]);
    }
    /* any scale codes */
    for (size_t i = 0; i < ROWS * per_row && seed % 3 == 0; i++) scales[0][i] = (uint8_t)(i * 37 + seed);
    for (size_t r = 0; r < ROWS; r++)
        assert_ok(ulp_block_decode(values + r * ROW, elements[0] + r * ROW, scales[0] + r * per_row, array));
    for (size_t isa = 0; isa < offered; isa++) {
        assert_ok(ulp_backend_block_decode(backends[isa], y, elements[0], scales[0], ROWS, array));
        for (size_t i = 0; i < ALL; i++)
            if (ulp_bits32(values[i]) != ulp_bits32(y[i]))
                fail_msg("%s, %s: value %zu is %a, not %a", backends[isa]->what, b->name, i, (double)y[i],
                         (double)values[i]);
    }
}

static const char *const block_names[] = {"mxfp4",
                                          "mxfp8",
                                          "mxfp8-e5m2",
                                          "mxfp6",
                                          "mxfp6-e2m3",
                                          "mxint8",
                                          "nvfp4",
                                          "nvfp4:te",
                                          "mxint4",
                                          "nvint4",
                                          "bfp8",
                                          "mxfp4:noclip",
                                          "mxfp4:even",
                                          "mxfp8:ceil",
                                          "mxint8:amax",
                                          "mxfp6:noclip",
                                          "mxint4:even",
                                          "block:e2m1,16,e8m0:ceil",
                                          "block:e4m3,16,e4m3",
                                          "block:e2m1,7,ue5m3",
                                          "block:e1m2,32,e5m2",
                                          "block:q2.2,5,e4m3:noclip",
                                          "block:e3m0,16,e8m0",
                                          "block:uq4.0,8,e8m0",
                                          "block:e5m2,1,e8m0",
                                          "block:e2m1,3000,e8m0",
                                          "block:q1.7,64,e6m1:floor"};

/* Every mode and policy in every block format: the bits of block.h. */
TEST(blocks) {
    size_t cases = 0;
    for (size_t i = 0; i < sizeof block_names / sizeof *block_names; i++) {
        ulp_block b;
        if (ulp_block_parse(&b, block_names[i]) != ULP_OK) fail_msg("%s is no block format", block_names[i]);
        for (int mode = 0; mode < ULP_MODE_COUNT; mode++)
            for (int policy = 0; policy < ULP_OVERFLOW_COUNT; policy++) {
                const ulp_rule rule = {(uint8_t)mode, (uint8_t)policy, 0};
                if (ulp_element_check(&b.element, rule) != ULP_OK || (policy > 1 && (mode + policy) % 4 != 0)) continue;
                const uint64_t seed = i * 1000 + (uint64_t)mode * 10 + (uint64_t)policy;
                const float tensor_scale = b.scale.prec > 1 && mode % 2 ? 0x1.a36e2ep-5f : 1.0f;
                block_case(&b, tensor_scale, rule, seed);
                cases++;
            }
    }
    assert_true(cases > 500);
}

/* Scales at both ends of e8m0, and every fraction near the change of a scale. */
TEST(scales_of_blocks) {
    static const char *const names[] = {"mxfp4",       "mxfp8:ceil",      "mxfp6:even", "mxint8:noclip",
                                        "mxint8:ceil", "mxfp8-e5m2:amax", "nvfp4"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ulp_block b;
        uint8_t elements[2][64], scales[2][2];
        float row[64] = {0};
        assert_ok(ulp_block_parse(&b, names[i]));
        uint64_t seed = i;
        for (int k = 0; k < 20000; k++) {
            const uint32_t near[] = {0, 1, 2, 0x7fffff, 0x7ffffe, 0x400000, 0x400001, 0x3fffff, 0x600000, 0x5fffff};
            const uint64_t bits = next_random(&seed);
            const uint32_t exponent = (uint32_t)k % 255, fraction = k % 2 ? near[bits % 10] : (uint32_t)bits & 0x7fffff;
            row[k % 64] = ulp_from_bits32(exponent << 23 | fraction);
            row[(k + 1) % 64] = 0.0f;
            const ulp_block_array array = {&b, 2 * (size_t)b.size, 1.0f};
            assert_ok(ulp_block_encode(elements[0], scales[0], row, array, (ulp_rule){0}, (ulp_stream){0}));
            const ulp_backend *const back = backends[(size_t)k % offered];
            assert_ok(
                ulp_backend_block_encode(back, elements[1], scales[1], row, 1, array, (ulp_rule){0}, (ulp_stream){0}));
            assert_memory_equal(scales[0], scales[1], 2);
            assert_memory_equal(elements[0], elements[1], array.n);
            if (k % 64 == 63 || k % 255 == 254) memset(row, 0, sizeof row);
        }
    }
}

/* Quotients at the bounds between elements and next to them, for scales and tensor scales that are no powers of two. */
TEST(bounds_of_elements) {
    static const char *const names[] = {"nvfp4", "block:e4m3,16,e4m3", "block:e3m2,8,ue5m3", "nvint4"};
    static float row[1024], scaled[1024];
    static uint8_t elements[2][1024], scales[2][1024];
    for (int k = 0; k < 400; k++) {
        ulp_block b;
        assert_ok(ulp_block_parse(&b, names[k % 4]));
        uint64_t seed = (uint64_t)k;
        const float tensor_scale = k % 8 < 4 ? 1.0f : (float)(1.0 + (double)(next_random(&seed) >> 40) * 0x1p-24);
        const ulp_block_array array = {&b, 1024, tensor_scale};
        for (int i = 0; i < 1024; i++)
            row[i] = i % (int)b.size == 0 ? (float)ldexp((double)(next_random(&seed) >> 40), -20) : 0.0f;
        assert_ok(ulp_block_encode(elements[0], scales[0], row, array, (ulp_rule){0}, (ulp_stream){0}));
        for (int i = 0; i < 1024; i++) {
            const uint64_t bits = next_random(&seed), code = bits & ((1u << (b.element.bits - 1)) - 2u);
            const double scale = ulp_block_scale_value(scales[0][i / (int)b.size], &b) * (double)tensor_scale;
            const double bound = (ulp_decode(code, &b.element) + ulp_decode(code + 1, &b.element)) / 2;
            const float near = (float)(scale * bound);
            scaled[i] = ulp_from_bits32(ulp_bits32(near) + (uint32_t)(bits >> 40) % 3 - 1u);
            if (i % (int)b.size == 0 || !(fabsf(scaled[i]) <= row[i - i % (int)b.size])) scaled[i] = row[i];
        }
        for (int mode = ULP_RNE; mode <= ULP_RO; mode++) {
            const ulp_rule rule = {(uint8_t)mode, 0, 0};
            assert_ok(ulp_block_encode(elements[0], scales[0], scaled, array, rule, (ulp_stream){0}));
            for (size_t isa = 0; isa < offered; isa++) {
                assert_ok(ulp_backend_block_encode(backends[isa], elements[1], scales[1], scaled, 1, array, rule,
                                                   (ulp_stream){0}));
                assert_memory_equal(elements[0], elements[1], sizeof elements[0]);
                assert_memory_equal(scales[0], scales[1], array.n / b.size);
            }
        }
    }
}

/* ---- scaled quantisation ---- */

static void quantize_case(const char *name, const ulp_tiling *t, int zero_point, ulp_rule rule, uint64_t seed) {
    static double wide[ALL], scales[2][ALL];
    static uint16_t shorts[ALL];
    static uint8_t narrow[ALL];
    static int32_t zeros[2][ALL];
    ulp_quantizer q;
    size_t groups[3];
    assert_ok(ulp_quantizer_parse(&q, name, NULL));
    q.has_zero_point = (uint8_t)zero_point;
    if (ulp_quantizer_check(&q, rule) != ULP_OK) return;
    const size_t n = t->shape[0] * t->shape[1] * t->shape[2], count = ulp_tiling_groups(groups, t);
    for (size_t i = 0; i < n; i++) wide[i] = (double)x[i];
    const ulp_quantized want_all = {&q, *t, shorts, scales[0], zero_point ? zeros[0] : NULL};
    assert_ok(ulp_quantize(&want_all, wide, rule, (ulp_stream){seed, 3, 4}));
    for (size_t isa = 0; isa < offered; isa++) {
        memset(narrow, 0x55, ALL);
        assert_ok(ulp_backend_quantize(backends[isa], narrow, scales[1], zero_point ? zeros[1] : NULL, x, &q, t, rule,
                                       (ulp_stream){seed, 3, 4}));
        for (size_t i = 0; i < count; i++)
            if (ulp_bits64(scales[0][i]) != ulp_bits64(scales[1][i]) || (zero_point && zeros[0][i] != zeros[1][i]))
                fail_msg("%s, %s: scale %zu is %a, not %a", backends[isa]->what, name, i, scales[1][i], scales[0][i]);
        for (size_t i = 0; i < n; i++)
            if (narrow[i] != shorts[i])
                fail_msg("%s, %s: code %zu of %a is %x, not %x", backends[isa]->what, name, i, wide[i], narrow[i],
                         shorts[i]);
    }
}

/* Integers with and without zero points, other elements; per tensor, row, column, tile and block. */
TEST(quantize) {
    static const char *const names[] = {"int8", "uint8", "int4", "uint4", "q4.4", "uq2.6", "e4m3", "nf4", "mxfp8"};
    static const ulp_tiling tilings[] = {
        {{1, ROWS, ROW}, {1, ROWS, ROW}}, {{1, ROWS, ROW}, {1, 1, ROW}},  {{1, ROWS, ROW}, {1, ROWS, 1}},
        {{ROWS, 3, 100}, {ROWS, 1, 100}}, {{1, ROWS, ROW}, {1, 3, 64}},   {{ROWS, 3, 100}, {2, 2, 9}},
        {{ROWS, 3, 100}, {1, 3, 100}},    {{ROWS, ROW, 1}, {ROWS, 1, 1}}, {{0, 4, 5}, {1, 4, 5}}};
    static const ulp_mode modes[] = {ULP_RNE, ULP_RZ, ULP_RU, ULP_SRA, ULP_RNE};
    ulp_block b;
    assert_ok(ulp_block_parse(&b, "mxint8"));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t k = 0; k < sizeof tilings / sizeof *tilings; k++)
            for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
                const int zero_point = (i < 6) & (int)(k + m) & 1;
                const ulp_rule rule = {(uint8_t)modes[m], m == 4 ? ULP_OVERFLOW_SYM : ULP_OVERFLOW_DEFAULT, 0};
                fill_rows(&b, i * 100 + k * 10 + m, m == 1);
                if (m == 0)
                    for (size_t j = 0; j < ALL; j++) x[j] = fabsf(x[j]) > 0x1p-20f ? x[j] : 0.0f;
                quantize_case(names[i], &tilings[k], zero_point, rule, i + k);
            }
}

/* Quotients at ties and next to them, for random scales. */
TEST(ties_of_quotients) {
    uint64_t seed = 77;
    static const ulp_tiling row = {{1, 1, 1024}, {1, 1, 1024}};
    for (int k = 0; k < 200; k++) {
        const uint64_t bits = next_random(&seed);
        x[0] = ulp_from_bits32((uint32_t)(120 + k % 16) << 23 | ((uint32_t)bits & 0x7fffff));
        const double scale = (double)(float)((double)x[0] / 127.0);
        for (int i = 1; i < 1024; i++) {
            const float tie = (float)(scale * (i / 4 % 127 - 63 + 0.5));
            x[i] = ulp_from_bits32(ulp_bits32(tie) + (uint32_t)(i % 4) - 1u);
        }
        quantize_case("int8", &row, 0, (ulp_rule){0}, 0);
    }
}

/* Long runs by one thread and by two. */
TEST(long_runs) {
    enum { LONG = 300000 };
    float *const long_x = malloc(LONG * sizeof *long_x);
    uint8_t *const one = malloc(LONG), *const two = malloc(LONG);
    assert_true(long_x != NULL && one != NULL && two != NULL);
    uint64_t seed = 5;
    for (size_t i = 0; i < LONG; i++) long_x[i] = (float)(int32_t)next_random(&seed) * (i == 250000 ? 3.0f : 1.0f);
    for (int zero_point = 0; zero_point < 2; zero_point++) {
        ulp_quantizer q;
        double scale[2];
        int32_t zero[2] = {0, 0};
        const ulp_tiling t = {{1, 1, LONG}, {1, 1, LONG}};
        assert_ok(ulp_quantizer_parse(&q, zero_point ? "uint8" : "int8", NULL));
        q.has_zero_point = (uint8_t)zero_point;
        ulp_threads_set(1);
        assert_ok(ulp_backend_quantize(backends[offered - 1], one, &scale[0], &zero[0], long_x, &q, &t, (ulp_rule){0},
                                       (ulp_stream){0}));
        ulp_threads_set(2);
        assert_ok(ulp_backend_quantize(backends[0], two, &scale[1], &zero[1], long_x, &q, &t, (ulp_rule){0},
                                       (ulp_stream){0}));
        ulp_threads_set(0);
        assert_memory_equal(one, two, LONG);
        assert_true(scale[0] == scale[1] && zero[0] == zero[1] && (!zero_point || zero[0] > 0));
        assert_int_equal(one[250000], zero_point ? one[250000] : (long_x[250000] > 0 ? 127 : 129));
    }
    free(two);
    free(one);
    free(long_x);
}

TEST(errors_of_blocks) {
    ulp_block b;
    ulp_quantizer q;
    const ulp_backend *const back = backends[0];
    const ulp_tiling t = {{1, 1, 2}, {1, 1, 2}}, none = {{1, 1, 2}, {1, 0, 2}};
    double scale;
    assert_ok(ulp_block_parse(&b, "nvfp4"));
    assert_ok(ulp_quantizer_parse(&q, "int8", NULL));
    x[0] = x[1] = 1.0f;
    const ulp_block_array good = {&b, 2, 1.0f}, bad = {&b, 2, 0.0f}, empty = {&b, 0, 1.0f};
    assert_int_equal(ulp_backend_block_encode(back, bytes, packed, x, 1, bad, (ulp_rule){0}, (ulp_stream){0}),
                     ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_backend_block_encode(back, bytes, packed, NULL, 1, good, (ulp_rule){0}, (ulp_stream){0}),
                     ULP_BAD_ARGUMENT);
    assert_ok(ulp_backend_block_encode(back, NULL, NULL, NULL, 3, empty, (ulp_rule){0}, (ulp_stream){0}));
    assert_int_equal(ulp_backend_block_decode(back, NULL, bytes, packed, 1, good), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_backend_quantize(back, bytes, &scale, NULL, x, &q, &none, (ulp_rule){0}, (ulp_stream){0}),
                     ULP_BAD_ARGUMENT);
    q.has_zero_point = 1;
    assert_int_equal(ulp_backend_quantize(back, bytes, &scale, NULL, x, &q, &t, (ulp_rule){0}, (ulp_stream){0}),
                     ULP_BAD_ARGUMENT);
    assert_ok(ulp_quantizer_parse(&q, "int16", NULL));
    assert_int_equal(ulp_backend_quantize(back, bytes, &scale, NULL, x, &q, &t, (ulp_rule){0}, (ulp_stream){0}),
                     ULP_UNSUPPORTED);
}

TESTS(find_backends, NULL)
