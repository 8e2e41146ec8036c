/* t_block_scales.c - scales of block-scaled formats: known scales, every scale against a search, the tensor scale. */
#include <float.h>

#include "block_oracle.h"

static uint8_t scale_found(float amax, const ulp_block *b, float tensor_scale) {
    uint8_t code = 0x55;
    assert_ok(ulp_block_scale(&code, &amax, 1, b, tensor_scale));
    return code;
}

/* Scales computed by hand from the definitions. */
TEST(known_scales) {
    static const struct {
        const char *name;
        float amax;
        int floor, ceil, even, noclip; /* codes */
    } want[] = {
        {"mxfp8-e4m3", 448.0f, 127, 128, 127, 127},
        {"mxfp8-e4m3", 449.0f, 127, 128, 127, 128},
        {"mxfp8-e4m3", 256.0f, 127, 127, 127, 127},
        {"mxfp8-e4m3", 255.0f, 126, 127, 127, 127},
        {"mxfp8-e4m3", 496.0f, 127, 128, 128, 128}, /* the tie between 1.875 and 2 */
        {"mxfp8-e4m3", 495.99f, 127, 128, 127, 128},
        {"mxfp8-e4m3", 1.0f, 119, 119, 119, 119},
        {"mxfp8-e5m2", 57344.0f, 127, 128, 127, 127},
        {"mxfp8-e5m2", 61440.0f, 127, 128, 128, 128}, /* 1.875 2^15: the tie between 1.75 2^15 and 2^16 */
        {"mxfp6-e3m2", 28.0f, 127, 128, 127, 127},
        {"mxfp6-e3m2", 30.0f, 127, 128, 128, 128},
        {"mxfp6-e2m3", 7.5f, 127, 128, 127, 127},
        {"mxfp6-e2m3", 7.75f, 127, 128, 128, 128},
        {"mxfp4", 6.0f, 127, 128, 127, 127},
        {"mxfp4", 7.0f, 127, 128, 128, 128},
        {"mxfp4", 6.5f, 127, 128, 127, 128},
        {"mxfp4", 1.0f, 125, 125, 125, 125},
        {"mxfp4", 1.6f, 125, 126, 125, 126},
        {"mxint8", 1.0f, 127, 127, 127, 127},
        {"mxint8", 1.984375f, 127, 128, 127, 127},
        {"mxint8", 1.9921875f, 127, 128, 128, 128},
        {"mxint8", 1.99f, 127, 128, 127, 128},
        {"mxfp4", FLT_MAX, 252, 253, 253, 253},
        {"mxint8", FLT_MAX, 254, 254, 254, 254},
        {"mxfp8-e5m2", FLT_MAX, 239, 240, 240, 240},
        {"mxfp8-e4m3", 0.0f, 0, 0, 0, 0},
        {"mxfp8-e4m3", FLT_TRUE_MIN, 0, 0, 0, 0},
        {"mxint8", FLT_MIN / 2, 0, 0, 0, 0},
        {"mxint8", FLT_MIN, 1, 1, 1, 1},
        {"nvfp4", 6.0f, 0x38, 0x38, 0x38, 0x38},
        {"nvfp4", 2688.0f, 0x7e, 0x7e, 0x7e, 0x7e},
        {"nvfp4", FLT_MAX, 0x7e, 0x7e, 0x7e, 0x7e},
        {"nvfp4", 0.0f, 1, 1, 1, 1},
        {"nvfp4", 6.4f, 0x38, 0x39, 0x39, 0x39},
        {"nvfp4", 6.375f, 0x38, 0x39, 0x38, 0x39}, /* the tie between 1 and 1.125 */
        {"nvfp4", 7.125f, 0x39, 0x3a, 0x3a, 0x3a},
        {"nvfp4", 0x1p-60f, 1, 1, 1, 1},
    };
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        const int codes[] = {want[i].floor, want[i].ceil, want[i].even, want[i].noclip};
        for (int rule = 0; rule <= ULP_SCALE_NOCLIP; rule++) {
            ulp_block b = block_named(want[i].name);
            b.rule = (uint32_t)rule;
            uint8_t got = scale_found(want[i].amax, &b, 1.0f);
            if (got != codes[rule])
                fail_msg("%s:%s, amax %a: scale code %d, not %d", want[i].name,
                         ulp_scale_rule_name((ulp_scale_rule)rule), (double)want[i].amax, got, codes[rule]);
        }
    }
}

