/* t_low_bit.c - operands of products as elements and scales: signs and ternary numbers, blocks, groups of blocks with a
 * correction, and sums times scales; instruction sets and MPFR give the same bits, and hand-made cases are right.
 */
#include "block_oracle.h"
#include "instruction_sets.h"

#include "kernels/functions/low_bit.h"

#include <math.h>

enum { ROOM = 80 * 80 };
static float x[ROOM], y[ROOM], want[ROOM], scale[ROOM], want_scale[ROOM];
static double work[2 * ROOM + 1];
static uint64_t seed = 5;

static void fill(size_t n, int special) {
    static const float odd[] = {NAN, INFINITY, -INFINITY, 0x1p-149f, -0.0f, 0.0f, -0x1.fffffep127f};
    for (size_t i = 0; i < n; i++) {
        const uint64_t u = next_random(&seed);
        x[i] = (float)ldexp((double)(int32_t)(u >> 32), -30 - (int)(u & 3));
        if (special && u % 61 == 0) x[i] = odd[(u >> 8) % COUNT_OF(odd)];
    }
}

/* MPFR's backend; without it a test is skipped. */
static const ulp_backend *oracle_of(void) {
    const ulp_backend *oracle = NULL;
    if (ulp_backend_get(&oracle, "mpfr") != ULP_OK) skip();
    return oracle;
}

static void same_floats(const char *what, const float *a, const float *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (ulp_bits32(a[i]) != ulp_bits32(b[i]))
            fail_msg("%s: number %zu is %a, not %a", what, i, (double)a[i], (double)b[i]);
}

/* ---- one and two bits ---- */

TEST(sets_and_mpfr) {
    static const size_t shapes[][2] = {{1, 1}, {1, 70}, {70, 1}, {33, 65}, {64, 64}, {3, 79}};
    const ulp_backend *oracle = oracle_of();
    size_t cases = 0;
    for (size_t s = 0; s < COUNT_OF(shapes); s++)
        for (unsigned k = 0; k < 32; k++) {
            const size_t rows = shapes[s][0], columns = shapes[s][1];
            ulp_low_bit how = {.kind = (uint8_t)(k % 4 == 3 ? ULP_LOW_SIGN : k % 4), .along = k / 4 % 2};
            how.values = k / 8 % 2;
            how.stochastic = k % 4 == 3;
            how.threshold = 0.7;
            how.stream = (ulp_stream){1, k, 1000 * k};
            const size_t scales = ulp_low_bit_scales(rows, columns, &how);
            fill(rows * columns, k >= 16);
            assert_ok(ulp_backend_low_bit(oracle, want, want_scale, work, x, rows, columns, &how));
            for (size_t i = 0; i < offered; i++, cases++) {
                memset(y, 0xff, sizeof y);
                assert_ok(ulp_backend_low_bit(backends[i], y, scale, work, x, rows, columns, &how));
                same_floats("elements or values", y, want, rows * columns);
                same_floats("scales", scale, want_scale, scales);
                memcpy(y, x, sizeof x);
                assert_ok(ulp_backend_low_bit(backends[i], y, scale, work, y, rows, columns, &how));
                same_floats("in place", y, want, rows * columns);
            }
        }
    assert_true(cases == offered * 32 * COUNT_OF(shapes));
}

