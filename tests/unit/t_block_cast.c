/* t_block_cast.c - matrices in block-scaled formats, as values: every format, rule, geometry and instruction set
 * against the definition, the definition against MPFR, and the exact facts of the rules.
 */
#include "block_oracle.h"
#include "instruction_sets.h"

#include "formats/rng.h"
#include "kernels/mpfr/oracle.h"

enum { ROOM = 70 * 70 };
static float x[ROOM], y[ROOM], want[ROOM], turned[ROOM];
static uint64_t seed = 1;

/* Numbers of some binades, of 24 or 5 bits, with ties and zeros; `special`: also NaN, infinities and tiny numbers. */
static void fill(size_t n, int centre, int special) {
    static const float odd[] = {NAN, INFINITY, -INFINITY, 0x1p-149f, -0x1p-127f, -0.0f, 0x1.fffffep127f};
    for (size_t i = 0; i < n; i++) {
        const uint64_t u = next_random(&seed);
        const double m = u & 1 ? (double)(u >> 40) : (double)(u >> 59);
        x[i] = (float)ldexp(u & 2 ? m : -m, centre + (int)(u >> 8 & 3) - (u & 1 ? 24 : 5));
        if (special && (u >> 20 & 63) == 0) x[i] = odd[(u >> 30) % COUNT_OF(odd)];
    }
}

static ulp_block_cast cast_of(const ulp_block *b, int geometry, ulp_rule rule, uint64_t stream) {
    ulp_block_cast c;
    memset(&c, 0, sizeof c);
    c.block = *b;
    c.rule = rule;
    c.stream = (ulp_stream){7, stream, stream * 1000003};
    c.along = geometry == 1 ? ULP_ALONG_COLUMNS : ULP_ALONG_ROWS;
    c.tiles = geometry == 2;
    return c;
}

static void same_arrays(const char *what, const ulp_block_cast *c, size_t rows, size_t columns) {
    for (size_t i = 0; i < rows * columns; i++)
        if (ulp_bits32(y[i]) != ulp_bits32(want[i]))
            fail_msg("%s, %s:%s, size %u, %s, along %d, tiles %d, tensor scale %d, %zu x %zu: element (%zu,%zu), %a, "
                     "is %a, not %a",
                     what, c->block.name, ulp_scale_rule_name((ulp_scale_rule)c->block.rule), (unsigned)c->block.size,
                     ulp_mode_name((ulp_mode)c->rule.mode), c->along, c->tiles, c->has_tensor_scale, rows, columns,
                     i / columns, i % columns, (double)x[i], (double)y[i], (double)want[i]);
}

/* ---- every format and rule ---- */

static const char *const more[] = {"block:e1m2fn,16,e4m3",   "block:posit8,16,e4m3", "block:e2m1,16,e5m2",
                                   "block:e4m3,8,e8m0:amax", "block:int6,16,e4m3",   "block:e3m4,16,ue5m3"};

static int block_at(size_t i, ulp_block *b) {
    if (i < ulp_block_count) return ulp_block_get(i, b, NULL) == ULP_OK;
    if (i - ulp_block_count >= COUNT_OF(more)) return 0;
    *b = block_named(more[i - ulp_block_count]);
    return 1;
}

static void define(const ulp_block_cast *c, size_t rows, size_t columns) {
    assert_ok(ulp_block_cast_values(want, x, rows, columns, c));
}

static void check_sets(const ulp_block_cast *c, size_t rows, size_t columns) {
    for (size_t i = 0; i < offered; i++) {
        memset(y, 0xff, sizeof y);
        assert_ok(ulp_backend_block_cast(backends[i], y, x, rows, columns, c));
        same_arrays(backends[i]->what, c, rows, columns);
        memcpy(y, x, sizeof x);
        assert_ok(ulp_backend_block_cast(backends[i], y, y, rows, columns, c));
        same_arrays("in place", c, rows, columns);
    }
}

