/* layer_step.c - the same fully connected layer at every time step: (F,1,T) -> (N,1,T), y_t = x_t W + b.
 *
 * Parameters: W (F,N) row-major, then b (N). Sums are those of layer_dense.c: an output starts at its bias and runs
 * over the features in ascending order. The T B rows of dW = x' dy and db = 1' dy are summed sample by
 * sample, within a sample by time; dx = dy W'.
 */
#include <math.h>

#include "elementary.h"
#include "sequence.h"
#include "tensor.h"

static ulp_status step_shape(ulp_layer *layer, const char *args) {
    size_t N, F = layer->in.c, T = layer->in.w;
    if (ulp_args_number(&N, args) != ULP_OK || !ulp_dims_is_sequence(layer->in)) return ULP_BAD_ARGUMENT;
    layer->out = (ulp_dims){N, 1, T};
    layer->params = (F + 1) * N;
    layer->work = T * (2 * F + N + 1);
    return ULP_OK;
}

static void step_init(const ulp_layer *layer, float *w, ulp_stream stream, double std) {
    size_t F = layer->in.c, N = layer->out.c;
    if (std <= 0.0) std = sqrt(2.0 / (double)(layer->gain > 1.0 ? F : F + N)); /* as layer_dense.c */
    for (size_t i = 0; i < F * N; i++) w[i] = (float)(std * ulp_random_normal(stream, i));
    for (size_t j = 0; j < N; j++) w[F * N + j] = 0.0f;
}

static ulp_status step_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    size_t F = layer->in.c, N = layer->out.c, T = layer->in.w, B = pass->B;
    const ulp_datapath *datapath = &pass->policy->forward;
    float *x = pass->work, *y = x + B * T * F, *ones = y + B * T * N; /* (B,T,F), (B,T,N), (B,T) */
    ulp_gemm_shape start = {.m = B * T, .n = N, .k = 1, .lda = 1, .ldb = N, .ldc = N};
    ulp_gemm_shape sum = {.m = B * T, .n = N, .k = F, .lda = F, .ldb = N, .ldc = N, .accumulate = 1};
    ulp_status status = ulp_tensor_fill(pass->backend, ones, B * T, 1.0f);
    if (status == ULP_OK) status = ulp_pass_transpose(pass, x, t->x, B, F, T);
    if (status == ULP_OK) status = ulp_pass_gemm(pass, ULP_USE_BIAS, layer->index, datapath, y, ones, t->w + F * N, &start, T);
    if (status == ULP_OK) status = ulp_pass_gemm(pass, ULP_USE_FORWARD, layer->index, datapath, y, x, t->w, &sum, T);
    if (status == ULP_OK) status = ulp_pass_transpose(pass, t->y, y, B, T, N);
    if (status == ULP_OK) status = ulp_pass_round(pass, ULP_AT_ACT, layer->index + 1, t->y, B * N * T, N * T);
    return status;
}

static ulp_status step_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    size_t F = layer->in.c, N = layer->out.c, T = layer->in.w, B = pass->B;
    const ulp_datapath *datapath = &pass->policy->backward;
    float *x = pass->work, *dx = x + B * T * F, *dy = dx + B * T * F, *ones = dy + B * T * N;
    ulp_gemm_shape w_shape = {.m = F, .n = N, .k = B * T, .lda = F, .ldb = N, .ldc = N, .a_trans = 1};
    ulp_gemm_shape b_shape = {.m = 1, .n = N, .k = B * T, .lda = B * T, .ldb = N, .ldc = N};
    ulp_gemm_shape x_shape = {.m = B * T, .n = F, .k = N, .lda = N, .ldb = N, .ldc = F, .b_trans = 1};
    ulp_status status = ulp_tensor_fill(pass->backend, ones, B * T, 1.0f);
    if (status == ULP_OK) status = ulp_pass_transpose(pass, x, t->x, B, F, T);
    if (status == ULP_OK) status = ulp_pass_transpose(pass, dy, t->dy, B, N, T);
    if (status == ULP_OK) status = ulp_pass_gemm(pass, ULP_USE_WPRODUCT, layer->index, datapath, t->dw, x, dy, &w_shape, 0);
    if (status == ULP_OK) status = ulp_pass_gemm(pass, ULP_USE_BPRODUCT, layer->index, datapath, t->dw + F * N, ones, dy, &b_shape, 0);
    if (status == ULP_OK) status = ulp_pass_round(pass, ULP_AT_WGRAD, layer->index, t->dw, layer->params, 0);
    if (status != ULP_OK || !t->dx) return status;
    status = ulp_pass_gemm(pass, ULP_USE_BACKWARD, layer->index, datapath, dx, dy, t->w, &x_shape, T);
    if (status == ULP_OK) status = ulp_pass_transpose(pass, t->dx, dx, B, T, F);
    if (status == ULP_OK) status = ulp_pass_round(pass, ULP_AT_AGRAD, layer->index, t->dx, B * F * T, F * T);
    return status;
}

static void step_forward64(const ulp_layer *layer, double *y, const double *x, const double *skip, const double *w, size_t B) {
    size_t F = layer->in.c, N = layer->out.c, T = layer->in.w;
    (void)skip;
    for (size_t b = 0; b < B; b++)
        for (size_t j = 0; j < N; j++)
            for (size_t s = 0; s < T; s++) {
                double sum = w[F * N + j];
                for (size_t i = 0; i < F; i++) sum += x[(b * F + i) * T + s] * w[i * N + j];
                y[(b * N + j) * T + s] = sum;
            }
}

extern const ulp_layer_kind ulp_layer_step;
const ulp_layer_kind ulp_layer_step = {
    .name = "step",
    .usage = "stepN: the same fully connected layer at every step",
    .example = "rows step5",
    .gain = 1.0,
    .shape = step_shape,
    .init = step_init,
    .forward = step_forward,
    .backward = step_backward,
    .forward64 = step_forward64,
};