TEST(known_values) {
    static const float rows2[] = {1.0f, -3.0f, 0.0f, 0.5f, -0.25f, 0.25f}; /* two rows of three */
    ulp_low_bit how = {.kind = ULP_LOW_XNOR, .along = ULP_ALONG_ROWS, .values = 1, .threshold = 0.7};
    const ulp_backend *cpu = backends[0];
    assert_ok(ulp_backend_low_bit(cpu, y, scale, work, rows2, 2, 3, &how));
    same_floats("rows", y, (const float[]){4.0f / 3, -4.0f / 3, 4.0f / 3, 1.0f / 3, -1.0f / 3, 1.0f / 3}, 6);
    how.along = ULP_ALONG_COLUMNS;
    assert_ok(ulp_backend_low_bit(cpu, y, scale, work, rows2, 2, 3, &how));
    same_floats("columns", y, (const float[]){0.75f, -1.625f, 0.125f, 0.75f, -1.625f, 0.125f}, 6);
    how.kind = ULP_LOW_TERNARY; /* the mean is 5/6, d is 0.58: 1 and 3 lie above */
    assert_ok(ulp_backend_low_bit(cpu, y, scale, work, rows2, 2, 3, &how));
    same_floats("ternary", y, (const float[]){2.0f, -2.0f, 0.0f, 0.0f, 0.0f, 0.0f}, 6);
    assert_true(scale[0] == 2.0f);
    how.threshold = 3.6; /* d = 3, and 3 is not above */
    assert_ok(ulp_backend_low_bit(cpu, y, scale, work, rows2, 2, 3, &how));
    same_floats("none", y, (const float[]){0, 0, 0, 0, 0, 0}, 6);
    assert_true(scale[0] == 0.0f);
}

/* BinaryConnect: P(+1) is (x + 1) / 2, and 1 and -1 stay. */
TEST(stochastic_signs) {
    static const float at[] = {-1.0f, -0.5f, 0.0f, 0.25f, 1.0f, 7.0f};
    for (size_t k = 0; k < COUNT_OF(at); k++) {
        const ulp_low_bit how = {.kind = ULP_LOW_SIGN, .stochastic = 1, .stream = {9, k, 0}};
        double ups = 0;
        for (size_t i = 0; i < ROOM; i++) x[i] = at[k];
        assert_ok(ulp_backend_low_bit(backends[offered - 1], y, scale, work, x, 1, ROOM, &how));
        for (size_t i = 0; i < ROOM; i++) ups += y[i] == 1.0f;
        const double p = fmin(1.0, fmax(0.0, (at[k] + 1.0) / 2.0));
        if (fabs(ups - ROOM * p) > 5.0 * sqrt(ROOM * p * (1.0 - p)))
            fail_msg("%g: %g of %d are 1", (double)at[k], ups, ROOM);
    }
}

/* ---- blocks as elements and scales ---- */

static ulp_block_cast cast_of(const char *name, unsigned k) {
    ulp_block_cast c;
    memset(&c, 0, sizeof c);
    c.block = block_named(name);
    c.has_tensor_scale = c.block.scale.prec > 1 && k % 3 > 0;
    c.along = (uint8_t)(k % 2);
    c.stream = (ulp_stream){3, k, 77};
    return c;
}

/* Elements times scales are the values, and MPFR's parts are those of the instruction sets. */
TEST(parts) {
    static const char *const names[] = {"nvfp4", "mxfp8", "mxfp4:16", "nvfp4:mse46", "mxint8"};
    static const size_t shapes[][2] = {{48, 80}, {33, 21}, {1, 16}, {70, 5}};
    for (unsigned k = 0; k < 6 * COUNT_OF(names) * COUNT_OF(shapes); k++) {
        const size_t rows = shapes[k % 4][0], columns = shapes[k % 4][1];
        ulp_block_cast c = cast_of(names[k / 4 % COUNT_OF(names)], k);
        float t, of_oracle;
        c.tiles = k % 5 == 2;
        if (k % 7 < 3) c.rule.mode = ULP_SRA;
        fill(rows * columns, k % 4 == 3);
        const size_t length = c.along == ULP_ALONG_ROWS ? columns : rows, sums = rows * columns / length,
                     blocks = ulp_block_scales(length, &c.block);
        assert_ok(ulp_backend_block_parts(oracle_of(), want, want_scale, &of_oracle, x, rows, columns, &c));
        for (size_t i = 0; i < offered; i++) {
            assert_ok(ulp_backend_block_parts(backends[i], y, scale, &t, x, rows, columns, &c));
            assert_true(t == of_oracle);
            same_floats("elements", y, want, rows * columns);
            same_floats("scales", scale, want_scale, sums * blocks);
        }
        assert_ok(ulp_backend_block_cast(backends[0], want, x, rows, columns, &c));
        for (size_t i = 0; i < rows * columns; i++) {
            const size_t row = i / columns, column = i % columns, sum = c.along == ULP_ALONG_ROWS ? row : column,
                         at = c.along == ULP_ALONG_ROWS ? column : row;
            const double s = (double)scale[sum * blocks + at / c.block.size] * (double)t,
                         v = (double)y[sum * length + at] * s;
            if (isnan(v) ? !isnan(want[i]) : (float)v != want[i])
                fail_msg("%s: element (%zu,%zu) is %a, not %a", c.block.name, row, column, v, (double)want[i]);
        }
    }
}

