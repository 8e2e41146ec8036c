/* matrices.h - a product's matrices in the memory of the backend: C = A B under a datapath, and exactly. */
#ifndef ULP_MATRICES_H
#define ULP_MATRICES_H

#include "sim/tensor.h"

/* C (m,m) = A (m,k) B (k,m), B as its columns. Backend memory. */
typedef struct ulp_matrices {
    size_t m, k;
    float *a, *b, *c;        /* a (m,k), b (m,k), c (m,m) */
    double *a64, *b64, *c64; /* the same for exact products */
} ulp_matrices;

/* Carve them from a family, as sim/tensor.h describes; m and k are set here. */
void ulp_matrices_carve(ulp_matrices *to, ulp_family *family, size_t m, size_t k);

/* a (m,k) and b (m,k) are the host's; NULL leaves that operand alone. */
ulp_status ulp_matrices_upload(const ulp_backend *backend, const ulp_matrices *to, const float *a, const float *b);

/* to (m,m), the host's: the product of what was uploaded. */
ulp_status ulp_matrices_multiply(const ulp_backend *backend, float *to, const ulp_matrices *of,
                                 const ulp_datapath *datapath, ulp_stream stream);

/* to (m,m) = the exact product of a64 (m,k) and b64 (m,k), rounded once to binary64; all three are the host's. */
ulp_status ulp_matrices_multiply_exactly(const ulp_backend *backend, double *to, const ulp_matrices *by,
                                         const double *a64, const double *b64);

#endif
