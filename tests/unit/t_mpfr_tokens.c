/* t_mpfr_tokens.c - the backend "mpfr" gives the bits of the CPU's backend in rows of numbers and in attention. */
#include "mpfr_pair.h"

enum { N = 2000, TRIES = 60 };

static float x[N], y[N], w[N], statistics[N], one[N], other[N];
static double got[2 * N], want[2 * N];

static size_t size_below(size_t n) { return (size_t)below((int)n); }

/* Numbers with several exponents. With rarity > 0 one of so many is NaN, infinite, zero, or has random bits. */
static void fill(float *to, size_t n, int rarity) {
    for (size_t i = 0; i < n; i++) {
        to[i] = (float)((below(8000) - 4000) * ldexp(1, -8 - below(6)));
        if (rarity == 0 || below(rarity) > 0) continue;
        const float special[] = {ulp_from_bits32((uint32_t)next_random(&seed)), NAN, INFINITY, -INFINITY, 0.0f, -0.0f};
        to[i] = special[below(6)];
    }
}

static void same_floats(const char *what, const float *a, const float *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (ulp_bits32(a[i]) != ulp_bits32(b[i]))
            fail_msg("%s: element %zu of %zu is %a, not %a", what, i, n, (double)a[i], (double)b[i]);
}

/* ---- rows ---- */

TEST(factors_and_dots) {
    for (int t = 0; t < TRIES; t += (int)thinned(7)) {
        const size_t rows = 1 + size_below(9), n = 1 + size_below(t % 2 ? 130 : 9);
        fill(x, N, t % 3 * 30), fill(y, N, t % 3 * 30), fill(w, N, t % 3 * 10);
        BOTH("products with a factor", got, want, rows * n, scaled, x, rows * n, (double)w[0]);
        BOTH("rows times a factor", got, want, rows * n, row_scale, x, w, rows, n, 0);
        BOTH("rows by a divisor", got, want, rows * n, row_scale, x, w, rows, n, 1);
        BOTH("products of rows", got, want, rows, row_dots, x, y, rows, n);
    }
}

TEST(tables) {
    for (int t = 0; t < TRIES; t += (int)thinned(7)) {
        ulp_row_table by = {1 + size_below(20), 1 + size_below(9), 1 + size_below(12), t % 4 ? x : NULL};
        fill(x, N, 2), fill(y, N, 20);
        for (size_t i = 0; i < by.rows; i++)
            if (below(4)) x[i] = (float)below((int)by.entries + 1) + (below(9) ? 0.0f : 0.5f);
        assert_ok(ulp_backend_gather(mpfr, one, y, &by)), assert_ok(ulp_backend_gather(cpu, other, y, &by));
        same_floats("rows of a table", one, other, by.rows * by.width);
        assert_ok(ulp_backend_one_hot(mpfr, one, &by)), assert_ok(ulp_backend_one_hot(cpu, other, &by));
        same_floats("ones in the columns of indices", one, other, by.rows * by.entries);
    }
}

TEST(means_over_tokens) {
    for (int t = 0; t < TRIES; t += (int)thinned(7)) {
        const ulp_token_shape s = {1 + size_below(5), 1 + size_below(11), 1 + size_below(20)};
        fill(x, N, t % 2 * 40);
        BOTH("means over tokens", got, want, s.B * s.n, token_mean, x, s);
        BOTH("gradients of means", got, want, s.B * s.T * s.n, token_mean_slope, x, s);
    }
}

/* Every method under every mode, in formats that round, overflow, saturate and lack infinities. */
TEST(moments) {
    static const char *const formats[] = {"fp32", "fp16", "bf16", "e4m3", "e5m2", "q6.10", "e8m1", "posit16"};
    for (size_t i = 0; i < COUNT_OF(formats); i++)
        for (int mode = 0; mode < ULP_MODE_COUNT; mode++)
            for (int method = 0; method < ULP_MOMENTS_COUNT; method++)
                for (int t = 0; t < 8; t += (int)thinned(3)) {
                    const int policy = t % 3 == 2 && i < 4 ? ULP_OVERFLOW_SAT : ULP_OVERFLOW_DEFAULT;
                    ulp_row_moments how = {.rows = 1 + size_below(5), .n = 1 + size_below(t < 6 ? 9 : 40)};
                    how.method = (uint8_t)method, how.no_mean = (uint8_t)(t % 2);
                    how.format = named(formats[i]);
                    how.rule = rule_of(mode, policy, ulp_mode_is_stochastic((uint32_t)mode) ? 1 + below(32) : 0);
                    how.stream = (ulp_stream){next_random(&seed), 6, next_random(&seed)};
                    if (ulp_rule_check(&how.format, how.rule) != ULP_OK) continue;
                    char what[96];
                    snprintf(what, sizeof what, "moments of (%zu,%zu): %s %s, method %d%s", how.rows, how.n, formats[i],
                             ulp_mode_name((ulp_mode)mode), method, how.no_mean ? " without a mean" : "");
                    fill(x, N, t % 4 == 3 ? 30 : 0);
                    if (t % 4 == 2)
                        for (size_t k = 0; k < how.rows * how.n; k++) x[k] = x[k] * 0x1p-8f + 8.0f; /* cancellation */
                    BOTH(what, got, want, 2 * how.rows, row_moments, x, &how);
                }
}

