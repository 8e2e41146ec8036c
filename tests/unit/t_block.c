/* t_block.c - block-scaled formats: names, every code, every mode against the oracle, special cases, refusals.
 *
 * t_block_scales.c tests the scales. */
#include <float.h>

#include "block_oracle.h"

#include "formats/rng.h"

enum { MOST = 256 };

/* ---- names ---- */

TEST(names) {
    static const struct {
        const char *name, *element;
        double max; /* of the element, with emax = floor(log2 max): OCP MX v1.0, section 5.3 */
        int emax, bits, size;
        const char *scale;
    } want[] = {
        {"mxfp8-e4m3", "e4m3", 448, 8, 8, 32, "e8m0"}, {"mxfp8-e5m2", "e5m2", 57344, 15, 8, 32, "e8m0"},
        {"mxfp6-e3m2", "e3m2", 28, 4, 6, 32, "e8m0"},  {"mxfp6-e2m3", "e2m3", 7.5, 2, 6, 32, "e8m0"},
        {"mxfp4", "e2m1", 6, 2, 4, 32, "e8m0"},        {"mxint8", "q2.6", 1.984375, 0, 8, 32, "e8m0"},
        {"nvfp4", "e2m1", 6, 2, 4, 16, "e4m3"},        {"mxint4", "q2.2", 1.75, 0, 4, 32, "e8m0"},
        {"nvint4", "q4.0", 7, 2, 4, 16, "e4m3"},       {"mxint6", "q2.4", 1.9375, 0, 6, 32, "e8m0"},
        {"nvfp6", "e2m3", 7.5, 2, 6, 16, "e4m3"},      {"bfp8", "e1m6fn", 1.984375, 0, 8, 16, "e8m0"},
    };
    assert_int_equal(ulp_block_count, COUNT_OF(want));
    for (size_t i = 0; i < ulp_block_count; i++) {
        ulp_block b;
        const ulp_format_row *row = NULL;
        assert_ok(ulp_block_get(i, &b, &row));
        assert_string_equal(row->name, want[i].name);
        assert_string_equal(b.name, want[i].name);
        assert_string_equal(b.element.name, want[i].element);
        assert_string_equal(b.scale.name, want[i].scale);
        assert_true(b.element.max == want[i].max);
        assert_int_equal(ilogb(b.element.max), want[i].emax);
        assert_int_equal(b.element.bits, want[i].bits);
        assert_int_equal(b.size, want[i].size);
        assert_int_equal(b.rule, b.scale.prec > 1 ? ULP_SCALE_EVEN : ULP_SCALE_FLOOR);
        assert_ok(ulp_block_check(&b));
        assert_string_equal(block_named(want[i].name).name, want[i].name);
        for (int rule = 0; rule < ULP_SCALE_RULE_COUNT; rule++) {
            char name[64];
            const char *suffix = ulp_scale_rule_name((ulp_scale_rule)rule);
            snprintf(name, sizeof name, "%s:%s", want[i].name, suffix);
            ulp_block r = block_named(name);
            assert_int_equal(r.rule, rule);
            assert_string_equal(r.name, (uint32_t)rule == b.rule ? want[i].name : name);
            assert_true(ulp_scale_rule_meaning((ulp_scale_rule)rule)[0] != '\0');
        }
    }
    assert_null(ulp_scale_rule_name(ULP_SCALE_RULE_COUNT));
    assert_null(ulp_scale_rule_meaning(ULP_SCALE_RULE_COUNT));
    assert_string_equal(block_named("mxfp8").name, "mxfp8-e4m3");
    assert_string_equal(block_named("mxfp6").name, "mxfp6-e3m2");
    assert_string_equal(block_named("mxfp4-e2m1:ceil").name, "mxfp4:ceil");
    assert_string_equal(block_named("MXFP8-E5M2:NoClip").name, "mxfp8-e5m2:noclip");
    assert_string_equal(block_named("nvfp4:32:noclip").name, "nvfp4:32:noclip");
    assert_string_equal(block_named("MXINT8:256").name, "mxint8:256");
    assert_int_equal(block_named("mxint8:256").size, 256);
    assert_int_equal(block_named("nvfp4:32:NOCLIP").rule, ULP_SCALE_NOCLIP);
    assert_string_equal(block_named("nvfp4:016:even").name, "nvfp4");
    assert_int_equal(block_named("mxfp4:4294967295").size, UINT32_MAX);
    static const char *const beyond[] = {"nvfp4:0", "nvfp4:4294967296", "nvfp4:99999999999999999999:te"};
    for (size_t i = 0; i < COUNT_OF(beyond); i++) {
        ulp_block b;
        assert_int_equal(ulp_block_parse(&b, beyond[i]), ULP_NOT_IN_RANGE);
    }
    static const char *const bad[] = {
        "nvfp4:16x", "nvfp4:16:", "nvfp4:noclip:16", "nvfp4:-1",        "nvfp4:16:16",
        "",          "mxfp",      "mxfp4:",          "mxfp4:round",     "mxfp4 ",
        "mxfp5",     "mxfp4x",    "mxfp4::floor",    "mxfp4:floorceil", "mxfp4:floor:ceil",
        "e4m3",      "mxfp4:flo", ":floor",          "nvfp4:rne"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        ulp_block b = block_named("nvfp4"), before = b;
        if (ulp_block_parse(&b, bad[i]) != ULP_BAD_NAME) fail_msg("'%s' is accepted", bad[i]);
        assert_memory_equal(&b, &before, sizeof b);
    }
    ulp_block b;
    assert_int_equal(ulp_block_parse(&b, NULL), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_block_parse(NULL, "mxfp4"), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_block_get(ulp_block_count, &b, NULL), ULP_BAD_ARGUMENT);
}

