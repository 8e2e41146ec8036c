/* summation_tree_text.c - summation trees in words: brackets with short forms, and sentences about their shape.
 *
 * The file is long because both forms describe the same runs, chains and binary trees, which the first half finds.
 */
#include "summation_tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The fewest sums of a chain, and terms of a binary tree, that get a short form. */
enum { SHORTEST_CHAIN = 3, SMALLEST_TREE = 8 };

static const ulp_order_node *node_at(const ulp_order *o, int32_t at) { return &o->node[at]; }
static int is_leaf(const ulp_order *o, int32_t at) { return o->node[at].leaf != ULP_ORDER_NONE; }

/* ---- runs of leaves ---- */

/* The leaves first, first + stride, ... of `count` siblings. */
typedef struct run {
    int32_t first, stride, count;
} run;

static int32_t last_of(run r) { return r.first + (r.count - 1) * r.stride; }

/* The longest run of products at the beginning of a list of siblings. *rest = the sibling after it. */
static run run_of(const ulp_order *o, int32_t at, int32_t *rest) {
    run r = {0, 1, 0};
    for (; at != ULP_ORDER_NONE && node_at(o, at)->leaf >= 0; at = node_at(o, at)->next) {
        const int32_t leaf = node_at(o, at)->leaf;
        if (r.count == 0) r.first = leaf;
        if (r.count == 1) r.stride = leaf - r.first;
        if (r.count > 1 && leaf != last_of(r) + r.stride) break;
        r.count++;
    }
    *rest = at;
    return r;
}

/* ---- chains ---- */

/* A subtree that adds `length` products at a time to `start`, in their order; the topmost sum may add fewer. */
typedef struct chain {
    int32_t start; /* a node, or ULP_ORDER_NONE: the first sum has only products */
    run all;       /* the products; a negative stride: from the last to the first */
    int32_t length, levels, exact;
} chain;

/* The parts of a node that adds a run of products to one other child. 0 if the node is something else. */
static int link_of(const ulp_order *o, int32_t at, int32_t *other, run *added) {
    int32_t rest;
    const int32_t first = node_at(o, at)->child;
    if (first == ULP_ORDER_NONE) return 0;
    *other = first;
    *added = run_of(o, node_at(o, first)->next, &rest);
    if (rest == ULP_ORDER_NONE && added->count > 0) return 1;
    *added = run_of(o, first, &rest); /* one product, then the other child */
    *other = rest;
    return added->count == 1 && rest != ULP_ORDER_NONE && node_at(o, rest)->next == ULP_ORDER_NONE && !is_leaf(o, rest);
}

/* Whether `below` then `above` are one run, and the stride of it. */
static int joins(run below, run above, int32_t *stride) {
    const int32_t step = above.first - last_of(below);
    if (step == 0 || (below.count > 1 && below.stride != step) || (above.count > 1 && above.stride != step)) return 0;
    if (*stride != 0 && *stride != step) return 0;
    *stride = step;
    return 1;
}

/* The first product of the lowest sum belongs to the run if it makes the first sum as long as the others. */
static void take_start(const ulp_order *o, chain *c, int32_t lowest) {
    const int32_t first = c->start != ULP_ORDER_NONE ? node_at(o, c->start)->leaf : ULP_ORDER_NONE;
    const int fits = lowest + 1 == c->length || c->length == 1;
    if (first < 0 || !fits || (c->all.count > 1 && first + c->all.stride != c->all.first)) return;
    if (c->all.count == 1) c->all.stride = c->all.first - first;
    c->all.first = first;
    c->all.count++;
    c->start = ULP_ORDER_NONE;
}

