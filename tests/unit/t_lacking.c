/* t_lacking.c - an operation that a backend lacks is refused with its name. */
#include "support.h"

#include "kernels/backend.h"

/* the number of operations */
#define ULP_OPERATION(...) +1
enum {
    ROWS = 0
#include "kernels/operations.def"
};

/* The operation is refused before its arguments are checked. */
TEST(lacking) {
    const ulp_backend none = {.name = "cpu"}, *whole;
    ulp_backend one;
    ulp_error why;
    const ulp_gemm_shape shape = {0};
    int cases = 0;
    assert_int_equal(ulp_backend_get(&whole, "cpu"), ULP_OK);
#define CASE(operation, ...)                                                                                           \
    cases++;                                                                                                           \
    one = *whole;                                                                                                      \
    one.operation = NULL;                                                                                              \
    assert_int_equal(ulp_backend_##operation(&one, __VA_ARGS__), ULP_UNSUPPORTED);                                     \
    ulp_backend_explain(&why, &one, ULP_UNSUPPORTED);                                                                  \
    assert_string_equal(why.text, "the backend cpu does not offer the operation " #operation)
    CASE(round, NULL, NULL, 0, (ulp_rounding){0});
    CASE(round64, NULL, NULL, 0, (ulp_rounding){0});
    CASE(encode, NULL, NULL, 0, 8, (ulp_rounding){0});
    CASE(decode, NULL, NULL, 0, 8, NULL);
    CASE(block_encode, NULL, NULL, NULL, 0, (ulp_block_array){0}, (ulp_rule){0}, (ulp_stream){0});
    CASE(block_decode, NULL, NULL, NULL, 0, (ulp_block_array){0});
    CASE(quantize, NULL, NULL, NULL, NULL, NULL, NULL, (ulp_rule){0}, (ulp_stream){0});
    CASE(block_cast, NULL, NULL, 0, 0, NULL);
    CASE(block_parts, NULL, NULL, NULL, NULL, 0, 0, NULL);
    CASE(low_bit, NULL, NULL, NULL, NULL, 0, 0, NULL);
    CASE(scaled_sums, NULL, NULL, NULL);
    CASE(hadamard, NULL, NULL, 0, 0, NULL, (ulp_rounding){0});
    CASE(map, NULL, (ulp_array_op){0}, 0, (ulp_rounding){0});
    CASE(update, NULL, 0, 0);
    CASE(largest, NULL, NULL, 0, 0);
    CASE(squares, NULL, NULL, 0);
    CASE(reduce, NULL, NULL, 0, 0, (ulp_summation){0});
    CASE(gemm, NULL, NULL, NULL, &shape, (ulp_summation){0});
    CASE(gemm64, NULL, NULL, NULL, &shape, (ulp_summation){0});
    one = *whole;
    one.gemm_round = NULL; /* gemm and round take its place */
    one.gemm = NULL;
    assert_int_equal(ulp_backend_gemm_round(&one, NULL, NULL, NULL, &shape, (ulp_summation){0}, (ulp_rounding){0}),
                     ULP_UNSUPPORTED);
    cases++;
    ulp_backend_explain(&why, &one, ULP_UNSUPPORTED);
    assert_string_equal(why.text, "the backend cpu does not offer the operation gemm");
    one.round = NULL;
    ulp_backend_explain(&why, &one, ULP_UNSUPPORTED);
    assert_string_equal(why.text, "the backend cpu does not offer the operations round, gemm");
    CASE(im2col, NULL, NULL, NULL);
    CASE(permute, NULL, NULL, (ulp_permute_shape){0});
    CASE(narrow, NULL, NULL, 0);
    CASE(scale, NULL, NULL, 0, 1.0);
    CASE(relu, NULL, NULL, 0);
    CASE(relu_slope, NULL, NULL, NULL, 0);
    CASE(activate, NULL, NULL, 0, (ulp_activation){0});
    CASE(activate_slope, NULL, NULL, NULL, 0, (ulp_activation){0});
    CASE(pool, NULL, NULL, NULL, NULL);
    CASE(pool_slope, NULL, NULL, NULL, NULL);
    CASE(pool_strided, NULL, NULL, NULL, NULL);
    CASE(pool_strided_slope, NULL, NULL, NULL, NULL);
    CASE(average, NULL, NULL, NULL);
    CASE(average_slope, NULL, NULL, NULL);
    CASE(upsample, NULL, NULL, NULL);
    CASE(upsample_slope, NULL, NULL, NULL);
    CASE(norm_statistics, NULL, NULL, (ulp_channels){0});
    CASE(norm_running, NULL, NULL, NULL, (ulp_channels){0});
    CASE(norm, NULL, NULL, (ulp_norm){.shape = {0}});
    CASE(norm_sums, NULL, NULL, NULL, (ulp_norm){.shape = {0}});
    CASE(norm_slope, NULL, NULL, NULL, NULL, (ulp_norm){.shape = {0}});
    CASE(dropout, NULL, NULL, 0, (ulp_dropout){0});
    CASE(softmax, NULL, NULL, NULL, (ulp_labels){0});
    CASE(softmax_slope, NULL, NULL, (ulp_labels){0}, 1.0);
    CASE(cell, NULL, NULL, ULP_CELL_SUM);
    CASE(ctc_outputs, NULL, NULL, (ulp_sequences){0}, 0);
    CASE(ctc, NULL, NULL, NULL, NULL, (ulp_sequences){0}, NULL);
    CASE(scaled, NULL, NULL, 0, 1.0);
    CASE(gather, NULL, NULL, NULL);
    CASE(one_hot, NULL, NULL);
    CASE(token_mean, NULL, NULL, (ulp_token_shape){0});
    CASE(token_mean_slope, NULL, NULL, (ulp_token_shape){0});
    CASE(row_moments, NULL, NULL, NULL);
    CASE(row_norm, NULL, NULL, (ulp_row_norm){.rows = 0});
    CASE(row_norm_sums, NULL, NULL, NULL, (ulp_row_norm){.rows = 0});
    CASE(row_norm_slope, NULL, NULL, NULL, (ulp_row_norm){.rows = 0});
    CASE(rotate, NULL, NULL, NULL, NULL);
    CASE(attention_softmax, NULL, NULL, NULL);
    CASE(attention_slope, NULL, NULL, NULL, NULL, NULL, 1.0);
    CASE(softmax_maxima, NULL, NULL, NULL, NULL);
    CASE(softmax_block, NULL, NULL, NULL, NULL, NULL);
    CASE(softmax_sums, NULL, NULL, NULL, NULL, (ulp_rounding){0});
    CASE(row_scale, NULL, NULL, NULL, 0, 0, 0);
    CASE(row_dots, NULL, NULL, NULL, 0, 0);
#undef CASE
    one = *whole;
    one.gemm_batch = NULL; /* gemm takes its place */
    one.gemm = NULL;
    assert_int_equal(ulp_backend_gemm_batch(&one, NULL, NULL, NULL, NULL, (ulp_summation){0}), ULP_UNSUPPORTED);
    cases++;
    ulp_backend_explain(&why, &one, ULP_UNSUPPORTED);
    assert_string_equal(why.text, "the backend cpu does not offer the operation gemm");
    assert_int_equal(cases, ROWS);
    /* a backend that derives nothing from arrays keeps them and settles without work */
    const float x = 1.0f;
    assert_ok(ulp_backend_keep(&none, &x, 1));
    ulp_backend_forget(&none, &x, 1);
    assert_ok(ulp_backend_settle(&none));
    assert_int_equal(ulp_backend_keep(&none, NULL, 1), ULP_BAD_ARGUMENT);
    assert_ok(ulp_backend_keep(&none, NULL, 0));
    assert_ok(ulp_backend_relu(whole, NULL, NULL, 0));
    assert_string_equal(ulp_backend_error(), "");
    ulp_backend_explain(&why, whole, ULP_UNSUPPORTED);
    assert_string_equal(why.text, "");
}

TESTS(NULL, NULL)
