/* codes.h - whole products as codes: those that a native product writes, and those of a model on the CPU. */
#ifndef ULP_CHECK_CODES_H
#define ULP_CHECK_CODES_H

#include "check.h"

/* The operands of one product, as floats and as doubles; codes that the device and the model gave. */
typedef struct matrices {
    size_t m, n, k;
    int accumulate;   /* on C */
    int wide;         /* to the device as doubles */
    float *a, *b, *c; /* (m,k), (k,n), (m,n) */
    double *wide_a, *wide_b, *wide_c;
    uint64_t *got, *want; /* (m,n) */
} matrices;

/* All arrays, zeros, for the sizes that are set; free takes them back. */
void matrices_alloc(matrices *x);
void matrices_free(matrices *x);
ulp_gemm_shape matrices_shape(const matrices *x);

/* got: codes as the hardware wrote them. 0 if a call failed, and the row says which. */
int device_codes(const check *c, row *r, matrices *x, const ulp_cuda_native *d);
/* want: codes of the datapath's results on the CPU, which take the place of C. 0 if a call failed. */
int model_codes(const check *c, row *r, matrices *x, const ulp_datapath *path);

#endif
