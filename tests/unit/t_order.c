/* t_order.c - summation trees found from results, against the trees that datapaths define. */
#include "order.h"

static void expect_chain(const char *name, size_t k, size_t chain, const char *text) {
    for (int with_c = 0; with_c <= 1; with_c++) {
        const ulp_datapath d = datapath_named(name);
        const ulp_unit unit = ulp_unit_of(&d);
        ulp_order o;
        const ulp_status status = ulp_order_find(&o, &unit, k, with_c);
        if (status != ULP_OK) fail_msg("%s, k = %zu: %s", name, k, ulp_status_text(status));
        if (ulp_order_chain(&o) != chain)
            fail_msg("%s, k = %zu: a chain of %zu, want %zu", name, k, ulp_order_chain(&o), chain);
        ulp_order_free(&o);
    }
    expect_with(name, k, 0, 0, text, NULL);
}

TEST(chains) {
    expect_chain("fp32", 1, 1, "0");
    expect_chain("fp32", 3, 1, "((0 1) 2)");
    expect_chain("fp32", 37, 1, "{0-36}");
    expect_chain("serial:fp32:rz", 64, 1, "{0-63}");
    expect_chain("serial:bf16:rne", 60, 1, "{0-59}");
    expect_chain("split:fp32:rne", 60, 1, "{0-59}");
    expect_chain("kahan:fp32:rne", 20, 1, "{0-19}");
    expect_chain("v100-fp16", 32, 4, "{0-31:4}");
    expect_chain("a100-bf16", 100, 8, "{0-99:8}");
    expect_chain("a100-tf32", 24, 4, "{0-23:4}");
    expect_chain("h100-fp16", 64, 16, "{0-63:16}");
    expect_chain("h100-fp16-fp16", 48, 16, "{0-47:16}");
    expect_chain("h100-bf16", 16, 16, "(0-15)");
    expect_chain("l40s-e5m2", 80, 16, "{0-79:16}");
    expect_chain("h100-e4m3", 128, 32, "{0-127:32}");
    expect_chain("b200-e4m3.e5m2", 96, 32, "{0-95:32}");
    expect_chain("h100-e4m3", 250, 32, "{0-249:32}");
    expect_chain("h100-fp16", 40, 16, "{0-39:16}");
    expect_with("h100-fp16", 32, 1, 0, "((c 0-15) 16-31)",
                "fused sums of 16: 16 products and the sum so far at a time, in the order of k");
    expect_with("h100-fp16", 80, 1, 0, "{c 0-79:16}", NULL);
    expect_with("h100-fp16", 80, 1, 1, "(((((c 0-15) 16-31) 32-47) 48-63) 64-79)", NULL);
    expect_with("fp32", 5, 1, 1, "(((((c 0) 1) 2) 3) 4)", "serial: one product at a time, in the order of k");
}

/* Sums without a loss before their rounding. */
TEST(exact_sums) {
    expect_with("exact:fp32:rne", 9, 1, 0, "[c 0-8]", "one exact sum of all 10 terms, rounded once");
    expect_with("block4:fp32:rne", 8, 1, 0, "[[c 0-3] 4-7]",
                "blocks of 4: 4 products and the sum so far are added exactly, then rounded");
    expect_with("block8:fp32:rne", 40, 1, 0, "{c 0-39:[8]}", NULL);
    expect_with("block8:fp32:rne", 41, 0, 0, "{0-40:[8]}", NULL);
    expect_with("block2:bf16:rne", 6, 0, 0, "{0-5:[2]}", NULL);
    expect_with("exact:fp32:rne:promote=16", 48, 0, 0, "(([0-15] [16-31]) [32-47])",
                "3 parts of 16 products, added one after the other; each part: one exact sum");
}

