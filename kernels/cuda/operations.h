/* operations.h - the functions of the backend table. Each function is in the source named for its family. */
#ifndef ULP_CUDA_OPERATIONS_H
#define ULP_CUDA_OPERATIONS_H

#include "kernels/backend.h"

/* ulp_cuda_NAME for each row NAME of operations.def, which documents it. */
#define ULP_OPERATION(name, cpu, cuda, mpfr, parameters, ...) ulp_status ulp_cuda_##name parameters;
#include "kernels/operations.def"

/* Releases memory of the backend; arrays in it are no longer kept. */
void ulp_cuda_release_array(void *memory);
ulp_status ulp_cuda_keep(const float *x, size_t n);
void ulp_cuda_forget(const float *x, size_t n);
ulp_status ulp_cuda_settle(void);

#endif