/* ---- codes ---- */

TEST(every_code) {
    size_t products = 0;
    for (size_t i = 0; i < ulp_block_count; i++) {
        ulp_block b;
        assert_ok(ulp_block_get(i, &b, NULL));
        ulp_reference *ref = ulp_reference_new(&b.element);
        const uint32_t count = 1u << b.element.bits;
        uint8_t elements[MOST], scales[MOST];
        float y[MOST];
        for (uint32_t e = 0; e < count; e++) elements[e] = (uint8_t)e;
        for (int s = 0; s <= 255; s++) {
            const float t = s % 3 == 0 ? 0x1.555556p-2f : 1.0f;
            const double scale = scale_value(s, &b);
            assert_true(same(ulp_block_scale_value((uint8_t)s, &b), scale));
            memset(scales, s, sizeof scales);
            assert_ok(ulp_block_decode(y, elements, scales, (ulp_block_array){&b, count, t}));
            for (uint32_t e = 0; e < count; e++) {
                float want = (float)(ulp_reference_decode(ref, e) * scale * (double)t);
                if (!same_float(y[e], want))
                    fail_msg("%s: element %#x, scale %#x: %a, not %a", b.name, e, (unsigned)s, (double)y[e],
                             (double)want);
                if (isnan(y[e])) assert_int_equal(ulp_bits32(y[e]), 0x7fc00000);
                products++;
            }
        }
        ulp_reference_free(ref);
    }
    assert_int_equal(products, 256 * (4 * 256 + 4 * 64 + 4 * 16));
}

/* Decoded codes encode to the same codes if the block holds the largest element, which determines the scale. */
TEST(round_trip) {
    size_t trips = 0;
    for (size_t i = 0; i < ulp_block_count; i++) {
        ulp_block b;
        assert_ok(ulp_block_get(i, &b, NULL));
        uint64_t seed = i;
        const int power2 = b.scale.prec == 1;
        for (int s = power2 ? 0 : 1; s < (power2 ? 255 - ilogb(b.element.max) : E4M3_NAN); s++) {
            uint8_t elements[3 * 32 + 5], back[sizeof elements], scales[16], scales_back[16];
            const size_t n = b.size * 3 + 5, blocks = ulp_block_scales(n, &b);
            assert_int_equal(blocks, 4);
            float y[sizeof elements];
            memset(scales, s, sizeof scales);
            for (size_t j = 0; j < n; j++) {
                double value;
                do {
                    elements[j] = (uint8_t)(next_random(&seed) & ((1u << b.element.bits) - 1));
                    value = ulp_decode(elements[j], &b.element);
                } while (value < -b.element.max && !isinf(value)); /* -2 of mxint8 */
                if (isnan(value) || j % b.size == 3) elements[j] = (uint8_t)b.element.max_code;
            }
            assert_ok(ulp_block_decode(y, elements, scales, (ulp_block_array){&b, n, 1.0f}));
            assert_ok(ulp_block_encode(back, scales_back, y, (ulp_block_array){&b, n, 1.0f}, nearest, no_stream));
            assert_memory_equal(elements, back, n);
            assert_memory_equal(scales, scales_back, blocks);
            trips++;
        }
    }
    assert_true(trips > 1500);
}

