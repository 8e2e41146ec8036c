/* summation_tree.c - summation trees from test sums. */
#include "summation_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- M and u ---- */

/* A way to choose M and u. `normal`: factors and products are normal numbers, for devices that flush subnormals.
 * `fused`: u is also lost in an alignment of a few more bits than binary32 has; 2: of four more bits. `near`: u is the
 * largest that is lost, and multiples of a power above all counts do not count: the rounding of M + u may not be M, as
 * in modes ru and ro. */
static const struct way {
    int normal, fused, near;
} ways[] = {{1, 1, 0}, {0, 1, 0}, {0, 1, 1}, {0, 0, 0}, {0, 2, 1}, {0, 0, 1}};

enum { WAYS = sizeof ways / sizeof ways[0] };

/* A test sum: the factors of M and u. */
typedef struct tester {
    const ulp_unit *unit;
    ulp_order *to;
    double c, *a, *b; /* a, b: (k) */
    double big[2], small[2], u;
    double one;      /* what the device takes for 1 x 1: a power of two */
    int64_t modulus; /* counts are taken modulo this number; 0: as they are */
} tester;

/* A term and the number of terms that are lost when it meets another term. */
typedef struct term {
    int32_t lost, k;
} term;

/* The first exponent from `e` on, in steps of `step`, of a power of two with factors in both formats. */
static int power_from(double factors[2], int e, int last, int step, const ulp_unit *unit, int normal) {
    for (; step > 0 ? e <= last : e >= last; e += step)
        if (ulp_factor(&factors[0], &factors[1], ulp_scale(1.0, e), &unit->a, &unit->b) &&
            (!normal || (ulp_is_member(factors[0], &unit->a, 1) && ulp_is_member(factors[1], &unit->b, 1))))
            return e;
    return ULP_NO_EXPONENT;
}

static int bits_of(size_t terms) {
    int bits = 0;
    while (((size_t)1 << bits) < terms) bits++;
    return bits;
}

/* The exponents of M and u; `least` is the least distance at which one u is lost against M. 0 if there are none. */
static int exponents(tester *s, const struct way *w, int *high, int *low, int *least) {
    const ulp_format *f = &s->unit->result;
    *high = power_from(s->big, f->emax - 1, 0, -1, s->unit, w->normal);
    *low = power_from(s->small, w->normal ? f->emin : f->qmin, 0, 1, s->unit, w->normal);
    *least = (w->fused && f->prec < 24 ? 24 : f->prec) + 2 * (w->fused > 1 ? 2 : 1);
    return !f->is_fixed && *high != ULP_NO_EXPONENT && *low != ULP_NO_EXPONENT;
}

static ulp_status choose_values(tester *s, size_t terms, const struct way *w) {
    const int bits = bits_of(terms);
    int high, low, least;
    if (!exponents(s, w, &high, &low, &least)) return ULP_NOT_IN_RANGE;
    if (bits > s->unit->result.prec || high - low < bits + least) return ULP_NOT_IN_RANGE;
    if (w->near) low = power_from(s->small, high - least - bits, low, -1, s->unit, 0);
    s->modulus = w->near ? (int64_t)2 << bits : 0;
    s->u = ulp_scale(s->one, low);
    return ULP_OK;
}

size_t ulp_order_limit(const ulp_unit *unit) {
    tester s = {.unit = unit};
    int most = -1;
    for (size_t i = 0; i < WAYS; i++) {
        int high, low, least;
        if (!exponents(&s, &ways[i], &high, &low, &least)) continue;
        const int bits = high - low - least < unit->result.prec ? high - low - least : unit->result.prec;
        if (bits > most) most = bits;
    }
    return most < 1 ? 0 : (size_t)1 << (most < 20 ? most : 20);
}

/* ---- test sums ---- */

static void fill(tester *s, const double factors[2]) {
    s->c = s->to->with_c ? factors[0] * factors[1] * s->one : 0.0;
    for (int32_t e = 0; e < s->to->k; e++) {
        s->a[e] = factors[0];
        s->b[e] = factors[1];
    }
}

/* *y = the device's sum of c and k products. ULP_UNSUPPORTED says that sums fit no tree, so that a device that cannot
 * form the sum fails in another way. */
static ulp_status form_sum(const tester *s, double *y, double c, ulp_products products) {
    uint64_t code = 0;
    const ulp_status status = s->unit->dot(s->unit->context, &code, c, products);
    s->to->runs++;
    *y = status == ULP_OK ? ulp_decode(code, &s->unit->result) : 0.0;
    return status == ULP_UNSUPPORTED ? ULP_DEVICE_FAILED : status;
}