TEST(instruction_sets) {
    static const ulp_rule rules[] = {
        {ULP_RNE, 0, 0}, {ULP_SRA, 0, 0}, {ULP_SRB, 0, 8}, {ULP_RZ, ULP_OVERFLOW_SAT, 0}, {ULP_RO, 0, 0}};
    static const size_t shapes[][2] = {{1, 64}, {33, 33}, {5, 70}, {64, 32}, {70, 3}, {1, 1}};
    ulp_block b;
    size_t cells = 0;
    for (size_t i = 0; block_at(i, &b); i++)
        for (uint32_t rule = 0; rule < ULP_SCALE_RULE_COUNT; rule++)
            for (int geometry = 0; geometry < 3; geometry++, cells++) {
                const size_t some = cells * 7 + rule, *const shape = shapes[some % COUNT_OF(shapes)];
                const size_t registered = b.size;
                b.rule = rule;
                ulp_block_cast c = cast_of(&b, geometry, rules[some % COUNT_OF(rules)], some);
                if (some % 4 == 0) c.block.size = (uint32_t)(some % 11 + 1);
                c.has_tensor_scale = b.scale.prec > 1 && some % 3 != 0;
                fill(shape[0] * shape[1], some % 5 == 0 ? -118 : 0, some % 2 == 0);
                define(&c, shape[0], shape[1]);
                check_sets(&c, shape[0], shape[1]);
                b.size = (uint32_t)registered;
            }
    assert_int_equal(cells, (ulp_block_count + COUNT_OF(more)) * ULP_SCALE_RULE_COUNT * 3);
}

/* The definition against MPFR. */
TEST(oracle) {
    static const ulp_rule rules[] = {{ULP_RNE, 0, 0}, {ULP_SRA, 0, 0}, {ULP_SRC, 0, 5}, {ULP_RU, ULP_OVERFLOW_SAT, 0}};
    const ulp_backend *oracle;
    if (ulp_backend_get(&oracle, "mpfr") != ULP_OK) skip();
    ulp_block b;
    for (size_t i = 0, some = 0; block_at(i, &b); i++)
        for (uint32_t rule = 0; rule < ULP_SCALE_RULE_COUNT; rule++)
            for (int geometry = 0; geometry < 3; geometry++, some++) {
                const size_t rows = 9, columns = 21;
                b.rule = rule;
                ulp_block_cast c = cast_of(&b, geometry, rules[some % COUNT_OF(rules)], some);
                if (rule == ULP_SCALE_BEST) c.block.size = 6;
                else if (geometry > 0 || some % 3 == 0) c.block.size = 8;
                c.has_tensor_scale = b.scale.prec > 1 && some % 2;
                fill(rows * columns, some % 5 == 0 ? -120 : 1, some % 4 == 0);
                define(&c, rows, columns);
                assert_ok(ulp_backend_block_cast(oracle, y, x, rows, columns, &c));
                same_arrays("mpfr", &c, rows, columns);
            }
}

/* Any number of threads gives the same bytes, in long matrices. */
TEST(threads) {
    enum { ROWS = 300, COLUMNS = 450 };
    static float from[ROWS * COLUMNS], one[ROWS * COLUMNS], many[ROWS * COLUMNS];
    for (size_t i = 0; i < ROWS * COLUMNS; i++) from[i] = (float)((double)(next_random(&seed) >> 40) * 0x1p-20 - 8.0);
    const ulp_block b = block_named("nvfp4");
    for (int geometry = 0; geometry < 3; geometry++)
        for (int mode = 0; mode < 2; mode++) {
            ulp_block_cast c = cast_of(&b, geometry, (ulp_rule){mode ? ULP_SRA : ULP_RNE, 0, 0}, 3);
            c.has_tensor_scale = 1;
            assert_ok(ulp_block_cast_values(many, from, ROWS, COLUMNS, &c));
            for (int threads = 1; threads <= 5; threads += 2) {
                ulp_threads_set(threads);
                assert_ok(ulp_backend_block_cast(backends[offered - 1], one, from, ROWS, COLUMNS, &c));
                assert_memory_equal(one, many, sizeof one);
            }
            ulp_threads_set(0);
        }
}

/* ---- facts ---- */

