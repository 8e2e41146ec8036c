/* refusals_network.c - refused arguments of activation functions, windows, normalisation, dropout, softmax, cells, CTC,
 * elements and scales, rows of numbers and attention.
 */
#include "refusals.h"

static void refuse_curves(both *w) {
    const ulp_activation f = {.kind = ULP_TANH}, no = {.kind = ULP_ACTIVATION_COUNT};
    TRIED(2, ulp_backend_narrow(b, A(0, y), A(1, x64), N(ROOM)));
    TRIED(2, ulp_backend_scale(b, A(0, y64), A(1, x64), N(ROOM), 2.0));
    TRIED(2, ulp_backend_relu(b, A(0, y), A(1, x), N(ROOM)));
    TRIED(3, ulp_backend_relu_slope(b, A(0, y), A(1, x), A(2, x), N(ROOM)));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_activate(b, y64, x, ROOM, no));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_activate(b, NULL, NULL, 0, no));
    TRIED(2, ulp_backend_activate(b, A(0, y64), A(1, x), N(ROOM), f));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_activate_slope(b, y64, x, x, ROOM, no));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_activate_slope(b, NULL, NULL, NULL, 0, no));
    TRIED(3, ulp_backend_activate_slope(b, A(0, y64), A(1, x), A(2, x), N(ROOM), f));
}

/* Windows that fit, and windows without a size, larger than the images, without images. */
static const ulp_windows fitting = {1, 4, 4, 2}, sizeless = {1, 4, 4, 0}, oversized = {1, 4, 4, ULP_WINDOW_MAX + 1},
                         imageless = {0, 4, 4, 2};
#define FITTING OR_EMPTY(&fitting, &imageless)

static void refuse_pool(both *w) {
    static const ulp_windows *const bad[] = {NULL, &sizeless, &oversized};
    for (size_t i = 0; i < 3; i++) {
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_pool(b, y, y, x, bad[i]));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_pool_slope(b, y, x, x, bad[i]));
    }
    TRIED(3, ulp_backend_pool(b, A(0, y), A(1, y + 4), A(2, x), FITTING));
    TRIED(3, ulp_backend_pool_slope(b, A(0, y), A(1, x), A(2, x + 4), FITTING));
}

static void refuse_strided(both *w) {
    const ulp_strided_windows one = {1, 4, 4, 3, 2, 1}, empty = {0, 4, 4, 3, 2, 1}, none_fits = {1, 4, 4, 5, 1, 0};
    const ulp_strided_windows bad[] = {{1, 4, 4, 0, 2, 0},
                                       {1, 4, 4, ULP_WINDOW_MAX + 1, 2, 1},
                                       {1, 4, 4, 3, 0, 1},
                                       {1, 4, 4, 3, 2, 3},
                                       {0, 4, 4, 3, 2, 3}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_pool_strided(b, y, y, x, &bad[i]));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_pool_strided_slope(b, y64, x, x, &bad[i]));
    }
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_pool_strided(b, y, y, x, NULL));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_pool_strided_slope(b, y64, x, x, NULL));
    EXPECT(ULP_OK, ulp_backend_pool_strided(b, y, y + 4, x, &none_fits));
    TRIED(3, ulp_backend_pool_strided(b, A(0, y), A(1, y + 4), A(2, x), OR_EMPTY(&one, &empty)));
    TRIED(3, ulp_backend_pool_strided_slope(b, A(0, y64), A(1, x), A(2, y + 4), OR_EMPTY(&one, &empty)));
    GOOD(ulp_backend_pool_strided_slope(b, y64, x, x, &none_fits));
}

static void refuse_average(both *w) {
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_average(b, y64, x, NULL));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_average(b, y64, x, &sizeless));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_average_slope(b, y64, x, NULL));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_average_slope(b, y64, x, &sizeless));
    EXPECT(ULP_OK, ulp_backend_average(b, y64, x, &oversized)); /* no window fits */
    TRIED(2, ulp_backend_average(b, A(0, y64), A(1, x), FITTING));
    TRIED(2, ulp_backend_average_slope(b, A(0, y64), A(1, x), FITTING));
    GOOD(ulp_backend_average_slope(b, y64, x, &oversized));
}

