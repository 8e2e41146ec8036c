/* t_order.c - summation trees found from results, against the trees that datapaths define. */
#include "support.h"

#include "kernels/products/summation_tree.h"

#include <stdlib.h>

static ulp_datapath path_of(const char *name) {
    ulp_datapath d;
    memset(&d, 0, sizeof d);
    if (ulp_datapath_parse(&d, name) != ULP_OK) fail_msg("%s: no datapath", name);
    return d;
}

static void expect(const char *name, size_t k, size_t chain, const char *text) {
    const ulp_datapath d = path_of(name);
    const ulp_unit unit = ulp_unit_of(&d);
    ulp_order o;
    char got[600];
    const ulp_status status = ulp_order_find(&o, &unit, k);
    if (status != ULP_OK) fail_msg("%s, k = %zu: %s", name, k, ulp_status_text(status));
    ulp_order_text(got, sizeof got, &o);
    if (ulp_order_chain(&o) != chain || strcmp(got, text) != 0)
        fail_msg("%s, k = %zu: found %s, chain of %zu; want %s, %zu", name, k, got, ulp_order_chain(&o), text, chain);
    assert_int_equal(o.node[o.root].size, k);
    ulp_order_free(&o);
}

static void test_chains(void **state) {
    (void)state;
    expect("fp32", 1, 1, "0");
    expect("fp32", 37, 1, "0-36 by 1");
    expect("serial:fp32:rz", 64, 1, "0-63 by 1");
    expect("serial:bf16:rne", 60, 1, "0-59 by 1");
    expect("v100-fp16", 32, 4, "0-31 by 4");
    expect("a100-bf16", 100, 8, "0-99 by 8");
    expect("a100-tf32", 24, 4, "0-23 by 4");
    expect("h100-fp16", 64, 16, "0-63 by 16");
    expect("h100-fp16-fp16", 48, 16, "0-47 by 16");
    expect("h100-bf16", 16, 16, "0-15");
    expect("l40s-e5m2", 80, 16, "0-79 by 16");
    expect("h100-e4m3", 128, 32, "0-127 by 32");
    expect("b200-e4m3.e5m2", 96, 32, "0-95 by 32");
    expect("h100-e4m3", 250, 32, "0-249 by 32");
    expect("h100-fp16", 40, 16, "0-39 by 16");
}

static void test_trees(void **state) {
    (void)state;
    expect("pairwise:fp32:rne", 8, 0, "((0-1 + 2-3) + (4-5 + 6-7))");
    expect("pairwise:fp32:rne", 6, 0, "((0-1 + 2-3) + 4-5)");
    expect("chunk4:fp32:rne", 12, 0, "((0-3 by 1 + 4-7 by 1) + 8-11 by 1)");
    expect("h100-e4m3:promote=64", 192, 0, "((0-63 by 32 + 64-127 by 32) + 128-191 by 32)");
    /* fp8 in fp16 units: first the products k = 0, 1 (mod 4), then k = 2, 3, then the previous sum */
    expect("h100-e4m3-mma", 8, 0, "((0 + 1 + 4 + 5) + 2 + 3 + 6 + 7)");
    expect("h100-e4m3-mma", 64, 0,
           "(((0 + 1 + 4 + 5 + 8 + 9 + 12 + 13 + 16 + 17 + 20 + 21 + 24 + 25 + 28 + 29) + 2 + 3 + 6 + 7 + 10 + 11 + 14 "
           "+ 15 + 18 + 19 + 22 + 23 + 26 + "
           "27 + 30 + 31) + ((32 + 33 + 36 + 37 + 40 + 41 + 44 + 45 + 48 + 49 + 52 + 53 + 56 + 57 + 60 + 61) + 34 + 35 "
           "+ 38 + 39 + 42 + 43 + 46 + 47 + "
           "50 + 51 + 54 + 55 + 58 + 59 + 62 + 63))");
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
    return ulp_order_find(o, &unit, k);
}

static void expect_shuffled(int kind, size_t k, const char *text) {
    ulp_order o;
    char got[300];
    assert_int_equal(find_shuffled(&o, kind, k), ULP_OK);
    ulp_order_text(got, sizeof got, &o);
    assert_string_equal(got, text);
    ulp_order_free(&o);
}

