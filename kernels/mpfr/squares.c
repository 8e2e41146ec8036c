/* squares.c - the backend "mpfr": sums of squares of chunks. MPFR rounds every operation; the order is the one that
 * kernels/functions/squares.h describes, with an array of the whole lanes in the place of loops over rows. */
#include "operations.h"
#include "reference.h"

#include <math.h>

/* The sum of lane j: elements j, j + 32, ... of x (n). */
static double sum_of_lane(ulp_reference *ref, const float *x, size_t n, size_t j) {
    double sum = 0.0;
    for (size_t i = j; i < n; i += 32)
        sum = ulp_reference_arith(ref, (ulp_scalar_op){ULP_FUSED, (double)x[i], (double)x[i], sum}, (ulp_rule){0}, 0);
    return sum;
}

/* The sum of the lanes j, j + step, j + 2 step, ...: the sum of every second one of them, and of the others. */
static double sum_of_lanes(ulp_reference *ref, const float *x, size_t n, size_t j, size_t step) {
    if (step == 32) return sum_of_lane(ref, x, n, j);
    const double a = sum_of_lanes(ref, x, n, j, 2 * step), b = sum_of_lanes(ref, x, n, j + step, 2 * step);
    return ulp_reference_arith(ref, (ulp_scalar_op){ULP_ADD, a, b, 0.0}, (ulp_rule){0}, 0);
}

ulp_status ulp_mpfr_squares(double *y, const float *x, size_t n) {
    ulp_reference *ref = ulp_reference_new(&ulp_binary64);
    for (size_t first = 0; ref != NULL && first < n; first += 4096, y++) {
        const size_t left = n - first;
        const double sum = sum_of_lanes(ref, x + first, left < 4096 ? left : 4096, 0, 1);
        *y = isnan(sum) ? NAN : sum;
    }
    ulp_reference_free(ref);
    return ref != NULL ? ULP_OK : ULP_NO_MEMORY;
}