static void refuse_upsample(both *w) {
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_upsample(b, y, x, NULL));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_upsample(b, y, x, &sizeless));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_upsample_slope(b, y64, x, NULL));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_upsample_slope(b, y64, x, &sizeless));
    EXPECT(ULP_OK, ulp_backend_upsample_slope(b, y64, x, &oversized)); /* no window fits */
    TRIED(2, ulp_backend_upsample(b, A(0, y), A(1, x), FITTING));
    TRIED(2, ulp_backend_upsample_slope(b, A(0, y64), A(1, x), FITTING));
    GOOD(ulp_backend_upsample(b, y, x, &oversized));
}

static void refuse_norm(both *w) {
    const ulp_channels s = {2, 3, 4}, empty[] = {{0, 3, 4}, {2, 0, 4}, {2, 3, 0}};
#define BY(statistics, w) ((ulp_norm){s, statistics, w})
    WITHOUT_EACH(2, ulp_backend_norm_statistics(b, A(0, y64), A(1, x), s));
    WITHOUT_EACH(3, ulp_backend_norm_running(b, A(0, y64), A(1, x), A(2, x), s));
    WITHOUT_EACH(4, ulp_backend_norm(b, A(0, y64), A(1, x), BY(A(2, x), A(3, x))));
    WITHOUT_EACH(4, ulp_backend_norm_sums(b, A(0, y64), A(1, x), A(2, x), BY(A(3, x), x)));
    WITHOUT_EACH(6, ulp_backend_norm_slope(b, A(0, y64), A(1, x), A(2, x), A(3, x64), BY(A(4, x), A(5, x))));
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
        EXPECT(ULP_OK, ulp_backend_norm_statistics(b, y64, NULL, empty[i]));
        EXPECT(ULP_OK, ulp_backend_norm_running(b, y64, NULL, NULL, empty[i]));
        EXPECT(ULP_OK, ulp_backend_norm(b, y64, NULL, (ulp_norm){empty[i], NULL, NULL}));
        EXPECT(ULP_OK, ulp_backend_norm_sums(b, y64, NULL, NULL, (ulp_norm){empty[i], NULL, NULL}));
        EXPECT(ULP_OK, ulp_backend_norm_slope(b, y64, NULL, NULL, NULL, (ulp_norm){empty[i], NULL, NULL}));
    }
    GOOD(ulp_backend_norm_sums(b, y64, x, x, BY(x, NULL)));
#undef BY
}

static void refuse_dropout(both *w) {
    const ulp_dropout half = {50, none}, all = {100, none};
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_dropout(b, y64, x, ROOM, all));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_dropout(b, NULL, NULL, 0, all));
    TRIED(2, ulp_backend_dropout(b, A(0, y64), A(1, x), N(ROOM), half));
}

static void refuse_softmax(both *w) {
#define LABEL ((const uint8_t *)(const void *)on->x)
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_softmax(b, y64, y64, x, (ulp_labels){LABEL, 2, 0}));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_softmax(b, NULL, NULL, NULL, (ulp_labels){NULL, 0, 0}));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_softmax_slope(b, y64, x, (ulp_labels){LABEL, 2, 0}, 1.0));
    TRIED(4, ulp_backend_softmax(b, A(0, y64), A(1, y64 + 6), A(2, x), (ulp_labels){A(3, LABEL), N(2), 3}));
    TRIED(3, ulp_backend_softmax_slope(b, A(0, y64), A(1, x), (ulp_labels){A(2, LABEL), N(2), 3}, 1.0));
#undef LABEL
}

