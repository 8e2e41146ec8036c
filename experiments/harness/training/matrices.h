/* matrices.h - the matrices of a product in backend memory: C = A B under a datapath, and exactly. */
#ifndef ULP_MATRICES_H
#define ULP_MATRICES_H

#include "sim/tensor.h"

/* C (m,m) = A (m,k) B (k,m), in backend memory. b holds the columns of B. */
typedef struct ulp_matrices {
    size_t m, k;
    float *a, *b, *c;        /* a (m,k), b (m,k), c (m,m) */
    double *a64, *b64, *c64; /* the same matrices for exact products */
} ulp_matrices;

/* Takes the matrices from an arena, as sim/tensor.h describes. Sets m and k. */
void ulp_matrices_carve(ulp_matrices *to, ulp_arena *arena, size_t m, size_t k);

/* Uploads a (m,k) and b (m,k) from host memory. An operand stays as it is if its argument is NULL. */
ulp_status ulp_matrices_upload(const ulp_backend *backend, const ulp_matrices *to, const float *a, const float *b);

/* to (m,m), in host memory, gets the product of the uploaded matrices. */
ulp_status ulp_matrices_multiply(const ulp_backend *backend, float *to, const ulp_matrices *of,
                                 const ulp_datapath *datapath, ulp_stream stream);

/* to (m,m) gets the exact product of a64 (m,k) and b64 (m,k), rounded once to binary64. All three are in host
 * memory. */
ulp_status ulp_matrices_multiply_exactly(const ulp_backend *backend, double *to, const ulp_matrices *by,
                                         const double *a64, const double *b64);

#endif