static chain chain_of(const ulp_order *o, int32_t top) {
    chain c = {ULP_ORDER_NONE, {0, 1, 0}, 0, 0, node_at(o, top)->exact};
    int32_t at = top, other = ULP_ORDER_NONE, stride = 0, lowest = 0;
    run added, below;
    if (!link_of(o, top, &other, &added)) return c;
    c.all = added;
    c.levels = 1;
    c.start = other;
    lowest = c.length = added.count;
    for (at = other; !is_leaf(o, at) && link_of(o, at, &other, &below); at = other) {
        if (is_leaf(o, other) && below.count == 1 && c.all.first < node_at(o, other)->leaf) { /* backwards */
            below.first = node_at(o, other)->leaf;
            other = node_at(o, other)->next;
        }
        /* a lowest sum of products alone */
        const int whole = is_leaf(o, other) && node_at(o, other)->leaf >= 0 && below.count + 1 == c.length;
        const int same = below.count == c.length || whole || (c.levels == 1 && below.count > c.length);
        const int binary = below.count == 1;
        if (!same && !(c.levels == 1 && is_leaf(o, other) && below.count + 1 >= c.length)) break;
        if (c.levels == 1 && c.length == 1) c.exact = node_at(o, at)->exact; /* a sum of two terms may be either */
        if ((node_at(o, at)->exact != c.exact && !binary) || !joins(below, c.all, &stride)) break;
        if (c.levels == 1 && below.count > c.length) c.length = below.count;
        c.all = (run){below.first, stride, below.count + c.all.count};
        lowest = below.count;
        c.start = other;
        c.levels++;
    }
    if (c.levels == 2 && lowest == c.length && c.length > 1 && is_leaf(o, c.start) && node_at(o, c.start)->leaf >= 0 &&
        node_at(o, c.start)->leaf + stride == c.all.first)
        c.length++; /* two sums: the lower one has one product more than a run */
    take_start(o, &c, lowest);
    return c;
}

/* ---- binary trees ---- */

static int32_t left_of(int32_t n) {
    int32_t left = 1;
    while (2 * left < n) left *= 2;
    return left;
}

/* Whether the subtree is the tree of a pairwise sum of n products, the first one `first`. */
static int is_pairwise(const ulp_order *o, int32_t at, int32_t first, int32_t stride, int32_t n) {
    const ulp_order_node *node = node_at(o, at);
    if (n == 1) return node->leaf == first;
    if (node->size != n || is_leaf(o, at)) return 0;
    const int32_t left = node->child, right = node_at(o, left)->next, half = left_of(n);
    if (right == ULP_ORDER_NONE || node_at(o, right)->next != ULP_ORDER_NONE) return 0;
    return is_pairwise(o, left, first, stride, half) && is_pairwise(o, right, first + half * stride, stride, n - half);
}

static int32_t first_of(const ulp_order *o, int32_t at) {
    while (!is_leaf(o, at)) at = node_at(o, at)->child;
    return node_at(o, at)->leaf;
}

/* The products of a pairwise tree; count = 0 if it is none. */
static run pairwise_of(const ulp_order *o, int32_t at) {
    int32_t low = at;
    run r = {first_of(o, at), 1, node_at(o, at)->size};
    if (r.count < 3) return (run){0, 1, 0};
    while (node_at(o, low)->size > 2 && !is_leaf(o, low)) low = node_at(o, low)->child;
    if (node_at(o, low)->size == 2) r.stride = node_at(o, node_at(o, node_at(o, low)->child)->next)->leaf - r.first;
    if (r.first < 0 || r.stride < 1 || !is_pairwise(o, at, r.first, r.stride, r.count)) r.count = 0;
    return r;
}

/* ---- text ---- */

typedef struct writer {
    char *to;
    size_t size, used;
    int whole, full;
} writer;

static void put(writer *w, const char *format, ...) {
    va_list list;
    char word[64];
    va_start(list, format);
    const size_t more = (size_t)vsnprintf(word, sizeof word, format, list);
    va_end(list);
    if (w->full || w->size < 4) return;
    if (w->used + more + 4 > w->size) {
        memcpy(w->to + w->used, "...", 4);
        w->full = 1;
        return;
    }
    memcpy(w->to + w->used, word, more + 1);
    w->used += more;
}

static void put_leaf(writer *w, int32_t leaf) {
    if (leaf == ULP_ORDER_C) put(w, "c");
    else put(w, "%d", leaf);
}

static void put_run(writer *w, run r) {
    if (r.stride == 1 || r.stride == -1) put(w, "%d-%d", r.first, last_of(r));
    else put(w, "%d-%d/%d", r.first, last_of(r), r.stride < 0 ? -r.stride : r.stride);
}

static void put_node(writer *w, const ulp_order *o, int32_t at);

