/* draw.c - summation trees on a terminal and as rows of a CSV. */
#include "tree.h"

#include <stdlib.h>
#include <string.h>

enum { LABEL = 6, STEP = 2 };

/* The place of every node: its line, between the lines of its terms, and its height above its lowest term. */
typedef struct places {
    int32_t *line, *height, *depth; /* (count) */
    int32_t lines, highest;
} places;

static void place(const ulp_order *o, places *p, int32_t at, int32_t depth) {
    const ulp_order_node *n = &o->node[at];
    int32_t first = -1, last = 0;
    p->height[at] = 0;
    p->depth[at] = depth;
    if (n->child == ULP_ORDER_NONE) {
        p->line[at] = p->lines++;
        return;
    }
    for (int32_t e = n->child; e != ULP_ORDER_NONE; e = o->node[e].next) {
        place(o, p, e, depth + 1);
        if (first < 0) first = p->line[e];
        last = p->line[e];
        if (p->height[e] >= p->height[at]) p->height[at] = p->height[e] + 1;
    }
    p->line[at] = (first + last) / 2;
    if (p->height[at] > p->highest) p->highest = p->height[at];
}

static int place_all(places *p, const ulp_order *o) {
    const size_t bytes = (size_t)o->count * sizeof(int32_t);
    *p = (places){malloc(bytes), malloc(bytes), malloc(bytes), 0, 0};
    if (p->line == NULL || p->height == NULL || p->depth == NULL) return 0;
    for (int32_t i = 0; i < o->count; i++) p->depth[i] = -1; /* nodes that no parent has */
    place(o, p, o->root, 0);
    return 1;
}

static void forget(places *p) {
    free(p->line);
    free(p->height);
    free(p->depth);
}

static size_t column_of(const places *p, int32_t at) { return (size_t)(LABEL + STEP * p->height[at]); }

/* The lines of one sum: from its children to the upright, and the upright. */
static void draw_sum(char *grid, size_t width, const ulp_order *o, const places *p, int32_t at) {
    const size_t x = column_of(p, at);
    const char joint = o->node[at].exact ? '#' : '+';
    int32_t first = -1, last = 0;
    for (int32_t e = o->node[at].child; e != ULP_ORDER_NONE; e = o->node[e].next) {
        for (size_t i = column_of(p, e) + 1; i < x; i++) grid[(size_t)p->line[e] * width + i] = '-';
        if (first < 0) first = p->line[e];
        last = p->line[e];
    }
    for (int32_t i = first; i <= last; i++) grid[(size_t)i * width + x] = '|';
    for (int32_t e = o->node[at].child; e != ULP_ORDER_NONE; e = o->node[e].next)
        grid[(size_t)p->line[e] * width + x] = joint;
    grid[(size_t)p->line[at] * width + x] = joint;
    if (at == o->root) grid[(size_t)p->line[at] * width + x + 1] = '-';
}

static void draw_all(char *grid, size_t width, const ulp_order *o, const places *p) {
    for (int32_t at = 0; at < o->count; at++) {
        char label[LABEL + 6];
        if (p->depth[at] < 0) continue;
        if (o->node[at].child != ULP_ORDER_NONE) {
            draw_sum(grid, width, o, p, at);
            continue;
        }
        if (o->node[at].leaf == ULP_ORDER_C) strcpy(label, "    c");
        else snprintf(label, sizeof label, "%5d", o->node[at].leaf);
        memcpy(grid + (size_t)p->line[at] * width, label, 5);
    }
}

int tool_tree_draw(const ulp_order *o, int columns, int lines) {
    places p;
    char *grid = NULL;
    int drawn = place_all(&p, o);
    const size_t width = (size_t)(LABEL + STEP * p.highest + 2);
    drawn = drawn && p.lines <= lines && width <= (size_t)columns;
    if (drawn) grid = malloc((size_t)p.lines * width);
    if (grid != NULL) {
        memset(grid, ' ', (size_t)p.lines * width);
        draw_all(grid, width, o, &p);
        for (int32_t i = 0; i < p.lines; i++) {
            size_t end = width;
            while (end > 0 && grid[(size_t)i * width + end - 1] == ' ') end--;
            printf("%.*s\n", (int)end, grid + (size_t)i * width);
        }
    }
    forget(&p);
    free(grid);
    return grid != NULL;
}

void tool_tree_csv(const char *device, const ulp_order *o) {
    places p;
    puts("device,node,parent,kind,k,terms,height,line");
    if (place_all(&p, o)) {
        int32_t *parent = p.depth; /* the depth is not printed */
        for (int32_t at = 0; at < o->count; at++)
            for (int32_t e = o->node[at].child; p.depth[at] >= 0 && e != ULP_ORDER_NONE; e = o->node[e].next)
                p.depth[e] = at;
        parent[o->root] = o->root;
        for (int32_t at = 0; at < o->count; at++) {
            const ulp_order_node *n = &o->node[at];
            const int is_term = n->child == ULP_ORDER_NONE;
            if (parent[at] < 0) continue;
            printf("%s,%d,", device, at);
            if (at != o->root) printf("%d", parent[at]);
            printf(",%s,", !is_term ? (n->exact ? "exact sum" : "sum") : (n->leaf < 0 ? "c" : "product"));
            if (is_term && n->leaf >= 0) printf("%d", n->leaf);
            printf(",%d,%d,%d\n", n->size, p.height[at], p.line[at]);
        }
    }
    forget(&p);
}
