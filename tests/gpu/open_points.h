/* open_points.h - the open points of the models of Tensor Cores: questions that no publication settles, and the sums
 * that do. */
#ifndef ULP_CHECK_OPEN_POINTS_H
#define ULP_CHECK_OPEN_POINTS_H

#include "kernels/cuda/cuda.h"

enum { POINT_ANSWERS = 5, POINT_PRODUCTS = 128 };

/* One sum: c and k products. k is a whole number of instructions, so that nothing is padded. */
typedef struct point_sum {
    double c, a[POINT_PRODUCTS], b[POINT_PRODUCTS];
    size_t k;
} point_sum;

/* A possible answer. The datapath of a product is `path`, in which * stands for the product's model, # for the model's
 * floor, ^ and ~ for one more and one less, % for the product's operands ("bf16-k8"), and & for them without an ending
 * ("bf16"). length is the number of products between two clamps of int8, 0 for the datapath's own. */
typedef struct point_answer {
    const char *path;
    unsigned length;
    const char *says;
} point_answer;

/* A point. The reference is the answer whose datapath is the product's model, or the first answer. */
typedef struct open_point {
    const char *name, *question;
    const char *source; /* publications that disagree or are silent */
    const char *field;  /* what the answer sets; "its row" is in kernels/products/datapath_rows.c */
    int (*asked)(const ulp_cuda_native *product, int capability);
    /* Forms the i-th sum for datapath `now`, the first answer. Many sums do not tell the answers apart. */
    void (*form)(point_sum *s, const ulp_datapath *now, uint64_t i);
    point_answer answer[POINT_ANSWERS];
} open_point;

/* Point i; NULL past the end. */
const open_point *open_point_get(size_t i);

/* The datapath of answer `which` for a product. 0 if this answer cannot be given. */
int open_point_path(ulp_datapath *path, const open_point *p, size_t which, const ulp_cuda_native *product);

#endif