static void put_list(writer *w, const ulp_order *o, int32_t at) {
    for (int first = 1; at != ULP_ORDER_NONE && !w->full; first = 0) {
        int32_t rest;
        const run r = run_of(o, at, &rest);
        if (!first) put(w, " ");
        if (r.count > 2) {
            put_run(w, r);
            at = rest;
        } else {
            put_node(w, o, at);
            at = node_at(o, at)->next;
        }
    }
}

static int put_chain(writer *w, const ulp_order *o, int32_t at) {
    const chain c = chain_of(o, at);
    if (c.levels < SHORTEST_CHAIN) return 0;
    put(w, "{");
    if (c.start != ULP_ORDER_NONE) {
        put_node(w, o, c.start);
        put(w, " ");
    }
    put_run(w, c.all);
    if (c.length > 1) put(w, c.exact ? ":[%d]" : ":%d", c.length);
    put(w, "}");
    return 1;
}

static int put_pairwise(writer *w, const ulp_order *o, int32_t at) {
    const run r = pairwise_of(o, at);
    if (r.count < SMALLEST_TREE) return 0;
    put(w, "<");
    put_run(w, r);
    put(w, ">");
    return 1;
}

static void put_node(writer *w, const ulp_order *o, int32_t at) {
    const ulp_order_node *n = node_at(o, at);
    if (is_leaf(o, at)) {
        put_leaf(w, n->leaf);
        return;
    }
    if (!w->whole && (put_chain(w, o, at) || put_pairwise(w, o, at))) return;
    put(w, n->exact ? "[" : "(");
    put_list(w, o, n->child);
    put(w, n->exact ? "]" : ")");
}

void ulp_order_text(char *to, size_t size, const ulp_order *order, int whole) {
    writer w = {.to = to, .size = size, .whole = whole};
    if (size == 0) return;
    to[0] = '\0';
    if (order != NULL && order->node != NULL) put_node(&w, order, order->root);
}

/* ---- shapes ---- */

static int is_all(const ulp_order *o, const chain *c) {
    const int free_start = c->start == ULP_ORDER_NONE || node_at(o, c->start)->leaf == ULP_ORDER_C;
    return free_start && c->all.count == o->k;
}

/* Whether the children of a node are leaves. */
static int is_flat(const ulp_order *o, int32_t at) {
    for (int32_t e = node_at(o, at)->child; e != ULP_ORDER_NONE; e = node_at(o, e)->next)
        if (!is_leaf(o, e)) return 0;
    return !is_leaf(o, at);
}

size_t ulp_order_chain(const ulp_order *order) {
    if (order == NULL || order->node == NULL) return 0;
    if (order->k == 1 && !order->with_c) return 1;
    const int32_t root = order->root;
    if (is_flat(order, root) && !node_at(order, root)->exact && order->k + order->with_c > 2) return (size_t)order->k;
    const chain c = chain_of(order, root);
    return c.levels > 0 && is_all(order, &c) && c.all.first == 0 && !c.exact ? (size_t)c.length : 0;
}

int32_t ulp_order_depth(const ulp_order *order) {
    int32_t deepest = 0;
    if (order == NULL || order->node == NULL || is_leaf(order, order->root)) return 0;
    /* the way down through the children; a list of siblings ends where its parent goes on */
    for (int32_t e = node_at(order, order->root)->child; e != ULP_ORDER_NONE; e = node_at(order, e)->next) {
        ulp_order below = *order;
        below.root = e;
        const int32_t depth = ulp_order_depth(&below);
        if (depth > deepest) deepest = depth;
    }
    return deepest + 1;
}

/* Lanes: chains of products with one stride, as many as the stride, which have most products. */
typedef struct lanes {
    int32_t stride, count, products;
} lanes;

static void find_lanes(const ulp_order *o, int32_t at, lanes *l) {
    const chain c = is_leaf(o, at) ? (chain){.levels = 0} : chain_of(o, at);
    if (c.levels > 0 && c.length == 1 && c.start == ULP_ORDER_NONE && c.all.stride > 1) {
        if (l->stride == 0) l->stride = c.all.stride;
        if (l->stride == c.all.stride) l->count++, l->products += c.all.count;
        return;
    }
    for (int32_t e = node_at(o, at)->child; e != ULP_ORDER_NONE; e = node_at(o, e)->next) find_lanes(o, e, l);
}