/* Finds s->one. */
static ulp_status find_one(tester *s) {
    static const double factors[2] = {1.0, 1.0};
    double y;
    const ulp_status status = form_sum(s, &y, 0.0, (ulp_products){&factors[0], &factors[1], 1, NULL, NULL});
    if (y > 0.0 && y <= 1.0 && ulp_scale(1.0, ilogb(y)) == y) s->one = y;
    return status;
}

static void put_term(tester *s, int32_t k, double sign, const double factors[2]) {
    if (k == ULP_ORDER_C) {
        s->c = sign * factors[0] * factors[1] * s->one;
        return;
    }
    s->a[k] = sign * factors[0];
    s->b[k] = factors[1];
}

/* *units = the number of terms that are not lost. */
static ulp_status run_sum(tester *s, int32_t *units) {
    double y;
    ULP_TRY(form_sum(s, &y, s->c, (ulp_products){s->a, s->b, (size_t)s->to->k, NULL, NULL}));
    const double quotient = y / s->u;
    if (!(quotient > -0x1p62 && quotient < 0x1p62) || quotient != (double)(int64_t)quotient) return ULP_UNSUPPORTED;
    int64_t many = (int64_t)quotient;
    if (s->modulus != 0 && many >> s->unit->result.prec != 0 && -many >> s->unit->result.prec != 0)
        return ULP_UNSUPPORTED; /* so large a multiple could hide units */
    if (s->modulus != 0) many = (many % s->modulus + s->modulus) % s->modulus;
    if (many < 0 || many > s->to->k + 1) return ULP_UNSUPPORTED;
    *units = (int32_t)many;
    return ULP_OK;
}

/* *lost = the number of terms that are lost when i and j meet, with i and j. */
static ulp_status count_lost(tester *s, int32_t i, int32_t j, int32_t *lost) {
    int32_t units = 0;
    fill(s, s->small);
    put_term(s, i, 1.0, s->big);
    put_term(s, j, -1.0, s->big);
    const ulp_status status = run_sum(s, &units);
    *lost = s->to->k + s->to->with_c - units;
    return status == ULP_OK && *lost < 2 ? ULP_UNSUPPORTED : status;
}

/* Whether the term `alone` is lost when i and j meet. */
static ulp_status is_lost(tester *s, int32_t i, int32_t j, int32_t alone, int *lost) {
    const double none[2] = {0.0, 0.0};
    int32_t units = 0;
    fill(s, none);
    put_term(s, i, 1.0, s->big);
    put_term(s, j, -1.0, s->big);
    put_term(s, alone, 1.0, s->small);
    const ulp_status status = run_sum(s, &units);
    *lost = units == 0;
    return status == ULP_OK && units > 1 ? ULP_UNSUPPORTED : status;
}

/* Whether all terms are u and all are counted. A device may flush u. */
static ulp_status counts_all(tester *s) {
    int32_t units = 0;
    fill(s, s->small);
    ULP_TRY(run_sum(s, &units));
    return units != s->to->k + s->to->with_c ? ULP_UNSUPPORTED : ULP_OK;
}

/* ---- trees ---- */

/* A list of subtrees: the children of one node. */
typedef struct forest {
    int32_t first, last, size;
} forest;

static const forest nothing = {ULP_ORDER_NONE, ULP_ORDER_NONE, 0};

static int32_t new_node(ulp_order *o, int32_t leaf, const forest *children, int exact) {
    const int32_t at = o->count++;
    o->node[at] = (ulp_order_node){leaf, ULP_ORDER_NONE, ULP_ORDER_NONE, 1, exact};
    if (children != NULL) o->node[at].child = children->first, o->node[at].size = children->size;
    return at;
}

static void append(ulp_order *o, forest *to, int32_t node) {
    if (to->first == ULP_ORDER_NONE) to->first = node;
    else o->node[to->last].next = node;
    to->last = node;
    to->size += o->node[node].size;
}

static int by_lost(const void *x, const void *y) {
    const term *p = x, *q = y;
    if (p->lost != q->lost) return p->lost < q->lost ? -1 : 1;
    return p->k < q->k ? -1 : p->k > q->k;
}

static ulp_status children(tester *s, forest *to, term *set, int32_t n, int32_t limit, int32_t each);

/* The node that a subtree has grown to: its children, the size of the first child, and a term below another child. */
typedef struct growth {
    forest inside;
    int32_t base, other;
} growth;

