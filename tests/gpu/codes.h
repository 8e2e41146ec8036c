/* codes.h - matrix products as codes: of a native product on the device, and of its model on the CPU. */
#ifndef ULP_CHECK_CODES_H
#define ULP_CHECK_CODES_H

#include "check.h"

/* The operands of one product, as floats and as doubles; block scales; the codes of the device and of the model. */
typedef struct matrices {
    size_t m, n, k;
    int accumulate;   /* C is the start of the sums */
    int wide;         /* the device gets doubles */
    float *a, *b, *c; /* (m,k), (k,n), (m,n) */
    double *wide_a, *wide_b, *wide_c;
    size_t blocks;              /* block scales of a row of A and of a column of B; 0: the product has none */
    float *a_scales, *b_scales; /* (m, blocks), (n, blocks); NULL stands for scales of 1 */
    uint64_t *got, *want;       /* (m,n) */
} matrices;

/* Allocate all arrays for m, n, k and blocks, set to zero. */
void matrices_alloc(matrices *x);
void matrices_free(matrices *x);
/* The shape without scales. */
ulp_gemm_shape matrices_shape(const matrices *x);

/* got = the codes that the hardware writes. Returns 0 if a call failed; the row names the call. */
int device_codes(const check *c, row *r, matrices *x, const ulp_cuda_native *d);
/* want = the codes of the datapath's results on the CPU. The results overwrite C. Returns 0 if a call failed. */
int model_codes(const check *c, row *r, matrices *x, const ulp_datapath *path);

#endif
