/* trees.h - settings, points and rows of trees, shared by its search and its claims. */
#ifndef ULP_EXPERIMENT_TREES_H
#define ULP_EXPERIMENT_TREES_H

#include "experiments/harness/experiment.h"

typedef struct settings {
    ulp_datapath_list datapaths;
    int64_t products;
} settings;

typedef struct point {
    const ulp_datapath *datapath;
} point;

/* A node of a tree, at its place in the figure (ulp_order_place).
 *   term   c, or the k of a product; a sum has none
 *   terms  number of terms below
 *   over   the sum that takes the node: an addition of two, more terms that are aligned (fused), or more that are added
 *          exactly; the last sum has none
 *   over_line, over_height  the place of that sum
 *   tree   the whole tree in brackets, in the row of the last sum */
typedef struct row {
    const char *datapath;
    int64_t node, terms;
    const char *term;
    const char *over;
    double line, height, over_line, over_height;
    const char *tree;
} row;

#endif
