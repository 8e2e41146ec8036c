/* t_tokens.c - rows of numbers and attention: every instruction set and thread count has the bits of the slowest one,
 * which t_mpfr_tokens.c compares with MPFR, and writes no more than the result. */
#include "support.h"
#include <mpfr.h>

#include "instruction_sets.h"

enum { MOST = 160 * 1000 };

static float x[MOST], y[MOST], w[MOST];

/* The results of one backend: of an operation and of the arrays that it changes. */
typedef struct results {
    double to[MOST + 1];
    float floats[MOST + 1], sums[MOST + 1];
} results;
static results got, want;

static void fill(uint64_t seed) {
    for (size_t i = 0; i < MOST; i++) {
        const uint64_t u = next_random(&seed);
        x[i] = (float)((double)(int32_t)u * 0x1p-29), y[i] = (float)((double)(int32_t)(u >> 32) * 0x1p-29);
        w[i] = fabsf(y[i] - x[i] * 0.25f);
        if (u % 1009 == 0) x[i] = ulp_from_bits32((uint32_t)(u >> 20));
    }
}

/* An operation on arrays of (rows,n), into r. */
typedef void operation(results *r, const ulp_backend *b, size_t rows, size_t n, uint64_t variant);

static void factors(results *r, const ulp_backend *b, size_t rows, size_t n, uint64_t variant) {
    if (variant == 0) assert_ok(ulp_backend_scaled(b, r->to, x, rows * n, 0.3));
    else if (variant == 1) assert_ok(ulp_backend_row_dots(b, r->to, x, y, rows, n));
    else assert_ok(ulp_backend_row_scale(b, r->to, x, w, rows, n, variant == 2));
}

static void tables(results *r, const ulp_backend *b, size_t rows, size_t n, uint64_t variant) {
    static float index[MOST];
    for (size_t i = 0; i < rows; i++) index[i] = floorf(w[i] * 3.0f);
    const ulp_row_table by = {rows, n, 1 + n / 2, variant % 2 ? index : NULL};
    const ulp_row_table wide = {rows, 1, n, variant % 2 ? index : NULL};
    if (variant < 2) assert_ok(ulp_backend_gather(b, r->floats, x, &by));
    else assert_ok(ulp_backend_one_hot(b, r->floats, &wide));
}

static void means(results *r, const ulp_backend *b, size_t rows, size_t n, uint64_t variant) {
    const size_t T = variant < 2 ? 1 : 7;
    const ulp_token_shape s = {rows / T, T, n};
    if (variant % 2) assert_ok(ulp_backend_token_mean(b, r->to, x, s));
    else assert_ok(ulp_backend_token_mean_slope(b, r->to, x, s));
}

static void moments(results *r, const ulp_backend *b, size_t rows, size_t n, uint64_t variant) {
    ulp_row_moments how = {.rows = rows, .n = n, .method = (uint8_t)(variant / 2), .no_mean = (uint8_t)(variant % 2)};
    how.format = named("bf16"), how.rule.mode = ULP_SRA, how.stream = (ulp_stream){2, 3, 4};
    if (rows * n > 9000 && variant > 1) return;
    assert_ok(ulp_backend_row_moments(b, r->to, x, &how));
}

static void normalised(results *r, const ulp_backend *b, size_t rows, size_t n, uint64_t variant) {
    const ulp_row_norm by = {rows, n, (uint8_t)(variant % 2), w, y};
    if (2 * (rows + n) > MOST) return;
    if (variant / 2 == 0) assert_ok(ulp_backend_row_norm(b, r->to, x, by));
    else if (variant / 2 == 1) assert_ok(ulp_backend_row_norm_sums(b, r->to, y, x, by));
    else assert_ok(ulp_backend_row_norm_slope(b, r->to, y, x, by));
}

