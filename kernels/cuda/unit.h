/* unit.h - native products as devices for the prober, one sum at a time. */
#ifndef ULP_CUDA_UNIT_H
#define ULP_CUDA_UNIT_H

#include "cuda.h"
#include "kernels/products/unit.h"

ULP_C_BEGIN

/* The product of A (1,k) and B (k,1) on C (1,1) by the native product, which must exist as long as the device. The rest
 * of the tile is zeros. Where the device cannot run the product, every call of dot returns the reason as its status. */
ulp_unit ulp_cuda_unit_of(const ulp_cuda_native *native);

/* A sum as element (0,0) of a product (m,n) whose other rows and columns are zeros. For each size a library may choose
 * another kernel, and so another order of the sum. A start value of +0 gives a product without C. */
typedef struct ulp_cuda_place {
    const ulp_cuda_native *native;
    size_t m, n;
} ulp_cuda_place;
ulp_unit ulp_cuda_unit_in(const ulp_cuda_place *place);

ULP_C_END
#endif