static void refuse_cells(both *w) {
#define ARRAYS(...) (&(ulp_cell_arrays){__VA_ARGS__})
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_cell(b, y64, NULL, ULP_CELL_SUM));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_cell(b, y64, ARRAYS(2, 3, {x, x}), ULP_CELL_STAGE_COUNT));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_cell(b, NULL, ARRAYS(0, 0, {NULL}), ULP_CELL_STAGE_COUNT));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_cell(b, y64, ARRAYS(1, 2, {x, x, x, x, NULL}), ULP_LSTM_GRAD_MEMORY));
    EXPECT(ULP_OK, ulp_backend_cell(b, NULL, ARRAYS(0, 3, {NULL}), ULP_GRU_GATES));
    EXPECT(ULP_OK, ulp_backend_cell(b, NULL, ARRAYS(2, 0, {NULL}), ULP_GRU_GATES));
    TRIED(3, ulp_backend_cell(b, A(0, y64), ARRAYS(2, N(3), {A(1, x), A(2, x)}), ULP_CELL_SUM));
    GOOD(ulp_backend_cell(b, y64, ARRAYS(2, 3, {x}), ULP_GRU_GATES));
#undef ARRAYS
}

static void refuse_ctc(both *w) {
    const ulp_path_sums sums = {.rounding = {.format = &w->fp16}}, none_at_all = {0},
                        wide = {.rounding = {.format = &w->wide}},
                        wrong = {.rounding = {&w->fp16, rules[0].rule, none, NULL}};
#define OF(B, C, T, L) (ulp_sequences){(const uint8_t *)(const void *)on->x, B, C, T, L}
#define UNLABELLED(L)                                                                                                  \
    (ulp_sequences) { NULL, 1, 2, 2, L }
    TRIED(2, ulp_backend_ctc_outputs(b, A(0, y64), A(1, x), OF(N(1), 2, 2, 1), w->empty || w->good));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_ctc_outputs(b, y64, x, OF(1, 0, 2, 1), 0));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_ctc_outputs(b, y64, x, OF(1, 2, 0, 1), 0));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_ctc(b, y64, y64, y64, x, OF(1, 2, 2, 1), NULL));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_ctc(b, y64, y64, y64, x, OF(1, 2, 2, 1), &none_at_all));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_ctc(b, y64, y64, y64, x, OF(1, 2, 2, 1), &wrong));
    EXPECT(ULP_UNSUPPORTED, ulp_backend_ctc(b, y64, y64, y64, x, OF(1, 2, 2, 1), &wide));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_ctc(b, y64, y64, y64, x, UNLABELLED(1), &sums));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_ctc(b, y64, y64, y64, x, OF(1, 0, 2, 1), &sums));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_ctc(b, y64, y64, y64, x, OF(1, 2, 0, 1), &sums));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_ctc(b, y64, y64, y64, x, OF(0, 2, 2, ULP_LABELS_MAX + 1), &sums));
    TRIED(4, ulp_backend_ctc(b, A(0, y64), A(1, x64), A(2, y64 + 4), A(3, x),
                             OF(N(1), 2, 2, OR_EMPTY(1, ULP_LABELS_MAX)), &sums));
    GOOD(ulp_backend_ctc(b, y64, x64, y64 + 4, x, UNLABELLED(0), &sums));
#undef UNLABELLED
#undef OF
}

static void refuse_parts(both *w) {
    const ulp_low_bit how = {.kind = ULP_LOW_TERNARY, .threshold = 0.7}, no = {.kind = ULP_LOW_COUNT};
    const ulp_sum_scales by = {.m = 2, .n = 2, .ldc = 2, .factor = 1.0f}, empty = {.ldc = 2},
                         narrow = {NULL, NULL, 0, 0, 1, 2, 2, 1, 0, 0};
    ulp_block_cast cast = {.block = {.size = 0}};
    float t;
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_block_parts(b, y, y + 8, &t, x, 2, 2, &cast));
    if (ulp_block_parse(&cast.block, "nvfp4") != ULP_OK) return;
    TRIED(3, ulp_backend_block_parts(b, A(0, y), A(1, y + 8), &t, A(2, x), N(2), 2, &cast));
    TRIED(4, ulp_backend_low_bit(b, A(0, y), A(1, y + 8), A(2, y64), A(3, x), N(2), 2, &how));
    TRIED(2, ulp_backend_scaled_sums(b, A(0, y), A(1, x), OR_EMPTY(&by, &empty)));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_low_bit(b, y, y + 8, y64, x, 2, 2, NULL));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_low_bit(b, y, y + 8, y64, x, 2, 2, &no));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_scaled_sums(b, y, x, NULL));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_scaled_sums(b, y, x, &narrow));
}

