/* dense.c - fully connected layer y = x W + b; the policy's datapath forms every sum.
 *
 * The parameters are W (m,n) row-major, then b (n). The sum of an output starts at its bias, like the operand C of a
 * matrix unit, and runs over the inputs in ascending order. The same datapath rounds the bias into the accumulator's
 * format, as the product 1 b. The gradients dW = x' dy and db = 1' dy are sums over the samples, and dx = dy W' is a
 * sum over the outputs, in ascending order.
 */
#include "sim/layers/layer.h"

#include <math.h>

#include "sim/normal.h"

static ulp_status dense_shape(ulp_layer *layer, const char *args) {
    size_t n, m = ulp_dims_size(layer->in);
    if (ulp_args_number(&n, args, 1, ULP_UNITS_MAX) != ULP_OK) return ULP_BAD_ARGUMENT;
    layer->out = (ulp_dims){n, 1, 1};
    layer->params = (m + 1) * n;
    layer->decays[0] = m * n;
    layer->multiply_adds = m * n;
    return ULP_OK;
}

/* Standard deviation sqrt(2 / m) before relu (He et al. 2015, doi:10.1109/ICCV.2015.123), else sqrt(2 / (m + n))
 * (Glorot and Bengio 2010). */
static void dense_init(const ulp_layer *layer, float *w, ulp_stream stream, double std) {
    size_t m = ulp_dims_size(layer->in), n = layer->out.c;
    if (std <= 0.0) std = sqrt(2.0 / (double)(layer->gain > 1.0 ? m : m + n));
    for (size_t i = 0; i < m * n; i++) w[i] = (float)(std * ulp_random_normal(stream, i));
    for (size_t j = 0; j < n; j++) w[m * n + j] = 0.0f;
}

static ulp_status dense_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    size_t m = ulp_dims_size(layer->in), n = layer->out.c, B = pass->now.B;
    const float *bias = t->w + m * n; /* (n) */
    const ulp_pass_whole y = {ulp_site_output(layer), t->y};
    ulp_gemm_shape start = {.m = B, .n = n, .k = 1, .lda = 1, .ldb = n, .ldc = n};
    ulp_gemm_shape sum = {.m = B, .n = n, .k = m, .lda = m, .ldb = n, .ldc = n, .accumulate = 1};
    ULP_TRY(ulp_pass_gemm(pass, ulp_site_of(ULP_USE_BIAS, layer->index, 1), t->y, t->ones, bias, &start));
    ULP_TRY(ulp_pass_gemm_part(pass, ulp_site_of(ULP_USE_FORWARD, layer->index, 1), t->y, t->x, t->w, &sum, &y));
    return ulp_pass_round_whole(pass, &y, B * n);
}

static ulp_status dense_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    size_t m = ulp_dims_size(layer->in), n = layer->out.c, B = pass->now.B;
    ulp_gemm_shape dw = {.m = m, .n = n, .k = B, .lda = m, .ldb = n, .ldc = n, .a_trans = 1};
    ulp_gemm_shape db = {.m = 1, .n = n, .k = B, .lda = B, .ldb = n, .ldc = n};
    ulp_gemm_shape dx = {.m = B, .n = m, .k = n, .lda = n, .ldb = n, .ldc = m, .b_trans = 1};
    const ulp_site w_site = ulp_site_of(ULP_USE_WPRODUCT, layer->index, 0),
                   b_site = ulp_site_of(ULP_USE_BPRODUCT, layer->index, 0),
                   x_site = ulp_site_of(ULP_USE_BACKWARD, layer->index, 1);
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
    size_t m = ulp_dims_size(layer->in), n = layer->out.c;
    for (size_t b = 0; b < B; b++)
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
    .reads = ULP_READS_INPUT,
    .shape = dense_shape,
    .init = dense_init,
    .forward = dense_forward,
    .backward = dense_backward,
    .forward64 = dense_forward64,
};