static void rotations(results *r, const ulp_backend *b, size_t rows, size_t n, uint64_t variant) {
    ulp_rotation by = {.rows = rows, .T = 5, .width = n, .from = n / 3, .back = (uint8_t)(variant % 2)};
    by.size = 2 * (1 + variant / 2), by.heads = (n - by.from) / by.size;
    assert_ok(ulp_backend_rotate(b, r->to, x, y, &by));
}

static ulp_scores scores_of(size_t rows, size_t n, uint64_t variant) {
    ulp_scores s = {.rows = rows, .queries = 1 + n / 2, .keys = n, .from = n / 4, .to = n - n / 8, .beta = 1.0f};
    s.causal = variant % 2, s.base2 = variant / 2 % 2, s.whole_maxima = variant / 4 % 2;
    if (variant >= 8) s.beta = 1.5f;
    return s;
}

static void attention(results *r, const ulp_backend *b, size_t rows, size_t n, uint64_t variant) {
    const ulp_scores s = scores_of(rows, n, variant);
    if (variant < 8) assert_ok(ulp_backend_attention_softmax(b, r->to, x, &s));
    else assert_ok(ulp_backend_attention_slope(b, r->to, x, y, variant % 2 ? w : NULL, &s, 0.7));
}

static void blocks(results *r, const ulp_backend *b, size_t rows, size_t n, uint64_t variant) {
    const ulp_scores s = scores_of(rows, n, variant);
    const ulp_format f = named("fp16");
    const ulp_rounding how = {&f, {.mode = ULP_SRA}, {5, 6, 7}, NULL};
    for (size_t i = 0; i < rows; i++) r->floats[i] = i % 3 ? -INFINITY : y[i], r->sums[i] = w[i];
    assert_ok(ulp_backend_softmax_maxima(b, r->floats, r->to, x, &s));
    if (variant % 3 == 1) assert_ok(ulp_backend_softmax_block(b, r->to, x, r->floats, variant % 2 ? w : NULL, &s));
    if (variant % 3 == 2) assert_ok(ulp_backend_softmax_sums(b, r->sums, w, y, &s, how));
}

/* Fills every result with a pattern first, so that numbers that were not written are equal too. */
static void run(results *r, operation *of, const ulp_backend *b, size_t rows, size_t n, uint64_t variant) {
    memset(r, 0x55, sizeof *r);
    of(r, b, rows, n, variant);
}

TEST(instruction_sets) {
    static const size_t sizes[][2] = {{1, 1},   {1, 3},    {7, 5},    {3, 31},   {33, 8},    {64, 33},
                                      {9, 128}, {3000, 2}, {2, 3001}, {150, 67}, {70, 1030}, {1000, 96}};
    static const struct {
        const char *name;
        operation *of;
        uint64_t variants;
    } operations[] = {{"products with factors", factors, 4},
                      {"rows of tables", tables, 4},
                      {"means over tokens", means, 4},
                      {"moments", moments, 8},
                      {"normalised rows", normalised, 6},
                      {"rotated rows", rotations, 4},
                      {"softmax", attention, 10},
                      {"blocks of keys", blocks, 12}};
    fill(1);
    for (size_t k = 0; k < COUNT_OF(operations); k++)
        for (uint64_t v = 0; v < operations[k].variants; v++)
            for (size_t s = 0; s < COUNT_OF(sizes); s += thinned(3)) {
                const size_t rows = sizes[s][0], n = sizes[s][1];
                ulp_threads_set(1);
                run(&want, operations[k].of, backends[0], rows, n, v);
                for (size_t i = 0; i < 2 * offered; i++) {
                    ulp_threads_set(i % 2 ? 3 : 1);
                    run(&got, operations[k].of, backends[i / 2], rows, n, v);
                    if (memcmp(&got, &want, sizeof got) != 0)
                        fail_msg("%s, %s, %s, variant %d of (%zu,%zu)", operations[k].name, backends[i / 2]->what,
                                 i % 2 ? "3 threads" : "1 thread", (int)v, rows, n);
                }
                assert_int_equal(ulp_bits64(want.to[MOST]), 0x5555555555555555u);
            }
    ulp_threads_set(0);
}

