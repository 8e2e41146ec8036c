/* tconv.c - transposed convolution; the policy's datapath forms every sum.
 *
 * The map from a smaller image to a larger one that is the gradient of a convolution with respect to its image, as in
 * the generator of Radford, Metz and Chintala 2016, arXiv:1511.06434. An input (c,h,w) gives an output (N,H,W) with
 * H = (h - 1) S + K - 2 P: each input pixel adds a multiple of its kernels, whose corners stand S pixels apart, and P
 * rows and columns at each edge are cut off; P < K. The parameters are W (c, N K K) row-major, then b (N), but no b
 * with `nobias`. All sums are elements of matrix products (convolution.h, with the input in the place of the positions
 * and the output in the place of the image). The first operand is the data and the second is weights or gradients:
 *
 *   y  (B H W, N)  the sum starts at the bias, as in a dense layer; then channel, row, column of the kernel, ascending
 *   dW (c, N K K)  the sum runs over the samples, and in each sample over the pixels of the input, ascending
 *   db (1, N)      the sum runs over the samples, and in each sample over the pixels of the output, ascending
 *   dx (B h w, c)  the sum runs over kernel, row, column of the kernel, ascending
 *
 * With G groups each group has products of its own, and c / G and N / G replace c and N.
 */
#include "sim/layers/convolution.h"

static ulp_convolution convolution_of(const ulp_layer *layer) { return ulp_convolution_of(layer, 1); }

/* The height or the width of the output; 0 if there is none. */
static size_t enlarged(size_t n, const ulp_convolution *c) {
    if ((double)n * (double)c->stride > 0x1p40) return 0; /* sizes would overflow */
    const size_t whole = (n - 1) * c->stride + c->kernel;
    return whole > 2 * c->pad ? whole - 2 * c->pad : 0;
}

static ulp_status tconv_shape(ulp_layer *layer, const char *args) {
    if (!ulp_convolution_read(layer, args)) return ULP_BAD_ARGUMENT;
    const ulp_convolution c = convolution_of(layer);
    layer->out.h = enlarged(layer->in.h, &c);
    layer->out.w = enlarged(layer->in.w, &c);
    return layer->out.h && layer->out.w ? ulp_convolution_admit(layer, 1) : ULP_UNSUPPORTED;
}

static void tconv_init(const ulp_layer *layer, float *w, ulp_stream stream, double std) {
    ulp_convolution_init(layer, ULP_TO_IMAGE, w, stream, std);
}

static ulp_status tconv_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    return ulp_convolution_forward(layer, ULP_TO_IMAGE, pass, t);
}

static ulp_status weight_gradients(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_convolution c = convolution_of(layer);
    const ulp_backend *backend = pass->run.backend;
    const size_t B = pass->now.B, G = c.groups, m = layer->in.c / G, N = layer->out.c,
                 k = ulp_convolution_depth(&c, ULP_TO_POSITIONS), p = layer->in.h * layer->in.w,
                 q = layer->out.h * layer->out.w, rows = B * p;
    float *patches = t->own.work, *turned = patches + G * k * rows; /* (G k, B p); (c, B p), then (N, B q) */
    const ulp_gemm_shape dw = {.m = m, .n = k, .k = rows, .lda = rows, .ldb = rows, .ldc = k, .b_trans = 1};
    const ulp_gemm_shape db = {.m = 1, .n = N, .k = B * q, .lda = B * q, .ldb = B * q, .ldc = N, .b_trans = 1};
    ULP_TRY(ulp_convolution_patches(&c, backend, patches, t->dy, B));
    ULP_TRY(ulp_backend_permute(backend, turned, t->x, (ulp_permute_shape){1, B, G * m, p}));
    for (size_t g = 0; g < G; g++)
        ULP_TRY(ulp_pass_gemm(pass, ulp_convolution_site(layer, ULP_USE_WPRODUCT, g), t->dw + g * m * k,
                              turned + g * m * rows, patches + g * k * rows, &dw));
    if (c.has_bias) {
        ULP_TRY(ulp_backend_permute(backend, turned, t->dy, (ulp_permute_shape){1, B, N, q}));
        ULP_TRY(ulp_pass_gemm(pass, ulp_convolution_site(layer, ULP_USE_BPRODUCT, 0), t->dw + G * m * k, t->ones,
                              turned, &db));
    }
    return ulp_pass_round(pass, ulp_site_weight_gradients(layer), t->dw, layer->params);
}

static ulp_status tconv_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    ULP_TRY(weight_gradients(layer, pass, t));
    return t->dx ? ulp_convolution_backward(layer, ULP_TO_POSITIONS, pass, t) : ULP_OK;
}

/* Add the multiples of the kernels of one input pixel, of the value v, to the channels y of its group; w (N / G, K K).
 */
static void spread64(const ulp_layer *layer, double *y, double v, size_t pixel, const double *w) {
    const ulp_convolution c = convolution_of(layer);
    const size_t K = c.kernel, S = c.stride, P = c.pad;
    const ulp_dims out = layer->out;
    for (size_t i = 0; i < out.c / c.groups * K * K; i++) {
        const size_t n = i / K / K, row = pixel / layer->in.w * S + i / K % K, column = pixel % layer->in.w * S + i % K;
        if (row >= P && row - P < out.h && column >= P && column - P < out.w)
            y[(n * out.h + row - P) * out.w + column - P] += v * w[i];
    }
}

static void tconv_forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B) {
    const ulp_convolution c = convolution_of(layer);
    const size_t m = ulp_dims_size(layer->in), n = ulp_dims_size(layer->out), p = layer->in.h * layer->in.w,
                 q = layer->out.h * layer->out.w, k = ulp_convolution_depth(&c, ULP_TO_POSITIONS);
    for (size_t b = 0; b < B; b++) {
        for (size_t i = 0; i < n; i++) t->y[b * n + i] = c.has_bias ? t->w[layer->in.c * k + i / q] : 0.0;
        for (size_t i = 0; i < m; i++) {
            const size_t channel = i / p, group = channel / (layer->in.c / c.groups);
            spread64(layer, t->y + b * n + group * (n / c.groups), t->x[b * m + i], i % p, t->w + channel * k);
        }
    }
}

const ulp_layer_kind ulp_layer_tconv = {
    .name = "tconv",
    .usage =
        "tconvN@K[sS][pP][gG][nobias]: transposed convolution to N channels (1 to 2^20), kernels of K x K, S "
        "pixels apart, P < K pixels of each edge cut off, G groups (1 to 4096) that divide N; nobias: without bias",
    .takes =
        "a height h and a width so that (h - 1) S + K - 2 P is 1 or more, a number of channels that G divides, and "
        "not above 2^40 products per sample",
    .example = "conv2@2s2 tconv4@3s2p1g2 tanh tconv1@2nobias",
    .operation = ULP_OPERATION_CONVOLUTION,
    .products = 1,
    .casts = 1,
    .turned = ULP_FORWARD_W,
    .reads = ULP_READS_INPUT,
    .shape = tconv_shape,
    .init = tconv_init,
    .forward = tconv_forward,
    .backward = tconv_backward,
    .forward64 = tconv_forward64,
};
