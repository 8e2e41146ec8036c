/* table.c - the table of the backend "mpfr". */
#include "operations.h"

#include <string.h>

#include "base/aligned.h"

/* Movement of data computes nothing: it is that of the CPU. */
ulp_status ulp_cpu_im2col_baseline(float *y, const float *x, const ulp_im2col *geometry);
ulp_status ulp_cpu_permute_baseline(float *y, const float *x, ulp_permute_shape shape);

ulp_status ulp_mpfr_im2col(float *y, const float *x, const ulp_im2col *geometry) {
    return ulp_cpu_im2col_baseline(y, x, geometry);
}

ulp_status ulp_mpfr_permute(float *y, const float *x, ulp_permute_shape shape) {
    return ulp_cpu_permute_baseline(y, x, shape);
}

static void *alloc(size_t bytes) {
    return bytes > SIZE_MAX - 64 ? NULL : ulp_aligned_alloc(64, (bytes + 64) / 64 * 64);
}

static ulp_status copy(void *to, const void *from, size_t bytes) {
    if (bytes > 0) memcpy(to, from, bytes);
    return ULP_OK;
}

/* The function of a row of operations.def: of the column `mpfr` or `none`. */
#define FUNCTION_mpfr(function) function
#define FUNCTION_none(function) NULL

static const ulp_backend table = {
    .name = "mpfr",
    .what = "GNU MPFR and GMP integers",
    .alloc = alloc,
    .release = ulp_aligned_free,
    .upload = copy,
    .download = copy,
#define ULP_OPERATION(name, cpu, cuda, mpfr, ...) .name = FUNCTION_##mpfr(ulp_mpfr_##name),
#include "kernels/operations.def"
};

ulp_status ulp_mpfr_backend(const ulp_backend **backend) {
    *backend = &table;
    return ULP_OK;
}

const char *ulp_mpfr_lacks(void) { return ""; }
