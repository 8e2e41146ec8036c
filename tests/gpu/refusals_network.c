/* refusals_network.c - refused arguments of activation functions, windows, normalisation, dropout, softmax, cells, CTC.
 */
#include "refusals.h"

static void check_curves_refused(const check *c) {
    both pair, *w = &pair;
    const ulp_activation f = {.kind = ULP_TANH}, no = {.kind = ULP_ACTIVATION_COUNT};
    if (refusals_open(w, c, "refused: narrow, scale, relu, curve, slope")) {
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_narrow(on->b, NULL, on->x64, ROOM));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_narrow(on->b, on->y, NULL, ROOM));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_scale(on->b, NULL, on->x64, ROOM, 2.0));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_scale(on->b, on->y64, NULL, ROOM, 2.0));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_relu(on->b, NULL, on->x, ROOM));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_relu(on->b, on->y, NULL, ROOM));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_relu_slope(on->b, NULL, on->x, on->x, ROOM));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_relu_slope(on->b, on->y, NULL, on->x, ROOM));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_relu_slope(on->b, on->y, on->x, NULL, ROOM));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_activate(on->b, on->y64, on->x, ROOM, no));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_activate(on->b, NULL, NULL, 0, no));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_activate(on->b, NULL, on->x, ROOM, f));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_activate(on->b, on->y64, NULL, ROOM, f));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_activate_slope(on->b, on->y64, on->x, on->x, ROOM, no));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_activate_slope(on->b, NULL, NULL, NULL, 0, no));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_activate_slope(on->b, NULL, on->x, on->x, ROOM, f));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_activate_slope(on->b, on->y64, NULL, on->x, ROOM, f));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_activate_slope(on->b, on->y64, on->x, NULL, ROOM, f));
        EXPECT(ULP_OK, ulp_backend_narrow(on->b, NULL, NULL, 0));
        EXPECT(ULP_OK, ulp_backend_scale(on->b, NULL, NULL, 0, 2.0));
        EXPECT(ULP_OK, ulp_backend_relu(on->b, NULL, NULL, 0));
        EXPECT(ULP_OK, ulp_backend_relu_slope(on->b, NULL, NULL, NULL, 0));
        EXPECT(ULP_OK, ulp_backend_activate(on->b, NULL, NULL, 0, f));
        EXPECT(ULP_OK, ulp_backend_activate_slope(on->b, NULL, NULL, NULL, 0, f));
        refusals_untouched(w);
        EXPECT(ULP_OK, ulp_backend_narrow(on->b, on->y, on->x64, ROOM));
        EXPECT(ULP_OK, ulp_backend_scale(on->b, on->y64, on->x64, ROOM, 2.0));
        EXPECT(ULP_OK, ulp_backend_relu(on->b, on->y, on->x, ROOM));
        EXPECT(ULP_OK, ulp_backend_relu_slope(on->b, on->y, on->x, on->x, ROOM));
        EXPECT(ULP_OK, ulp_backend_activate(on->b, on->y64, on->x, ROOM, f));
        EXPECT(ULP_OK, ulp_backend_activate_slope(on->b, on->y64, on->x, on->x, ROOM, f));
    }
    refusals_close(w);
}

static void check_pool_refused(const check *c) {
    both pair, *w = &pair;
    const ulp_windows one = {1, 4, 4, 2}, none_at_all = {1, 4, 4, 0}, large = {1, 4, 4, ULP_WINDOW_MAX + 1},
                      empty = {0, 4, 4, 2};
    if (refusals_open(w, c, "refused: pool")) {
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_pool(on->b, on->y, on->y, on->x, NULL));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_pool(on->b, on->y, on->y, on->x, &none_at_all));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_pool(on->b, on->y, on->y, on->x, &large));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_pool(on->b, NULL, on->y, on->x, &one));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_pool(on->b, on->y, NULL, on->x, &one));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_pool(on->b, on->y, on->y, NULL, &one));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_pool_slope(on->b, on->y, on->x, on->x, NULL));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_pool_slope(on->b, on->y, on->x, on->x, &none_at_all));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_pool_slope(on->b, on->y, on->x, on->x, &large));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_pool_slope(on->b, NULL, on->x, on->x, &one));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_pool_slope(on->b, on->y, NULL, on->x, &one));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_pool_slope(on->b, on->y, on->x, NULL, &one));
        EXPECT(ULP_OK, ulp_backend_pool(on->b, NULL, NULL, NULL, &empty));
        EXPECT(ULP_OK, ulp_backend_pool_slope(on->b, NULL, NULL, NULL, &empty));
        refusals_untouched(w);
        EXPECT(ULP_OK, ulp_backend_pool(on->b, on->y, on->y + 4, on->x, &one));
        EXPECT(ULP_OK, ulp_backend_pool_slope(on->b, on->y, on->x, on->x + 4, &one));
    }
    refusals_close(w);
}