TEST(trees) {
    expect_with("pairwise:fp32:rne", 8, 1, 0, "(c <0-7>)",
                "pairwise: a binary tree, whose left part has the largest power of two; c is added last");
    expect_with("pairwise:fp32:rne", 6, 0, 0, "(((0 1) (2 3)) (4 5))", NULL);
    expect_with("pairwise:fp32:rne", 300, 0, 0, "<0-299>", NULL);
    expect_with("avx512-bf16", 6, 1, 0, "((((((c 1) 0) 3) 2) 5) 4)",
                "serial: one product at a time, in the order c 1 0 3 2 5 4");
    expect_with("amx-bf16", 12, 1, 0, "(c ({0-10/2} {1-11/2}))", NULL);
    expect_with("arm-bf16", 8, 1, 0, "((((c (0 1)) (2 3)) (4 5)) (6 7))",
                "4 parts of 2 products, added one after the other");
    expect_with("mi250-bf16-p2", 6, 1, 0, "(((c (0 1)) (2 3)) (4 5))",
                "3 parts of 2 products, added one after the other");
    expect_with("chunk4:fp32:rne", 12, 0, 0, "(({0-3} {4-7}) {8-11})",
                "3 parts of 4 products, added one after the other; each part: serial");
    expect_with("chunk4:fp32:rne", 8, 1, 1, "((c (((0 1) 2) 3)) (((4 5) 6) 7))", NULL);
    expect_with(
        "h100-e4m3:promote=64", 192, 0, 0, "((((0-31) 32-63) ((64-95) 96-127)) ((128-159) 160-191))",
        "3 parts of 64 products, added one after the other; each part: fused sums of 32 products, one after the "
        "other");
    /* fp8 in fp16 units: first the products k = 0, 1 (mod 4), then k = 2, 3, then the previous sum */
    expect_with("h100-e4m3-mma", 8, 1, 0, "(c ((0 1 4 5) 2 3 6 7))", NULL);
    expect_with("h100-e4m3-mma", 64, 0, 0,
                "(((0 1 4 5 8 9 12 13 16 17 20 21 24 25 28 29) 2 3 6 7 10 11 14 15 18 19 22 23 26 27 30 31) "
                "((32 33 36 37 40 41 44 45 48 49 52 53 56 57 60 61) 34 35 38 39 42 43 46 47 50 51 54 55 58 59 62 63))",
                NULL);
}

/* Sums in orders that no datapath has; a shuffle of k and a split into two halves define the tree. */
typedef struct shuffled {
    int kind;
    ulp_format f;
} shuffled;
enum { BACKWARD, SPLIT_IN_TWO, STRIDED, HOPELESS };

static ulp_status sum_shuffled(void *context, uint64_t *code, double c, ulp_products products) {
    const shuffled *s = context;
    float part[2] = {(float)c, 0.0f};
    const size_t k = products.k;
    static unsigned calls;
    calls++;
    for (size_t i = 0; i < k; i++) {
        const size_t at = s->kind == BACKWARD || (s->kind == HOPELESS && calls % 2) ? k - 1 - i : i;
        float *to = &part[s->kind == SPLIT_IN_TWO ? i >= k / 2 : (s->kind == STRIDED ? i % 2 : 0)];
        *to = *to + (float)(products.a[at] * products.b[at]);
    }
    return ulp_encode(code, (double)(part[0] + part[1]), &s->f);
}

static ulp_status find_shuffled(ulp_order *o, int kind, size_t k) {
    static shuffled s;
    s = (shuffled){kind, named("fp32")};
    const ulp_unit unit = {.dot = sum_shuffled, .context = &s, .a = s.f, .b = s.f, .result = s.f};
    return ulp_order_find(o, &unit, k, 0);
}

static void expect_shuffled(int kind, size_t k, const char *text, const char *shape) {
    ulp_order o;
    char got[300], words[300];
    assert_ok(find_shuffled(&o, kind, k));
    ulp_order_text(got, sizeof got, &o, 0);
    ulp_order_shape(words, sizeof words, &o);
    assert_string_equal(got, text);
    assert_string_equal(words, shape);
    ulp_order_free(&o);
}

