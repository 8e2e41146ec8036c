/* multiword_gemm.h - matrix products with several words for each operand, on any backend. */
#ifndef ULP_MULTIWORD_GEMM_H
#define ULP_MULTIWORD_GEMM_H

#include "backend.h"

/* The product of ulp_backend_gemm under a datapath with words: each sum of words is a product of the backend. */
ulp_status ulp_multiword_gemm(const ulp_backend *backend, float *c, const float *a, const float *b,
                              const ulp_gemm_shape *shape, const ulp_datapath *datapath);

#endif