/* Tiles: the cast of the transpose is the transpose of the cast; blocks of a row differ. */
TEST(transpose) {
    static const char *const names[] = {"nvfp4",        "nvfp4:mse46",   "nvfp4:best",     "mxfp4",
                                        "nvint4:mse46", "mxfp8:32:best", "nvfp4:32:noclip"};
    enum { M = 48, N = 70 };
    for (size_t k = 0; k < COUNT_OF(names); k++) {
        const ulp_block b = block_named(names[k]);
        for (int tiles = 0; tiles < 2; tiles++) {
            ulp_block_cast c = cast_of(&b, tiles ? 2 : 0, nearest, 1);
            c.has_tensor_scale = b.scale.prec > 1;
            fill(M * N, 0, 0);
            assert_ok(ulp_backend_block_cast(backends[offered - 1], want, x, M, N, &c));
            for (size_t i = 0; i < M * N; i++) turned[i % N * M + i / N] = x[i];
            assert_ok(ulp_backend_block_cast(backends[offered - 1], y, turned, N, M, &c));
            size_t differ = 0;
            for (size_t i = 0; i < M * N; i++) differ += ulp_bits32(y[i % N * M + i / N]) != ulp_bits32(want[i]);
            if (tiles ? differ != 0 : k == 0 && differ < M * N / 4)
                fail_msg("%s, tiles %d: %zu of %d differ", names[k], tiles, differ, M * N);
        }
    }
}

static double error_of(const float *a, const float *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    return sum;
}

/* [10, 20, 30, 40]: amax / 6 gives scale 6.5, amax / 4 gives 10 and no error. */
TEST(four_over_six) {
    const float from[] = {10, 20, 30, 40}, six[] = {9.75f, 19.5f, 26, 39};
    float to[4];
    uint8_t code;
    ulp_block b = block_named("nvfp4");
    assert_ok(ulp_block_round(to, from, (ulp_block_array){&b, 4, 1.0f}, nearest, no_stream));
    assert_memory_equal(to, six, sizeof to);
    assert_true(error_of(from, to, 4) / 4 == 4.328125);
    b = block_named("nvfp4:mse46");
    assert_ok(ulp_block_round(to, from, (ulp_block_array){&b, 4, 1.0f}, nearest, no_stream));
    assert_memory_equal(to, from, sizeof to);
    assert_ok(ulp_block_scale(&code, from, 4, &b, 1.0f));
    assert_true(ulp_block_scale_value(code, &b) == 10.0);
    /* equal errors: the scale of max */
    const float equal[] = {6.0f}; /* 6 at scale 1, and 4 at scale 1.5 */
    assert_ok(ulp_block_scale(&code, equal, 1, &b, 1.0f));
    assert_true(ulp_block_scale_value(code, &b) == 1.0);
    /* the tensor scale leaves 256, and the block of the amax has the scales 256 and 384 */
    assert_true(ulp_block_largest_scale(&b) == 256.0);
    assert_true(ulp_block_tensor_scale(6 * 256, &b) == 1.0f);
    b = block_named("mxfp4:mse46");
    assert_true(ulp_block_largest_scale(&b) == 0x1p126);
    b = block_named("nvfp4:best");
    assert_true(ulp_block_largest_scale(&b) == 448.0);
}

/* best never errs more than mse46, and mse46 never more than the scale of max. The larger scale of equals. */
TEST(order_of_errors) {
    static const char *const formats[] = {"nvfp4", "nvint4", "mxfp4", "nvfp6", "mxint6", "mxfp8"};
    uint8_t code;
    for (size_t k = 0; k < COUNT_OF(formats); k++)
        for (int trial = 0; trial < 200; trial++) {
            double errors[3];
            static const uint32_t rules[] = {ULP_SCALE_BEST, ULP_SCALE_MSE46, ULP_SCALE_AMAX};
            fill(32, trial % 3 - 1, 0);
            for (int r = 0; r < 3; r++) {
                ulp_block b = block_named(formats[k]);
                b.rule = rules[r];
                assert_ok(ulp_block_round(y, x, (ulp_block_array){&b, b.size, 1.0f}, nearest, no_stream));
                errors[r] = error_of(x, y, b.size);
            }
            assert_true(errors[0] <= errors[1] * (1 + 1e-13) && errors[1] <= errors[2] * (1 + 1e-13));
        }
    const ulp_block b = block_named("nvfp4:best");
    const float exact[] = {1.0f, 2.0f, 4.0f}, zeros[] = {0.0f, -0.0f}, tiny[] = {0x1p-20f};
    assert_ok(ulp_block_scale(&code, exact, 3, &b, 1.0f)); /* no error at 2, the largest such scale: 1/2, 1, 2 */
    assert_true(ulp_block_scale_value(code, &b) == 2.0);
    assert_ok(ulp_block_scale(&code, zeros, 2, &b, 1.0f));
    assert_true(ulp_block_scale_value(code, &b) == 0x1p-9);
    assert_ok(ulp_block_scale(&code, tiny, 1, &b, 1.0f));
    assert_true(ulp_block_scale_value(code, &b) == 0x1p-9);
}

