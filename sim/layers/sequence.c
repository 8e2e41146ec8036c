/* sequence.c - transposes; see sequence.h. */
#include "sequence.h"

ulp_status ulp_transpose(const ulp_backend *backend, float *y, const float *x, size_t count, size_t m, size_t n) {
    return ulp_backend_permute(backend, y, x, (ulp_permute_shape){count, m, n, 1});
}

void ulp_transpose64(double *y, const double *x, size_t count, size_t m, size_t n) {
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < n; j++) y[(k * n + j) * m + i] = x[(k * m + i) * n + j];
}