/* Whether two subtrees have the same shape, `shift` products apart. */
static int same_shape(const ulp_order *o, int32_t x, int32_t y, int32_t shift) {
    if (is_leaf(o, x) || is_leaf(o, y)) return node_at(o, x)->leaf + shift == node_at(o, y)->leaf;
    if (node_at(o, x)->exact != node_at(o, y)->exact) return 0;
    int32_t e = node_at(o, x)->child, f = node_at(o, y)->child;
    for (; e != ULP_ORDER_NONE && f != ULP_ORDER_NONE; e = node_at(o, e)->next, f = node_at(o, f)->next)
        if (!same_shape(o, e, f, shift)) return 0;
    return e == f;
}

static int32_t largest_of(const ulp_order *o, int32_t at) {
    int32_t largest = node_at(o, at)->leaf;
    for (int32_t e = node_at(o, at)->child; e != ULP_ORDER_NONE; e = node_at(o, e)->next) {
        const int32_t below = largest_of(o, e);
        if (below > largest) largest = below;
    }
    return largest;
}

/* Whether the products of a subtree are neighbours. */
static int is_together(const ulp_order *o, int32_t at) {
    const int32_t first = first_of(o, at);
    return first >= 0 && largest_of(o, at) - first + 1 == node_at(o, at)->size;
}

/* The number of parts of a serial sum of equal parts of neighbours; the topmost part may be shorter. 0 if the tree is
 * none. *part = the first part. */
static int32_t parts_of(const ulp_order *o, int32_t at, int32_t *part) {
    int32_t parts = 0, above = ULP_ORDER_NONE;
    for (; !is_leaf(o, at); at = node_at(o, at)->child) {
        const int32_t left = node_at(o, at)->child, right = node_at(o, left)->next;
        if (right == ULP_ORDER_NONE || node_at(o, right)->next != ULP_ORDER_NONE || is_leaf(o, right)) break;
        const int32_t size = node_at(o, right)->size;
        if (above != ULP_ORDER_NONE &&
            (parts == 1 ? size < node_at(o, above)->size
                        : !same_shape(o, right, above, first_of(o, above) - first_of(o, right))))
            break;
        if (!is_together(o, right)) return 0;
        above = right;
        parts++;
    }
    if (parts == 0) return 0;
    *part = above;
    if (node_at(o, at)->leaf == ULP_ORDER_C) return parts;
    if (is_leaf(o, at) || !same_shape(o, at, above, first_of(o, above) - first_of(o, at))) return 0;
    return parts + 1;
}

/* A subtree of products in words: "serial". "" if it has no name. */
static void part_in_words(char to[80], const ulp_order *o, int32_t at) {
    const chain c = is_leaf(o, at) ? (chain){.levels = 0} : chain_of(o, at);
    const int32_t n = node_at(o, at)->size;
    to[0] = '\0';
    if (n < 3) return;
    if (is_flat(o, at)) strcpy(to, node_at(o, at)->exact ? "one exact sum" : "one fused sum");
    else if (c.levels > 0 && c.all.count == n && c.length == 1 && c.all.stride == 1) strcpy(to, "serial");
    else if (c.levels > 0 && c.all.count == n && c.all.stride == 1)
        snprintf(to, 80, "%s sums of %d products, one after the other", c.exact ? "exact" : "fused", c.length);
    else if (pairwise_of(o, at).count == n && pairwise_of(o, at).stride == 1) strcpy(to, "pairwise");
}

/* A chain of all products in words. */
static void chain_in_words(char *to, size_t size, const chain *c) {
    if (c->length == 1 && c->all.stride == 1) snprintf(to, size, "serial: one product at a time, in the order of k");
    else if (c->length == 1 && c->all.stride == -1)
        snprintf(to, size, "serial, backwards: one product at a time, from the last to the first");
    else if (c->all.stride == 1 && c->exact)
        snprintf(to, size, "blocks of %d: %d products and the sum so far are added exactly, then rounded", c->length,
                 c->length);
    else if (c->all.stride == 1)
        snprintf(to, size, "fused sums of %d: %d products and the sum so far at a time, in the order of k", c->length,
                 c->length);
    else snprintf(to, size, "a chain with steps of %d", c->all.stride);
}