/* ---- elements ---- */

/* The element of x by the definition in the head comment of formats/block.h, computed with the oracle. */
static double element_by_oracle(ulp_reference *ref, float x, double divisor, const ulp_block *b, ulp_rule rule,
                                uint32_t word) {
    const int own = rule.overflow == ULP_OVERFLOW_DEFAULT;
    if (own && isinf(x)) return b->element.has_inf ? (double)x : NAN;
    if (own) rule.overflow = ULP_OVERFLOW_SAT;
    if (divisor == 0.0) { /* a scale of 0, of the rule te: zeros stay, other numbers are beyond the range */
        divisor = 1.0;
        if (x != 0.0f && isfinite(x)) x = copysignf(FLT_MAX, x);
    }
    double e = ulp_reference_arith(ref, (ulp_scalar_op){ULP_DIV, x, divisor, 0}, rule, word);
    return own && fabs(e) > b->element.max ? copysign(b->element.max, e) : e;
}

/* Check y, codes and scale of one block x (n), which starts at index `at` of its array. */
static void check_block(ulp_reference *ref, const float *x, const float *y, const uint8_t *codes, uint8_t scale_code,
                        size_t n, size_t at, const ulp_block *b, float t, ulp_rule rule, ulp_stream stream) {
    float amax = 0.0f;
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i]) && fabsf(x[i]) > amax) amax = fabsf(x[i]);
    const int code = scale_by_search(amax, b, t);
    const double divisor = scale_value(code, b) * t;
    double e[MOST];
    int poisoned = 0;
    for (size_t i = 0; i < n; i++) {
        e[i] = element_by_oracle(ref, x[i], divisor, b, rule, ulp_random_word(stream, at + i));
        poisoned |= isnan(e[i]) && b->element.nan_codes == ULP_NAN_NONE;
    }
    assert_int_equal(scale_code, poisoned ? (int)b->scale.nan_code : code);
    for (size_t i = 0; i < n; i++) {
        const float want = poisoned ? NAN : (float)(e[i] * divisor);
        uint32_t word = ulp_random_word(stream, at + i);
        if (!same_float(y[i], want)) fail_case(b->name, x[i], divisor, amax, &b->element, rule, word, y[i], want);
        if (poisoned) assert_int_equal(codes[i], 0);
        else if (!same(ulp_reference_decode(ref, codes[i]), e[i]))
            fail_case(b->name, x[i], divisor, amax, &b->element, rule, word, ulp_decode(codes[i], &b->element), e[i]);
    }
}

/* x (n) = values with exponents in `spread` binades around 2^centre; some are ties or powers of two. */
static void fill(float *x, size_t n, int centre, int spread, uint64_t *seed) {
    for (size_t i = 0; i < n; i++) {
        uint64_t u = next_random(seed);
        double m = u & 1 ? (double)(u >> 40) : (double)(u >> 59); /* 24 or 5 bits */
        int e = centre + (int)(next_random(seed) % (uint64_t)spread) - (u & 1 ? 24 : 5);
        x[i] = (float)(u & 2 ? ldexp(m, e) : -ldexp(m, e));
        if (!isfinite(x[i])) x[i] = u & 2 ? FLT_MAX : -FLT_MAX;
    }
}

/* Replace every third value by the binary32 number nearest to the divisor times a value of the element format, or times
 * the middle of two values. A rounding of the quotient to binary32 would move it onto a breakpoint. */
