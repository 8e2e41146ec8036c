/* sequence.c - transposing through the host; see sequence.h. */
#include "sequence.h"

#include <stdlib.h>

ulp_status ulp_args_number(size_t *n, const char *args) {
    char *end;
    unsigned long long value = strtoull(args, &end, 10);
    if (args[0] < '0' || args[0] > '9' || *end || value < 1 || value > 1u << 20) return ULP_BAD_ARGUMENT;
    *n = (size_t)value;
    return ULP_OK;
}

ulp_status ulp_pass_transpose(ulp_pass *pass, float *y, const float *x, size_t count, size_t m, size_t n) {
    ulp_status status = pass->backend->download(pass->host_a, x, count * m * n * sizeof(float));
    if (status != ULP_OK) return status;
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < n; j++) pass->host_b[(k * n + j) * m + i] = pass->host_a[(k * m + i) * n + j];
    return pass->backend->upload(y, pass->host_b, count * m * n * sizeof(float));
}

void ulp_transpose64(double *y, const double *x, size_t count, size_t m, size_t n) {
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < n; j++) y[(k * n + j) * m + i] = x[(k * m + i) * n + j];
}
