/* operands.h - ulp vectors: operands of sums of products, of eight kinds. */
#ifndef ULP_TOOL_VECTORS_OPERANDS_H
#define ULP_TOOL_VECTORS_OPERANDS_H

#include "file.h"
#include "kernels/products/datapath.h"

/* The kinds of sums, in the order of their numbers. */
#define VECTORS_KINDS "random", "near", "cancel", "subnormal", "edge", "special", "carry", "zero"
enum { VECTORS_KIND_COUNT = 8, VECTORS_LONGEST = 128 };

/* A datapath, the formats of its operands, and the number of products about which lengths are chosen. */
typedef struct vectors_product {
    ulp_datapath datapath;
    ulp_format a, b;
    size_t block; /* at most VECTORS_LONGEST / 2 */
} vectors_product;

/* A sum: codes, and the code of the result. */
typedef struct vectors_sum {
    size_t k, blocks;
    uint64_t c, a[VECTORS_LONGEST], b[VECTORS_LONGEST], result;
    uint64_t a_scales[VECTORS_LONGEST], b_scales[VECTORS_LONGEST];
} vectors_sum;

/* *sum = sum number i of a datapath, of kind i mod VECTORS_KIND_COUNT, with its result. Returns the status of
 * ulp_datapath_code. */
ulp_status vectors_sum_make(vectors_sum *sum, const vectors_product *product, uint64_t i, vectors_draw *draw);

#endif