static void fill_breakpoints(float *x, size_t n, double divisor, const ulp_block *b, uint64_t *seed) {
    for (size_t i = 0; i < n; i += 3) {
        uint64_t u = next_random(seed), code = u % b->element.max_code;
        double low = ulp_decode(code, &b->element), high = ulp_decode(code + 1, &b->element);
        double at = (u >> 40 & 1 ? low : (low + high) / 2) * divisor;
        x[i] = (float)(u >> 41 & 1 ? at : -at);
        if (!isfinite(x[i])) x[i] = 1.0f;
    }
}

TEST(modes) {
    ulp_block b;
    size_t cells = 0;
    for (size_t i = 0; test_block(i, &b); i++) {
        ulp_reference *ref = ulp_reference_new(&b.element);
        uint64_t seed = i;
        for (int mode = 0; mode < ULP_MODE_COUNT; mode++) {
            for (int policy = 0; policy < ULP_OVERFLOW_COUNT; policy++) {
                const int random_bits[] = {0, 1, 7};
                ulp_rule rule = rule_of(
                    mode, policy, ulp_mode_is_stochastic((uint32_t)mode) ? random_bits[next_random(&seed) % 3] : 0);
                float x[MOST], y[MOST], in_place[MOST], decoded[MOST];
                uint8_t codes[MOST], scales[MOST];
                if (!offers(&b.element, policy)) {
                    assert_int_equal(ulp_block_round(y, x, (ulp_block_array){&b, 1, 1.0f}, rule, no_stream),
                                     ULP_UNSUPPORTED);
                    continue;
                }
                for (int round = 0; round < 12; round++) {
                    const size_t n = 2 * b.size + next_random(&seed) % b.size;
                    const int centres[] = {0, 0, 5, -100, -130, -149, 124, 127};
                    fill(x, n, centres[round % 8], round < 6 ? 6 : 20, &seed);
                    float t = 1.0f;
                    if (round % 3 == 1) t = ulp_block_tensor_scale(ulp_amax(x, n, 1), &b);
                    if (round % 3 == 2)
                        t = (float)ldexp((double)(next_random(&seed) >> 40 | 1), centres[round % 8] - 24);
                    if (t == 0.0f) t = FLT_TRUE_MIN;
                    int code = scale_by_search(ulp_amax(x, b.size, 1), &b, t);
                    if (round % 2) fill_breakpoints(x, n, scale_value(code, &b) * t, &b, &seed);
                    if (round >= 8) x[next_random(&seed) % n] = round % 2 ? -INFINITY : INFINITY;
                    if (round >= 9) x[next_random(&seed) % n] = NAN;
                    ulp_stream stream = {seed, (uint64_t)mode, next_random(&seed) >> 3};
                    memcpy(in_place, x, sizeof x);
                    const ulp_block_array array = {&b, n, t};
                    assert_ok(ulp_block_round(y, x, array, rule, stream));
                    assert_ok(ulp_block_round(in_place, in_place, array, rule, stream));
                    assert_ok(ulp_block_encode(codes, scales, x, array, rule, stream));
                    assert_ok(ulp_block_decode(decoded, codes, scales, array));
                    assert_memory_equal(y, in_place, n * sizeof *y);
                    assert_memory_equal(y, decoded, n * sizeof *y);
                    for (size_t at = 0; at < n; at += b.size)
                        check_block(ref, x + at, y + at, codes + at, scales[at / b.size],
                                    n - at < b.size ? n - at : b.size, at, &b, t, rule, stream);
                    /* the array without its first block; stream.first selects the words */
                    stream.first += b.size;
                    assert_ok(ulp_block_round(decoded, x + b.size, (ulp_block_array){&b, n - b.size, t}, rule, stream));
                    assert_memory_equal(y + b.size, decoded, (n - b.size) * sizeof *y);
                }
                cells++;
            }
        }
        ulp_reference_free(ref);
    }
    /* every format has all overflow policies except wrap; only the three with integers have wrap */
    assert_int_equal(cells, (ulp_block_count * 6 + 4) * AMAX_RULES * ULP_MODE_COUNT);
}

/* ---- special cases ---- */