/* ---- groups with a correction ---- */

TEST(eden) {
    static const size_t shapes[][2] = {{32, 64}, {64, 32}, {20, 70}, {70, 20}};
    for (unsigned k = 0; k < 24; k++) {
        const size_t rows = shapes[k % 4][0], columns = shapes[k % 4][1];
        ulp_block_cast c = cast_of("nvfp4", k);
        float t, of_oracle;
        c.eden = k % 3 ? 32 : 16;
        fill(rows * columns, k >= 18);
        assert_ok(ulp_backend_block_cast(oracle_of(), want, x, rows, columns, &c));
        for (size_t i = 0; i < offered; i++) {
            assert_ok(ulp_backend_block_cast(backends[i], y, x, rows, columns, &c));
            same_floats("values", y, want, rows * columns);
            memcpy(y, x, sizeof x);
            assert_ok(ulp_backend_block_cast(backends[i], y, y, rows, columns, &c));
            same_floats("values in place", y, want, rows * columns);
        }
        const size_t length = c.along == ULP_ALONG_ROWS ? columns : rows, sums = rows * columns / length;
        assert_ok(ulp_backend_block_parts(oracle_of(), want, want_scale, &of_oracle, x, rows, columns, &c));
        for (size_t i = 0; i < offered; i++) {
            assert_ok(ulp_backend_block_parts(backends[i], y, scale, &t, x, rows, columns, &c));
            assert_true(t == of_oracle);
            same_floats("elements", y, want, rows * columns);
            same_floats("scales", scale, want_scale, sums * ulp_block_scales(length, &c.block));
        }
    }
}

/* The mean over many words of the projection on x is |x|^2: without the correction it is not. */
TEST(eden_is_unbiased_along_x) {
    enum { N = 128, DRAWS = 4000 };
    ulp_block_cast c = cast_of("nvfp4", 0);
    double xx = 0, sum = 0, squares = 0, plain = 0;
    fill(N, 0);
    for (size_t i = 0; i < N; i++) xx += (double)x[i] * (double)x[i];
    c.has_tensor_scale = 1;
    assert_ok(ulp_backend_block_cast(backends[0], y, x, 1, N, &c));
    for (size_t i = 0; i < N; i++) plain += (double)x[i] * (double)y[i];
    c.eden = N;
    for (unsigned d = 0; d < DRAWS; d++) {
        double dot = 0;
        c.stream.stream = d;
        assert_ok(ulp_backend_block_cast(backends[offered - 1], y, x, 1, N, &c));
        for (size_t i = 0; i < N; i++) dot += (double)x[i] * (double)y[i];
        sum += dot / xx;
        squares += dot / xx * dot / xx;
    }
    const double mean = sum / DRAWS, error = sqrt((squares / DRAWS - mean * mean) / DRAWS);
    if (fabs(mean - 1.0) > 5.0 * error + 1e-9) fail_msg("mean %.9g, standard error %.3g", mean, error);
    assert_true(fabs(plain / xx - 1.0) > 10.0 * error);
}

/* ---- sums times scales ---- */