/* Adds the group of n terms that meet set[0] at the same loss to the subtree `*at`. */
static ulp_status grow(tester *s, int32_t *at, growth *g, int32_t pivot, term *group, int32_t n) {
    ulp_order *o = s->to;
    const int32_t lost = group[0].lost, size = o->node[*at].size, other = group[0].k;
    int absorbed = 1, exact = size + n > lost;
    if (size + n < lost) return ULP_UNSUPPORTED;
    if (exact && g->base != 0 && lost > g->base) ULP_TRY(is_lost(s, pivot, other, g->other, &absorbed));
    if (absorbed) {
        *g = (growth){nothing, size, other};
        append(o, &g->inside, *at);
    } else { /* the group has more children of the same exact sum, and a new node takes them all */
        o->node[*at].child = ULP_ORDER_NONE;
    }
    const int32_t each = lost - g->base;
    if (exact && (each < 1 || n % each != 0 || (absorbed && n == each))) return ULP_UNSUPPORTED;
    ULP_TRY(children(s, &g->inside, group, n, exact ? each + 1 : lost, exact ? each : 0));
    *at = new_node(o, ULP_ORDER_NONE, &g->inside, exact);
    return ULP_OK;
}

/* Builds *root, the largest subtree that contains one of the terms set[0 .. n) and in which fewer than `limit` terms
 * are lost. Its terms become the first *used of the set; the others have the loss at which they meet the subtree. */
static ulp_status subtree(tester *s, int32_t *root, int32_t *used, term *set, int32_t n, int32_t limit) {
    const term middle = set[n / 2]; /* the first or the last term would make long chains slow */
    growth g = {nothing, 0, 0};
    ulp_status status = ULP_OK;
    set[n / 2] = set[0];
    set[0] = middle;
    for (int32_t i = 1; status == ULP_OK && i < n; i++) status = count_lost(s, middle.k, set[i].k, &set[i].lost);
    if (n > 1) qsort(set + 1, (size_t)n - 1, sizeof *set, by_lost);
    *root = new_node(s->to, middle.k, NULL, 0);
    *used = 1;
    while (status == ULP_OK && *used < n && set[*used].lost < limit) {
        int32_t count = 1;
        while (*used + count < n && set[*used + count].lost == set[*used].lost) count++;
        status = grow(s, root, &g, middle.k, set + *used, count);
        *used += count;
    }
    return status;
}

/* Appends the terms set[0 .. n), all terms of some children of one node, to its children. `each` is the number of terms
 * of each child of an exact sum; 0: the node is a fused sum, in which `limit` terms are lost. */
static ulp_status children(tester *s, forest *to, term *set, int32_t n, int32_t limit, int32_t each) {
    for (int32_t used = 1; n > 0; set += used, n -= used) {
        int32_t root = 0;
        if (each == 1) root = new_node(s->to, set[0].k, NULL, 0);
        else ULP_TRY(subtree(s, &root, &used, set, n, limit));
        if (each > 1 && s->to->node[root].size != each) return ULP_UNSUPPORTED;
        if (each != 1 && used < n && (set[used].lost != set[n - 1].lost || set[used].lost != (each ? 2 * each : limit)))
            return ULP_UNSUPPORTED;
        append(s->to, to, root);
    }
    return ULP_OK;
}

/* ---- the order of nodes ---- */

/* Sorts the children of every node by their first terms. `first` and `list`: (count). */
static void sort_children(ulp_order *o, int32_t *first, term *list) {
    for (int32_t at = 0; at < o->count; at++) {
        ulp_order_node *n = &o->node[at];
        int32_t count = 0;
        first[at] = n->leaf;
        if (n->child == ULP_ORDER_NONE) continue;
        for (int32_t e = n->child; e != ULP_ORDER_NONE; e = o->node[e].next) list[count++] = (term){first[e], e};
        qsort(list, (size_t)count, sizeof *list, by_lost);
        n->child = list[0].k;
        first[at] = list[0].lost;
        for (int32_t e = 0; e < count; e++) o->node[list[e].k].next = e + 1 < count ? list[e + 1].k : ULP_ORDER_NONE;
    }
}

/* parent[i] of all nodes of the tree; ULP_ORDER_NONE for the root and for nodes that are not part of it. */
static void find_parents(const ulp_order *o, int32_t *parent) {
    for (int32_t at = 0; at < o->count; at++) parent[at] = ULP_ORDER_NONE;
    for (int32_t at = o->root; at >= 0; at--)
        if (at == o->root || parent[at] != ULP_ORDER_NONE)
            for (int32_t e = o->node[at].child; e != ULP_ORDER_NONE; e = o->node[e].next) parent[e] = at;
}

/* The number of terms that are lost where the leaves x and y meet. */
static int32_t lost_between(const ulp_order *o, const int32_t *parent, int32_t x, int32_t y) {
    int32_t from_x = x, from_y = y;
    while (x != y) /* children have smaller indices than their parent */
        if (x < y) from_x = x, x = parent[x];
        else from_y = y, y = parent[y];
    return o->node[x].exact ? o->node[from_x].size + o->node[from_y].size : o->node[x].size;
}