static void expect(const char *name, float special, float other, int policy, float want_special, float want_other,
                   int want_scale) {
    ulp_block b = block_named(name);
    ulp_rule rule = rule_of(ULP_RNE, policy, 0);
    const float x[] = {other, special, other};
    float y[3];
    uint8_t codes[3], scale;
    const ulp_block_array array = {&b, 3, 1.0f};
    assert_ok(ulp_block_round(y, x, array, rule, no_stream));
    assert_ok(ulp_block_encode(codes, &scale, x, array, rule, no_stream));
    if (!same_float(y[0], want_other) || !same_float(y[1], want_special) || scale != want_scale)
        fail_msg("%s, {%a, %a}: {%a, %a} at scale %#x, not {%a, %a} at %#x", name, (double)other, (double)special,
                 (double)y[0], (double)y[1], scale, (double)want_other, (double)want_special, (unsigned)want_scale);
    assert_true(same_float(y[0], y[2]));
}

TEST(special) {
    const int own = ULP_OVERFLOW_DEFAULT, sat = ULP_OVERFLOW_SAT, nan = ULP_OVERFLOW_NAN, inf = ULP_OVERFLOW_INF;
    expect("mxfp8-e4m3", NAN, 3.0f, own, NAN, 3.0f, 120);
    expect("mxfp8-e4m3", INFINITY, 3.0f, own, NAN, 3.0f, 120);
    expect("mxfp8-e4m3", -INFINITY, 3.0f, sat, -3.5f, 3.0f, 120);
    expect("mxfp8-e5m2", -INFINITY, 3.0f, own, -INFINITY, 3.0f, 113);
    expect("mxfp8-e5m2", NAN, 3.0f, own, NAN, 3.0f, 113);
    expect("mxfp8-e5m2", 65535.0f, 1.0f, own, 57344.0f, 1.0f, 127);
    expect("mxfp8-e5m2", 65535.0f, 1.0f, inf, INFINITY, 1.0f, 127);
    expect("mxfp8-e4m3", 511.0f, 1.0f, nan, NAN, 1.0f, 127);
    expect("mxfp4", NAN, 3.0f, own, NAN, NAN, E8M0_NAN);
    expect("mxfp6-e3m2", INFINITY, 3.0f, own, NAN, NAN, E8M0_NAN);
    expect("mxfp6-e2m3", -INFINITY, 4.0f, sat, -7.5f, 4.0f, 127);
    expect("mxfp4", 7.5f, 1.0f, own, 6.0f, 1.0f, 127);
    expect("mxfp4", 7.5f, 1.0f, nan, NAN, NAN, E8M0_NAN);
    expect("mxint8", NAN, 3.0f, own, NAN, NAN, E8M0_NAN);
    expect("mxint8", -0x1.fffffep0f, 1.0f, own, -1.984375f, 1.0f, 127);
    expect("mxint8", -0x1.fffffep0f, 1.0f, sat, -2.0f, 1.0f, 127);
    expect("nvfp4", NAN, 3.0f, own, NAN, NAN, E4M3_NAN);
    expect("nvfp4", FLT_MAX, 3.0f, own, 2688.0f, 0.0f, 0x7e);
    expect("mxfp8-e4m3", 0x1p-140f, -0.0f, own, 0.0f, -0.0f, 0);
    expect("mxfp8-e4m3", 0x1p-136f, 0x1p-137f, own, 0x1p-136f, 0.0f, 0);
    expect("mxfp4:ceil", FLT_MAX, 1.0f, own, INFINITY, 0.0f, 253); /* 4 2^126 is beyond binary32 */
    expect("mxfp4", FLT_MAX, 1.0f, own, 0x1.8p127f, 0.0f, 252);

    /* a NaN affects only its block; the short last block has its own scale; zeros keep their sign */
    ulp_block b = block_named("mxfp4");
    float x[70], y[70];
    for (int i = 0; i < 70; i++) x[i] = i < 32 ? 0.0f : i < 64 ? 6.0f : -48.0f;
    x[5] = -0.0f, x[40] = NAN;
    assert_int_equal(ulp_block_scales(70, &b), 3);
    assert_int_equal(ulp_block_scales(64, &b), 2);
    assert_int_equal(ulp_block_scales(0, &b), 0);
    uint8_t codes[70], scales[3];
    assert_ok(ulp_block_encode(codes, scales, x, (ulp_block_array){&b, 70, 1.0f}, nearest, no_stream));
    assert_ok(ulp_block_round(y, x, (ulp_block_array){&b, 70, 1.0f}, nearest, no_stream));
    for (int i = 0; i < 70; i++) assert_true(same_float(y[i], i >= 32 && i < 64 ? NAN : x[i]));
    const uint8_t want[] = {0, E8M0_NAN, 130};
    assert_memory_equal(scales, want, 3);
    assert_int_equal(codes[5], 8);
    assert_int_equal(codes[69], 0xf);

    /* a combination of formats that has no row: Inf with the scale zero is the positive quiet NaN */
    b = block_named("mxfp8-e5m2");
    b.scale = named("e4m3");
    const uint8_t infinities[] = {0x7c, 0xfc, 0x80}, zero = 0;
    assert_ok(ulp_block_decode(y, infinities, &zero, (ulp_block_array){&b, 3, 1.0f}));
    for (int i = 0; i < 3; i++) assert_int_equal(ulp_bits32(y[i]), i < 2 ? 0x7fc00000u : 0x80000000u);
}

