/* split_k_gemm.h - matrix products whose sums have parts (products/split_k.h), on any backend. */
#ifndef ULP_SPLIT_K_GEMM_H
#define ULP_SPLIT_K_GEMM_H

#include "backend.h"

/* The product of ulp_backend_gemm, or of ulp_backend_gemm64, under a datapath with split_k: each part is a product of
 * the backend, and the parts are added on the host. */
ulp_status ulp_split_k_gemm(const ulp_backend *backend, float *c, const float *a, const float *b,
                            const ulp_gemm_shape *shape, const ulp_datapath *datapath);
ulp_status ulp_split_k_gemm64(const ulp_backend *backend, double *c, const double *a, const double *b,
                              const ulp_gemm_shape *shape, const ulp_datapath *datapath);

#endif
