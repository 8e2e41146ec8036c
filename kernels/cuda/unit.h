/* unit.h - native products as devices that the prober can ask: one sum at a time. */
#ifndef ULP_CUDA_UNIT_H
#define ULP_CUDA_UNIT_H

#include "cuda.h"
#include "kernels/products/unit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A (1,k) times B (k,1) on C (1,1) by the native product, which has to live as long; the rest of its tile is zeros.
 * What keeps the device from it is the status of every question. */
ulp_unit ulp_cuda_unit_of(const ulp_cuda_native *native);

/* The same sum as element (0,0) of a product (m,n) whose other rows and columns are zeros: a library may choose another
 * kernel, and with it another order, for each size. A start of +0 is no C at all. */
typedef struct ulp_cuda_place {
    const ulp_cuda_native *native;
    size_t m, n;
} ulp_cuda_place;
ulp_unit ulp_cuda_unit_in(const ulp_cuda_place *place);

#ifdef __cplusplus
}
#endif
#endif
