/* tensor.h - families of arrays: one allocation of backend memory, and the arrays carved from it.
 *
 * A tensor is a plain float pointer, row-major, its shape in the comment where it is declared. Tensors
 * that live and die together form a family. The carving code runs twice: first on an empty family, where
 * it only counts, then, after ulp_family_alloc, on the memory:
 *
 *     ulp_family_init(&f, backend);
 *     carve(model, &f); ulp_family_alloc(&f); carve(model, &f);
 */
#ifndef ULP_TENSOR_H
#define ULP_TENSOR_H

#include "kernels/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ulp_family {
    const ulp_backend *backend;
    unsigned char *memory; /* NULL while counting */
    size_t bytes;          /* of memory */
    size_t used;
} ulp_family;

void ulp_family_init(ulp_family *family, const ulp_backend *backend);

/* The next n floats, doubles or bytes, at a multiple of 64 bytes; NULL while counting. */
float *ulp_family_take(ulp_family *family, size_t n);
double *ulp_family_take64(ulp_family *family, size_t n);
uint8_t *ulp_family_take8(ulp_family *family, size_t n);

/* Get what has been counted, zeroed, and start again at its beginning. */
ulp_status ulp_family_alloc(ulp_family *family);

/* Give the memory back; a family of zeros is fine. */
void ulp_family_release(ulp_family *family);

/* x (n) = value. */
ulp_status ulp_tensor_fill(const ulp_backend *backend, float *x, size_t n, float value);

/* y (n) = x (n), which does not overlap it; ULP_UNSUPPORTED if the backend cannot move elements. */
ulp_status ulp_tensor_copy(const ulp_backend *backend, float *y, const float *x, size_t n);

#ifdef __cplusplus
}
#endif
#endif