static void check_strided_refused(const check *c) {
    both pair, *w = &pair;
    const ulp_strided_windows one = {1, 4, 4, 3, 2, 1}, empty = {0, 4, 4, 3, 2, 1}, none_fits = {1, 4, 4, 5, 1, 0};
    const ulp_strided_windows bad[] = {{1, 4, 4, 0, 2, 0},
                                       {1, 4, 4, ULP_WINDOW_MAX + 1, 2, 1},
                                       {1, 4, 4, 3, 0, 1},
                                       {1, 4, 4, 3, 2, 3},
                                       {0, 4, 4, 3, 2, 3}};
    if (refusals_open(w, c, "refused: pool with a stride and a frame")) {
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
            EXPECT(ULP_BAD_ARGUMENT, ulp_backend_pool_strided(on->b, on->y, on->y, on->x, &bad[i]));
            EXPECT(ULP_BAD_ARGUMENT, ulp_backend_pool_strided_slope(on->b, on->y64, on->x, on->x, &bad[i]));
        }
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_pool_strided(on->b, on->y, on->y, on->x, NULL));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_pool_strided(on->b, NULL, on->y, on->x, &one));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_pool_strided(on->b, on->y, NULL, on->x, &one));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_pool_strided(on->b, on->y, on->y, NULL, &one));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_pool_strided_slope(on->b, on->y64, on->x, on->x, NULL));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_pool_strided_slope(on->b, NULL, on->x, on->x, &one));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_pool_strided_slope(on->b, on->y64, NULL, on->x, &one));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_pool_strided_slope(on->b, on->y64, on->x, NULL, &one));
        EXPECT(ULP_OK, ulp_backend_pool_strided(on->b, NULL, NULL, NULL, &empty));
        EXPECT(ULP_OK, ulp_backend_pool_strided_slope(on->b, NULL, NULL, NULL, &empty));
        EXPECT(ULP_OK, ulp_backend_pool_strided(on->b, on->y, on->y + 4, on->x, &none_fits));
        refusals_untouched(w);
        EXPECT(ULP_OK, ulp_backend_pool_strided(on->b, on->y, on->y + 4, on->x, &one));
        EXPECT(ULP_OK, ulp_backend_pool_strided_slope(on->b, on->y64, on->x, on->y + 4, &one));
        EXPECT(ULP_OK, ulp_backend_pool_strided_slope(on->b, on->y64, on->x, on->x, &none_fits));
    }
    refusals_close(w);
}

static void check_average_refused(const check *c) {
    both pair, *w = &pair;
    const ulp_windows one = {1, 4, 4, 2}, none_at_all = {1, 4, 4, 0}, large = {1, 4, 4, ULP_WINDOW_MAX + 1},
                      empty = {0, 4, 4, 2};
    if (refusals_open(w, c, "refused: average")) {
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_average(on->b, on->y64, on->x, NULL));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_average(on->b, on->y64, on->x, &none_at_all));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_average(on->b, NULL, on->x, &one));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_average(on->b, on->y64, NULL, &one));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_average_slope(on->b, on->y64, on->x, NULL));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_average_slope(on->b, on->y64, on->x, &none_at_all));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_average_slope(on->b, NULL, on->x, &one));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_average_slope(on->b, on->y64, NULL, &one));
        EXPECT(ULP_OK, ulp_backend_average(on->b, NULL, NULL, &empty));
        EXPECT(ULP_OK, ulp_backend_average_slope(on->b, NULL, NULL, &empty));
        EXPECT(ULP_OK, ulp_backend_average(on->b, on->y64, on->x, &large)); /* no window fits */
        refusals_untouched(w);
        EXPECT(ULP_OK, ulp_backend_average(on->b, on->y64, on->x, &one));
        EXPECT(ULP_OK, ulp_backend_average_slope(on->b, on->y64, on->x, &one));
        EXPECT(ULP_OK, ulp_backend_average_slope(on->b, on->y64, on->x, &large));
    }
    refusals_close(w);
}