TEST(normalised_rows) {
    for (int t = 0; t < TRIES; t += (int)thinned(7)) {
        const size_t rows = 1 + size_below(9), n = 1 + size_below(t % 2 ? 100 : 9);
        const ulp_row_norm by = {rows, n, (uint8_t)(t / 2 % 2), statistics, w};
        fill(x, N, t % 5 == 4 ? 60 : 0), fill(y, N, t % 5 == 4 ? 60 : 0), fill(w, 2 * n, t % 5 == 4 ? 60 : 0);
        fill(statistics, 2 * rows, t % 5 == 4 ? 10 : 0);
        for (size_t r = 0; r < rows; r++)
            if (below(9)) statistics[rows + r] = fabsf(statistics[rows + r]) * (below(3) ? 1.0f : 0x1p-30f);
        BOTH("normalised rows", got, want, rows * n, row_norm, x, by);
        BOTH("sums of gradients", got, want, (by.no_mean ? 1 : 2) * n, row_norm_sums, y, x, by);
        BOTH("gradients through a normalisation", got, want, rows * n, row_norm_slope, y, x, by);
    }
}

TEST(rotations) {
    for (int t = 0; t < TRIES; t += (int)thinned(7)) {
        ulp_rotation by = {.rows = 1 + size_below(9), .T = 1 + size_below(6), .heads = size_below(4)};
        by.size = 2 * size_below(5), by.from = size_below(5), by.back = (uint8_t)(t % 2);
        by.width = 1 + by.from + by.heads * by.size + size_below(4);
        fill(x, N, t % 3 * 20), fill(w, N, t % 3 * 20);
        BOTH("rotated rows", got, want, by.rows * by.width, rotate, x, w, &by);
    }
}

/* ---- attention ---- */

static ulp_scores any_scores(int t) {
    ulp_scores s = {.queries = 1 + size_below(8), .keys = 1 + size_below(t % 5 ? 12 : 70), .beta = 1.0f};
    s.rows = s.queries * (1 + size_below(3));
    s.causal = (uint8_t)(t % 2), s.base2 = (uint8_t)(t / 2 % 2), s.whole_maxima = (uint8_t)(t / 4 % 2);
    if (t / 8 % 2) s.beta = 1.0f + (float)below(16) / 8.0f;
    s.from = size_below(s.keys), s.to = s.from + size_below(s.keys - s.from + 1);
    return s;
}

TEST(softmax) {
    for (int t = 0; t < 2 * TRIES; t += (int)thinned(7)) {
        const ulp_scores s = any_scores(t);
        const size_t n = s.rows * s.keys;
        fill(x, N, t % 4 ? 0 : 40), fill(y, N, t % 4 ? 0 : 40), fill(w, N, t % 4 ? 0 : 40);
        if (t % 3 == 2)
            for (size_t i = 0; i < n; i++) x[i] *= 60.0f; /* powers underflow */
        assert_true(n <= N);
        BOTH("softmax over keys", got, want, n, attention_softmax, x, &s);
        for (size_t i = 0; i < n; i++) one[i] = (float)want[i];
        BOTH("its slope", got, want, n, attention_slope, one, y, NULL, &s, 0.37);
        BOTH("its slope by given sums", got, want, n, attention_slope, one, y, w, &s, -0.25);
    }
}

