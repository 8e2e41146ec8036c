/* order.h - the summation tree of a datapath against the tree that a test expects. */
#ifndef ULP_TEST_ORDER_H
#define ULP_TEST_ORDER_H

#include "support.h"

#include "kernels/products/summation_tree.h"

/* The tree of a datapath, with c as a term or without c. */
static void expect_with(const char *name, size_t k, int with_c, int whole, const char *text, const char *shape) {
    const ulp_datapath d = datapath_named(name);
    const ulp_unit unit = ulp_unit_of(&d);
    ulp_order o;
    char got[3000], words[300];
    const ulp_status status = ulp_order_find(&o, &unit, k, with_c);
    if (status != ULP_OK) fail_msg("%s, k = %zu: %s", name, k, ulp_status_text(status));
    ulp_order_text(got, sizeof got, &o, whole);
    ulp_order_shape(words, sizeof words, &o);
    if (strcmp(got, text) != 0) fail_msg("%s, k = %zu: found %s, want %s", name, k, got, text);
    if (shape != NULL && strcmp(words, shape) != 0) fail_msg("%s, k = %zu: '%s', want '%s'", name, k, words, shape);
    assert_int_equal(o.node[o.root].size, (int)k + with_c);
    ulp_order_free(&o);
}

#endif