TEST(other_orders) {
    ulp_order o;
    expect_shuffled(SPLIT_IN_TWO, 16, "({0-7} {8-15})",
                    "2 parts of 8 products, added one after the other; each part: serial");
    expect_shuffled(STRIDED, 6, "(((0 2) 4) ((1 3) 5))",
                    "2 lanes: lane j adds the products j, j + 2, ... one after the other, then the lanes are added");
    expect_shuffled(STRIDED, 40, "({0-38/2} {1-39/2})",
                    "2 lanes: lane j adds the products j, j + 2, ... one after the other, then the lanes are added");
    expect_shuffled(BACKWARD, 5, "{4-0}", "serial, backwards: one product at a time, from the last to the first");
    expect_shuffled(BACKWARD, 300, "{299-0}", "serial, backwards: one product at a time, from the last to the first");
    expect_shuffled(BACKWARD, 2, "(0 1)", "serial: one product at a time, in the order of k");
    /* the order differs from sum to sum, so there is no tree */
    assert_int_equal(find_shuffled(&o, HOPELESS, 24), ULP_UNSUPPORTED);
}

/* ---- random trees ---- */

enum { TERMS = 400 };

/* A tree of terms 0 .. n - 1, of which term 0 may be c. Fused sums cut their terms below the largest, exact sums do
 * not. */
typedef struct wild {
    int count, child[2 * TERMS], next[2 * TERMS], term[2 * TERMS], exact[2 * TERMS], first[2 * TERMS];
    int with_c;
    double value[TERMS];
    ulp_format f;
} wild;

static uint64_t wild_state;
static unsigned wild_below(unsigned n) {
    wild_state = wild_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(wild_state >> 33) % n;
}

/* Makes a tree of terms[0 .. n). Children stand in the order of their first terms. */
static int grow_wild(wild *w, int *terms, int n) {
    const int at = w->count++;
    w->child[at] = w->next[at] = -1;
    w->term[at] = n == 1 ? terms[0] : -1;
    w->first[at] = terms[0];
    if (n == 1) return at;
    int most = wild_below(3) == 0 ? 2 + (int)wild_below(12) : 2;
    if (most > n) most = n;
    w->exact[at] = most > 2 && wild_below(2);
    int left = n, children[14];
    for (int c = 0; c < most; c++) {
        const int others = most - c - 1;
        const int mine = others == 0 ? left : (wild_below(3) == 0 ? 1 + (int)wild_below((unsigned)(left - others)) : 1);
        children[c] = grow_wild(w, terms + n - left, mine);
        left -= mine;
    }
    for (int turn = 0; turn < most; turn++)
        for (int c = 0; c + 1 < most; c++)
            if (w->first[children[c]] > w->first[children[c + 1]]) {
                const int kept = children[c];
                children[c] = children[c + 1];
                children[c + 1] = kept;
            }
    w->child[at] = children[0];
    w->first[at] = w->first[children[0]];
    for (int c = 0; c + 1 < most; c++) w->next[children[c]] = children[c + 1];
    return at;
}

static float sum_wild(const wild *w, int at) {
    double largest = 0.0, big = 0.0, small = 0.0, of[14];
    int count = 0;
    if (w->term[at] >= 0) return (float)w->value[w->term[at]];
    for (int c = w->child[at]; c >= 0; c = w->next[c]) {
        of[count] = (double)sum_wild(w, c);
        largest = fmax(largest, fabs(of[count++]));
    }
    const double last = largest > 0 ? ldexp(1.0, ilogb(largest) - 24) : 1.0;
    for (int c = 0; c < count; c++) {
        if (!w->exact[at]) big += trunc(of[c] / last) * last;
        else if (fabs(of[c]) > 1.0) big += of[c];
        else small += of[c];
    }
    return (float)(big != 0.0 ? big : small);
}

static unsigned wild_sums;
static ulp_status dot_wild(void *context, uint64_t *code, double c, ulp_products products) {
    wild *w = context;
    w->value[0] = c;
    for (size_t i = 0; i < products.k; i++) w->value[i + (size_t)w->with_c] = products.a[i] * products.b[i];
    wild_sums++;
    return ulp_encode(code, (double)sum_wild(w, 0), &w->f);
}

static void text_wild(char *to, const wild *w, int at) {
    if (w->term[at] >= 0) {
        if (w->with_c && w->term[at] == 0) strcat(to, "c");
        else sprintf(to + strlen(to), "%d", w->term[at] - w->with_c);
        return;
    }
    strcat(to, w->exact[at] ? "[" : "(");
    for (int c = w->child[at]; c >= 0; c = w->next[c]) {
        text_wild(to + strlen(to), w, c);
        strcat(to, w->next[c] >= 0 ? " " : "");
    }
    strcat(to, w->exact[at] ? "]" : ")");
}

