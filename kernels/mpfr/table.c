/* table.c - the table of the backend "mpfr". */
#include "operations.h"

#include <stdlib.h>
#include <string.h>

/* Movement of data, which computes nothing. */
ulp_status ulp_cpu_im2col_baseline(float *y, const float *x, const ulp_im2col *geometry);
ulp_status ulp_cpu_permute_baseline(float *y, const float *x, ulp_permute_shape shape);

static void *alloc(size_t bytes) { return bytes > SIZE_MAX - 64 ? NULL : aligned_alloc(64, (bytes + 64) / 64 * 64); }

static ulp_status copy(void *to, const void *from, size_t bytes) {
    if (bytes > 0) memcpy(to, from, bytes);
    return ULP_OK;
}

static const ulp_backend table = {
    .name = "mpfr",
    .what = "GNU MPFR and GMP integers",
    .alloc = alloc,
    .release = free,
    .upload = copy,
    .download = copy,
    .round = ulp_mpfr_round,
    .round64 = ulp_mpfr_round64,
    .map = ulp_mpfr_map,
    .update = ulp_mpfr_update,
    .largest = ulp_mpfr_largest,
    .reduce = ulp_mpfr_reduce,
    .gemm = ulp_mpfr_gemm,
    .gemm64 = ulp_mpfr_gemm64,
    .im2col = ulp_cpu_im2col_baseline,
    .permute = ulp_cpu_permute_baseline,
    .narrow = ulp_mpfr_narrow,
    .scale = ulp_mpfr_scale,
    .relu = ulp_mpfr_relu,
    .relu_slope = ulp_mpfr_relu_slope,
    .activate = ulp_mpfr_activate,
    .activate_slope = ulp_mpfr_activate_slope,
    .pool = ulp_mpfr_pool,
    .pool_slope = ulp_mpfr_pool_slope,
    .pool_strided = ulp_mpfr_pool_strided,
    .pool_strided_slope = ulp_mpfr_pool_strided_slope,
    .average = ulp_mpfr_average,
    .average_slope = ulp_mpfr_average_slope,
    .upsample = ulp_mpfr_upsample,
    .upsample_slope = ulp_mpfr_upsample_slope,
    .norm_statistics = ulp_mpfr_norm_statistics,
    .norm_running = ulp_mpfr_norm_running,
    .norm = ulp_mpfr_norm,
    .norm_sums = ulp_mpfr_norm_sums,
    .norm_slope = ulp_mpfr_norm_slope,
    .dropout = ulp_mpfr_dropout,
    .softmax = ulp_mpfr_softmax,
    .softmax_slope = ulp_mpfr_softmax_slope,
    .cell = ulp_mpfr_cell,
    .ctc_outputs = ulp_mpfr_ctc_outputs,
    .ctc = ulp_mpfr_ctc,
};

ulp_status ulp_mpfr_backend(const ulp_backend **backend) {
    *backend = &table;
    return ULP_OK;
}

const char *ulp_mpfr_lacks(void) { return ""; }
