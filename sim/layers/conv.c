/* conv.c - two-dimensional convolution (cross-correlation); the policy's datapath forms every sum.
 *
 * N kernels of K x K over c channels have the stride S, and P rows and columns of zeros surround the image; P < K. The
 * parameters are W (N, c K K) row-major, then b (N), but no b with `nobias`. B samples have p positions each. All sums
 * are elements of matrix products (convolution.h). As in a dense layer, the first operand is the data and the second is
 * weights or gradients:
 *
 *   y  (B p, N)    the sum starts at the bias, as in a dense layer; then channel, row, column of the kernel, ascending
 *   dW (c K K, N)  the sum runs over the samples, and in each sample over the positions, ascending; db (1, N), too
 *   dx (B h w, c)  the sum runs over kernel, row, column of the kernel, ascending
 *
 * With G groups each group has products of its own, and c / G and N / G replace c and N. Products with the zeros around
 * the image take part in the sums of y and dW.
 *
 * On a sequence (c,1,T) a layer with K = 1 is a dense layer that is applied to every step.
 */
#include "sim/layers/convolution.h"

static ulp_convolution convolution_of(const ulp_layer *layer) { return ulp_convolution_of(layer, 0); }

static ulp_status conv_shape(ulp_layer *layer, const char *args) {
    if (!ulp_convolution_read(layer, args)) return ULP_BAD_ARGUMENT;
    const ulp_convolution c = convolution_of(layer);
    const size_t h = layer->in.h + 2 * c.pad, w = layer->in.w + 2 * c.pad;
    if (c.kernel > h || c.kernel > w) return ULP_UNSUPPORTED;
    layer->out.h = (h - c.kernel) / c.stride + 1;
    layer->out.w = (w - c.kernel) / c.stride + 1;
    return ulp_convolution_admit(layer, 0);
}

static void conv_init(const ulp_layer *layer, float *w, ulp_stream stream, double std) {
    ulp_convolution_init(layer, ULP_TO_POSITIONS, w, stream, std);
}

static ulp_status conv_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    return ulp_convolution_forward(layer, ULP_TO_POSITIONS, pass, t);
}

static ulp_status weight_gradients(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_convolution c = convolution_of(layer);
    const size_t B = pass->now.B, G = c.groups, N = layer->out.c, n = N / G, p = layer->out.h * layer->out.w,
                 k = ulp_convolution_depth(&c, ULP_TO_POSITIONS), rows = B * p;
    float *patches = t->own.work, *dy = patches + G * k * rows; /* (G k, B p), (N, B p) */
    const ulp_gemm_shape dw = {
        .m = k, .n = n, .k = rows, .lda = rows, .ldb = rows, .ldc = k, .b_trans = 1, .c_trans = 1};
    const ulp_gemm_shape db = {.m = 1, .n = N, .k = rows, .lda = rows, .ldb = rows, .ldc = N, .b_trans = 1};
    ULP_TRY(ulp_convolution_patches(&c, pass->run.backend, patches, t->x, B));
    ULP_TRY(ulp_backend_permute(pass->run.backend, dy, t->dy, (ulp_permute_shape){1, B, N, p}));
    for (size_t g = 0; g < G; g++)
        ULP_TRY(ulp_pass_gemm(pass, ulp_convolution_site(layer, ULP_USE_WPRODUCT, g), t->dw + g * n * k,
                              patches + g * k * rows, dy + g * n * rows, &dw));
    if (c.has_bias)
        ULP_TRY(ulp_pass_gemm(pass, ulp_convolution_site(layer, ULP_USE_BPRODUCT, 0), t->dw + N * k, t->ones, dy, &db));
    return ulp_pass_round(pass, ulp_site_weight_gradients(layer), t->dw, layer->params);
}

static ulp_status conv_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    ULP_TRY(weight_gradients(layer, pass, t));
    return t->dx ? ulp_convolution_backward(layer, ULP_TO_IMAGE, pass, t) : ULP_OK;
}

/* One output without its bias, by the definition; x begins at the first channel of the kernel's group. */
static double output64(const ulp_layer *layer, const double *x, const double *w, size_t row, size_t column) {
    const ulp_convolution q = convolution_of(layer);
    const size_t K = q.kernel, S = q.stride, P = q.pad;
    const ulp_dims in = layer->in;
    double sum = 0.0;
    for (size_t c = 0; c < in.c / q.groups; c++)
        for (size_t i = 0; i < K; i++)
            for (size_t j = 0; j < K; j++) {
                const size_t u = row * S + i, v = column * S + j; /* position in the image with the zeros around it */
                if (u >= P && u - P < in.h && v >= P && v - P < in.w)
                    sum += x[(c * in.h + u - P) * in.w + v - P] * w[(c * K + i) * K + j];
            }
    return sum;
}

static void conv_forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B) {
    double *y = t->y;
    const ulp_convolution c = convolution_of(layer);
    const size_t N = layer->out.c, k = ulp_convolution_depth(&c, ULP_TO_POSITIONS), m = ulp_dims_size(layer->in),
                 of_group = m / c.groups;
    for (size_t b = 0; b < B; b++)
        for (size_t n = 0; n < N; n++)
            for (size_t i = 0; i < layer->out.h; i++)
                for (size_t j = 0; j < layer->out.w; j++)
                    *y++ = (c.has_bias ? t->w[N * k + n] : 0.0) +
                           output64(layer, t->x + b * m + n / (N / c.groups) * of_group, t->w + n * k, i, j);
}

const ulp_layer_kind ulp_layer_conv = {
    .name = "conv",
    .usage = "convN@K[sS][pP][gG][nobias]: convolution, N kernels (1 to 2^20) of K x K, stride S, P < K zeros around "
             "the image, G groups (1 to 4096) that divide N; nobias: without bias",
    .takes = "a height and a width, zeros included, of K or more, a number of channels that G divides, and not above "
             "2^40 products per sample",
    .example = "conv4@3p1s2 tanh conv6@2p1g2 tanh conv3@2g3s2nobias",
    .operation = ULP_OPERATION_CONVOLUTION,
    .products = 1,
    .casts = 1,
    .turned = ULP_DGRAD_W,
    .reads = ULP_READS_INPUT,
    .shape = conv_shape,
    .init = conv_init,
    .forward = conv_forward,
    .backward = conv_backward,
    .forward64 = conv_forward64,
};