/* Compares pairs of terms that the search did not choose with the tree. */
static ulp_status verify(tester *s, const int32_t *parent, const int32_t *leaves, int32_t n) {
    enum { PAIRS = 48 };
    uint64_t state = 88172645463325252u; /* xorshift64 (Marsaglia 2003, doi:10.18637/jss.v008.i14) */
    for (int32_t pair = 0; n > 1 && pair < PAIRS; pair++) {
        int32_t at[2], lost = 0;
        for (int i = 0; i < 2; i++) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            at[i] = leaves[(state >> 20) % (uint64_t)n];
        }
        if (at[0] == at[1]) continue;
        const ulp_status status = count_lost(s, s->to->node[at[0]].leaf, s->to->node[at[1]].leaf, &lost);
        if (status != ULP_OK) return status;
        if (lost != lost_between(s->to, parent, at[0], at[1])) return ULP_UNSUPPORTED;
    }
    return ULP_OK;
}

static ulp_status finish(tester *s, int32_t *parent, term *list) {
    ulp_order *o = s->to;
    int32_t *leaves = malloc(((size_t)o->k + 1) * sizeof *leaves), n = 0;
    if (leaves == NULL) return ULP_NO_MEMORY;
    sort_children(o, parent, list);
    find_parents(o, parent);
    for (int32_t at = 0; at < o->count; at++)
        if (o->node[at].leaf != ULP_ORDER_NONE) leaves[n++] = at;
    const ulp_status status = verify(s, parent, leaves, n);
    free(leaves);
    return status;
}

/* ---- the search ---- */

void ulp_order_free(ulp_order *order) {
    if (order == NULL) return;
    free(order->node);
    memset(order, 0, sizeof *order);
}

/* `list`: (3 terms), `parent`: (3 terms). */
static ulp_status search(tester *s, term *list, int32_t *parent) {
    ulp_order *o = s->to;
    const int32_t terms = o->k + o->with_c;
    int32_t used = 0;
    o->count = 0;
    for (int32_t i = 0; i < terms; i++) list[i] = (term){0, i < o->k ? i : ULP_ORDER_C};
    ULP_TRY(subtree(s, &o->root, &used, list, terms, INT32_MAX));
    if (o->node[o->root].size != terms) return ULP_UNSUPPORTED;
    return finish(s, parent, list);
}

static int has_exact_sums(const ulp_order *o) {
    int found = 0;
    for (int32_t at = 0; at < o->count; at++) found |= o->node[at].exact;
    return found;
}

static ulp_status search_by_ways(tester *s, term *list, int32_t *parent) {
    const size_t terms = (size_t)s->to->k + (size_t)s->to->with_c;
    ulp_status worst = ULP_NOT_IN_RANGE;
    for (size_t i = 0; i < WAYS; i++) {
        ulp_status status = choose_values(s, terms, &ways[i]);
        if (status == ULP_OK) status = counts_all(s);
        if (status == ULP_OK) status = search(s, list, parent);
        /* a fused sum that is wider than its result may keep what the result loses */
        if (status == ULP_OK && !ways[i].fused && has_exact_sums(s->to)) status = ULP_NOT_IN_RANGE;
        if (status != ULP_NOT_IN_RANGE && status != ULP_UNSUPPORTED) return status;
        if (status == ULP_UNSUPPORTED) worst = status;
    }
    return worst;
}

ulp_status ulp_order_find(ulp_order *order, const ulp_unit *unit, size_t k, int with_c) {
    if (order == NULL || unit == NULL || unit->dot == NULL || k == 0 || k > 1u << 20) return ULP_BAD_ARGUMENT;
    memset(order, 0, sizeof *order);
    if (unit->result.is_fixed) return ULP_UNSUPPORTED;
    order->k = (int32_t)k;
    order->with_c = with_c != 0;
    const size_t room = 3 * (k + 1); /* an exact sum that takes more children leaves a node that no parent has */
    tester s = {.unit = unit, .to = order, .one = 1.0, .a = malloc(k * sizeof *s.a), .b = malloc(k * sizeof *s.b)};
    term *list = malloc(room * sizeof *list);
    int32_t *parent = malloc(room * sizeof *parent);
    order->node = malloc(room * sizeof *order->node);
    const int memory = s.a != NULL && s.b != NULL && list != NULL && parent != NULL && order->node != NULL;
    ulp_status status = memory ? find_one(&s) : ULP_NO_MEMORY;
    if (status == ULP_OK) status = search_by_ways(&s, list, parent);
    free(s.a);
    free(s.b);
    free(list);
    free(parent);
    if (status != ULP_OK) ulp_order_free(order);
    return status;
}
