/* summation_tree.h - the summation tree of a device: the order in which it adds products, found from results alone.
 *
 * In a test sum all products are u, except M at i and -M at j. M is so large that M + u = M. The result has only the
 * terms that are added after M and -M cancel, so it gives the number of products below the first common node of i and
 * j. A few of these numbers give the tree (FPRev: Xie et al. 2024, arXiv 2411.00442). A sum of more than two terms at
 * once, as in Tensor Cores, is a node with more than two children: M absorbs all other terms of the node. A sum of
 * several terms that loses no bits before its rounding (blockN:, exact:) shows no tree.
 */
#ifndef ULP_ORDER_H
#define ULP_ORDER_H

#include "unit.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ULP_ORDER_NONE = -1 };

/* A node: a product (leaf >= 0), or the sum of its children. Children are in the order of their first product. */
typedef struct ulp_order_node {
    int32_t leaf, child, next; /* k of a product; first child; next sibling: ULP_ORDER_NONE if there is none */
    int32_t size;              /* number of products below the node */
} ulp_order_node;

typedef struct ulp_order {
    ulp_order_node *node;
    int32_t count, root, k;
    uint64_t runs; /* number of sums that the device formed */
} ulp_order;

/* Finds the tree of a sum of k products from c = 0. Returns ULP_NOT_IN_RANGE if k u is not exact in the result's format
 * or M does not absorb k u, ULP_UNSUPPORTED if the results fit no tree, or the status of the device. The caller frees
 * the tree with ulp_order_free. */
ulp_status ulp_order_find(ulp_order *order, const ulp_unit *unit, size_t k);
void ulp_order_free(ulp_order *order);

/* L if the tree is a chain: L products at a time in the order of k, perhaps fewer in the last sum. Else 0. */
size_t ulp_order_chain(const ulp_order *order);

/* Writes the tree in words: "0-63 by 16" is a chain, "0-15" is products added at once, "(x + y)" is the sum of parts.
 * "..." replaces a text that does not fit `size` bytes. */
void ulp_order_text(char *to, size_t size, const ulp_order *order);

#ifdef __cplusplus
}
#endif
#endif
