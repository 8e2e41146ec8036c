/* draw.c - summation trees on a terminal and as rows of a CSV. */
#include "tree.h"

#include <stdlib.h>
#include <string.h>

enum { LABEL = 6, STEP = 2 };

/* The places of all nodes, which the caller frees. */
static ulp_order_place *places_of(const ulp_order *o) {
    ulp_order_place *place = ulp_grow(NULL, (size_t)o->count * sizeof *place);
    ulp_order_places(place, o);
    return place;
}

static size_t column_of(const ulp_order_place *place) { return (size_t)(LABEL + STEP * place->height); }

/* The line of characters of a node: a node between two lines is on the upper one. */
static int32_t line_of(const ulp_order_place *place) { return (int32_t)place->line; }

/* The lines of one sum: from its children to the upright, and the upright. */
static void draw_sum(char *grid, size_t width, const ulp_order *o, const ulp_order_place *place, int32_t at) {
    const size_t x = column_of(&place[at]);
    const char joint = o->node[at].exact ? '#' : '+';
    int32_t first = -1, last = 0;
    for (int32_t e = o->node[at].child; e != ULP_ORDER_NONE; e = o->node[e].next) {
        for (size_t i = column_of(&place[e]) + 1; i < x; i++) grid[(size_t)line_of(&place[e]) * width + i] = '-';
        if (first < 0) first = line_of(&place[e]);
        last = line_of(&place[e]);
    }
    for (int32_t i = first; i <= last; i++) grid[(size_t)i * width + x] = '|';
    for (int32_t e = o->node[at].child; e != ULP_ORDER_NONE; e = o->node[e].next)
        grid[(size_t)line_of(&place[e]) * width + x] = joint;
    grid[(size_t)line_of(&place[at]) * width + x] = joint;
    if (at == o->root) grid[(size_t)line_of(&place[at]) * width + x + 1] = '-';
}

static void draw_all(char *grid, size_t width, const ulp_order *o, const ulp_order_place *place) {
    for (int32_t at = 0; at < o->count; at++) {
        char label[LABEL + 6];
        if (place[at].parent == ULP_ORDER_NONE) continue;
        if (o->node[at].child != ULP_ORDER_NONE) {
            draw_sum(grid, width, o, place, at);
            continue;
        }
        if (o->node[at].leaf == ULP_ORDER_C) strcpy(label, "    c");
        else snprintf(label, sizeof label, "%5d", o->node[at].leaf);
        memcpy(grid + (size_t)line_of(&place[at]) * width, label, 5);
    }
}

int tool_tree_draw(const ulp_order *o, int columns, int lines) {
    ulp_order_place *place = places_of(o);
    char *grid = NULL;
    const int32_t used = o->node[o->root].size; /* a line for each term */
    const size_t width = column_of(&place[o->root]) + 2;
    if (used <= lines && width <= (size_t)columns) grid = ulp_grow(NULL, (size_t)used * width);
    if (grid != NULL) {
        memset(grid, ' ', (size_t)used * width);
        draw_all(grid, width, o, place);
        for (int32_t i = 0; i < used; i++) {
            size_t end = width;
            while (end > 0 && grid[(size_t)i * width + end - 1] == ' ') end--;
            printf("%.*s\n", (int)end, grid + (size_t)i * width);
        }
    }
    free(place);
    free(grid);
    return grid != NULL;
}

void tool_tree_csv(const char *device, const ulp_order *o) {
    ulp_order_place *place = places_of(o);
    puts("device,node,parent,kind,k,terms,height,line");
    for (int32_t at = 0; at < o->count; at++) {
        const ulp_order_node *n = &o->node[at];
        const int is_term = n->child == ULP_ORDER_NONE;
        if (place[at].parent == ULP_ORDER_NONE) continue;
        printf("%s,%d,", device, at);
        if (at != o->root) printf("%d", place[at].parent);
        printf(",%s,", !is_term ? (n->exact ? "exact sum" : "sum") : (n->leaf < 0 ? "c" : "product"));
        if (is_term && n->leaf >= 0) printf("%d", n->leaf);
        printf(",%d,%d,%d\n", n->size, place[at].height, line_of(&place[at]));
    }
    free(place);
}
