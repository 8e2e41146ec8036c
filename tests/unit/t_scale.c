/* t_scale.c - scaling of arrays: amax, factors against the oracle, every format x mode x axis, element by element. */
#include <float.h>

#include "support.h"

#include "formats/scale.h"
#include "kernels/mpfr/reference.h"

enum { M = 7, N = 13, COUNT = M * N };

static const ulp_rule nearest = {ULP_RNE, ULP_OVERFLOW_SAT, 0};

static float random_float(uint64_t *seed, int centre, int spread) {
    uint64_t u = next_random(seed);
    double x = ldexp((double)(u >> 40), centre - 24 + (int)(u % (uint64_t)spread));
    if (x > FLT_MAX) x = FLT_MAX;
    return (float)(u & 1u << 20 ? -x : x);
}

/* ---- amax ---- */

TEST(amax) {
    const float x[] = {1.0f, -3.0f, NAN, INFINITY, -0.0f, 2.0f, -INFINITY, -FLT_TRUE_MIN, -NAN, 2.5f};
    assert_true(ulp_amax(x, 10, 1) == 3.0f);
    assert_true(ulp_amax(x, 5, 2) == 1.0f);
    assert_true(ulp_amax(x + 1, 5, 2) == 3.0f);
    assert_true(ulp_amax(x + 2, 3, 1) == 0.0f);
    assert_true(ulp_amax(x + 4, 1, 1) == 0.0f && !signbit(ulp_amax(x + 4, 1, 1)));
    assert_true(ulp_amax(x + 6, 3, 1) == FLT_TRUE_MIN);
    assert_true(ulp_amax(x, 0, 1) == 0.0f);
    uint64_t seed = 1;
    for (int trial = 0; trial < 1000; trial++) {
        float v[33], most = 0.0f;
        for (int i = 0; i < 33; i++) {
            v[i] = ulp_from_bits32((uint32_t)next_random(&seed));
            if (isfinite(v[i])) most = fmaxf(most, fabsf(v[i]));
        }
        assert_true(ulp_amax(v, 33, 1) == most);
    }
}

/* ---- factors ---- */

static void expect_factors(float amax, const ulp_format *f, ulp_scaling_kind kind, double scale, double inverse) {
    ulp_scaling s = ulp_scaling_of(amax, f, kind);
    if ((double)s.scale != scale || (double)s.inverse != inverse)
        fail_msg("%s, kind %d, amax %a: {%a, %a}, not {%a, %a}", f->name, kind, (double)amax, (double)s.scale,
                 (double)s.inverse, scale, inverse);
}

TEST(factors) {
    ulp_format f, binary32 = named("binary32");
    ulp_reference *ref = ulp_reference_new(&binary32);
    size_t checked = 0;
    for (size_t i = 0; test_format(i, &f); i++) {
        uint64_t seed = i;
        for (int j = 0; j < 300; j++) {
            float amax = j == 0 ? FLT_MAX : j == 1 ? FLT_TRUE_MIN : ulp_from_bits32((uint32_t)next_random(&seed) >> 1);
            if (j % 4 == 2) amax = (float)ldexp(f.max / ldexp(1.0, ilogb(f.max)), j - 150);
            if (!(amax > 0.0f && amax <= FLT_MAX)) continue;
            double scale = ulp_reference_arith(ref, (ulp_scalar_op){ULP_DIV, f.max, amax, 0}, nearest, 0);
            double inverse = ulp_reference_arith(ref, (ulp_scalar_op){ULP_DIV, 1.0, scale, 0}, nearest, 0);
            expect_factors(amax, &f, ULP_SCALING_BINARY32, scale, inverse);
            int k = 127; /* the largest power of two with amax 2^k <= max */
            while (k > -127 && ldexp(amax, k) > f.max) k--;
            expect_factors(amax, &f, ULP_SCALING_POWER2, ldexp(1, k), ldexp(1, -k));
            checked++;
        }
        const float none[] = {0.0f, -0.0f, INFINITY, NAN};
        for (int j = 0; j < 4; j++) {
            expect_factors(none[j], &f, ULP_SCALING_BINARY32, 1, 1);
            expect_factors(none[j], &f, ULP_SCALING_POWER2, 1, 1);
        }
    }
    ulp_reference_free(ref);
    assert_true(checked > 15000);
    f = named("e4m3");
    expect_factors(448.0f, &f, ULP_SCALING_BINARY32, 1, 1);
    expect_factors(3.5f, &f, ULP_SCALING_BINARY32, 128, 0x1p-7);
    expect_factors(3.0f, &f, ULP_SCALING_BINARY32, 0x1.2aaaaap7, 0x1.b6db6ep-8);
    expect_factors(3.0f, &f, ULP_SCALING_POWER2, 128, 0x1p-7);
    expect_factors(FLT_TRUE_MIN, &f, ULP_SCALING_BINARY32, FLT_MAX, 0x1p-128);
    expect_factors(FLT_TRUE_MIN, &f, ULP_SCALING_POWER2, 0x1p127, 0x1p-127);
}

