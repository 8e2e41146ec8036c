/* frechet.c - moments, Jacobi's eigenvalue method and the Frechet distance; see frechet.h. */
#include "frechet.h"

#include <math.h>
#include <string.h>

enum { SWEEPS = 30 };

/* Rotate two rows: x = c x - s y, and y = s x + c y. */
static void rotate_rows(double *restrict x, double *restrict y, size_t n, double c, double s) {
    for (size_t k = 0; k < n; k++) {
        const double at_x = x[k], at_y = y[k];
        x[k] = c * at_x - s * at_y;
        y[k] = s * at_x + c * at_y;
    }
}

/* Rotate rows and columns p and q of a, and rows p and q of v, so that a[p][q] becomes 0. */
static void rotate(double *a, double *v, size_t n, size_t p, size_t q) {
    const double theta = (a[q * n + q] - a[p * n + p]) / (2.0 * a[p * n + q]);
    const double t = (theta < 0.0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
    const double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
    for (size_t k = 0; k < n; k++) {
        const double x = a[k * n + p], y = a[k * n + q];
        a[k * n + p] = c * x - s * y;
        a[k * n + q] = s * x + c * y;
    }
    rotate_rows(a + p * n, a + q * n, n, c, s);
    rotate_rows(v + p * n, v + q * n, n, c, s);
}

static void transpose(double *v, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            const double x = v[i * n + j];
            v[i * n + j] = v[j * n + i];
            v[j * n + i] = x;
        }
}

void ulp_eigen_symmetric(double *a, double *v, size_t n) {
    double norm = 0.0;
    for (size_t i = 0; i < n * n; i++) {
        norm += a[i] * a[i];
        v[i] = i % (n + 1) == 0 ? 1.0 : 0.0;
    }
    const double small = sqrt(norm) * 0x1p-52;
    int again = small > 0.0; /* not for NaN */
    for (int sweep = 0; sweep < SWEEPS && again; sweep++) {
        again = 0;
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++) {
                if (!(fabs(a[p * n + q]) > small)) continue;
                rotate(a, v, n, p, q);
                again = 1;
            }
    }
    transpose(v, n); /* rows are faster to rotate than columns */
}

void ulp_moments(double *mean, double *covariance, const double *x, size_t N, size_t n) {
    for (size_t j = 0; j < n; j++) mean[j] = 0.0;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < n; j++) mean[j] += x[i * n + j];
    for (size_t j = 0; j < n; j++) mean[j] /= (double)N;
    for (size_t j = 0; j < n * n; j++) covariance[j] = 0.0;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k <= j; k++)
                covariance[j * n + k] += (x[i * n + j] - mean[j]) * (x[i * n + k] - mean[k]);
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k <= j; k++)
            covariance[j * n + k] = covariance[k * n + j] = covariance[j * n + k] / (double)(N - 1);
}

/* c (n,n) = a b. */
static void multiply(double *restrict c, const double *a, const double *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) c[i * n + j] = 0.0;
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j < n; j++) c[i * n + j] += a[i * n + k] * b[k * n + j];
    }
}

/* The root of an eigenvalue; rounding errors can make an eigenvalue of a covariance negative. */
static double root(double x) { return x < 0.0 ? 0.0 : sqrt(x); }

double ulp_frechet_squared(const double *m1, const double *c1, const double *m2, const double *c2, size_t n,
                           double *scratch) {
    double *a = scratch, *v = a + n * n, *r = v + n * n, *b = r + n * n, sum = 0.0;
    memcpy(a, c1, n * n * sizeof *a);
    ulp_eigen_symmetric(a, v, n);
    for (size_t k = 0; k < n; k++) b[k] = root(a[k * n + k]);
    for (size_t i = 0; i < n; i++) /* r = C1^(1/2) = V L^(1/2) V' */
        for (size_t j = 0; j < n; j++) {
            r[i * n + j] = 0.0;
            for (size_t k = 0; k < n; k++) r[i * n + j] += v[i * n + k] * b[k] * v[j * n + k];
        }
    multiply(b, r, c2, n);
    multiply(a, b, r, n);          /* the eigenvalues of r C2 r are those of C1 C2 */
    for (size_t i = 0; i < n; i++) /* equal but for rounding errors */
        for (size_t j = 0; j < i; j++) a[i * n + j] = a[j * n + i] = 0.5 * (a[i * n + j] + a[j * n + i]);
    ulp_eigen_symmetric(a, v, n);
    for (size_t i = 0; i < n; i++)
        sum += (m1[i] - m2[i]) * (m1[i] - m2[i]) + c1[i * n + i] + c2[i * n + i] - 2.0 * root(a[i * n + i]);
    return sum < 0.0 ? 0.0 : sum;
}
