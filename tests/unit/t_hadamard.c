/* t_hadamard.c - the Hadamard transform: against its matrix in integers, twice, along rows and columns, every
 * instruction set, the backend mpfr, counts, refusals.
 */
#include "support.h"
#include "instruction_sets.h"

#include "formats/rng.h"
#include "kernels/functions/hadamard_steps.h"
#include "kernels/rounding/count.h"

enum { ROOM = 256 * 40 };
static float x[ROOM], y[ROOM], z[ROOM], want[ROOM];
static uint64_t seed = 1;
static const ulp_stream signs = {1, 77, 5};

static ulp_hadamard transform_of(uint32_t g, int along, int kind, int inverse) {
    return (ulp_hadamard){g, (uint8_t)along, (uint8_t)kind, (uint8_t)inverse, signs};
}

static ulp_rounding rounding_to(const ulp_format *f, int mode) {
    return (ulp_rounding){f, {(uint8_t)mode, 0, 0}, {3, 9, 11}, NULL};
}

/* -1 to the number of bits that i and j share. */
static int entry(uint32_t i, uint32_t j) {
    int sign = 1;
    for (uint32_t both = i & j; both != 0; both &= both - 1) sign = -sign;
    return sign;
}

static int sign_at(int kind, uint32_t j) {
    static const char fixed[] = "+++-+------+-+--";
    if (kind == ULP_SIGNS_FIXED) return fixed[j] == '-' ? -1 : 1;
    return kind == ULP_SIGNS_STREAM && ulp_random_word(signs, j) >> 31 ? -1 : 1;
}

/* Integers: the sums are exact, and for g = 4^k so are the results. */
TEST(integers) {
    ulp_format binary32 = named("binary32");
    size_t cases = 0;
    for (size_t isa = 0; isa < offered; isa++)
        for (uint32_t g = 2; g <= 256; g *= 2)
            for (int kind = 0; kind < ULP_SIGNS_COUNT; kind++)
                for (int along = 0; along < 2; along++) {
                    const size_t rows = along ? g : 3, columns = along ? 5 : g, step = along ? columns : 1;
                    const ulp_hadamard how = transform_of(g, along, kind, 0);
                    if (kind == ULP_SIGNS_FIXED && g != 16) continue;
                    for (size_t i = 0; i < rows * columns; i++) x[i] = (float)(int)(next_random(&seed) >> 56) - 128.0f;
                    assert_ok(
                        ulp_backend_hadamard(backends[isa], y, x, rows, columns, &how, rounding_to(&binary32, 0)));
                    for (size_t group = 0; group < (along ? columns : rows); group++) {
                        const size_t first = along ? group : group * g;
                        for (uint32_t i = 0; i < g; i++) {
                            int sum = 0;
                            for (uint32_t j = 0; j < g; j++)
                                sum += entry(i, j) * sign_at(kind, j) * (int)x[first + j * step];
                            const double scaled = (double)sum * sqrt(1.0 / g);
                            if (y[first + i * step] != (float)scaled)
                                fail_msg("g %u, signs %d, along %d: %a, not %a", (unsigned)g, kind, along,
                                         (double)y[first + i * step], scaled);
                        }
                    }
                    cases++;
                }
    assert_int_equal(cases, offered * (8 * 2 + 1) * 2);
}