static size_t factor_of(ulp_axis axis, size_t i, size_t j) {
    return axis == ULP_PER_ROW ? i : axis == ULP_PER_COLUMN ? j : 0;
}

TEST(axes) {
    const ulp_format f = named("e4m3");
    uint64_t seed = 3;
    float x[COUNT];
    for (int i = 0; i < COUNT; i++) x[i] = random_float(&seed, 0, 30);
    for (size_t i = 0; i < M; i++) x[i * N + 4] = 0.0f; /* a column of zeros */
    x[20] = NAN, x[21] = INFINITY;
    for (int axis = 0; axis < ULP_AXIS_COUNT; axis++) {
        const size_t count = axis == ULP_PER_TENSOR ? 1 : axis == ULP_PER_ROW ? M : N;
        assert_int_equal(ulp_scaling_count(M, N, (ulp_axis)axis), count);
        for (int kind = 0; kind < ULP_SCALING_COUNT; kind++) {
            ulp_scaling s[N + 1];
            float most[N] = {0};
            s[count] = (ulp_scaling){-1.0f, -1.0f};
            for (size_t i = 0; i < M; i++)
                for (size_t j = 0; j < N; j++)
                    if (isfinite(x[i * N + j])) {
                        float *at = &most[factor_of((ulp_axis)axis, i, j)];
                        *at = fmaxf(*at, fabsf(x[i * N + j]));
                    }
            const ulp_scaled_array array = {M, N, (ulp_axis)axis, &f, s};
            assert_ok(ulp_scaling_find(array, x, (ulp_scaling_kind)kind));
            for (size_t k = 0; k < count; k++)
                expect_factors(most[k], &f, (ulp_scaling_kind)kind, s[k].scale, s[k].inverse);
            assert_true(s[count].scale == -1.0f);
            if (axis == ULP_PER_COLUMN) assert_true(s[4].scale == 1.0f && s[4].inverse == 1.0f);
        }
    }
}

/* ---- rounding ---- */

/* Check one array under every axis against the oracle's elements and values. */
static size_t check_rounding(ulp_reference *element, ulp_reference *value, const ulp_format *f, ulp_rule rule,
                             uint64_t *seed) {
    float x[COUNT], y[COUNT];
    const int centre = (int)(next_random(seed) % 200) - 120;
    for (int i = 0; i < COUNT; i++) x[i] = random_float(seed, centre, 12);
    x[next_random(seed) % COUNT] = NAN, x[next_random(seed) % COUNT] = -INFINITY, x[5] = -0.0f;
    for (int axis = 0; axis < ULP_AXIS_COUNT; axis++) {
        ulp_scaling s[N];
        ulp_stream stream = {*seed, 9, next_random(seed) >> 1};
        ulp_scaling_kind kind = next_random(seed) % 2 ? ULP_SCALING_POWER2 : ULP_SCALING_BINARY32;
        const ulp_scaled_array array = {M, N, (ulp_axis)axis, f, s};
        assert_ok(ulp_scaling_find(array, x, kind));
        memcpy(y, x, sizeof x);
        assert_ok(ulp_scaling_round(y, y, array, rule, stream));
        for (size_t i = 0; i < COUNT; i++) {
            const ulp_scaling k = s[factor_of((ulp_axis)axis, i / N, i % N)];
            const uint32_t word = ulp_random_word(stream, i);
            double e = ulp_reference_arith(element, (ulp_scalar_op){ULP_MUL, x[i], k.scale, 0}, rule, word);
            double want =
                ulp_reference_arith(value, (ulp_scalar_op){ULP_MUL, e, k.inverse, 0}, rule_of(ULP_RNE, 0, 0), 0);
            if (!same_result(y[i], want)) fail_case("scaled", x[i], k.scale, k.inverse, f, rule, word, y[i], want);
        }
    }
    return ULP_AXIS_COUNT;
}

