/* summation_tree.c - summation trees from test sums. */
#include "summation_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- test sums ---- */

/* A test sum: the factors of M and u. */
typedef struct tester {
    const ulp_unit *unit;
    ulp_order *to;
    double *a, *b; /* (k) */
    double big[2], small[2], u;
} tester;

/* The first exponent from `e` on, in steps of `step`, of a power of two with factors in both formats. */
static int power_from(double factors[2], int e, int last, int step, const ulp_unit *unit) {
    for (; step > 0 ? e <= last : e >= last; e += step)
        if (ulp_factor(&factors[0], &factors[1], ulp_scale(1.0, e), &unit->a, &unit->b)) return e;
    return ULP_NO_EXPONENT;
}

/* M is the largest power whose sums stay finite. u is the smallest power such that k u can be counted. */
static ulp_status choose_values(tester *s, size_t k) {
    const ulp_format *f = &s->unit->result;
    if (f->is_fixed) return ULP_UNSUPPORTED;
    const int high = power_from(s->big, f->emax - 1, 0, -1, s->unit),
              low = power_from(s->small, f->qmin, 0, 1, s->unit);
    if (high == ULP_NO_EXPONENT || low == ULP_NO_EXPONENT) return ULP_NOT_IN_RANGE;
    int bits = 0;
    while (((size_t)1 << bits) < k) bits++;
    /* the sum of all u is below the last place of M, in binary32 and in an alignment of one more bit as well */
    if (bits > f->prec || high - low < bits + (f->prec > 24 ? f->prec : 24) + 2) return ULP_NOT_IN_RANGE;
    s->u = ulp_scale(1.0, low);
    return ULP_OK;
}

/* *below = the number of products below the first common node of i and j. */
static ulp_status count_below(tester *s, int32_t i, int32_t j, int32_t *below) {
    const size_t k = (size_t)s->to->k;
    uint64_t code = 0;
    for (size_t e = 0; e < k; e++) {
        s->a[e] = s->small[0];
        s->b[e] = s->small[1];
    }
    s->a[i] = s->big[0];
    s->a[j] = -s->big[0];
    s->b[i] = s->b[j] = s->big[1];
    const ulp_status status = s->unit->dot(s->unit->context, &code, 0.0, (ulp_products){s->a, s->b, k, NULL, NULL});
    s->to->runs++;
    if (status != ULP_OK) return status;
    const double after = ulp_decode(code, &s->unit->result) / s->u;
    if (!(after >= 0.0 && after <= (double)(k - 2)) || after != (double)(int32_t)after) return ULP_UNSUPPORTED;
    *below = s->to->k - (int32_t)after;
    return ULP_OK;
}

/* ---- trees ---- */

/* Neighbouring subtrees. open: the size of the incomplete node whose children they are; 0: the forest is one complete
 * subtree. */
typedef struct forest {
    int32_t first, last, size, open;
} forest;

static forest leaf_of(ulp_order *o, int32_t leaf) {
    const int32_t at = o->count++;
    o->node[at] = (ulp_order_node){leaf, ULP_ORDER_NONE, ULP_ORDER_NONE, 1};
    return (forest){at, at, 1, 0};
}

static void append_forest(ulp_order *o, forest *to, forest more) {
    o->node[to->last].next = more.first;
    to->last = more.last;
    to->size += more.size;
}

static void complete(ulp_order *o, forest *f) {
    const int32_t at = o->count++;
    o->node[at] = (ulp_order_node){ULP_ORDER_NONE, f->first, ULP_ORDER_NONE, f->size};
    *f = (forest){at, at, f->size, 0};
}

typedef struct pair {
    int32_t below, k;
} pair;

static int by_size(const void *x, const void *y) {
    const pair *p = x, *q = y;
    if (p->below != q->below) return p->below < q->below ? -1 : 1;
    return p->k < q->k ? -1 : p->k > q->k;
}

/* Builds the forest `to` of the products set[0 .. n), which are in ascending order and are all products below some
 * nodes of one parent. Products that meet set[0] at one node form a group, and each group is a forest. The groups join
 * `to` in the order of the sizes of their nodes. */
static ulp_status build(tester *s, forest *to, const int32_t *set, int32_t n) {
    ulp_status status = ULP_OK;
    pair *pairs = malloc((size_t)n * sizeof *pairs);
    int32_t *group = malloc((size_t)n * sizeof *group);
    if (pairs == NULL || group == NULL) status = ULP_NO_MEMORY;
    *to = leaf_of(s->to, set[0]);
    for (int32_t i = 1; status == ULP_OK && i < n; i++) {
        pairs[i].k = set[i];
        status = count_below(s, set[0], set[i], &pairs[i].below);
    }
    if (status == ULP_OK && n > 1) qsort(pairs + 1, (size_t)n - 1, sizeof *pairs, by_size);
    for (int32_t i = 1, count; status == ULP_OK && i < n; i += count) {
        const int32_t below = pairs[i].below;
        forest more;
        for (count = 0; i + count < n && pairs[i + count].below == below; count++) group[count] = pairs[i + count].k;
        status = to->open != 0 ? ULP_UNSUPPORTED : build(s, &more, group, count); /* open: no more groups */
        if (status != ULP_OK) break;
        if ((more.open != 0 && more.open != below) || to->size + more.size > below) status = ULP_UNSUPPORTED;
        append_forest(s->to, to, more);
        if (to->size == below) complete(s->to, to);
        else to->open = below;
    }
    free(pairs);
    free(group);
    return status;
}

