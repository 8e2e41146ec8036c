// table.cu - the backend table of the CUDA device.
#include "device.h"
#include "operations.h"

#include <stdio.h>

static char what[320];

static const ulp_backend table = {
    /* name */ "cuda",
    what,
    /* alloc */ ulp_cuda_room,
    ulp_cuda_release_array,
    ulp_cuda_upload,
    ulp_cuda_download,
    ulp_cuda_round,
    ulp_cuda_round64,
    ulp_cuda_map,
    ulp_cuda_update,
    ulp_cuda_largest,
    ulp_cuda_reduce,
    ulp_cuda_gemm,
    ulp_cuda_gemm64,
    ulp_cuda_im2col,
    ulp_cuda_permute,
    ulp_cuda_narrow,
    ulp_cuda_scale,
    ulp_cuda_relu,
    ulp_cuda_relu_slope,
    ulp_cuda_activate,
    ulp_cuda_activate_slope,
    ulp_cuda_pool,
    ulp_cuda_pool_slope,
    ulp_cuda_pool_strided,
    ulp_cuda_pool_strided_slope,
    ulp_cuda_average,
    ulp_cuda_average_slope,
    ulp_cuda_upsample,
    ulp_cuda_upsample_slope,
    ulp_cuda_norm_statistics,
    ulp_cuda_norm_running,
    ulp_cuda_norm,
    ulp_cuda_norm_sums,
    ulp_cuda_norm_slope,
    ulp_cuda_dropout,
    ulp_cuda_softmax,
    ulp_cuda_softmax_slope,
    ulp_cuda_cell,
    ulp_cuda_ctc_outputs,
    ulp_cuda_ctc,
    /* gemm_round */ nullptr,
    ulp_cuda_keep,
    ulp_cuda_forget,
    ulp_cuda_settle,
};

ulp_status ulp_cuda_backend(const ulp_backend **backend) {
    if (backend == NULL) return ULP_BAD_ARGUMENT;
    ulp_status status = ulp_cuda_open();
    if (status != ULP_OK) return status;
    const ulp_cuda_info *info = ulp_cuda_device();
    snprintf(what, sizeof what, "%s, compute capability %d.%d", info->name, info->capability / 10,
             info->capability % 10);
    *backend = &table;
    return ULP_OK;
}