static void check_upsample_refused(const check *c) {
    both pair, *w = &pair;
    const ulp_windows one = {1, 4, 4, 2}, none_at_all = {1, 4, 4, 0}, large = {1, 4, 4, ULP_WINDOW_MAX + 1},
                      empty = {0, 4, 4, 2};
    if (refusals_open(w, c, "refused: upsample")) {
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_upsample(on->b, on->y, on->x, NULL));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_upsample(on->b, on->y, on->x, &none_at_all));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_upsample(on->b, NULL, on->x, &one));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_upsample(on->b, on->y, NULL, &one));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_upsample_slope(on->b, on->y64, on->x, NULL));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_upsample_slope(on->b, on->y64, on->x, &none_at_all));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_upsample_slope(on->b, NULL, on->x, &one));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_upsample_slope(on->b, on->y64, NULL, &one));
        EXPECT(ULP_OK, ulp_backend_upsample(on->b, NULL, NULL, &empty));
        EXPECT(ULP_OK, ulp_backend_upsample_slope(on->b, NULL, NULL, &empty));
        EXPECT(ULP_OK, ulp_backend_upsample_slope(on->b, on->y64, on->x, &large)); /* no window fits */
        refusals_untouched(w);
        EXPECT(ULP_OK, ulp_backend_upsample(on->b, on->y, on->x, &one));
        EXPECT(ULP_OK, ulp_backend_upsample(on->b, on->y, on->x, &large));
        EXPECT(ULP_OK, ulp_backend_upsample_slope(on->b, on->y64, on->x, &one));
    }
    refusals_close(w);
}

static void check_norm_refused(const check *c) {
    both pair, *w = &pair;
    const ulp_channels s = {2, 3, 4}, empty[] = {{0, 3, 4}, {2, 0, 4}, {2, 3, 0}};
    if (refusals_open(w, c, "refused: normalisation")) {
#define BY(statistics, w) ((ulp_norm){s, statistics, w})
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_norm_statistics(on->b, NULL, on->x, s));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_norm_statistics(on->b, on->y64, NULL, s));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_norm_running(on->b, NULL, on->x, on->x, s));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_norm_running(on->b, on->y64, NULL, on->x, s));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_norm_running(on->b, on->y64, on->x, NULL, s));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_norm(on->b, NULL, on->x, BY(on->x, on->x)));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_norm(on->b, on->y64, NULL, BY(on->x, on->x)));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_norm(on->b, on->y64, on->x, BY(NULL, on->x)));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_norm(on->b, on->y64, on->x, BY(on->x, NULL)));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_norm_sums(on->b, NULL, on->x, on->x, BY(on->x, on->x)));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_norm_sums(on->b, on->y64, NULL, on->x, BY(on->x, on->x)));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_norm_sums(on->b, on->y64, on->x, NULL, BY(on->x, on->x)));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_norm_sums(on->b, on->y64, on->x, on->x, BY(NULL, on->x)));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_norm_slope(on->b, NULL, on->x, on->x, on->x64, BY(on->x, on->x)));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_norm_slope(on->b, on->y64, NULL, on->x, on->x64, BY(on->x, on->x)));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_norm_slope(on->b, on->y64, on->x, NULL, on->x64, BY(on->x, on->x)));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_norm_slope(on->b, on->y64, on->x, on->x, NULL, BY(on->x, on->x)));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_norm_slope(on->b, on->y64, on->x, on->x, on->x64, BY(NULL, on->x)));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_norm_slope(on->b, on->y64, on->x, on->x, on->x64, BY(on->x, NULL)));
        for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
            EXPECT(ULP_OK, ulp_backend_norm_statistics(on->b, on->y64, NULL, empty[i]));
            EXPECT(ULP_OK, ulp_backend_norm_running(on->b, on->y64, NULL, NULL, empty[i]));
            EXPECT(ULP_OK, ulp_backend_norm(on->b, on->y64, NULL, (ulp_norm){empty[i], NULL, NULL}));
            EXPECT(ULP_OK, ulp_backend_norm_sums(on->b, on->y64, NULL, NULL, (ulp_norm){empty[i], NULL, NULL}));
            EXPECT(ULP_OK, ulp_backend_norm_slope(on->b, on->y64, NULL, NULL, NULL, (ulp_norm){empty[i], NULL, NULL}));
        }
        refusals_untouched(w);
        EXPECT(ULP_OK, ulp_backend_norm_statistics(on->b, on->y64, on->x, s));
        EXPECT(ULP_OK, ulp_backend_norm_running(on->b, on->y64, on->x, on->x, s));
        EXPECT(ULP_OK, ulp_backend_norm(on->b, on->y64, on->x, BY(on->x, on->x)));
        EXPECT(ULP_OK, ulp_backend_norm_sums(on->b, on->y64, on->x, on->x, BY(on->x, NULL)));
        EXPECT(ULP_OK, ulp_backend_norm_slope(on->b, on->y64, on->x, on->x, on->x64, BY(on->x, on->x)));
