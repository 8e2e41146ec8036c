/* refusals_network.c - what the operations between products refuse: curves, pooling, softmax. */
#include "refusals.h"

static void check_curves_refused(const check *c) {
    both pair, *w = &pair;
    const ulp_curve f = {.kind = ULP_TANH}, no = {.kind = ULP_CURVE_COUNT};
    if (refusals_open(w, c, "refused: narrow, relu, curve, slope")) {
        EXPECT(ULP_BAD_ARGUMENT, narrow(NULL, on->x64, ROOM));
        EXPECT(ULP_BAD_ARGUMENT, narrow(on->y, NULL, ROOM));
        EXPECT(ULP_BAD_ARGUMENT, relu(NULL, on->x, ROOM));
        EXPECT(ULP_BAD_ARGUMENT, relu(on->y, NULL, ROOM));
        EXPECT(ULP_BAD_ARGUMENT, relu_slope(NULL, on->x, on->x, ROOM));
        EXPECT(ULP_BAD_ARGUMENT, relu_slope(on->y, NULL, on->x, ROOM));
        EXPECT(ULP_BAD_ARGUMENT, relu_slope(on->y, on->x, NULL, ROOM));
        EXPECT(ULP_BAD_ARGUMENT, curve(no, on->y64, on->x, ROOM));
        EXPECT(ULP_BAD_ARGUMENT, curve(no, NULL, NULL, 0));
        EXPECT(ULP_BAD_ARGUMENT, curve(f, NULL, on->x, ROOM));
        EXPECT(ULP_BAD_ARGUMENT, curve(f, on->y64, NULL, ROOM));
        EXPECT(ULP_BAD_ARGUMENT, slope(no, on->y64, on->x, on->x, ROOM));
        EXPECT(ULP_BAD_ARGUMENT, slope(no, NULL, NULL, NULL, 0));
        EXPECT(ULP_BAD_ARGUMENT, slope(f, NULL, on->x, on->x, ROOM));
        EXPECT(ULP_BAD_ARGUMENT, slope(f, on->y64, NULL, on->x, ROOM));
        EXPECT(ULP_BAD_ARGUMENT, slope(f, on->y64, on->x, NULL, ROOM));
        EXPECT(ULP_OK, narrow(NULL, NULL, 0));
        EXPECT(ULP_OK, relu(NULL, NULL, 0));
        EXPECT(ULP_OK, relu_slope(NULL, NULL, NULL, 0));
        EXPECT(ULP_OK, curve(f, NULL, NULL, 0));
        EXPECT(ULP_OK, slope(f, NULL, NULL, NULL, 0));
        refusals_untouched(w);
        EXPECT(ULP_OK, narrow(on->y, on->x64, ROOM));
        EXPECT(ULP_OK, relu(on->y, on->x, ROOM));
        EXPECT(ULP_OK, relu_slope(on->y, on->x, on->x, ROOM));
        EXPECT(ULP_OK, curve(f, on->y64, on->x, ROOM));
        EXPECT(ULP_OK, slope(f, on->y64, on->x, on->x, ROOM));
    }
    refusals_close(w);
}

static void check_pool_refused(const check *c) {
    both pair, *w = &pair;
    const ulp_windows one = {1, 4, 4, 2}, none_at_all = {1, 4, 4, 0}, large = {1, 4, 4, ULP_WINDOW_MAX + 1},
                      empty = {0, 4, 4, 2};
    if (refusals_open(w, c, "refused: pool")) {
        EXPECT(ULP_BAD_ARGUMENT, pool(on->y, on->y, on->x, NULL));
        EXPECT(ULP_BAD_ARGUMENT, pool(on->y, on->y, on->x, &none_at_all));
        EXPECT(ULP_BAD_ARGUMENT, pool(on->y, on->y, on->x, &large));
        EXPECT(ULP_BAD_ARGUMENT, pool(NULL, on->y, on->x, &one));
        EXPECT(ULP_BAD_ARGUMENT, pool(on->y, NULL, on->x, &one));
        EXPECT(ULP_BAD_ARGUMENT, pool(on->y, on->y, NULL, &one));
        EXPECT(ULP_BAD_ARGUMENT, pool_slope(on->y, on->x, on->x, NULL));
        EXPECT(ULP_BAD_ARGUMENT, pool_slope(on->y, on->x, on->x, &none_at_all));
        EXPECT(ULP_BAD_ARGUMENT, pool_slope(on->y, on->x, on->x, &large));
        EXPECT(ULP_BAD_ARGUMENT, pool_slope(NULL, on->x, on->x, &one));
        EXPECT(ULP_BAD_ARGUMENT, pool_slope(on->y, NULL, on->x, &one));
        EXPECT(ULP_BAD_ARGUMENT, pool_slope(on->y, on->x, NULL, &one));
        EXPECT(ULP_OK, pool(NULL, NULL, NULL, &empty));
        EXPECT(ULP_OK, pool_slope(NULL, NULL, NULL, &empty));
        refusals_untouched(w);
        EXPECT(ULP_OK, pool(on->y, on->y + 4, on->x, &one));
        EXPECT(ULP_OK, pool_slope(on->y, on->x, on->x + 4, &one));
    }
    refusals_close(w);
}

static void check_softmax_refused(const check *c) {
    both pair, *w = &pair;
    if (refusals_open(w, c, "refused: softmax")) {
#define LABEL(side) ((const uint8_t *)(const void *)(side)->x)
        EXPECT(ULP_BAD_ARGUMENT, softmax(on->y64, on->y64, on->x, LABEL(on), 2, 0));
        EXPECT(ULP_BAD_ARGUMENT, softmax(NULL, NULL, NULL, NULL, 0, 0));
        EXPECT(ULP_BAD_ARGUMENT, softmax(NULL, on->y64, on->x, LABEL(on), 2, 3));
        EXPECT(ULP_BAD_ARGUMENT, softmax(on->y64, NULL, on->x, LABEL(on), 2, 3));
        EXPECT(ULP_BAD_ARGUMENT, softmax(on->y64, on->y64, NULL, LABEL(on), 2, 3));
        EXPECT(ULP_BAD_ARGUMENT, softmax(on->y64, on->y64, on->x, NULL, 2, 3));
        EXPECT(ULP_BAD_ARGUMENT, softmax_slope(on->y64, on->x, LABEL(on), 2, 0, 1.0));
        EXPECT(ULP_BAD_ARGUMENT, softmax_slope(NULL, on->x, LABEL(on), 2, 3, 1.0));
        EXPECT(ULP_BAD_ARGUMENT, softmax_slope(on->y64, NULL, LABEL(on), 2, 3, 1.0));
        EXPECT(ULP_BAD_ARGUMENT, softmax_slope(on->y64, on->x, NULL, 2, 3, 1.0));
        EXPECT(ULP_OK, softmax(NULL, NULL, NULL, NULL, 0, 3));
        EXPECT(ULP_OK, softmax_slope(NULL, NULL, NULL, 0, 3, 1.0));
        refusals_untouched(w);
        EXPECT(ULP_OK, softmax(on->y64, on->y64 + 6, on->x, LABEL(on), 2, 3));
        EXPECT(ULP_OK, softmax_slope(on->y64, on->x, LABEL(on), 2, 3, 1.0));
#undef LABEL
    }
    refusals_close(w);
}

void check_refused_between(const check *c) {
    check_curves_refused(c);
    check_pool_refused(c);
    check_softmax_refused(c);
}