TEST(blocks_of_keys) {
    static const char *const formats[] = {"fp32", "fp16", "bf16", "e4m3", "q6.10"};
    for (int t = 0; t < 6 * TRIES; t += (int)thinned(7)) {
        ulp_scores s = any_scores(t);
        const size_t width = s.to - s.from;
        static float largest[2][N], sum[2][N];
        fill(x, N, t % 4 ? 0 : 40), fill(largest[0], N, t % 4 ? 0 : 10), fill(sum[0], N, t % 4 ? 0 : 10);
        for (size_t r = 0; r < s.rows; r++) {
            if (below(3) == 0) largest[0][r] = -INFINITY;
            if (below(5) == 0 && width > 0) x[r * s.keys + s.from] = below(2) ? -0.0f : -0.25f;
            if (below(7) == 0) x[r * s.keys] = 4.0e9f;
        }
        memcpy(largest[1], largest[0], sizeof largest[0]), memcpy(sum[1], sum[0], sizeof sum[0]);
        assert_ok(ulp_backend_softmax_maxima(mpfr, largest[0], got, x, &s));
        assert_ok(ulp_backend_softmax_maxima(cpu, largest[1], want, x, &s));
        same_doubles("factors of a block", got, want, s.rows);
        for (size_t r = 0; r < s.rows; r++) w[r] = (float)want[r];
        same_floats("maxima of a block", largest[0], largest[1], s.rows);
        BOTH("weights of a block", got, want, s.rows * width, softmax_block, x, largest[1], NULL, &s);
        for (size_t i = 0; i < s.rows * width; i++) y[i] = (float)want[i];
        BOTH("divided weights of a block", got, want, s.rows * width, softmax_block, x, largest[1], sum[0], &s);
        for (size_t i = 0; i < COUNT_OF(formats); i++) {
            const ulp_format f = named(formats[i]);
            const int mode = below(ULP_MODE_COUNT);
            const ulp_rounding r = {
                &f,
                rule_of(mode, ULP_OVERFLOW_DEFAULT, ulp_mode_is_stochastic((uint32_t)mode) ? 1 + below(32) : 0),
                {next_random(&seed), 9, next_random(&seed)},
                NULL};
            char what[96];
            snprintf(what, sizeof what, "sums of a block of %zu keys in %s, %s", width, formats[i],
                     ulp_mode_name((ulp_mode)mode));
            memcpy(sum[1], sum[0], sizeof sum[0]);
            assert_ok(ulp_backend_softmax_sums(mpfr, sum[0], y, w, &s, r));
            assert_ok(ulp_backend_softmax_sums(cpu, sum[1], y, w, &s, r));
            same_floats(what, sum[0], sum[1], s.rows);
        }
    }
}

/* Blocks one after the other give the maximum of the row, and with base 2 and integer maxima every factor is a power of
 * two. */
TEST(factors_are_powers_of_two) {
    ulp_scores s = {.rows = 3, .queries = 3, .keys = 40, .causal = 1, .base2 = 1, .whole_maxima = 1, .beta = 1.0f};
    static float largest[3];
    fill(x, N, 0);
    for (size_t r = 0; r < 3; r++) largest[r] = -INFINITY;
    for (s.from = 0; s.from < s.keys; s.from = s.to) {
        s.to = s.from + 7 < s.keys ? s.from + 7 : s.keys;
        assert_ok(ulp_backend_softmax_maxima(cpu, largest, got, x, &s));
        for (size_t r = 0; r < 3; r++) {
            int exponent;
            if (frexp(got[r], &exponent) != 0.5 && got[r] != 0.0) fail_msg("the factor is %a", got[r]);
        }
    }
    for (size_t r = 0; r < 3; r++) {
        float most = x[r * s.keys];
        for (size_t j = 0; j + 2 < s.keys + r; j++) most = fmaxf(most, x[r * s.keys + j]);
        if (largest[r] != ceilf(most))
            fail_msg("row %zu: the maximum is %g, not that above %g", r, (double)largest[r], (double)most);
    }
}

/* The products of a batch are the products one by one. */
TEST(batch) {
    static float c[2][N];
    const ulp_datapath chain = datapath_named("serial:bf16:sr");
    for (int t = 0; t < 12; t += (int)thinned(3)) {
        const size_t m = 1 + size_below(4), n = 1 + size_below(5), k = 1 + size_below(9);
        ulp_gemm_batch batch = {.shape = {.m = m, .n = n, .k = k, .lda = k, .ldb = n, .ldc = n},
                                .outer = 1 + size_below(3),
                                .inner = 2 * (1 + size_below(2)),
                                .b_share = 1 + size_below(2)};
        batch.a_stride[1] = m * k, batch.a_stride[0] = batch.inner * m * k;
        batch.b_stride[1] = k * n, batch.b_stride[0] = batch.inner / batch.b_share * k * n;
        batch.c_stride[1] = m * n, batch.c_stride[0] = batch.inner * m * n;
        const ulp_summation by = {&chain, {next_random(&seed), 5, 0}};
        fill(x, N, 0), fill(y, N, 0);
        ulp_format f = named("bf16");
        const ulp_rounding r = {&f, {0}, {0}, NULL};
        ulp_backend_round(cpu, x, x, N, r), ulp_backend_round(cpu, y, y, N, r);
        assert_ok(ulp_backend_gemm_batch(mpfr, c[0], x, y, &batch, by));
        assert_ok(ulp_backend_gemm_batch(cpu, c[1], x, y, &batch, by));
        same_floats("products of a batch", c[0], c[1], batch.outer * batch.inner * m * n);
    }
}

TESTS(find_pair, NULL)