void ulp_order_free(ulp_order *order) {
    if (order == NULL) return;
    free(order->node);
    memset(order, 0, sizeof *order);
}

ulp_status ulp_order_find(ulp_order *order, const ulp_unit *unit, size_t k) {
    if (order == NULL || unit == NULL || unit->dot == NULL || k == 0 || k > 1u << 20) return ULP_BAD_ARGUMENT;
    memset(order, 0, sizeof *order);
    tester s = {.unit = unit, .to = order};
    ulp_status status = choose_values(&s, k);
    if (status != ULP_OK) return status;
    order->k = (int32_t)k;
    order->node = malloc(2 * k * sizeof *order->node);
    s.a = malloc(k * sizeof *s.a);
    s.b = malloc(k * sizeof *s.b);
    int32_t *all = malloc(k * sizeof *all);
    if (order->node == NULL || s.a == NULL || s.b == NULL || all == NULL) status = ULP_NO_MEMORY;
    forest whole = {0};
    for (size_t i = 0; status == ULP_OK && i < k; i++) all[i] = (int32_t)i;
    if (status == ULP_OK) status = build(&s, &whole, all, (int32_t)k);
    if (status == ULP_OK && whole.open != 0) status = ULP_UNSUPPORTED;
    order->root = whole.first;
    free(s.a);
    free(s.b);
    free(all);
    if (status != ULP_OK) ulp_order_free(order);
    return status;
}

/* ---- in words ---- */

/* Whether the siblings from `node` on are the products k, k + 1, ... */
static int are_leaves(const ulp_order *o, int32_t node, int32_t k) {
    for (; node != ULP_ORDER_NONE; node = o->node[node].next, k++)
        if (o->node[node].leaf != k) return 0;
    return 1;
}

/* L of a chain, and its first product. 0 if the subtree is not a chain. The lowest node of a chain is a sum of leaves.
 * Each higher node adds L leaves to the node below; the top node may add fewer. If L is 1, the lowest node has two
 * leaves. */
static int32_t chain_of(const ulp_order *o, int32_t top, int32_t *first) {
    int32_t bottom = top, length = 0, more = 0;
    while (o->node[o->node[bottom].child].leaf == ULP_ORDER_NONE) bottom = o->node[bottom].child;
    *first = o->node[o->node[bottom].child].leaf;
    if (!are_leaves(o, o->node[bottom].child, *first)) return 0;
    for (int32_t at = top; at != bottom; at = o->node[at].child) {
        const int32_t below = o->node[o->node[at].child].size, added = o->node[at].size - below;
        if (!are_leaves(o, o->node[o->node[at].child].next, *first + below)) return 0;
        if (at == top) more = added;
        else if (length == 0) length = added;
        else if (added != length) return 0;
    }
    const int32_t lowest = o->node[bottom].size;
    if (top == bottom) return lowest;
    if (length == 0) length = lowest == 2 && more == 1 ? 1 : lowest; /* a chain of two nodes */
    return more <= length && lowest == (length == 1 ? 2 : length) ? length : 0;
}

size_t ulp_order_chain(const ulp_order *order) {
    int32_t first;
    if (order == NULL || order->node == NULL) return 0;
    return order->node[order->root].leaf != ULP_ORDER_NONE ? 1 : (size_t)chain_of(order, order->root, &first);
}

static void put(char *to, size_t size, const char *text) {
    const size_t used = strlen(to), more = strlen(text);
    if (used + more + 4 < size) memcpy(to + used, text, more + 1);
    else if (used + 4 <= size && (used < 3 || strcmp(to + used - 3, "...") != 0)) memcpy(to + used, "...", 4);
}

static void put_node(char *to, size_t size, const ulp_order *o, int32_t at) {
    char word[64];
    const ulp_order_node *n = &o->node[at];
    int32_t first = 0;
    if (n->leaf != ULP_ORDER_NONE) {
        snprintf(word, sizeof word, "%d", n->leaf);
        put(to, size, word);
        return;
    }
    const int32_t length = chain_of(o, at, &first);
    if (length != 0) {
        if (length == n->size) snprintf(word, sizeof word, "%d-%d", first, first + n->size - 1);
        else snprintf(word, sizeof word, "%d-%d by %d", first, first + n->size - 1, length);
        put(to, size, word);
        return;
    }
    put(to, size, "(");
    for (int32_t e = n->child; e != ULP_ORDER_NONE && strlen(to) + 8 < size; e = o->node[e].next) {
        put_node(to, size, o, e);
        if (o->node[e].next != ULP_ORDER_NONE) put(to, size, " + ");
    }
    put(to, size, ")");
}

void ulp_order_text(char *to, size_t size, const ulp_order *order) {
    if (size == 0) return;
    to[0] = '\0';
    if (order->node != NULL) put_node(to, size, order, order->root);
}