/* 2^x is exact for integers, and within 2 units in the last place elsewhere. */
TEST(powers_of_two) {
    double most = 0.0;
    mpfr_t exact;
    uint64_t seed = 3;
    mpfr_init2(exact, 120);
    for (int k = -1100; k <= 1100; k++) assert_true(same(ulp_exp2_lane(k), ldexp(1.0, k)));
    for (int i = 0; i < 40000; i++) {
        const double at = (double)(int64_t)next_random(&seed) * 0x1.fep-54; /* normal results */
        mpfr_set_d(exact, at, MPFR_RNDN);
        mpfr_exp2(exact, exact, MPFR_RNDN);
        const double got_one = ulp_exp2_lane(at), want_one = mpfr_get_d(exact, MPFR_RNDN);
        int exponent;
        frexp(want_one, &exponent);
        mpfr_sub_d(exact, exact, got_one, MPFR_RNDN);
        most = fmax(most, fabs(ldexp(mpfr_get_d(exact, MPFR_RNDN), 53 - exponent)));
    }
    mpfr_clear(exact);
    print_message("2^x: %.3f ulp at most, bound 2\n", most);
    assert_true(most <= 2.0);
    assert_true(ulp_exp2_lane(INFINITY) == INFINITY && ulp_exp2_lane(-INFINITY) == 0.0 && isnan(ulp_exp2_lane(NAN)));
}

/* Blocks of keys one after the other give the softmax of the row, up to the rounding of their sums. */
TEST(blocks_are_the_softmax) {
    enum { ROWS = 6, KEYS = 50 };
    static double p[ROWS * KEYS], part[ROWS * KEYS], factor[ROWS];
    const ulp_format f = named("fp32");
    fill(5);
    for (size_t i = 0; i < ROWS * KEYS; i++) x[i] = isfinite(x[i]) && fabsf(x[i]) < 99.0f ? x[i] * 4.0f : 0.0f;
    for (uint64_t variant = 0; variant < 16; variant++)
        for (size_t width = 1; width <= KEYS; width += 7) {
            ulp_scores s = scores_of(ROWS, KEYS, variant);
            float largest[ROWS], sum[ROWS], narrow_factor[ROWS], narrow_p[ROWS * KEYS];
            for (size_t r = 0; r < ROWS; r++) largest[r] = -INFINITY, sum[r] = 0.0f;
            s.queries = ROWS;
            assert_ok(ulp_backend_attention_softmax(backends[0], p, x, &s));
            for (s.from = 0; s.from < KEYS; s.from = s.to) {
                s.to = s.from + width < KEYS ? s.from + width : KEYS;
                assert_ok(ulp_backend_softmax_maxima(backends[0], largest, factor, x, &s));
                assert_ok(ulp_backend_softmax_block(backends[0], part, x, largest, NULL, &s));
                for (size_t r = 0; r < ROWS; r++) narrow_factor[r] = (float)factor[r];
                for (size_t i = 0; i < ROWS * (s.to - s.from); i++) narrow_p[i] = (float)part[i];
                assert_ok(ulp_backend_softmax_sums(backends[0], sum, narrow_p, narrow_factor, &s,
                                                   (ulp_rounding){&f, {0}, {0}, NULL}));
            }
            s.from = 0;
            assert_ok(ulp_backend_softmax_block(backends[0], part, x, largest, sum, &s));
            for (size_t i = 0; i < ROWS * KEYS; i++)
                if (fabs(part[i] - p[i]) > 1e-5 * p[i] + 1e-30)
                    fail_msg("variant %d, blocks of %zu keys: weight %zu is %g, not %g", (int)variant, width, i,
                             part[i], p[i]);
        }
}

TESTS(find_backends, NULL)