static void refuse_rows(both *w) {
    const ulp_row_table good_table = {3, 2, 2, NULL}, no_rows = {0, 2, 2, NULL}, no_entries = {3, 2, 0, NULL};
    const ulp_token_shape tokens = {2, 3, 2}, empty = {0, 3, 2}, no_tokens = {2, 0, 2};
    const ulp_rotation turn = {2, 2, 6, 1, 1, 4, 0}, no_turn = {0, 2, 6, 1, 1, 4, 0};
    const ulp_rotation bad[] = {{2, 0, 6, 1, 1, 4, 0}, {2, 2, 6, 1, 1, 3, 0}, {2, 2, 6, 3, 1, 4, 0}};
    TRIED(2, ulp_backend_scaled(b, A(0, y64), A(1, x), N(ROOM), 2.0));
    TRIED(3, ulp_backend_row_scale(b, A(0, y64), A(1, x), A(2, x), N(3), 4, w->good));
    TRIED(3, ulp_backend_row_dots(b, A(0, y64), A(1, x), A(2, x), N(3), 4));
    TRIED(2, ulp_backend_gather(b, A(0, y), A(1, x), OR_EMPTY(&good_table, &no_rows)));
    TRIED(1, ulp_backend_one_hot(b, A(0, y), OR_EMPTY(&good_table, &no_rows)));
    TRIED(2, ulp_backend_token_mean(b, A(0, y64), A(1, x), OR_EMPTY(tokens, empty)));
    TRIED(2, ulp_backend_token_mean_slope(b, A(0, y64), A(1, x), OR_EMPTY(tokens, empty)));
    TRIED(3, ulp_backend_rotate(b, A(0, y64), A(1, x), A(2, x), OR_EMPTY(&turn, &no_turn)));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_gather(b, y, x, NULL));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_gather(b, y, x, &no_entries));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_one_hot(b, y, NULL));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_one_hot(b, y, &no_entries));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_token_mean(b, y64, x, no_tokens));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_token_mean_slope(b, y64, x, no_tokens));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_rotate(b, y64, x, x, NULL));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_rotate(b, y64, x, x, &bad[i]));
}

static void refuse_row_norm(both *w) {
    const ulp_row_norm empty = {0, 4, 0, NULL, NULL};
#define MOMENTS(...) (&(ulp_row_moments){.rows = N(3), __VA_ARGS__})
#define BY(statistics, w) ((ulp_row_norm){3, 4, 0, statistics, w})
    TRIED(2, ulp_backend_row_moments(b, A(0, y64), A(1, x), MOMENTS(.n = 4)));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_row_moments(b, y64, x, NULL));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_row_moments(b, y64, x, MOMENTS(.n = 0)));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_row_moments(b, y64, x, MOMENTS(.n = 4, .method = ULP_MOMENTS_COUNT)));
    EXPECT(ULP_UNSUPPORTED, ulp_backend_row_moments(b, y64, x, MOMENTS(.n = 4, .method = 1, .format = w->wide)));
    for (int i = 0; i < RULES; i++)
        EXPECT(rules[i].right, ulp_backend_row_moments(b, y64, x,
                                                       MOMENTS(.n = 4, .method = ULP_MOMENTS_WELFORD, .format = w->fp16,
                                                               .rule = rules[i].rule)));
    WITHOUT_EACH(4, ulp_backend_row_norm(b, A(0, y64), A(1, x), BY(A(2, x), A(3, x))));
    WITHOUT_EACH(4, ulp_backend_row_norm_sums(b, A(0, y64), A(1, x), A(2, x), BY(A(3, x), x)));
    WITHOUT_EACH(5, ulp_backend_row_norm_slope(b, A(0, y64), A(1, x), A(2, x), BY(A(3, x), A(4, x))));
    EXPECT(ULP_OK, ulp_backend_row_norm(b, NULL, NULL, empty));
    EXPECT(ULP_OK, ulp_backend_row_norm_sums(b, NULL, NULL, NULL, empty));
    EXPECT(ULP_OK, ulp_backend_row_norm_slope(b, NULL, NULL, NULL, empty));