#undef BY
    }
    refusals_close(w);
}

static void check_dropout_refused(const check *c) {
    both pair, *w = &pair;
    const ulp_dropout half = {50, none}, all = {100, none};
    if (refusals_open(w, c, "refused: dropout")) {
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_dropout(on->b, on->y64, on->x, ROOM, all));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_dropout(on->b, NULL, NULL, 0, all));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_dropout(on->b, NULL, on->x, ROOM, half));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_dropout(on->b, on->y64, NULL, ROOM, half));
        EXPECT(ULP_OK, ulp_backend_dropout(on->b, NULL, NULL, 0, half));
        refusals_untouched(w);
        EXPECT(ULP_OK, ulp_backend_dropout(on->b, on->y64, on->x, ROOM, half));
    }
    refusals_close(w);
}

static void check_softmax_refused(const check *c) {
    both pair, *w = &pair;
    if (refusals_open(w, c, "refused: softmax")) {
#define LABEL(side) ((const uint8_t *)(const void *)(side)->x)
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_softmax(on->b, on->y64, on->y64, on->x, (ulp_labels){LABEL(on), 2, 0}));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_softmax(on->b, NULL, NULL, NULL, (ulp_labels){NULL, 0, 0}));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_softmax(on->b, NULL, on->y64, on->x, (ulp_labels){LABEL(on), 2, 3}));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_softmax(on->b, on->y64, NULL, on->x, (ulp_labels){LABEL(on), 2, 3}));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_softmax(on->b, on->y64, on->y64, NULL, (ulp_labels){LABEL(on), 2, 3}));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_softmax(on->b, on->y64, on->y64, on->x, (ulp_labels){NULL, 2, 3}));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_softmax_slope(on->b, on->y64, on->x, (ulp_labels){LABEL(on), 2, 0}, 1.0));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_softmax_slope(on->b, NULL, on->x, (ulp_labels){LABEL(on), 2, 3}, 1.0));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_softmax_slope(on->b, on->y64, NULL, (ulp_labels){LABEL(on), 2, 3}, 1.0));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_softmax_slope(on->b, on->y64, on->x, (ulp_labels){NULL, 2, 3}, 1.0));
        EXPECT(ULP_OK, ulp_backend_softmax(on->b, NULL, NULL, NULL, (ulp_labels){NULL, 0, 3}));
        EXPECT(ULP_OK, ulp_backend_softmax_slope(on->b, NULL, NULL, (ulp_labels){NULL, 0, 3}, 1.0));
        refusals_untouched(w);
        EXPECT(ULP_OK, ulp_backend_softmax(on->b, on->y64, on->y64 + 6, on->x, (ulp_labels){LABEL(on), 2, 3}));
        EXPECT(ULP_OK, ulp_backend_softmax_slope(on->b, on->y64, on->x, (ulp_labels){LABEL(on), 2, 3}, 1.0));
#undef LABEL
    }
    refusals_close(w);
}

static void check_cells_refused(const check *c) {
    both pair, *w = &pair;
    if (refusals_open(w, c, "refused: stages of cells")) {
#define ARRAYS(...) (&(ulp_cell_arrays){__VA_ARGS__})
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_cell(on->b, on->y64, NULL, ULP_CELL_SUM));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_cell(on->b, on->y64, ARRAYS(2, 3, {on->x, on->x}), ULP_CELL_STAGE_COUNT));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_cell(on->b, NULL, ARRAYS(0, 0, {NULL}), ULP_CELL_STAGE_COUNT));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_cell(on->b, NULL, ARRAYS(2, 3, {on->x, on->x}), ULP_CELL_SUM));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_cell(on->b, on->y64, ARRAYS(2, 3, {on->x, NULL}), ULP_CELL_SUM));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_cell(on->b, on->y64, ARRAYS(2, 3, {NULL, on->x}), ULP_CELL_SUM));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_cell(on->b, on->y64, ARRAYS(1, 2, {on->x, on->x, on->x, on->x, NULL}),
                                                  ULP_LSTM_GRAD_MEMORY));
        EXPECT(ULP_OK, ulp_backend_cell(on->b, NULL, ARRAYS(0, 3, {NULL}), ULP_GRU_GATES));
        EXPECT(ULP_OK, ulp_backend_cell(on->b, NULL, ARRAYS(2, 0, {NULL}), ULP_GRU_GATES));
        EXPECT(ULP_OK, ulp_backend_cell(on->b, NULL, ARRAYS(2, 0, {NULL}), ULP_CELL_SUM));
        refusals_untouched(w);
        EXPECT(ULP_OK, ulp_backend_cell(on->b, on->y64, ARRAYS(2, 3, {on->x, on->x}), ULP_CELL_SUM));
        EXPECT(ULP_OK, ulp_backend_cell(on->b, on->y64, ARRAYS(2, 3, {on->x}), ULP_GRU_GATES));