static void text_found(char *to, const ulp_order *o, int32_t at) {
    const ulp_order_node *n = &o->node[at];
    if (n->leaf == ULP_ORDER_C) strcat(to, "c");
    else if (n->leaf >= 0) sprintf(to + strlen(to), "%d", n->leaf);
    if (n->child == ULP_ORDER_NONE) return;
    strcat(to, n->exact ? "[" : "(");
    for (int32_t c = n->child; c != ULP_ORDER_NONE; c = o->node[c].next) {
        text_found(to + strlen(to), o, c);
        strcat(to, o->node[c].next != ULP_ORDER_NONE ? " " : "");
    }
    strcat(to, n->exact ? "]" : ")");
}

TEST(random_trees) {
    static char want[8 * TERMS], got[8 * TERMS];
    static wild w;
    wild_state = 7;
    for (int trial = 0; trial < 300; trial++) {
        int terms[TERMS];
        const int n = trial < 200 ? 2 + (int)wild_below(40) : 40 + (int)wild_below(TERMS - 40);
        memset(&w, 0, sizeof w);
        w.f = named("fp32");
        w.with_c = trial % 2;
        for (int i = 0; i < n; i++) terms[i] = i;
        for (int i = n - 1; trial % 3 != 0 && i > 0; i--) {
            const int j = (int)wild_below((unsigned)i + 1), kept = terms[i];
            terms[i] = terms[j];
            terms[j] = kept;
        }
        grow_wild(&w, terms, n);
        const ulp_unit unit = {.dot = dot_wild, .context = &w, .a = w.f, .b = w.f, .result = w.f};
        ulp_order o;
        want[0] = got[0] = '\0';
        text_wild(want, &w, 0);
        wild_sums = 0;
        const ulp_status status = ulp_order_find(&o, &unit, (size_t)(n - w.with_c), w.with_c);
        if (status != ULP_OK) fail_msg("tree %d of %d terms: %s: %s", trial, n, ulp_status_text(status), want);
        text_found(got, &o, o.root);
        if (strcmp(got, want) != 0) fail_msg("tree %d: found %s, want %s", trial, got, want);
        assert_int_equal(o.runs, wild_sums);
        ulp_order_free(&o);
    }
}

static uint64_t runs_of(int kind, size_t k) {
    ulp_order o;
    assert_ok(find_shuffled(&o, kind, k));
    const uint64_t runs = o.runs;
    ulp_order_free(&o);
    return runs;
}

/* The naive search takes k (k - 1) / 2 sums. */
TEST(runs) {
    assert_true(runs_of(BACKWARD, 400) < 4 * 400);
    assert_true(runs_of(STRIDED, 400) < 4 * 400);
    assert_true(runs_of(SPLIT_IN_TWO, 400) < 4 * 400);
}

/* The result of the chain search for a tree of `count` nodes. The lowest node is a sum of links[0] products; each node
 * above adds links[i] products to the node below. turned: products 2 and 3 are exchanged. */
static size_t chain_by_hand(const int32_t *links, int32_t count, int turned) {
    enum { NONE = ULP_ORDER_NONE };
    ulp_order_node node[24];
    int32_t leaves = 0, below = 0;
    for (int32_t i = 0; i < count; i++)
        for (int32_t e = 0; e < links[i]; e++, leaves++)
            node[leaves] = (ulp_order_node){leaves, NONE, e + 1 < links[i] ? leaves + 1 : NONE, 1, 0};
    for (int32_t i = 0; i < count; i++) {
        below += links[i];
        node[leaves + i] = (ulp_order_node){NONE, i == 0 ? 0 : leaves + i - 1, i + 1 < count ? below : NONE, below, 0};
    }
    if (turned) node[2].leaf = 3, node[3].leaf = 2;
    const ulp_order order = {node, leaves + count, leaves + count - 1, leaves, 0, 0};
    return ulp_order_chain(&order);
}

