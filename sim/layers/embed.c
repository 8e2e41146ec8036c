/* embed.c - tables of tokens and places: embed (a token's row), unembed (products with the same table), pos.
 *
 *  - embed: the input of a net is numbers of tokens (1,T,1), and the output is row `token` of the table (V,N) for each
 *    of them, a copy that is rounded at ULP_AT_ACT. The gradient of the table is the product of one-hot rows with dy:
 *    for each token a sum over its places, in ascending order, by the datapath of backward products. The policy
 *    embed.bwd=exact:fp32:rne makes these sums exact, rounded once.
 *  - unembed: y = x E' for the table E of the net's layer embed, without a bias (Press and Wolf 2017, section 3,
 *    doi:10.18653/v1/E17-2025). Its gradient of the table and that of embed are each rounded at ULP_AT_WGRAD, and then
 *    their sum is.
 *  - pos: y = x + P, row t of P (T,d) for token t; the gradient of P is a sum over the samples.
 */
#include "sim/layers/layer.h"

#include "sim/normal.h"
#include "sim/tensor.h"

#define TOKENS "tokens: an image of one channel, whose rows are the tokens"

/* ---- embed ---- */

enum { ENTRIES }; /* index in layer->arg */

static ulp_status embed_shape(ulp_layer *layer, const char *args) {
    size_t N, V = 256;
    if (ulp_args_read(&N, &args, 1, ULP_UNITS_MAX) != ULP_OK) return ULP_BAD_ARGUMENT;
    if (*args && (*args != ':' || ulp_args_number(&V, args + 1, 1, ULP_UNITS_MAX) != ULP_OK)) return ULP_BAD_ARGUMENT;
    layer->arg[ENTRIES] = V;
    layer->out = (ulp_dims){1, layer->in.h, N};
    layer->params = layer->decays[0] = V * N;
    layer->work = layer->in.h * V + layer->params; /* one-hot rows, and a second gradient of the table */
    return layer->index == 0 && layer->in.c == 1 && layer->in.w == 1 ? ULP_OK : ULP_UNSUPPORTED;
}

/* Standard deviation 1 / sqrt(N), so that a row has length 1 and a product with the same table the size of its
 * operand. */
static void embed_init(const ulp_layer *layer, float *w, ulp_stream stream, double std) {
    if (std <= 0.0) std = 1.0 / sqrt((double)layer->out.w);
    for (size_t i = 0; i < layer->params; i++) w[i] = (float)(std * ulp_random_normal(stream, i));
}

static ulp_status embed_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t rows = pass->now.B * layer->in.h, N = layer->out.w;
    const ulp_row_table by = {rows, N, layer->arg[ENTRIES], t->x};
    ULP_TRY(ulp_backend_gather(pass->run.backend, t->y, t->w, &by));
    return ulp_pass_round(pass, ulp_site_output(layer), t->y, rows * N);
}

static ulp_status embed_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_backend *backend = pass->run.backend;
    const size_t rows = pass->now.B * layer->in.h, N = layer->out.w, V = layer->arg[ENTRIES];
    const ulp_row_table by = {rows, N, V, t->x};
    const ulp_gemm_shape sum = {.m = V, .n = N, .k = rows, .lda = V, .ldb = N, .ldc = N, .a_trans = 1};
    const ulp_site product = ulp_site_of(ULP_USE_WPRODUCT, layer->index, 0),
                   first = {.use = ULP_AT_WGRAD, .layer = layer->index, .lane = 1};
    float *hot = t->own.work, *dw = layer->partner ? hot + rows * V : t->dw;
    if (t->dx) ULP_TRY(ulp_tensor_fill(backend, t->dx, rows, 0.0f)); /* a token number has no gradient */
    ULP_TRY(ulp_backend_one_hot(backend, hot, &by));
    ULP_TRY(ulp_pass_gemm(pass, product, dw, hot, t->dy, &sum));
    if (!layer->partner) return ulp_pass_round(pass, ulp_site_weight_gradients(layer), dw, V * N);
    const int log2 = ulp_pass_scale_between(pass, layer->partner, layer->index);
    if (log2) ULP_TRY(ulp_pass_rescale(pass, t->dw, t->dw, V * N, log2));
    ULP_TRY(ulp_pass_round(pass, first, dw, V * N));
    return ulp_pass_add_n(pass, ulp_site_weight_gradients(layer), t->dw, dw, t->dw, V * N);
}

static void embed_forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B) {
    const size_t N = layer->out.w;
    for (size_t i = 0; i < B * layer->in.h * N; i++) t->y[i] = t->w[(size_t)t->x[i / N] * N + i % N];
}

const ulp_layer_kind ulp_layer_embed = {
    .name = "embed",
    .usage = "embedN: N numbers for each token, from a table of 256 tokens, or of V with embedN:V",
    .takes = "numbers of tokens, and is the first layer of a net",
    .example = "embed5:4",
    .products = 1,
    .reads_tokens = 1,
    .operation = ULP_OPERATION_EMBEDDING,
    .reads = ULP_READS_INPUT,
    .shape = embed_shape,
    .init = embed_init,
    .forward = embed_forward,
    .backward = embed_backward,
    .forward64 = embed_forward64,
};

/* ---- unembed ---- */

static ulp_status unembed_shape(ulp_layer *layer, const char *args) {
    layer->out = (ulp_dims){1, layer->in.h, 0}; /* the parser sets the number of tokens */
    if (*args) return ULP_BAD_ARGUMENT;
    return ulp_dims_is_tokens(layer->in) ? ULP_OK : ULP_UNSUPPORTED;
}