#undef ARRAYS
    }
    refusals_close(w);
}

static void check_ctc_refused(const check *c) {
    both pair, *w = &pair;
    if (refusals_open(w, c, "refused: ctc")) {
        const ulp_path_sums sums = {.rounding = {.format = &w->fp16}}, none_at_all = {0},
                            wide = {.rounding = {.format = &w->wide}},
                            wrong = {.rounding = {&w->fp16, rules[0].rule, none, NULL}};
#define OF(B, C, T, L) (ulp_sequences){(const uint8_t *)(const void *)on->x, B, C, T, L}
#define UNLABELLED                                                                                                     \
    (ulp_sequences) { NULL, 1, 2, 2, 1 }
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_ctc_outputs(on->b, NULL, on->x, OF(1, 2, 2, 1), 0));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_ctc_outputs(on->b, on->y64, NULL, OF(1, 2, 2, 1), 0));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_ctc_outputs(on->b, on->y64, on->x, OF(1, 0, 2, 1), 0));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_ctc_outputs(on->b, on->y64, on->x, OF(1, 2, 0, 1), 0));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_ctc(on->b, on->y64, on->y64, on->y64, on->x, OF(1, 2, 2, 1), NULL));
        EXPECT(ULP_BAD_ARGUMENT,
               ulp_backend_ctc(on->b, on->y64, on->y64, on->y64, on->x, OF(1, 2, 2, 1), &none_at_all));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_ctc(on->b, on->y64, on->y64, on->y64, on->x, OF(1, 2, 2, 1), &wrong));
        EXPECT(ULP_UNSUPPORTED, ulp_backend_ctc(on->b, on->y64, on->y64, on->y64, on->x, OF(1, 2, 2, 1), &wide));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_ctc(on->b, NULL, on->y64, on->y64, on->x, OF(1, 2, 2, 1), &sums));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_ctc(on->b, on->y64, NULL, on->y64, on->x, OF(1, 2, 2, 1), &sums));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_ctc(on->b, on->y64, on->y64, NULL, on->x, OF(1, 2, 2, 1), &sums));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_ctc(on->b, on->y64, on->y64, on->y64, NULL, OF(1, 2, 2, 1), &sums));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_ctc(on->b, on->y64, on->y64, on->y64, on->x, UNLABELLED, &sums));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_ctc(on->b, on->y64, on->y64, on->y64, on->x, OF(1, 0, 2, 1), &sums));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_ctc(on->b, on->y64, on->y64, on->y64, on->x, OF(1, 2, 0, 1), &sums));
        EXPECT(ULP_BAD_ARGUMENT,
               ulp_backend_ctc(on->b, on->y64, on->y64, on->y64, on->x, OF(0, 2, 2, ULP_LABELS_MAX + 1), &sums));
        EXPECT(ULP_OK, ulp_backend_ctc_outputs(on->b, NULL, NULL, OF(0, 2, 2, 1), 1));
        EXPECT(ULP_OK, ulp_backend_ctc(on->b, NULL, NULL, NULL, NULL, OF(0, 2, 2, ULP_LABELS_MAX), &sums));
        refusals_untouched(w);
        EXPECT(ULP_OK, ulp_backend_ctc_outputs(on->b, on->y64, on->x, OF(1, 2, 2, 1), 1));
        EXPECT(ULP_OK, ulp_backend_ctc(on->b, on->y64, on->x64, on->y64 + 4, on->x, OF(1, 2, 2, 1), &sums));
        EXPECT(ULP_OK,
               ulp_backend_ctc(on->b, on->y64, on->x64, on->y64 + 4, on->x, (ulp_sequences){NULL, 1, 2, 2, 0}, &sums));
#undef UNLABELLED
#undef OF
    }
    refusals_close(w);
}

void check_refused_between(const check *c) {
    check_curves_refused(c);
    check_pool_refused(c);
    check_strided_refused(c);
    check_average_refused(c);
    check_upsample_refused(c);
    check_norm_refused(c);
    check_dropout_refused(c);
    check_softmax_refused(c);
    check_cells_refused(c);
    check_ctc_refused(c);
}