/* The inverse gives small integers back exactly for g = 4^k: S H H S = g. A spike becomes sixteen +-a / 4. */
TEST(inverse) {
    ulp_format binary32 = named("binary32");
    for (uint32_t g = 4; g <= 256; g *= 4)
        for (int along = 0; along < 2; along++) {
            const size_t rows = along ? g : 4, columns = along ? 4 : g;
            const ulp_hadamard how = transform_of(g, along, ULP_SIGNS_STREAM, 0),
                               back = transform_of(g, along, ULP_SIGNS_STREAM, 1);
            for (size_t i = 0; i < rows * columns; i++) x[i] = (float)(int)(next_random(&seed) >> 56) - 128.0f;
            assert_ok(
                ulp_backend_hadamard(backends[offered - 1], y, x, rows, columns, &how, rounding_to(&binary32, 0)));
            assert_ok(
                ulp_backend_hadamard(backends[offered - 1], y, y, rows, columns, &back, rounding_to(&binary32, 0)));
            for (size_t i = 0; i < rows * columns; i++) assert_true(x[i] == y[i]);
        }
    const ulp_hadamard te = transform_of(16, ULP_ALONG_ROWS, ULP_SIGNS_FIXED, 0);
    for (size_t at = 0; at < 16; at++) {
        for (size_t i = 0; i < 16; i++) x[i] = i == at ? 6.0f * 8 : 0.0f;
        assert_ok(ulp_backend_hadamard(backends[0], y, x, 1, 16, &te, rounding_to(&binary32, 0)));
        for (size_t i = 0; i < 16; i++) assert_true(fabsf(y[i]) == 12.0f);
        static const char *const names[] = {"mxfp4", "nvfp4"}; /* they hold +-a / 4 without error */
        for (int k = 0; k < 2; k++) {
            ulp_block_cast c = {.rule = {ULP_RNE, 0, 0}};
            assert_ok(ulp_block_parse(&c.block, names[k]));
            assert_ok(ulp_backend_block_cast(backends[0], z, y, 1, 16, &c));
            assert_memory_equal(y, z, 16 * sizeof *y);
        }
    }
}

/* The definition, element by element. */
static void define(size_t rows, size_t columns, const ulp_hadamard *how, ulp_rounding r) {
    const size_t step = how->along ? columns : 1, groups = rows * columns / how->g;
    double v[ULP_HADAMARD_MOST];
    for (size_t k = 0; k < groups; k++) {
        const size_t first = how->along ? k / columns * how->g * columns + k % columns : k * how->g;
        for (uint32_t j = 0; j < how->g; j++)
            v[j] = (double)x[first + j * step] * (how->inverse ? 1 : sign_at(how->signs, j));
        ulp_hadamard_stages(v, how->g);
        for (uint32_t j = 0; j < how->g; j++) {
            const size_t i = first + j * step;
            const double result = v[j] * ulp_hadamard_factor(how->g) * (how->inverse ? sign_at(how->signs, j) : 1);
            const uint32_t word = ulp_mode_is_stochastic(r.rule.mode) ? ulp_random_word(r.stream, i) : 0;
            want[i] = (float)ulp_round(result, r.format, r.rule, word);
        }
    }
}

static void fill(size_t n) {
    for (size_t i = 0; i < n; i++) {
        const uint64_t u = next_random(&seed);
        x[i] = (float)ldexp((double)(u >> 40) - 0x1p23, -20 + (int)(u & 15));
        if ((u >> 8 & 255) == 0) x[i] = (u >> 16 & 3) == 0 ? NAN : (u >> 16 & 3) == 1 ? INFINITY : -0.0f;
    }
}

static void same_arrays(const char *what, size_t n, uint32_t g) {
    for (size_t i = 0; i < n; i++)
        if (ulp_bits32(y[i]) != ulp_bits32(want[i]))
            fail_msg("%s, g %u: element %zu is %a, not %a", what, (unsigned)g, i, (double)y[i], (double)want[i]);
}

