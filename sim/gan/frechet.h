/* frechet.h - the Frechet distance between two sets of vectors, each taken as a normal distribution.
 *
 * Dowson and Landau 1982, doi:10.1016/0047-259X(82)90077-X; as a measure of generated images: Heusel et al. 2017,
 * arXiv:1706.08500, section 2. With means m and covariances C the squared distance is
 *
 *   |m1 - m2|^2 + tr(C1 + C2 - 2 (C1 C2)^(1/2))
 *
 * All is computed in binary64 by + - * / and sqrt in a fixed order, with eigenvalues by Jacobi's method. LAPACK is not
 * used, because its last bits differ between machines.
 */
#ifndef ULP_FRECHET_H
#define ULP_FRECHET_H

#include <stddef.h>

#include "formats/c_linkage.h"

ULP_C_BEGIN

/* a (n,n) symmetric becomes diagonal, and its diagonal holds the eigenvalues; column j of v (n,n) is the eigenvector of
 * eigenvalue j. Cyclic Jacobi rotations (Golub and Van Loan 2013, section 8.5) until the elements off the diagonal
 * are below 2^-52 of the norm, 30 sweeps at most. */
void ulp_eigen_symmetric(double *a, double *v, size_t n);

/* mean (n) and covariance (n,n), divisor N - 1, of x (N,n); N is at least 2. */
void ulp_moments(double *mean, double *covariance, const double *x, size_t N, size_t n);

/* The squared distance of two normal distributions of n dimensions; scratch (4 n n). NaN if a moment is NaN. */
double ulp_frechet_squared(const double *mean1, const double *covariance1, const double *mean2,
                           const double *covariance2, size_t n, double *scratch);

ULP_C_END
#endif