/* The rules amax and te: the nearest scale, ties to even codes; te clamps no scale of nvfp4 to the least code, 1. */
TEST(known_scales_of_software) {
    static const struct {
        const char *name;
        float amax;
        int amax_code, te;
    } want[] = {
        {"nvfp4", 0.0f, 1, 0},
        {"nvfp4", 0x1p-60f, 1, 0},
        {"nvfp4", 6 * 0x1p-10f, 1, 0}, /* the tie between 0 and 2^-9 goes to the even code */
        {"nvfp4", 6.0001f * 0x1p-10f, 1, 1},
        {"nvfp4", 6.375f, 0x38, 0x38},
        {"nvfp4", FLT_MAX, 0x7e, 0x7e},
        {"mxfp8-e4m3", 0.0f, 0, 0},
        {"mxfp8-e4m3", 448.0f, 127, 127},
        {"mxfp8-e4m3", 449.0f, 127, 128},
        {"mxfp8-e4m3", 672.0f, 128, 128}, /* 1.5: the tie of 127 and 128 */
        {"mxfp8-e4m3", 336.0f, 126, 127}, /* 0.75: the tie of 126 and 127 */
        {"mxint4", 1.75f, 127, 127},
        {"bfp8", 2.0f, 127, 128},
        {"nvint4", 7.0f, 0x38, 0x38},
    };
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        ulp_block b = block_named(want[i].name);
        b.rule = ULP_SCALE_AMAX;
        assert_int_equal(scale_found(want[i].amax, &b, 1.0f), want[i].amax_code);
        b.rule = ULP_SCALE_TE;
        assert_int_equal(scale_found(want[i].amax, &b, 1.0f), want[i].te);
    }
}

static size_t check_scale(float amax, const ulp_block *b, float tensor_scale) {
    if (!(amax >= 0.0f && amax <= FLT_MAX)) return 0;
    int got = scale_found(amax, b, tensor_scale), want = scale_by_search(amax, b, tensor_scale);
    if (got != want)
        fail_msg("%s:%s, amax %a, tensor scale %a: scale code %d, not %d", b->name,
                 ulp_scale_rule_name((ulp_scale_rule)b->rule), (double)amax, (double)tensor_scale, got, want);
    return 1;
}

/* Every exponent with the significands at which a rule changes the scale, and their neighbours; random significands. */
TEST(scales_by_search) {
    ulp_block b;
    for (size_t i = 0; test_block(i, &b); i++) {
        const double max = b.element.max / ldexp(1.0, ilogb(b.element.max));
        const int p = b.element.is_fixed ? b.element.bits - 1 : b.element.prec;
        const double at[] = {1.0, max, 2 - ldexp(1, -p), 1.5, max * 1.0625, max * 1.125 / 2, max * 1.4375 / 2, 1.25};
        const float tensor_scales[] = {1.0f, 1.0f / 3, 0x1.fffffep-9f, 0x1p-30f, 0x1.234568p40f};
        size_t checked = check_scale(0.0f, &b, 1.0f) + check_scale(FLT_MAX, &b, 1.0f);
        uint64_t seed = i;
        for (int e = -149; e <= 127; e++) {
            for (size_t j = 0; j < COUNT_OF(at); j++) {
                const float x = (float)ldexp(at[j], e);
                checked += check_scale(x, &b, 1.0f);
                checked += check_scale(nextafterf(x, 0.0f), &b, 1.0f);
                checked += check_scale(nextafterf(x, INFINITY), &b, 1.0f);
                const float t = tensor_scales[next_random(&seed) % 5];
                checked += check_scale(x * t, &b, t);
                checked += check_scale(nextafterf(x * t, INFINITY), &b, t);
            }
        }
        for (int j = 0; j < 2000; j++) {
            const float x = ulp_from_bits32((uint32_t)next_random(&seed) & 0x7fffffffu);
            checked += check_scale(x, &b, 1.0f);
            checked += check_scale(x, &b, ulp_from_bits32((uint32_t)(next_random(&seed) % 0x7f7fffffu) + 1));
        }
        assert_true(checked > 12000);
    }
}

