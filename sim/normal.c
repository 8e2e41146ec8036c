/* normal.c - normal variates by Box and Muller, from the project's own logarithm and cosine; see normal.h. */
#include "normal.h"

#include <math.h>

#include "kernels/functions/elementary.h"

double ulp_cos_turn(double u) {
    /* reduce the argument: v in [-1/8, 1/8], exact in binary64 */
    double quarter = u * 4.0 + ULP_TO_INTEGER - ULP_TO_INTEGER, v = u - 0.25 * quarter;
    double x = v * 0x1.921fb54442d18p+2, z = x * x, p; /* |x| <= pi/4 */
    int32_t which = (int32_t)quarter & 3;
    if (which == 0 || which == 2) {
        p = -1.0 / 6402373705728000.0;
        p = p * z + 1.0 / 20922789888000.0;
        p = p * z - 1.0 / 87178291200.0;
        p = p * z + 1.0 / 479001600.0;
        p = p * z - 1.0 / 3628800.0;
        p = p * z + 1.0 / 40320.0;
        p = p * z - 1.0 / 720.0;
        p = p * z + 1.0 / 24.0;
        p = 1.0 + (p * z - 0.5) * z;
        return which == 0 ? p : -p;
    }
    p = 1.0 / 355687428096000.0;
    p = p * z - 1.0 / 1307674368000.0;
    p = p * z + 1.0 / 6227020800.0;
    p = p * z - 1.0 / 39916800.0;
    p = p * z + 1.0 / 362880.0;
    p = p * z - 1.0 / 5040.0;
    p = p * z + 1.0 / 120.0;
    p = p * z - 1.0 / 6.0;
    p = x + x * z * p;
    return which == 1 ? -p : p;
}

double ulp_random_normal(ulp_stream stream, uint64_t i) {
    double u = ((double)ulp_random_word(stream, 2 * i) + 0.5) * 0x1p-32;
    return sqrt(-2.0 * ulp_log(u)) * ulp_cos_turn(ulp_random_uniform(stream, 2 * i + 1));
}
