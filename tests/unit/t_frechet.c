/* t_frechet.c - moments, eigenvalues and the Frechet distance against closed forms. */
#include <math.h>

#include "test.h"

#include "formats/rng.h"
#include "sim/gan/frechet.h"

/* In two dimensions tr (C1 C2)^(1/2) = sqrt(tr(C1 C2) + 2 sqrt(det C1 det C2)). */
TEST(frechet) {
    uint64_t seed = 3;
    for (int k = 0; k < 200; k++) {
        double u[8], scratch[16];
        for (int i = 0; i < 8; i++) u[i] = ulp_random_uniform((ulp_stream){7, 1, 0}, seed++) * 4 - 2;
        const double c1[4] = {u[0] * u[0] + 0.1, u[0] * u[1], u[0] * u[1], u[1] * u[1] + 0.1},
                     c2[4] = {u[2] * u[2] + 0.2, u[2] * u[3], u[2] * u[3], u[3] * u[3]}, m1[2] = {u[4], u[5]},
                     m2[2] = {u[6], u[7]};
        const double det1 = c1[0] * c1[3] - c1[1] * c1[1], det2 = c2[0] * c2[3] - c2[1] * c2[1];
        const double trace = c1[0] * c2[0] + 2 * c1[1] * c2[1] + c1[3] * c2[3];
        const double want = (m1[0] - m2[0]) * (m1[0] - m2[0]) + (m1[1] - m2[1]) * (m1[1] - m2[1]) + c1[0] + c1[3] +
                            c2[0] + c2[3] - 2 * sqrt(trace + 2 * sqrt(det1 * det2));
        assert_true(fabs(ulp_frechet_squared(m1, c1, m2, c2, 2, scratch) - want) < 1e-12 * (1 + want));
        assert_true(fabs(ulp_frechet_squared(m1, c1, m1, c1, 2, scratch)) < 1e-12);
    }
}

/* a = V L V' for the symmetric a, V' V = 1; and the distance of diagonal covariances is that of their roots. */
TEST(eigen) {
    enum { N = 12 };
    double a[N * N], l[N * N], v[N * N], c1[N * N] = {0}, c2[N * N] = {0}, mean[N] = {0}, scratch[4 * N * N], want = 0;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j <= i; j++)
            a[i * N + j] = a[j * N + i] = ulp_random_uniform((ulp_stream){7, 2, 0}, i * N + j) - 0.5;
    memcpy(l, a, sizeof a);
    ulp_eigen_symmetric(l, v, N);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            double sum = 0, dot = 0;
            for (size_t k = 0; k < N; k++) {
                sum += v[i * N + k] * l[k * N + k] * v[j * N + k];
                dot += v[k * N + i] * v[k * N + j];
            }
            assert_true(fabs(sum - a[i * N + j]) < 1e-14 && fabs(dot - (i == j)) < 1e-14);
            assert_true(i == j || fabs(l[i * N + j]) < 1e-14);
        }
    for (size_t i = 0; i < N; i++) {
        const double x = (double)i, y = ulp_random_uniform((ulp_stream){7, 3, 0}, i) * 9;
        c1[i * N + i] = x * x;
        c2[i * N + i] = y * y;
        want += (x - y) * (x - y);
    }
    assert_true(fabs(ulp_frechet_squared(mean, c1, mean, c2, N, scratch) - want) < 1e-11);
}

TEST(moments) {
    const double x[4 * 2] = {1, 2, 3, 2, 1, 6, 3, 6};
    double mean[2], c[4];
    ulp_moments(mean, c, x, 4, 2);
    assert_true(mean[0] == 2 && mean[1] == 4);
    assert_true(c[0] == 4.0 / 3 && c[3] == 16.0 / 3 && c[1] == 0 && c[2] == 0);
}

TESTS(NULL, NULL)
