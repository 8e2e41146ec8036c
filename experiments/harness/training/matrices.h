/* matrices.h - the matrices of a product in host and backend memory: C = A B under a datapath, and exactly. */
#ifndef ULP_MATRICES_H
#define ULP_MATRICES_H

#include "sim/tensor.h"

/* The matrices of C (m,n) = A (m,k) B (k,n) in one memory. b holds the columns of B. */
typedef struct ulp_matrices {
    float *a, *b, *c;        /* a (m,k), b (n,k), c (m,n) */
    double *a64, *b64, *c64; /* the same matrices for exact products */
} ulp_matrices;

typedef struct ulp_product {
    size_t m, n, k;
    ulp_matrices host, device; /* in host memory and in backend memory */
    double *other;             /* (m,n), host memory, for the caller */
    int wide;                  /* 1: with a64, b64, c64 and other */
    ulp_arena arena;
} ulp_product;

/* Takes the memory of a product. ulp_product_close() follows, whatever the status is. */
ulp_status ulp_product_open(ulp_product *p, const ulp_backend *backend, size_t m, size_t n, size_t k, int wide);
void ulp_product_close(ulp_product *p);

/* Copies host.a and host.b to the backend. */
ulp_status ulp_product_upload(const ulp_product *p);

/* host.c = the product of the uploaded matrices under a datapath. */
ulp_status ulp_product_multiply(const ulp_product *p, const ulp_datapath *datapath, ulp_stream stream);

/* to (m,n), host memory = the exact product of host.a64 and host.b64, rounded once to binary64. */
ulp_status ulp_product_multiply_exactly(const ulp_product *p, double *to);

#endif
