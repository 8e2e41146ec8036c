/* swiglu.c - a gated layer of each token: y = silu(x A + a) times (x B + b), element by element.
 *
 * Shazeer 2020, arXiv:2002.05202. The parameters are W (m, 2 N), the columns of A and then those of B, and the biases
 * (2 N). The product s = x W + bias is that of lin and is rounded at ULP_AT_ACT; the gate is computed in binary64 and
 * rounded once, and so is the gradient of s, at ULP_AT_AGRAD.
 */
#include "sim/layers/layer.h"

#include <math.h>
#include <string.h>

#include "sim/normal.h"

static ulp_status shape(ulp_layer *layer, const char *args) {
    size_t N;
    const size_t T = layer->in.h, m = layer->in.w;
    if (ulp_args_number(&N, args, 1, ULP_UNITS_MAX) != ULP_OK) return ULP_BAD_ARGUMENT;
    layer->out = (ulp_dims){1, T, N};
    layer->params = (m + 1) * 2 * N;
    layer->decays[0] = m * 2 * N;
    layer->multiply_adds = T * m * 2 * N;
    memcpy(layer->sums, (const size_t[]){m, 2 * N, T}, sizeof layer->sums);
    layer->saved = layer->work = layer->inner = layer->widest = T * 2 * N;
    layer->ones = T;
    return ulp_dims_is_tokens(layer->in) ? ULP_OK : ULP_UNSUPPORTED;
}

/* Glorot and Bengio 2010, for each of the two products. */
static void init(const ulp_layer *layer, float *w, ulp_stream stream, double std) {
    const size_t m = layer->in.w, n = 2 * layer->out.w;
    if (std <= 0.0) std = sqrt(2.0 / (double)(m + layer->out.w));
    for (size_t i = 0; i < layer->params; i++) w[i] = i < m * n ? (float)(std * ulp_random_normal(stream, i)) : 0.0f;
}

static ulp_site inner_site(const ulp_layer *layer, uint32_t use, size_t index) {
    return (ulp_site){.use = use, .lane = 1, .layer = index, .per_sample = layer->saved};
}

static ulp_status forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t T = layer->in.h, m = layer->in.w, n = 2 * layer->out.w, rows = pass->now.B * T;
    const ulp_pass_whole s = {inner_site(layer, ULP_AT_ACT, layer->index + 1), t->saved};
    const ulp_gemm_shape start = {.m = rows, .n = n, .k = 1, .lda = 1, .ldb = n, .ldc = n},
                         sum = {.m = rows, .n = n, .k = m, .lda = m, .ldb = n, .ldc = n, .accumulate = 1};
    const ulp_cell_arrays arrays = {.B = rows, .N = layer->out.w, .in = {t->saved}};
    ULP_TRY(ulp_pass_gemm(pass, ulp_site_of(ULP_USE_BIAS, layer->index, T), t->saved, t->ones, t->w + m * n, &start));
    ULP_TRY(
        ulp_pass_gemm_part(pass, ulp_site_product(ULP_USE_FORWARD, layer->index, T), t->saved, t->x, t->w, &sum, &s));
    ULP_TRY(ulp_pass_round_whole(pass, &s, rows * n));
    ULP_TRY(ulp_backend_cell(pass->run.backend, pass->scratch.wide, &arrays, ULP_SWIGLU));
    return ulp_layer_round_output(layer, pass, t);
}

static ulp_status backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t T = layer->in.h, m = layer->in.w, n = 2 * layer->out.w, rows = pass->now.B * T;
    float *ds = t->own.work;
    const ulp_gemm_shape dw = {.m = m, .n = n, .k = rows, .lda = m, .ldb = n, .ldc = n, .a_trans = 1},
                         db = {.m = 1, .n = n, .k = rows, .lda = rows, .ldb = n, .ldc = n},
                         dx = {.m = rows, .n = m, .k = n, .lda = n, .ldb = n, .ldc = m, .b_trans = 1};
    const ulp_pass_whole of_w = {ulp_site_weight_gradients(layer), t->dw},
                         of_x = {ulp_site_input_gradient(layer), t->dx};
    const ulp_cell_arrays arrays = {.B = rows, .N = layer->out.w, .in = {t->dy, t->saved}};
    ULP_TRY(ulp_backend_cell(pass->run.backend, pass->scratch.wide, &arrays, ULP_SWIGLU_GRAD));
    ULP_TRY(ulp_pass_round64(pass, inner_site(layer, ULP_AT_AGRAD, layer->index), ds, pass->scratch.wide, rows * n));
    ULP_TRY(ulp_pass_gemm_part(pass, ulp_site_product(ULP_USE_WPRODUCT, layer->index, 0), t->dw, t->x, ds, &dw, &of_w));
    ULP_TRY(ulp_pass_gemm_part(pass, ulp_site_of(ULP_USE_BPRODUCT, layer->index, 0), t->dw + m * n, t->ones, ds, &db,
                               &of_w));
    ULP_TRY(ulp_pass_round_whole(pass, &of_w, layer->params));
    if (!t->dx) return ULP_OK;
    ULP_TRY(ulp_pass_gemm_part(pass, ulp_site_product(ULP_USE_BACKWARD, layer->index, T), t->dx, ds, t->w, &dx, &of_x));
    return ulp_pass_round_whole(pass, &of_x, rows * m);
}

static void forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B) {
    const size_t m = layer->in.w, N = layer->out.w, n = 2 * N;
    for (size_t i = 0; i < B * layer->in.h * N; i++) {
        double gate = t->w[m * n + i % N], value = t->w[m * n + N + i % N];
        for (size_t j = 0; j < m; j++) {
            gate += t->x[i / N * m + j] * t->w[j * n + i % N];
            value += t->x[i / N * m + j] * t->w[j * n + N + i % N];
        }
        t->y[i] = gate / (1.0 + exp(-gate)) * value;
    }
}

const ulp_layer_kind ulp_layer_swiglu = {
    .name = "swiglu",
    .usage = "swigluN: silu(x A + a) (x B + b) for each token, N outputs (1 to 2^20)",
    .takes = "tokens: an image of one channel, whose rows are the tokens",
    .example = "swiglu5",
    .products = 1,
    .casts = 1,
    .reads = ULP_READS_INPUT,
    .shape = shape,
    .init = init,
    .forward = forward,
    .backward = backward,
    .forward64 = forward64,
};
