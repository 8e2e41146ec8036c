/* dense.c - fully connected layers y = x W + b, of a whole sample (fc) or of each token (lin); the policy's datapath
 * forms every sum.
 *
 * The parameters are W (m,n) row-major, then b (n). The sum of an output starts at its bias, like the operand C of a
 * matrix unit, and runs over the inputs in ascending order. The same datapath rounds the bias into the accumulator's
 * format, as the product 1 b. The gradients dW = x' dy and db = 1' dy are sums over the samples, and in a sample over
 * the tokens, and dx = dy W' is a sum over the outputs, in ascending order. fc is lin on a sample of one token.
 */
#include "sim/layers/layer.h"

#include <math.h>
#include <string.h>

#include "sim/normal.h"

/* The rows of a product for each sample, its inputs and its outputs. */
typedef struct sizes {
    size_t rows, m, n;
} sizes;

static sizes sizes_of(const ulp_layer *layer) {
    const size_t rows = layer->arg[0];
    return (sizes){rows, ulp_dims_size(layer->in) / rows, ulp_dims_size(layer->out) / rows};
}

static ulp_status take_sizes(ulp_layer *layer, size_t rows, size_t n) {
    const size_t m = ulp_dims_size(layer->in) / rows;
    layer->arg[0] = rows;
    layer->params = (m + 1) * n;
    layer->decays[0] = m * n;
    layer->multiply_adds = rows * m * n;
    memcpy(layer->sums, (const size_t[]){m, n, rows}, sizeof layer->sums);
    layer->ones = rows;
    return ULP_OK;
}

static ulp_status fc_shape(ulp_layer *layer, const char *args) {
    size_t n;
    if (ulp_args_number(&n, args, 1, ULP_UNITS_MAX) != ULP_OK) return ULP_BAD_ARGUMENT;
    layer->out = (ulp_dims){n, 1, 1};
    return take_sizes(layer, 1, n);
}

static ulp_status lin_shape(ulp_layer *layer, const char *args) {
    size_t n;
    if (ulp_args_number(&n, args, 1, ULP_UNITS_MAX) != ULP_OK) return ULP_BAD_ARGUMENT;
    layer->out = (ulp_dims){1, layer->in.h, n};
    return ulp_dims_is_tokens(layer->in) ? take_sizes(layer, layer->in.h, n) : ULP_UNSUPPORTED;
}

/* Standard deviation sqrt(2 / m) before relu (He et al. 2015, doi:10.1109/ICCV.2015.123), else sqrt(2 / (m + n))
 * (Glorot and Bengio 2010). */
static void dense_init(const ulp_layer *layer, float *w, ulp_stream stream, double std) {
    const size_t m = sizes_of(layer).m, n = sizes_of(layer).n;
    if (std <= 0.0) std = sqrt(2.0 / (double)(layer->gain > 1.0 ? m : m + n));
    for (size_t i = 0; i < m * n; i++) w[i] = (float)(std * ulp_random_normal(stream, i));
    for (size_t j = 0; j < n; j++) w[m * n + j] = 0.0f;
}

static ulp_status dense_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t rows = sizes_of(layer).rows, m = sizes_of(layer).m, n = sizes_of(layer).n, B = pass->now.B * rows;
    const float *bias = t->w + m * n; /* (n) */
    const ulp_pass_whole y = {ulp_site_output(layer), t->y};
    ulp_gemm_shape start = {.m = B, .n = n, .k = 1, .lda = 1, .ldb = n, .ldc = n};
    ulp_gemm_shape sum = {.m = B, .n = n, .k = m, .lda = m, .ldb = n, .ldc = n, .accumulate = 1};
    ULP_TRY(ulp_pass_gemm(pass, ulp_site_of(ULP_USE_BIAS, layer->index, rows), t->y, t->ones, bias, &start));
    ULP_TRY(
        ulp_pass_gemm_part(pass, ulp_site_product(ULP_USE_FORWARD, layer->index, rows), t->y, t->x, t->w, &sum, &y));
    return ulp_pass_round_whole(pass, &y, B * n);
}

static ulp_status dense_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t rows = sizes_of(layer).rows, m = sizes_of(layer).m, n = sizes_of(layer).n, B = pass->now.B * rows;
    ulp_gemm_shape dw = {.m = m, .n = n, .k = B, .lda = m, .ldb = n, .ldc = n, .a_trans = 1};
    ulp_gemm_shape db = {.m = 1, .n = n, .k = B, .lda = B, .ldb = n, .ldc = n};
    ulp_gemm_shape dx = {.m = B, .n = m, .k = n, .lda = n, .ldb = n, .ldc = m, .b_trans = 1};
    const ulp_site w_site = ulp_site_product(ULP_USE_WPRODUCT, layer->index, 0),
                   b_site = ulp_site_of(ULP_USE_BPRODUCT, layer->index, 0),
                   x_site = ulp_site_product(ULP_USE_BACKWARD, layer->index, rows);
    const ulp_pass_whole of_w = {ulp_site_weight_gradients(layer), t->dw},
                         of_x = {ulp_site_input_gradient(layer), t->dx};
    ULP_TRY(ulp_pass_gemm_part(pass, w_site, t->dw, t->x, t->dy, &dw, &of_w));
    ULP_TRY(ulp_pass_gemm_part(pass, b_site, t->dw + m * n, t->ones, t->dy, &db, &of_w));
    ULP_TRY(ulp_pass_round_whole(pass, &of_w, layer->params));
    if (!t->dx) return ULP_OK;
    ULP_TRY(ulp_pass_gemm_part(pass, x_site, t->dx, t->dy, t->w, &dx, &of_x));
    return ulp_pass_round_whole(pass, &of_x, B * m);
}

static void dense_forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B) {
    const size_t rows = sizes_of(layer).rows, m = sizes_of(layer).m, n = sizes_of(layer).n;
    for (size_t b = 0; b < B * rows; b++)
        for (size_t j = 0; j < n; j++) {
            double sum = t->w[m * n + j];
            for (size_t i = 0; i < m; i++) sum += t->x[b * m + i] * t->w[i * n + j];
            t->y[b * n + j] = sum;
        }
}

const ulp_layer_kind ulp_layer_dense = {
    .name = "fc",
    .usage = "fcN: fully connected, N outputs (1 to 2^20)",
    .example = "fc5",
    .products = 1,
    .casts = 1,
    .reads = ULP_READS_INPUT,
    .shape = fc_shape,
    .init = dense_init,
    .forward = dense_forward,
    .backward = dense_backward,
    .forward64 = dense_forward64,
};

const ulp_layer_kind ulp_layer_lin = {
    .name = "lin",
    .usage = "linN: fully connected for each token, N outputs (1 to 2^20)",
    .takes = "tokens: an image of one channel, whose rows are the tokens",
    .example = "lin5",
    .products = 1,
    .casts = 1,
    .reads = ULP_READS_INPUT,
    .shape = lin_shape,
    .init = dense_init,
    .forward = dense_forward,
    .backward = dense_backward,
    .forward64 = dense_forward64,
};
