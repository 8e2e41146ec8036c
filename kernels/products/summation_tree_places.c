/* summation_tree_places.c - where each node of a summation tree is drawn. */
#include "summation_tree.h"

void ulp_order_places(ulp_order_place *place, const ulp_order *o) {
    for (int32_t i = 0; i < o->count; i++) place[i] = (ulp_order_place){0, 0, ULP_ORDER_NONE};
    place[o->root].parent = o->root;
    /* From the root down: line is the first line below the node. */
    for (int32_t at = o->root; at >= 0; at--) {
        double line = place[at].line;
        if (place[at].parent == ULP_ORDER_NONE) continue;
        for (int32_t e = o->node[at].child; e != ULP_ORDER_NONE; e = o->node[e].next) {
            place[e].parent = at;
            place[e].line = line;
            line += o->node[e].size;
        }
    }
    /* From the terms up: line is between the lines of the first child and of the last. */
    for (int32_t at = 0; at <= o->root; at++) {
        const int32_t first = o->node[at].child;
        int32_t last = first;
        if (place[at].parent == ULP_ORDER_NONE || first == ULP_ORDER_NONE) continue;
        for (int32_t e = first; e != ULP_ORDER_NONE; e = o->node[e].next) {
            if (place[e].height >= place[at].height) place[at].height = place[e].height + 1;
            last = e;
        }
        place[at].line = (place[first].line + place[last].line) / 2;
    }
}
