/* summation_tree.h - the summation tree of a device: the order in which it adds terms, found from results alone.
 *
 * In a test sum all terms are u, except M at i and -M at j. M is so large that M + u = M. The result has only the terms
 * that are added after M and -M cancel, so it gives the number of terms that are lost: those below the first common
 * node of i and j. A few of these numbers give the tree (FPRev: Xie et al. 2025, arXiv 2411.00442). Two kinds of nodes
 * add more than two terms at once:
 *   - a fused sum, as in Tensor Cores, aligns its terms, so M absorbs all other terms of the node;
 *   - an exact sum (blockN:, exact:) loses nothing before its rounding: M absorbs only terms below the same child.
 * An exact sum of two terms is the same as an addition.
 */
#ifndef ULP_SUMMATION_TREE_H
#define ULP_SUMMATION_TREE_H

#include "unit.h"

ULP_C_BEGIN

/* The leaf of an inner node and the end of a list of children; the leaf of the start value c. */
enum { ULP_ORDER_NONE = -1, ULP_ORDER_C = -2 };

/* A node: a term (leaf is the k of a product, or ULP_ORDER_C), or the sum of its children. Children are in the order of
 * their first product; c comes first. */
typedef struct ulp_order_node {
    int32_t leaf, child, next; /* next: the next sibling */
    int32_t size;              /* number of terms below the node */
    int32_t exact;             /* 1: the children are added without loss, then rounded once */
} ulp_order_node;

/* Children have smaller indices than their parent, and root is the last node. */
typedef struct ulp_order {
    ulp_order_node *node; /* (count) */
    int32_t count, root;
    int32_t k;      /* number of products */
    int32_t with_c; /* 1: c is a term, else all sums started at c = 0 */
    uint64_t runs;  /* number of sums that the device formed */
} ulp_order;

/* Finds the tree of a sum of k products, and of c if with_c is 1. Returns ULP_NOT_IN_RANGE if no M and u exist whose
 * sums can be counted, ULP_UNSUPPORTED if results are fixed-point numbers or fit no tree, or the status of the device,
 * where ULP_DEVICE_FAILED stands for its ULP_UNSUPPORTED. The caller frees the tree with ulp_order_free. */
ulp_status ulp_order_find(ulp_order *order, const ulp_unit *unit, size_t k, int with_c);
void ulp_order_free(ulp_order *order);

/* The largest number of terms for which M and u exist in the formats of the device; 0: for no sum. */
size_t ulp_order_limit(const ulp_unit *unit);

/* ---- on paper: summation_tree_places.c ---- */

/* The place of a node in a drawing: terms are on lines 0, 1, ... from the left of the tree to its right, and a sum is
 * halfway between its first child and its last. */
typedef struct ulp_order_place {
    double line;
    int32_t height; /* number of sums on the longest way from the node down to a term */
    int32_t parent; /* the sum that takes the node; the root takes itself; ULP_ORDER_NONE: not in the tree */
} ulp_order_place;

/* Fills place[i] for each node i of `order`. */
void ulp_order_places(ulp_order_place *place, const ulp_order *order);

/* ---- in words: summation_tree_text.c ---- */

/* L if the tree is a chain: L products at a time in the order of k, perhaps fewer in the last sum; c, if it is a term,
 * is in the first sum. Else 0. */
size_t ulp_order_chain(const ulp_order *order);

/* Writes the tree with brackets:
 *   - (x y z) is the sum of x, y and z; [x y z] is an exact sum
 *   - 0-15 and 0-24/8: the terms 0, 1, ..., 15 and 0, 8, 16, 24
 * If `whole` is 0, there are two short forms:
 *   - {x 0-63:16}: the terms are added to x in their order, 16 at a time; :[16] in exact sums; without :16 one at a
 * time
 *   - <0-15>: a binary tree, whose left part has the largest power of two below the number of terms
 * "..." replaces the end of a text that does not fit `size` bytes. */
void ulp_order_text(char *to, size_t size, const ulp_order *order, int whole);

/* Writes a sentence about the tree without a full stop: "serial, one product at a time in the order of k". */
void ulp_order_shape(char *to, size_t size, const ulp_order *order);

/* Number of sums on the longest way from a term to the result. */
int32_t ulp_order_depth(const ulp_order *order);

ULP_C_END
#endif