TEST(tensor_scale) {
    ulp_format binary32 = named("binary32");
    ulp_reference *ref = ulp_reference_new(&binary32);
    uint64_t seed = 1;
    for (size_t i = 0; i < ulp_block_count; i++) {
        ulp_block b;
        assert_ok(ulp_block_get(i, &b, NULL));
        for (int j = 0; j < 500; j++) {
            float amax = j == 0 ? FLT_MAX : j == 1 ? FLT_TRUE_MIN : ulp_from_bits32((uint32_t)next_random(&seed) >> 1);
            if (!(amax > 0.0f && amax <= FLT_MAX)) continue;
            double divisor = b.element.max * scale_value(b.scale.prec == 1 ? E8M0_NAN - 1 : E4M3_NAN - 1, &b);
            double want = ulp_reference_arith(ref, (ulp_scalar_op){ULP_DIV, amax, divisor, 0}, nearest, 0);
            if (want == 0.0) want = 0x1p-149;
            float got = ulp_block_tensor_scale(amax, &b);
            if (!same(got, want)) fail_case("tensor scale of", amax, 0, 0, &binary32, nearest, 0, got, want);
            if (b.scale.prec > 1 && want > 0x1p-120) assert_int_equal(scale_found(amax, &b, got), E4M3_NAN - 1);
        }
        const float none[] = {0.0f, INFINITY, NAN};
        for (int j = 0; j < 3; j++) assert_true(ulp_block_tensor_scale(none[j], &b) == 1.0f);
    }
    ulp_reference_free(ref);
}

/* Scale code 0 of e8m0 is 2^-127. A block of zeros has the smallest scale: 2^-127 in e8m0, 2^-9 in e4m3. */
TEST(smallest_scales) {
    const float tiny[] = {0x1p-127f, -0x1.8p-128f, 0x1p-130f, 0.0f}, zeros[] = {0.0f, -0.0f, 0.0f, 0.0f};
    static const char *const names[] = {"mxfp8-e4m3", "mxfp8-e5m2", "mxfp6-e3m2", "mxfp6-e2m3", "mxfp4"};
    uint8_t elements[4], scale;
    float y[4];
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const ulp_block b = block_named(names[i]);
        const ulp_block_array array = {&b, 4, 1.0f};
        assert_ok(ulp_block_encode(elements, &scale, tiny, array, nearest, no_stream));
        assert_int_equal(scale, 0);
        assert_true(ulp_block_scale_value(scale, &b) == 0x1p-127);
        for (int k = 0; k < 4; k++) {
            const double want = ulp_round((double)tiny[k] * 0x1p127, &b.element, nearest, 0);
            const double got = ulp_decode(elements[k], &b.element);
            if (got != want) fail_msg("%s: %a becomes the element %a, not %a", names[i], (double)tiny[k], got, want);
        }
        assert_ok(ulp_block_encode(elements, &scale, zeros, array, nearest, no_stream));
        assert_int_equal(scale, 0);
    }
    const ulp_block b = block_named("nvfp4");
    const ulp_block_array array = {&b, 4, 1.0f};
    assert_ok(ulp_block_encode(elements, &scale, zeros, array, nearest, no_stream));
    assert_true(ulp_block_scale_value(scale, &b) == 0x1p-9);
    assert_ok(ulp_block_decode(y, elements, &scale, array));
    for (int k = 0; k < 4; k++) assert_true(same_float(y[k], zeros[k]));
}

TESTS(NULL, NULL)