#undef BY
#undef MOMENTS
}

static void refuse_attention(both *w) {
    const ulp_scores good = {.rows = 4, .queries = 2, .keys = 3, .from = 1, .to = 3, .beta = 1.0f},
                     empty = {.rows = 0, .queries = 2, .keys = 3, .to = 2, .beta = 1.0f};
    ulp_scores bad[5] = {good, good, good, good, good};
    bad[0].queries = 0, bad[1].from = 4, bad[2].to = 4, bad[3].beta = 0.5f, bad[4].beta = NAN;
#define BY OR_EMPTY(&good, &empty)
#define HALF(rule) ((ulp_rounding){&w->fp16, rule, none, NULL})
    TRIED(2, ulp_backend_attention_softmax(b, A(0, y64), A(1, x), BY));
    TRIED(3, ulp_backend_attention_slope(b, A(0, y64), A(1, x), A(2, x), NULL, BY, 1.0));
    TRIED(3, ulp_backend_softmax_maxima(b, A(0, y), A(1, y64), A(2, x), BY));
    TRIED(3, ulp_backend_softmax_block(b, A(0, y64), A(1, x), A(2, x), NULL, BY));
    TRIED(3, ulp_backend_softmax_sums(b, A(0, y), A(1, x), A(2, x), BY, HALF(rne)));
    for (int i = 0; i < 5; i++) {
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_attention_softmax(b, y64, x, &bad[i]));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_attention_slope(b, y64, x, x, NULL, &bad[i], 1.0));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_softmax_maxima(b, y, y64, x, &bad[i]));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_softmax_block(b, y64, x, x, NULL, &bad[i]));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_softmax_sums(b, y, x, x, &bad[i], HALF(rne)));
    }
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_attention_softmax(b, y64, x, NULL));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_softmax_sums(b, y, x, x, &good, (ulp_rounding){NULL, rne, none, NULL}));
    EXPECT(ULP_UNSUPPORTED, ulp_backend_softmax_sums(b, y, x, x, &good, (ulp_rounding){&w->wide, rne, none, NULL}));
    for (int i = 0; i < RULES; i++)
        EXPECT(rules[i].right, ulp_backend_softmax_sums(b, y, x, x, &good, HALF(rules[i].rule)));
#undef HALF
#undef BY
}

void check_refused_between(const check *c) {
    static const refusal rows[] = {{"narrow, scale, relu, curve, slope", refuse_curves},
                                   {"pool", refuse_pool},
                                   {"pool with a stride and a frame", refuse_strided},
                                   {"average", refuse_average},
                                   {"upsample", refuse_upsample},
                                   {"normalisation", refuse_norm},
                                   {"dropout", refuse_dropout},
                                   {"softmax", refuse_softmax},
                                   {"stages of cells", refuse_cells},
                                   {"ctc", refuse_ctc},
                                   {"elements, scales, and sums times scales", refuse_parts},
                                   {"rows of numbers, tables, means over tokens", refuse_rows},
                                   {"normalisation of rows", refuse_row_norm},
                                   {"attention", refuse_attention}};
    refusals_run(c, rows, sizeof rows / sizeof rows[0]);
}