TEST(scaled_sums) {
    enum { M = 7, N = 9 };
    static float sums[M * N], row[M], column[N], c0[2 * M * N];
    for (unsigned k = 0; k < 32; k++) {
        ulp_sum_scales by = {.m = M, .n = N, .ldc = k & 1 ? M + 2 : N + 1, .c_trans = k & 1, .accumulate = k >> 1 & 1};
        by.row = k >> 2 & 1 ? row : NULL;
        by.column = k >> 3 & 1 ? column : NULL;
        by.column_is_one = k >> 4 & 1;
        by.factor = k % 3 ? 0.3f : 0x1p-20f;
        fill(sizeof sums / 4, k % 5 == 4);
        memcpy(sums, x, sizeof sums);
        fill(2 * M * N, 0);
        memcpy(c0, x, sizeof c0);
        memcpy(row, x + 20, sizeof row);
        memcpy(column, x + 40, sizeof column);
        memcpy(want, c0, sizeof c0);
        assert_ok(ulp_backend_scaled_sums(oracle_of(), want, sums, &by));
        for (size_t i = 0; i < offered; i++) {
            memcpy(y, c0, sizeof c0);
            assert_ok(ulp_backend_scaled_sums(backends[i], y, sums, &by));
            same_floats("sums", y, want, 2 * M * N);
        }
    }
    /* one rounding: 1 + 2^-24 + 2^-60 is above a tie */
    const float sum = 0x1.000002p-24f, one = 1.0f;
    const ulp_sum_scales by = {.factor = 1.0f, .m = 1, .n = 1, .ldc = 1, .accumulate = 1};
    y[0] = one;
    assert_ok(ulp_backend_scaled_sums(backends[0], y, &sum, &by));
    assert_true(y[0] == 0x1.000002p0f);
}

TEST(refusals) {
    const ulp_backend *cpu = backends[0];
    const ulp_low_bit good = {.threshold = 0.7};
    ulp_low_bit how = good;
    ulp_block_cast cast = cast_of("nvfp4", 0);
    float t;
#define LOW(y_, how_) ulp_backend_low_bit(cpu, y_, scale, work, x, 2, 2, how_)
    assert_int_equal(LOW(y, NULL), ULP_BAD_ARGUMENT);
    assert_int_equal(LOW(NULL, &how), ULP_BAD_ARGUMENT);
    how.kind = ULP_LOW_COUNT;
    assert_int_equal(LOW(y, &how), ULP_BAD_ARGUMENT);
    how = good, how.along = 2;
    assert_int_equal(LOW(y, &how), ULP_BAD_ARGUMENT);
    how = good, how.kind = ULP_LOW_XNOR, how.stochastic = 1;
    assert_int_equal(LOW(y, &how), ULP_BAD_ARGUMENT);
    how = good, how.threshold = -1.0;
    assert_int_equal(LOW(y, &how), ULP_BAD_ARGUMENT);
    how.threshold = NAN;
    assert_int_equal(LOW(y, &how), ULP_BAD_ARGUMENT);
    assert_ok(ulp_backend_low_bit(cpu, NULL, NULL, NULL, NULL, 0, 4, &good));
    assert_int_equal(ulp_backend_scaled_sums(cpu, y, x, NULL), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_backend_scaled_sums(cpu, y, x, &(ulp_sum_scales){.m = 2, .n = 3, .ldc = 2}), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_backend_block_parts(cpu, y, scale, NULL, x, 2, 2, &cast), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_backend_block_parts(cpu, y, NULL, &t, x, 2, 2, &cast), ULP_BAD_ARGUMENT);
    cast.eden = 24; /* no multiple of 16 */
    assert_int_equal(ulp_backend_block_cast(cpu, y, x, 2, 2, &cast), ULP_BAD_ARGUMENT);
    cast.eden = 32, cast.tiles = 1;
    assert_int_equal(ulp_backend_block_cast(cpu, y, x, 2, 2, &cast), ULP_UNSUPPORTED);
    cast.tiles = 0, cast.rule.mode = ULP_SRA;
    assert_int_equal(ulp_backend_block_cast(cpu, y, x, 2, 2, &cast), ULP_UNSUPPORTED);
}

TESTS(find_backends, NULL)