/* Sums of two terms, of which one is a product, in any order. 0 if the tree is something else. */
static int serial_in_words(char *to, size_t size, const ulp_order *o, int32_t root) {
    enum { SHOWN = 8 };
    int32_t order[SHOWN], count = 0, at = root;
    for (; !is_leaf(o, at); count++) {
        const int32_t left = node_at(o, at)->child, right = node_at(o, left)->next;
        if (right == ULP_ORDER_NONE || node_at(o, right)->next != ULP_ORDER_NONE) return 0;
        if (!is_leaf(o, left) && !is_leaf(o, right)) return 0;
        /* of the two leaves of the lowest sum the first one counts as the start */
        const int32_t leaf = is_leaf(o, right) ? right : left;
        order[count % SHOWN] = node_at(o, leaf)->leaf;
        at = leaf == right ? left : right;
    }
    order[count++ % SHOWN] = node_at(o, at)->leaf;
    size_t used = (size_t)snprintf(to, size, "serial: one product at a time, in the order");
    for (int32_t i = 0; i < count && i < SHOWN && used < size; i++) {
        const int32_t leaf = order[(count - 1 - i) % SHOWN];
        used += leaf == ULP_ORDER_C ? (size_t)snprintf(to + used, size - used, " c")
                                    : (size_t)snprintf(to + used, size - used, " %d", leaf);
    }
    if (count > SHOWN && used < size) snprintf(to + used, size - used, " ...");
    return 1;
}

static int tree_in_words(char *to, size_t size, const ulp_order *o, int32_t root) {
    int32_t part = ULP_ORDER_NONE;
    char inside[80];
    if (serial_in_words(to, size, o, root)) return 1;
    const int32_t parts = parts_of(o, root, &part);
    if (parts > 1 || (parts == 1 && node_at(o, part)->size > 1)) {
        part_in_words(inside, o, part);
        snprintf(to, size, "%d parts of %d products, added one after the other%s%s", parts, node_at(o, part)->size,
                 inside[0] != '\0' ? "; each part: " : "", inside);
        if (inside[0] != '\0') return 1;
    }
    lanes l = {0, 0, 0};
    find_lanes(o, root, &l);
    if (l.stride > 1 && l.count == l.stride && 2 * l.products > o->k) {
        snprintf(to, size,
                 "%d lanes: lane j adds the products j, j + %d, ... one after the other, then the lanes are added%s",
                 l.stride, l.stride, l.products < o->k ? "; other products are added apart" : "");
        return 1;
    }
    return parts > 1;
}

void ulp_order_shape(char *to, size_t size, const ulp_order *order) {
    if (to == NULL || size == 0) return;
    to[0] = '\0';
    if (order == NULL || order->node == NULL) return;
    int32_t root = order->root;
    const ulp_order_node *n = node_at(order, root);
    const char *behind = "";
    if (is_leaf(order, root)) {
        snprintf(to, size, "one product");
        return;
    }
    if (is_flat(order, root) && n->size > 2) {
        snprintf(to, size, n->exact ? "one exact sum of all %d terms, rounded once" : "one fused sum of all %d terms",
                 n->size);
        return;
    }
    const chain c = chain_of(order, root);
    if (c.levels > 0 && is_all(order, &c)) {
        chain_in_words(to, size, &c);
        return;
    }
    const int32_t next = node_at(order, n->child)->next;
    if (node_at(order, n->child)->leaf == ULP_ORDER_C && node_at(order, next)->next == ULP_ORDER_NONE) {
        root = next;
        behind = "; c is added last";
    }
    const run pairs = pairwise_of(order, root);
    const chain inner = is_leaf(order, root) ? c : chain_of(order, root);
    if (pairs.count == order->k && pairs.stride == 1)
        snprintf(to, size, "pairwise: a binary tree, whose left part has the largest power of two%s", behind);
    else if (root != order->root && is_flat(order, root))
        snprintf(to, size, "one %s sum of all products%s", node_at(order, root)->exact ? "exact" : "fused", behind);
    else if (inner.levels > 0 && is_all(order, &inner)) {
        chain_in_words(to, size, &inner);
        snprintf(to + strlen(to), size - strlen(to), "%s", behind);
    } else if (tree_in_words(to, size, order, root)) {
        snprintf(to + strlen(to), size - strlen(to), "%s", behind);
    } else {
        snprintf(to, size, "a tree of no known shape, %d sums deep", ulp_order_depth(order));
    }
}
