// table.cu - the backend table of the CUDA device.
#include "device.h"
#include "operations.h"

#include <stdio.h>

static char what[320];

// The function of a row of operations.def: of the column `cuda` or `none`.
#define FUNCTION_cuda(function) function
#define FUNCTION_none(function) nullptr

// C++17 has no designated initializers; the members of ulp_backend stand in the order of the rows.
static const ulp_backend table = {
    /* name */ "cuda",
    what,
    ULP_OF_GPU,
    /* alloc */ ulp_cuda_room,
    ulp_cuda_release_array,
    ulp_cuda_upload,
    ulp_cuda_download,
#define ULP_OPERATION(name, cpu, cuda, mpfr, ...) FUNCTION_##cuda(ulp_cuda_##name),
#include "kernels/operations.def"
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
