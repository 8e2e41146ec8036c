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

/* A node of a tree. term: c, or the k of a product; a sum has none. terms: the number of terms
 * below. over: the sum that takes the node: an addition of two, more terms that are aligned (fused), or more that are
 * added exactly. line: the mean line of its children, where term i is on line i. height:
 * the number of sums below, on the longest way. over_*: the place of the sum that
 * takes the node; the last sum has none. tree:
 * the whole tree in brackets, on the line of the last sum. */
typedef struct row {
    const char *datapath;
    int64_t node, terms;
    const char *term;
    const char *over;
    double line, height, over_line, over_height;
    const char *tree;
} row;

#endif
