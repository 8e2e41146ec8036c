/* gemm_aligned.c - the product on Tensor Core rows. */
#include "gemm.h"

ulp_status ULP_CPU(ulp_gemm_aligned)(const ulp_job *job) {
    (void)job;
    return ULP_UNSUPPORTED;
}
