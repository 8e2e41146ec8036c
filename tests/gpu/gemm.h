/* gemm.h - the operands of a product, and the product on both backends, shared by the checks of matrix products. */
#ifndef ULP_CHECK_GEMM_H
#define ULP_CHECK_GEMM_H

#include "check.h"

/* Kinds of operands. */
typedef enum { ORDINARY, SPECIAL, LARGE, SMALL, ANY, ZEROS, DATA } data;

/* Bits of `layout`: the layout of the arrays, start values, missing scales, and a stream with a large first index. */
enum {
    A_TRANS = 1,
    B_TRANS = 2,
    C_TRANS = 4,
    PADDED = 8,
    ACCUMULATE = 16,
    NO_A_SCALES = 32,
    NO_B_SCALES = 64,
    FAR_STREAM = 128,
    LAYOUTS = 256
};

typedef struct product {
    const ulp_datapath *d;
    size_t m, n, k;
    unsigned layout;
    data kind;
    int wide; /* gemm64 on doubles */
    uint64_t seed;
} product;

/* Host arrays of a product: floats, or doubles if wide. */
typedef struct arrays {
    ulp_gemm_shape s;
    void *a, *b, *c, *got;
    float *scales[2];
    size_t a_size, b_size, c_size, scale_size[2]; /* elements */
} arrays;

/* Element i = x, in an array of floats, or of doubles if wide. */
void put(void *array, size_t i, double x, int wide);
/* Allocate and fill the arrays of a product. NaN fills the gaps between the rows of A and B: a kernel that reads a gap
 * gives NaN. */
void arrays_make(arrays *x, const product *p);
void arrays_drop(arrays *x);

/* gemm or gemm64 of the backend. */
ulp_status multiply(const ulp_backend *k, void *c, const void *a, const void *b, const ulp_gemm_shape *s,
                    const product *p, ulp_stream stream);
/* x->got = the product of x on the device. */
ulp_status on_device(const check *c, row *r, arrays *x, const product *p, ulp_stream stream);
/* *d = the datapath `name`. Returns 0, and makes the row fail, if there is none. */
int parsed(row *r, ulp_datapath *d, const char *name);

/* gemm_special.c */
void check_special_products(const check *c);

#endif