TEST(definition) {
    static const char *const formats[] = {"binary32", "bfloat16", "e4m3", "binary16"};
    const ulp_backend *oracle = NULL;
    const int has_oracle = ulp_backend_get(&oracle, "mpfr") == ULP_OK;
    size_t some = 0;
    for (uint32_t g = 2; g <= 256; g *= 2)
        for (int along = 0; along < 2; along++)
            for (int inverse = 0; inverse < 2; inverse++)
                for (int mode = 0; mode < 2; mode++, some++) {
                    const ulp_format f = named(formats[some % COUNT_OF(formats)]);
                    const size_t rows = along ? 2 * g : 7, columns = along ? 19 : 3 * g;
                    const ulp_hadamard how = transform_of(g, along, ULP_SIGNS_STREAM, inverse);
                    const ulp_rounding r = rounding_to(&f, mode ? ULP_SRA : ULP_RNE);
                    fill(rows * columns);
                    define(rows, columns, &how, r);
                    for (size_t i = 0; i < offered; i++) {
                        assert_ok(ulp_backend_hadamard(backends[i], y, x, rows, columns, &how, r));
                        same_arrays(backends[i]->what, rows * columns, g);
                        memcpy(y, x, sizeof y);
                        ulp_threads_set((int)i + 1);
                        assert_ok(ulp_backend_hadamard(backends[i], y, y, rows, columns, &how, r));
                        ulp_threads_set(0);
                        same_arrays("in place", rows * columns, g);
                    }
                    if (!has_oracle) continue;
                    assert_ok(ulp_backend_hadamard(oracle, y, x, rows, columns, &how, r));
                    same_arrays("mpfr", rows * columns, g);
                }
}

TEST(counts) {
    ulp_format f = named("e4m3:sat");
    ulp_stats first = {0};
    const ulp_backend *oracle;
    const ulp_hadamard how = transform_of(16, ULP_ALONG_COLUMNS, ULP_SIGNS_FIXED, 0);
    fill(32 * 20);
    for (size_t i = 0; i < offered; i++) {
        ulp_stats counts = {0};
        ulp_rounding r = rounding_to(&f, ULP_RNE);
        r.stats = i == 0 ? &first : &counts;
        assert_ok(ulp_backend_hadamard(backends[i], y, x, 32, 20, &how, r));
        if (i > 0) assert_memory_equal(&counts, &first, sizeof first);
    }
    assert_int_equal(first.count, 32 * 20);
    assert_true(first.saturated > 0);
    if (ulp_backend_get(&oracle, "mpfr") != ULP_OK) return;
    ulp_stats counts = {0};
    ulp_rounding r = rounding_to(&f, ULP_RNE);
    r.stats = &counts;
    assert_ok(ulp_backend_hadamard(oracle, y, x, 32, 20, &how, r));
    assert_memory_equal(&counts, &first, sizeof first);
}

TEST(refusals) {
    ulp_format f = named("binary32"), wide = named("binary64");
    const ulp_rounding r = rounding_to(&f, 0);
    ulp_hadamard how = transform_of(16, 0, ULP_SIGNS_FIXED, 0);
    assert_int_equal(ulp_backend_hadamard(backends[0], y, x, 2, 24, &how, r), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_backend_hadamard(backends[0], y, x, 2, 16, NULL, r), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_backend_hadamard(backends[0], y, NULL, 2, 16, &how, r), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_backend_hadamard(backends[0], y, x, 2, 16, &how, rounding_to(&wide, 0)), ULP_UNSUPPORTED);
    how.g = 32; /* fixed signs are those of 16 */
    assert_int_equal(ulp_backend_hadamard(backends[0], y, x, 2, 32, &how, r), ULP_BAD_ARGUMENT);
    static const uint32_t bad[] = {0, 1, 3, 24, 512};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        how = transform_of(bad[i], 0, ULP_SIGNS_NONE, 0);
        assert_int_equal(ulp_backend_hadamard(backends[0], y, x, 0, 0, &how, r), ULP_BAD_ARGUMENT);
    }
    how = transform_of(16, ULP_ALONG_COLUMNS, ULP_SIGNS_NONE, 0);
    assert_int_equal(ulp_backend_hadamard(backends[0], y, x, 24, 2, &how, r), ULP_BAD_ARGUMENT);
    assert_ok(ulp_backend_hadamard(backends[0], NULL, NULL, 0, 2, &how, r));
}

TESTS(find_backends, NULL)
