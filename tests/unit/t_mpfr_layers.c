/* t_mpfr_layers.c - the backend "mpfr" gives the bits of the CPU's backend in batch normalisation, windows,
 * up-sampling, products with a factor and dropout.
 */
#include "support.h"

#include "kernels/backend.h"

enum { N = 720, TRIES = 60 };

static const ulp_backend *mpfr, *cpu;
static uint64_t seed = 7;
static float x[N], y[N], statistics[2 * N], w[2 * N];
static double got[N], want[N], sums[N];

static int below(int n) { return (int)(next_random(&seed) >> 33) % n; }

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

static void same_wide(const char *what, const double *a, const double *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!same_result(a[i], b[i])) fail_msg("%s: element %zu is %a, not %a", what, i, a[i], b[i]);
}

TEST(norm) {
    static const ulp_channels shapes[] = {{3, 12, 20}, {720, 1, 1}, {1, 240, 3}, {6, 5, 24}, {1, 2, 360}, {1, 360, 1}};
    for (int t = 0; t < TRIES; t += (int)thinned(7)) {
        const ulp_channels s = shapes[t % 6];
        const size_t n = s.B * s.c * s.n;
        const ulp_norm by = {s, statistics, w};
        fill_all(t / 6);
        ulp_backend_norm_statistics(mpfr, got, x, s), ulp_backend_norm_statistics(cpu, want, x, s);
        same_wide("statistics", got, want, 2 * s.c);
        ulp_backend_norm_running(mpfr, got, w, statistics, s);
        ulp_backend_norm_running(cpu, want, w, statistics, s);
        same_wide("running statistics", got, want, 2 * s.c);
        ulp_backend_norm(mpfr, got, x, by), ulp_backend_norm(cpu, want, x, by);
        same_wide("normalised values", got, want, n);
        ulp_backend_norm_sums(mpfr, got, y, x, by), ulp_backend_norm_sums(cpu, sums, y, x, by);
        same_wide("sums of gradients", got, sums, 2 * s.c);
        ulp_backend_norm_slope(mpfr, got, y, x, sums, by), ulp_backend_norm_slope(cpu, want, y, x, sums, by);
        same_wide("gradients through a normalisation", got, want, n);
    }
}

TEST(average_and_dropout) {
    for (int t = 0; t < TRIES; t += (int)thinned(7)) {
        const ulp_windows s = {3, 12, 20, 1 + (size_t)(t % 13)};
        const size_t averaged = 3 * (12 / s.K) * (20 / s.K);
        const ulp_dropout how = {(uint32_t)(t % 2 ? below(100) : t / 2 % 2 * 99),
                                 {next_random(&seed), 3, next_random(&seed)}};
        fill(x, N, 10), fill(y, N, 10);
        ulp_backend_average(mpfr, got, x, &s), ulp_backend_average(cpu, want, x, &s);
        same_wide("average", got, want, averaged);
        ulp_backend_average_slope(mpfr, got, y, &s), ulp_backend_average_slope(cpu, want, y, &s);
        same_wide("gradient of average", got, want, N);
        ulp_backend_dropout(mpfr, got, x, N, how), ulp_backend_dropout(cpu, want, x, N, how);
        same_wide("dropout", got, want, N);
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
        ulp_backend_pool_strided_slope(mpfr, got, y, place[0], &s);
        ulp_backend_pool_strided_slope(cpu, want, y, place[0], &s);
        same_wide("gradient of strided windows", got, want, 3 * 9 * 13);
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
        ulp_backend_upsample_slope(mpfr, got, y, &s), ulp_backend_upsample_slope(cpu, want, y, &s);
        same_wide("sums of windows", got, want, 3 * (12 / s.K) * (20 / s.K));
        for (size_t i = 0; i < N; i++) sums[i] = ulp_from_bits64(next_random(&seed));
        ulp_backend_scale(mpfr, got, sums, N, factor), ulp_backend_scale(cpu, want, sums, N, factor);
        same_wide("products with a factor", got, want, N);
    }
}

int main(void) {
    cpu = ulp_cpu_backend(0);
    if (cpu == NULL || ulp_backend_get(&mpfr, "mpfr") != ULP_OK) return 1;
    return run_listed_tests(NULL, NULL);
}