static ulp_status unembed_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t T = layer->in.h, N = layer->in.w, V = layer->out.w, rows = pass->now.B * T;
    const ulp_gemm_shape sum = {.m = rows, .n = V, .k = N, .lda = N, .ldb = N, .ldc = V, .b_trans = 1};
    const ulp_pass_whole y = {ulp_site_output(layer), t->y};
    ULP_TRY(ulp_pass_gemm_part(pass, ulp_site_product(ULP_USE_FORWARD, layer->index, T), t->y, t->x, t->w, &sum, &y));
    return ulp_pass_round_whole(pass, &y, rows * V);
}

static ulp_status unembed_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t T = layer->in.h, N = layer->in.w, V = layer->out.w, rows = pass->now.B * T;
    const ulp_gemm_shape dw = {.m = V, .n = N, .k = rows, .lda = V, .ldb = N, .ldc = N, .a_trans = 1},
                         dx = {.m = rows, .n = N, .k = V, .lda = V, .ldb = N, .ldc = N};
    const ulp_pass_whole of_w = {ulp_site_weight_gradients(layer), t->dw},
                         of_x = {ulp_site_input_gradient(layer), t->dx};
    ulp_site w_site = ulp_site_product(ULP_USE_WPRODUCT, layer->index, 0);
    w_site.operands = ULP_SITE_SWAPPED;
    ULP_TRY(ulp_pass_gemm_part(pass, w_site, t->dw, t->dy, t->x, &dw, &of_w));
    ULP_TRY(ulp_pass_round_whole(pass, &of_w, V * N));
    ULP_TRY(
        ulp_pass_gemm_part(pass, ulp_site_product(ULP_USE_BACKWARD, layer->index, T), t->dx, t->dy, t->w, &dx, &of_x));
    return ulp_pass_round_whole(pass, &of_x, rows * N);
}

static void unembed_forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B) {
    const size_t N = layer->in.w, V = layer->out.w;
    for (size_t i = 0; i < B * layer->in.h * V; i++) {
        t->y[i] = 0.0;
        for (size_t j = 0; j < N; j++) t->y[i] += t->x[i / V * N + j] * t->w[i % V * N + j];
    }
}

const ulp_layer_kind ulp_layer_unembed = {
    .name = "unembed",
    .usage = "unembed: products of each token with the rows of the table of embed, whose weights it shares",
    .takes = "tokens of as many features as the layer embed of the net gives",
    .example = "embed5:4 tanh unembed",
    .products = 1,
    .casts = 1,
    .ties = 1,
    .reads = ULP_READS_INPUT,
    .shape = unembed_shape,
    .forward = unembed_forward,
    .backward = unembed_backward,
    .forward64 = unembed_forward64,
};

/* ---- pos ---- */

static ulp_status pos_shape(ulp_layer *layer, const char *args) {
    size_t places;
    if (ulp_args_number(&places, args, 1, ULP_UNITS_MAX) != ULP_OK) return ULP_BAD_ARGUMENT;
    layer->out = layer->in;
    layer->params = layer->decays[0] = places * layer->in.w;
    layer->work = ulp_dims_size(layer->in);
    return ulp_dims_is_tokens(layer->in) && places >= layer->in.h ? ULP_OK : ULP_UNSUPPORTED;
}

static ulp_status pos_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_row_table by = {pass->now.B * layer->in.h, layer->in.w, layer->in.h, NULL};
    ULP_TRY(ulp_backend_gather(pass->run.backend, t->own.work, t->w, &by));
    return ulp_pass_add(pass, ulp_site_output(layer), t->y, t->x, t->own.work);
}

/* Places behind the last token have the gradient 0. */
static ulp_status pos_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_backend *backend = pass->run.backend;
    const size_t B = pass->now.B, n = ulp_dims_size(layer->in);
    const ulp_gemm_shape sum = {.m = 1, .n = n, .k = B, .lda = B, .ldb = n, .ldc = n};
    ULP_TRY(ulp_pass_gemm(pass, ulp_site_of(ULP_USE_WPRODUCT, layer->index, 0), t->dw, t->ones, t->dy, &sum));
    ULP_TRY(ulp_tensor_fill(backend, t->dw + n, layer->params - n, 0.0f));
    ULP_TRY(ulp_pass_round(pass, ulp_site_weight_gradients(layer), t->dw, layer->params));
    if (!t->dx) return ULP_OK;
    const ulp_site site = ulp_site_input_gradient(layer);
    const int moved = layer->index > 0 && ulp_pass_scale_between(pass, layer->index, layer->index - 1) != 0;
    ULP_TRY(ulp_tensor_copy(backend, t->dx, t->dy, B * n));
    return moved ? ulp_pass_round(pass, site, t->dx, B * n)
                 : ulp_pass_copied(pass, site, layer->index + 1, t->dx, B * n);
}

static void pos_forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B) {
    const size_t n = ulp_dims_size(layer->in);
    for (size_t i = 0; i < B * n; i++) t->y[i] = t->x[i] + t->w[i % n];
}

const ulp_layer_kind ulp_layer_pos = {
    .name = "pos",
    .usage = "posT: adds learned numbers for each of up to T places of tokens",
    .takes = TOKENS ", T of them or fewer",
    .example = "pos5 tanh",
    .products = 1,
    .operation = ULP_OPERATION_SUM,
    .reads = ULP_READS_NEITHER,
    .shape = pos_shape,
    .init = embed_init,
    .forward = pos_forward,
    .backward = pos_backward,
    .forward64 = pos_forward64,
};