TEST(errors) {
    ulp_block b = block_named("mxfp4"), bad[6];
    float x[4] = {1, 2, 3, 4}, y[4] = {-1, -1, -1, -1};
    uint8_t codes[4] = {99, 99, 99, 99}, scales[4] = {99, 99, 99, 99};
    const ulp_block_array array = {&b, 4, 1.0f};
    const float wrong[] = {0.0f, -1.0f, INFINITY, NAN};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(ulp_block_round(y, x, (ulp_block_array){&b, 4, wrong[i]}, nearest, no_stream),
                         ULP_BAD_ARGUMENT);
        assert_int_equal(ulp_block_decode(y, codes, scales, (ulp_block_array){&b, 4, wrong[i]}), ULP_BAD_ARGUMENT);
        assert_int_equal(ulp_block_scale(scales, x, 4, &b, wrong[i]), ULP_BAD_ARGUMENT);
    }
    for (int i = 0; i < 6; i++) bad[i] = b;
    bad[0].size = 0, bad[1].rule = ULP_SCALE_RULE_COUNT, bad[2].element = named("e5m10");
    bad[3].scale = named("q8.0"), bad[4].scale = named("e2m1"), bad[5].scale = named("binary16");
    for (int i = 0; i < 6; i++) {
        ulp_status want = i < 2 ? ULP_BAD_ARGUMENT : ULP_UNSUPPORTED;
        assert_int_equal(ulp_block_check(&bad[i]), want);
        assert_int_equal(ulp_block_encode(codes, scales, x, (ulp_block_array){&bad[i], 4, 1.0f}, nearest, no_stream),
                         want);
        assert_int_equal(ulp_block_decode(y, codes, scales, (ulp_block_array){&bad[i], 4, 1.0f}), want);
    }
    assert_int_equal(ulp_block_round(y, x, array, rule_of(ULP_MODE_COUNT, 0, 0), no_stream), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_block_round(y, x, array, rule_of(0, ULP_OVERFLOW_WRAP, 0), no_stream), ULP_UNSUPPORTED);
    assert_int_equal(ulp_block_round(NULL, x, array, nearest, no_stream), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_block_round(y, x, (ulp_block_array){NULL, 4, 1.0f}, nearest, no_stream), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_block_encode(codes, NULL, x, array, nearest, no_stream), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_block_decode(y, codes, NULL, array), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_block_scale(NULL, x, 4, &b, 1), ULP_BAD_ARGUMENT);
    assert_ok(ulp_block_round(y, x, (ulp_block_array){&b, 0, 1.0f}, nearest, no_stream));
    for (int i = 0; i < 4; i++) assert_true(y[i] == -1.0f && codes[i] == 99 && scales[i] == 99);
    b.size = 3; /* not the registered size */
    assert_ok(ulp_block_encode(codes, scales, x, array, nearest, no_stream));
    assert_int_equal(scales[0], 126);
    assert_int_equal(scales[1], 127);
    assert_int_equal(scales[2], 99);
}

TESTS(NULL, NULL)