/* Links of 2 products: the topmost link may have fewer products, but not more; no other link may differ. */
TEST(near_chains) {
    assert_int_equal(chain_by_hand((int32_t[]){2, 2, 2}, 3, 0), 2);
    assert_int_equal(chain_by_hand((int32_t[]){2, 2, 1}, 3, 0), 2);
    assert_int_equal(chain_by_hand((int32_t[]){2, 2, 3}, 3, 0), 0);
    assert_int_equal(chain_by_hand((int32_t[]){2, 2, 2}, 3, 1), 0);
    assert_int_equal(chain_by_hand((int32_t[]){2, 2, 2, 2}, 4, 0), 2);
    assert_int_equal(chain_by_hand((int32_t[]){2, 3, 2, 2}, 4, 0), 0);
    assert_int_equal(chain_by_hand((int32_t[]){2, 1, 2, 2}, 4, 0), 0);
    assert_int_equal(chain_by_hand((int32_t[]){3, 2, 2, 2}, 4, 0), 0);
}

/* A device that forms `left` sums and then fails with `status`. */
typedef struct failing {
    ulp_unit works;
    ulp_status status;
    uint64_t left;
} failing;

static ulp_status failing_dot(void *context, uint64_t *code, double c, ulp_products products) {
    failing *f = context;
    return f->left-- == 0 ? f->status : f->works.dot(f->works.context, code, c, products);
}

/* A device that cannot form the first sum, or a later one, is no device whose sums fit no tree. */
TEST(failing_device) {
    const ulp_datapath d = datapath_named("h100-fp16");
    for (uint64_t left = 0; left < 40; left += 13) {
        failing refuses = {ulp_unit_of(&d), ULP_UNSUPPORTED, left}, breaks = {ulp_unit_of(&d), ULP_NO_MEMORY, left};
        ulp_unit unit = refuses.works;
        ulp_order o;
        unit.dot = failing_dot;
        unit.context = &refuses;
        assert_int_equal(ulp_order_find(&o, &unit, 40, 0), ULP_DEVICE_FAILED);
        unit.context = &breaks;
        assert_int_equal(ulp_order_find(&o, &unit, 40, 0), ULP_NO_MEMORY);
    }
}

TEST(errors) {
    ulp_order o;
    ulp_datapath d = datapath_named("h100-fp16"), fixed = datapath_named("int8"),
                 narrow = datapath_named("serial:e4m3:rne");
    ulp_unit unit = ulp_unit_of(&d);
    assert_int_equal(ulp_order_find(NULL, &unit, 4, 0), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_order_find(&o, &unit, 0, 0), ULP_BAD_ARGUMENT);
    unit = ulp_unit_of(&fixed);
    assert_int_equal(ulp_order_find(&o, &unit, 4, 0), ULP_UNSUPPORTED);
    assert_int_equal(ulp_order_limit(&unit), 0);
    unit = ulp_unit_of(&narrow);
    assert_int_equal(ulp_order_find(&o, &unit, 400, 0), ULP_NOT_IN_RANGE);
    d = datapath_named("b200-e4m3.e3m2-fp16"); /* 25 bits of a fused sum lose nothing of these products */
    unit = ulp_unit_of(&d);
    assert_int_equal(ulp_order_find(&o, &unit, 16, 1), ULP_NOT_IN_RANGE);
    d = datapath_named("h100-e4m3"); /* from 2^-18 to 2^16, binary32 has room for 256 terms */
    unit = ulp_unit_of(&d);
    assert_int_equal(ulp_order_limit(&unit), 256);
    assert_int_equal(ulp_order_find(&o, &unit, 400, 0), ULP_NOT_IN_RANGE);
    assert_int_equal(ulp_order_find(&o, &unit, 256, 1), ULP_NOT_IN_RANGE);
    char shorter[16];
    d = datapath_named("pairwise:fp32:rne");
    unit = ulp_unit_of(&d);
    assert_ok(ulp_order_find(&o, &unit, 32, 0));
    ulp_order_text(shorter, sizeof shorter, &o, 1);
    assert_true(strlen(shorter) < sizeof shorter && strstr(shorter, "...") != NULL);
    assert_int_equal(ulp_order_depth(&o), 5);
    ulp_order_free(&o);
}

TESTS(NULL, NULL)
