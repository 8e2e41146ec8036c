/* t_mpfr_layers.c - the backend "mpfr" gives the bits of the CPU's backend in batch normalisation, windows,
 * up-sampling, products with a factor and dropout.
 */
#include "mpfr_pair.h"

enum { N = 720, TRIES = 60 };

static float x[N], y[N], statistics[2 * N], w[2 * N];
static double got[N], want[N], sums[N];

/* Numbers with many exponents. With rarity > 0 one of so many has random bits: NaN, Inf and subnormals, too. */
static void fill(float *to, size_t n, int rarity) {
    for (size_t i = 0; i < n; i++)
        to[i] = rarity > 0 && below(rarity) == 0 ? ulp_from_bits32((uint32_t)next_random(&seed))
                                                 : (float)((below(4000) - 2000) * ldexp(1, -below(30)));
}

/* A sum with a NaN is NaN, so that most arrays have no special numbers, and most variances are positive. */
static void fill_all(int t) {
    const int rarity = t % 4 == 3 ? 100 : 0;
    fill(x, N, rarity), fill(y, N, rarity), fill(statistics, 2 * N, rarity), fill(w, 2 * N, rarity);
    for (size_t i = 0; i < 2 * N; i++)
        if (below(20)) statistics[i] = fabsf(statistics[i]);
    for (size_t i = 0; i < 2 * N; i += 5) statistics[i] = ldexpf(statistics[i], -120); /* eps decides */
}

TEST(norm) {
    static const ulp_channels shapes[] = {{3, 12, 20}, {720, 1, 1}, {1, 240, 3}, {6, 5, 24}, {1, 2, 360}, {1, 360, 1}};
    for (int t = 0; t < TRIES; t += (int)thinned(7)) {
        const ulp_channels s = shapes[t % 6];
        const size_t n = s.B * s.c * s.n;
        const ulp_norm by = {s, statistics, w};
        fill_all(t / 6);
        BOTH("statistics", got, want, 2 * s.c, norm_statistics, x, s);
        BOTH("running statistics", got, want, 2 * s.c, norm_running, w, statistics, s);
        BOTH("normalised values", got, want, n, norm, x, by);
        BOTH("sums of gradients", got, sums, 2 * s.c, norm_sums, y, x, by);
        BOTH("gradients through a normalisation", got, want, n, norm_slope, y, x, sums, by);
    }
}

TEST(average_and_dropout) {
    for (int t = 0; t < TRIES; t += (int)thinned(7)) {
        const ulp_windows s = {3, 12, 20, 1 + (size_t)(t % 13)};
        const size_t averaged = 3 * (12 / s.K) * (20 / s.K);
        const ulp_dropout how = {(uint32_t)(t % 2 ? below(100) : t / 2 % 2 * 99),
                                 {next_random(&seed), 3, next_random(&seed)}};
        fill(x, N, 10), fill(y, N, 10);
        BOTH("average", got, want, averaged, average, x, &s);
        BOTH("gradient of average", got, want, N, average_slope, y, &s);
        BOTH("dropout", got, want, N, dropout, x, N, how);
    }
}

TEST(windows) {
    static float place[2][N], most[2][N];
    for (int t = 0; t < TRIES; t += (int)thinned(7)) {
        ulp_strided_windows s = {3, 9, 13, 1 + (size_t)(t % 5), 1 + (size_t)(t / 5 % 4), 0};
        s.pad = (size_t)below((int)s.K);
        const size_t windows = 3 * ulp_strided_count(9, &s) * ulp_strided_count(13, &s);
        fill(x, N, 10), fill(y, N, 10);
        for (size_t i = 0; i < N; i += 2) x[i] = (float)below(3); /* equal maxima */
        assert_true(windows <= N);
        ulp_backend_pool_strided(mpfr, most[0], place[0], x, &s);
        ulp_backend_pool_strided(cpu, most[1], place[1], x, &s);
        for (size_t i = 0; i < windows; i++)
            assert_true(ulp_bits32(most[0][i]) == ulp_bits32(most[1][i]) && place[0][i] == place[1][i]);
        BOTH("gradient of strided windows", got, want, 3 * 9 * 13, pool_strided_slope, y, place[0], &s);
    }
}

TEST(upsample_and_scale) {
    static float large[2][N];
    for (int t = 0; t < TRIES; t += (int)thinned(7)) {
        const ulp_windows s = {3, 12, 20, 1 + (size_t)(t % 13)};
        const double factor = ldexp(1.0, below(2000) - 1000);
        fill(x, N, 10), fill(y, N, t % 3 * 10);
        ulp_backend_upsample(mpfr, large[0], x, &s), ulp_backend_upsample(cpu, large[1], x, &s);
        for (size_t i = 0; i < N; i++) assert_true(ulp_bits32(large[0][i]) == ulp_bits32(large[1][i]));
        BOTH("sums of windows", got, want, 3 * (12 / s.K) * (20 / s.K), upsample_slope, y, &s);
        for (size_t i = 0; i < N; i++) sums[i] = ulp_from_bits64(next_random(&seed));
        BOTH("products with a factor", got, want, N, scale, sums, N, factor);
    }
}

TESTS(find_pair, NULL)