TEST(rounding) {
    ulp_format f, binary32 = named("binary32");
    ulp_reference *value = ulp_reference_new(&binary32);
    size_t arrays = 0, formats = 0;
    for (size_t i = 0; test_format(i, &f); i++) {
        if (f.overflow == ULP_OVERFLOW_WRAP) continue; /* tested as a policy of other fixed-point formats */
        ulp_reference *element = ulp_reference_new(&f);
        uint64_t seed = i;
        for (int mode = 0; mode < ULP_MODE_COUNT; mode++)
            for (int policy = 0; policy < ULP_OVERFLOW_COUNT; policy++)
                if (offers(&f, policy)) {
                    ulp_rule rule = rule_of(mode, policy, ulp_mode_is_stochastic((uint32_t)mode) ? 5 : 0);
                    arrays += check_rounding(element, value, &f, rule, &seed);
                }
        ulp_reference_free(element);
        formats++;
    }
    ulp_reference_free(value);
    assert_true(arrays >= formats * ULP_MODE_COUNT * 4 * ULP_AXIS_COUNT);
    assert_true(formats > 50);
}

/* Products x s t of 71 bits that are less than 2^-54 away from the middle of two binary32 numbers. A first rounding to
 * binary64 gives the middle, and the second rounding a wrong number. */
TEST(one_rounding) {
    static const struct {
        float x;
        ulp_scaling s;
        double want;
    } cases[] = {
        {9474626.0f, {9174994.0f, 14366883.0f}, 0x876829p47},
        {13961587.0f, {9172793.0f, 15823739.0f}, 0xdbb687p47},
        {13817683.0f, {15331988.0f, 10551011.0f}, 0xf258e3p47},
        {10566894.0f, {14690971.0f, 11649489.0f}, 0xc4125dp47},
    };
    const ulp_format f = named("binary64");
    const ulp_stream stream = {0, 0, 0};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const float x[] = {cases[i].x, -cases[i].x};
        const double want[] = {cases[i].want, -cases[i].want};
        float y[2];
        ulp_scaling factors = cases[i].s;
        const ulp_scaled_array array = {1, 2, ULP_PER_TENSOR, &f, &factors};
        assert_ok(ulp_scaling_round(y, x, array, nearest, stream));
        for (int j = 0; j < 2; j++)
            if (!same(y[j], want[j])) fail_case("scaled", x[j], cases[i].s.scale, 0, &f, nearest, 0, y[j], want[j]);
    }
}

TEST(errors) {
    const ulp_format f = named("e4m3");
    const ulp_stream stream = {0, 0, 0};
    float x[2] = {1.0f, 2.0f}, y[2] = {-1.0f, -1.0f};
    ulp_scaling s[2] = {{1.0f, 1.0f}, {1.0f, 1.0f}};
    const ulp_scaled_array rows = {1, 2, ULP_PER_ROW, &f, s}, no_factors = {1, 2, ULP_PER_ROW, &f, NULL};
    const ulp_scaled_array no_axis = {1, 2, ULP_AXIS_COUNT, &f, s}, empty = {0, 2, ULP_PER_COLUMN, &f, s};
    assert_int_equal(ulp_scaling_find(no_factors, x, ULP_SCALING_BINARY32), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_scaling_find(no_axis, x, ULP_SCALING_BINARY32), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_scaling_find(rows, x, ULP_SCALING_COUNT), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_scaling_round(y, x, no_axis, nearest, stream), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_scaling_round(y, NULL, rows, nearest, stream), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_scaling_round(y, x, rows, rule_of(ULP_MODE_COUNT, 0, 0), stream), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_scaling_round(y, x, rows, rule_of(0, ULP_OVERFLOW_WRAP, 0), stream), ULP_UNSUPPORTED);
    assert_true(y[0] == -1.0f && y[1] == -1.0f);
    assert_ok(ulp_scaling_find(empty, x, ULP_SCALING_BINARY32));
    assert_true(s[1].scale == 1.0f);
}

TESTS(NULL, NULL)