static void test_other_orders(void **state) {
    (void)state;
    ulp_order o;
    expect_shuffled(SPLIT_IN_TWO, 16, "(0-7 by 1 + 8-15 by 1)");
    expect_shuffled(STRIDED, 6, "(((0 + 2) + 4) + ((1 + 3) + 5))");
    expect_shuffled(BACKWARD, 5, "(0 + (1 + (2 + 3-4)))");
    /* the order differs from sum to sum, so there is no tree */
    assert_int_equal(find_shuffled(&o, HOPELESS, 24), ULP_UNSUPPORTED);
}

/* The result of the chain search for a tree of `count` nodes. The lowest node is a sum of links[0] products; each node
 * above adds links[i] products to the node below. turned: products 2 and 3 are exchanged. */
static size_t chain_by_hand(const int32_t *links, int32_t count, int turned) {
    enum { NONE = ULP_ORDER_NONE };
    ulp_order_node node[24];
    int32_t leaves = 0, below = 0;
    for (int32_t i = 0; i < count; i++)
        for (int32_t e = 0; e < links[i]; e++, leaves++)
            node[leaves] = (ulp_order_node){leaves, NONE, e + 1 < links[i] ? leaves + 1 : NONE, 1};
    for (int32_t i = 0; i < count; i++) {
        below += links[i];
        node[leaves + i] = (ulp_order_node){NONE, i == 0 ? 0 : leaves + i - 1, i + 1 < count ? below : NONE, below};
    }
    if (turned) node[2].leaf = 3, node[3].leaf = 2;
    const ulp_order order = {node, leaves + count, leaves + count - 1, leaves, 0};
    return ulp_order_chain(&order);
}

/* Links of 2 products: the topmost link may have fewer products, but not more; no other link may differ. */
static void test_near_chains(void **state) {
    (void)state;
    assert_int_equal(chain_by_hand((int32_t[]){2, 2, 2}, 3, 0), 2);
    assert_int_equal(chain_by_hand((int32_t[]){2, 2, 1}, 3, 0), 2);
    assert_int_equal(chain_by_hand((int32_t[]){2, 2, 3}, 3, 0), 0);
    assert_int_equal(chain_by_hand((int32_t[]){2, 2, 2}, 3, 1), 0);
    assert_int_equal(chain_by_hand((int32_t[]){2, 2, 2, 2}, 4, 0), 2);
    assert_int_equal(chain_by_hand((int32_t[]){2, 3, 2, 2}, 4, 0), 0);
    assert_int_equal(chain_by_hand((int32_t[]){2, 1, 2, 2}, 4, 0), 0);
    assert_int_equal(chain_by_hand((int32_t[]){3, 2, 2, 2}, 4, 0), 0);
}

static void test_errors(void **state) {
    (void)state;
    ulp_order o;
    ulp_datapath d = path_of("h100-fp16"), fixed = path_of("int8"), narrow = path_of("serial:e4m3:rne"),
                 whole = path_of("block8:fp32:rne");
    ulp_unit unit = ulp_unit_of(&d);
    assert_int_equal(ulp_order_find(NULL, &unit, 4), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_order_find(&o, &unit, 0), ULP_BAD_ARGUMENT);
    unit = ulp_unit_of(&fixed);
    assert_int_equal(ulp_order_find(&o, &unit, 4), ULP_UNSUPPORTED);
    unit = ulp_unit_of(&narrow);
    assert_int_equal(ulp_order_find(&o, &unit, 400), ULP_NOT_IN_RANGE);
    unit = ulp_unit_of(&whole);
    assert_int_equal(ulp_order_find(&o, &unit, 40), ULP_UNSUPPORTED);
    d = path_of("h100-e4m3"); /* from 2^-18 to 2^16, binary32 has room for 256 terms */
    unit = ulp_unit_of(&d);
    assert_int_equal(ulp_order_find(&o, &unit, 400), ULP_NOT_IN_RANGE);
    char shorter[16];
    d = path_of("pairwise:fp32:rne");
    unit = ulp_unit_of(&d);
    assert_int_equal(ulp_order_find(&o, &unit, 32), ULP_OK);
    ulp_order_text(shorter, sizeof shorter, &o);
    assert_true(strlen(shorter) < sizeof shorter && strstr(shorter, "...") != NULL);
    ulp_order_free(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chains),      cmocka_unit_test(test_trees),  cmocka_unit_test(test_other_orders),
        cmocka_unit_test(test_near_chains), cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