/* Errors that sums in binary64 cannot tell apart. t times 6, 3.1, 1 - d, 3/4 + d have, in units of t, the errors 0, c,
 * d, 1/4 - d at scale 1 and 0, c, 1/4 - d, d at scale 3/2: equal ones, so that mse46 takes scale 1. A last number that
 * is less by one bit has an error that is larger at scale 1. */
TEST(near_ties) {
    const ulp_block b = block_named("nvfp4:mse46");
    const float t = 0x1.555556p0f;
    for (int k = 1; k < 200; k++) {
        const double d = (double)(2 * k + 1) * 0x1p-26;
        for (int sign = -1; sign <= 1; sign++) {
            const double from[] = {6.0 * (double)t, 3.1 * (double)t, (double)t * (1.0 - d),
                                   (double)t * (0.75 + d) + sign * 0x1p-52};
            uint8_t code, elements[4];
            assert_ok(ulp_block_encode64(elements, &code, from, (ulp_block_array){&b, 4, t}, nearest, no_stream));
            assert_true(ulp_block_scale_value(code, &b) == (sign < 0 ? 1.5 : 1.0));
        }
    }
}

/* amax / scale: even reaches 17/16 max, noclip and up17 stay at max, where the scale is normal and below 448. */
TEST(clipping) {
    static const uint32_t rules[] = {ULP_SCALE_EVEN, ULP_SCALE_NOCLIP, ULP_SCALE_UP17};
    double most[3] = {0, 0, 0};
    for (int r = 0; r < 3; r++) {
        ulp_block b = block_named("nvfp4");
        b.rule = rules[r];
        for (int k = 0; k <= 64 * 256; k++) { /* all amax from 6 to 12 in steps of 6 / 16384 */
            const float amax = 6.0f + 6.0f * (float)k / 16384.0f;
            uint8_t code;
            assert_ok(ulp_block_scale(&code, &amax, 1, &b, 1.0f));
            most[r] = fmax(most[r], (double)amax / ulp_block_scale_value(code, &b));
        }
    }
    assert_true(most[0] == 6.0 * 17.0 / 16.0 && most[1] == 6.0 && most[2] <= 6.0);
}

TEST(refusals) {
    const ulp_block mx = block_named("mxfp4"), nv = block_named("nvfp4");
    ulp_block_cast good = cast_of(&nv, 0, nearest, 1), c = good;
    const ulp_backend *cpu = backends[0];
    assert_int_equal(ulp_backend_block_cast(cpu, y, x, 2, 2, NULL), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_backend_block_cast(cpu, NULL, x, 2, 2, &c), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_backend_block_cast(cpu, y, x, SIZE_MAX, 3, &c), ULP_BAD_ARGUMENT);
    assert_ok(ulp_backend_block_cast(cpu, NULL, NULL, 0, 3, &c));
    c.along = 2;
    assert_int_equal(ulp_backend_block_cast(cpu, y, x, 2, 2, &c), ULP_BAD_ARGUMENT);
    c = good, c.tiles = 2;
    assert_int_equal(ulp_backend_block_cast(cpu, y, x, 2, 2, &c), ULP_BAD_ARGUMENT);
    c = good, c.block.rule = ULP_SCALE_RULE_COUNT;
    assert_int_equal(ulp_backend_block_cast(cpu, y, x, 2, 2, &c), ULP_BAD_ARGUMENT);
    c = good, c.rule.overflow = ULP_OVERFLOW_WRAP;
    assert_int_equal(ulp_backend_block_cast(cpu, y, x, 2, 2, &c), ULP_UNSUPPORTED);
    c = cast_of(&mx, 0, nearest, 1), c.has_tensor_scale = 1;
    assert_int_equal(ulp_backend_block_cast(cpu, y, x, 2, 2, &c), ULP_UNSUPPORTED);
}

TESTS(find_backends, NULL)
