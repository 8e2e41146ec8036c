/* summation_tree.h - in which order a device adds the products of a sum: its summation tree, found from results alone.
 *
 * Products are u, except M at i and -M at j with M so large that it swallows every u it meets: what is left of the
 * result are the terms that join after M and -M have met, so it tells how many products lie below their first common
 * node. A few such numbers give the tree (FPRev: Xie et al. 2024, arXiv 2411.00442). Sums of more than two terms at
 * once, as Tensor Cores form them, are nodes with more than two children: there M swallows everything beside it. A sum
 * of several terms that loses nothing before it is rounded (blockN:, exact:) shows no tree.
 */
#ifndef ULP_ORDER_H
#define ULP_ORDER_H

#include "unit.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ULP_ORDER_NONE = -1 };

/* A product (leaf at or above 0), or the sum of what its children are. Children come in the order of their first
 * product. */
typedef struct ulp_order_node {
    int32_t leaf, child,
        next;     /* k of a product; first child; next of the same parent: ULP_ORDER_NONE where there is none */
    int32_t size; /* products below it */
} ulp_order_node;

typedef struct ulp_order {
    ulp_order_node *node;
    int32_t count, root, k;
    uint64_t runs; /* sums that the device formed */
} ulp_order;

/* The tree of a sum of k products from c = 0. ULP_NOT_IN_RANGE if k u is not exact in the result's format or M does not
 * swallow it; ULP_UNSUPPORTED if the answers fit no tree; what the device says. End it with ulp_order_free. */
ulp_status ulp_order_find(ulp_order *order, const ulp_unit *unit, size_t k);
void ulp_order_free(ulp_order *order);

/* L, if the sum is a chain: L products at a time in the order of k, the last of them perhaps fewer; else 0. */
size_t ulp_order_chain(const ulp_order *order);

/* The tree in words: "0-63 by 16" is a chain, "0-15" products added at once, "(x + y)" the sum of parts; "..." where
 * `size` bytes do not hold it. */
void ulp_order_text(char *to, size_t size, const ulp_order *order);

#ifdef __cplusplus
}
#endif
#endif
