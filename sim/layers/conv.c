/* conv.c - two-dimensional convolution (cross-correlation); the policy's datapath forms every sum.
 *
 * N kernels of K x K over c channels have the stride S, and P rows and columns of zeros surround the image; P < K. The
 * parameters are W (N, c K K) row-major, then b (N), but no b with `nobias`. B samples have p positions each. All sums
 * are elements of matrix products. As in a dense layer, the first operand is the data and the second is weights or
 * gradients:
 *
 *   y  (B p, N)    the sum starts at the bias, as in a dense layer; then channel, row, column of the kernel, ascending
 *   dW (c K K, N)  the sum runs over the samples, and in each sample over the positions, ascending; db (1, N), too
 *   dx (B h w, c)  the sum runs over kernel, row, column of the kernel, ascending
 *
 * With G groups (Krizhevsky et al. 2012, section 3.5) the channels and the kernels form G groups each, and the kernels
 * of a group see the channels of the same group alone. Each group has products of its own: c / G and N / G replace c
 * and N above, and the lane of the products' random streams is the number of the group.
 *
 * Products with the zeros around the image take part in the sums of y and dW. The sum of an element of dx has a term
 * for every element of every kernel; if no output uses the two together, the term is a product with +0. The random
 * words of an element of a product are given by its index in the matrix, row by row.
 *
 * On a sequence (c,1,T) a layer with K = 1 is a dense layer that is applied to every step.
 */
#include "sim/layer.h"

#include <math.h>
#include <string.h>

#include "sim/normal.h"

enum { KERNELS, KERNEL, STRIDE, PAD, GROUPS, BIAS }; /* indices in layer->arg */

enum { SLICE = 1 << 18 };   /* floats of patches per thread; they fit the second-level cache */
enum { GROUPS_MAX = 4096 }; /* the lanes of a stream */
#define PRODUCTS_MAX 0x1p40 /* elements per sample of the largest array, so that sizes do not overflow */

/* Read N@K, then s, p and g with their numbers, in any order and each at most once, then nobias. */
static int read_args(size_t *arg, const char *text) {
    static const char letters[] = "spg";
    static const size_t most[] = {ULP_UNITS_MAX, ULP_UNITS_MAX, GROUPS_MAX};
    int seen[3] = {0};
    const char *letter;
    arg[STRIDE] = arg[GROUPS] = 1;
    arg[PAD] = 0;
    if (ulp_args_read(&arg[KERNELS], &text, 1, ULP_UNITS_MAX) != ULP_OK || *text++ != '@') return 0;
    if (ulp_args_read(&arg[KERNEL], &text, 1, ULP_UNITS_MAX) != ULP_OK) return 0;
    while (*text && (letter = strchr(letters, *text)) != NULL) {
        const int which = (int)(letter - letters);
        text++;
        if (seen[which]++ || ulp_args_read(&arg[STRIDE + which], &text, which != 1, most[which]) != ULP_OK) return 0;
    }
    arg[BIAS] = strcmp(text, "nobias") != 0;
    return (*text == 0 || !arg[BIAS]) && arg[PAD] < arg[KERNEL] && arg[KERNELS] % arg[GROUPS] == 0;
}

/* ---- sizes ---- */

static size_t area(ulp_dims d) { return d.h * d.w; }
static size_t square(const ulp_layer *layer) { return layer->arg[KERNEL] * layer->arg[KERNEL]; }
static size_t groups(const ulp_layer *layer) { return layer->arg[GROUPS]; }
/* The number of terms of a sum of y, and of a sum of dx. */
static size_t depth(const ulp_layer *layer) { return layer->in.c / groups(layer) * square(layer); }
static size_t back_depth(const ulp_layer *layer) { return layer->out.c / groups(layer) * square(layer); }
static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static ulp_status conv_shape(ulp_layer *layer, const char *args) {
    const ulp_dims in = layer->in;
    size_t *arg = layer->arg;
    if (!read_args(arg, args)) return ULP_BAD_ARGUMENT;
    const size_t N = arg[KERNELS], K = arg[KERNEL], h = in.h + 2 * arg[PAD], w = in.w + 2 * arg[PAD];
    if (K > h || K > w || in.c % arg[GROUPS]) return ULP_UNSUPPORTED;
    layer->out = (ulp_dims){N, (h - K) / arg[STRIDE] + 1, (w - K) / arg[STRIDE] + 1};
    const double most =
        ((double)in.c + (double)N) * (double)K * (double)K * ((double)area(in) + (double)area(layer->out));
    if (most > PRODUCTS_MAX || most * (double)in.c > PRODUCTS_MAX) return ULP_UNSUPPORTED;
    layer->params = (depth(layer) + arg[BIAS]) * N;
    layer->ones = area(layer->out);
    const size_t forward = (in.c * square(layer) + N) * area(layer->out);
    const size_t backward = (N * square(layer) + in.c) * area(in) + in.c * back_depth(layer);
    layer->work = larger(forward, backward);
    return ULP_OK;
}

/* As in a dense layer, with the number of inputs of an output and the number of outputs of an input. */
static void conv_init(const ulp_layer *layer, float *w, ulp_stream stream, double std) {
    const size_t n = layer->arg[KERNELS] * depth(layer);
    const double fan = (double)depth(layer) + (layer->gain > 1.0 ? 0.0 : (double)back_depth(layer));
    if (std <= 0.0) std = sqrt(2.0 / fan);
    for (size_t i = 0; i < n; i++) w[i] = (float)(std * ulp_random_normal(stream, i));
    for (size_t i = n; i < layer->params; i++) w[i] = 0.0f;
}

/* ---- the operands of the products ---- */

/* Some samples of the batch: a product takes as many samples at a time as fit the cache. */
typedef struct slice {
    size_t skip, B; /* number of samples before the slice, number of samples in the slice */
} slice;

/* to (c K K, B p) = for each element of a kernel and each position, the element of x that meets it (im2col). */
static ulp_status image_patches(const ulp_layer *layer, const ulp_backend *backend, float *to, const float *x,
                                size_t B) {
    const ulp_dims in = layer->in, out = layer->out;
    const ulp_im2col geometry = {.B = B,
                                 .c = in.c,
                                 .h = in.h,
                                 .w = in.w,
                                 .kernel = layer->arg[KERNEL],
                                 .oh = out.h,
                                 .ow = out.w,
                                 .stride = layer->arg[STRIDE],
                                 .pad = layer->arg[PAD],
                                 .dilate = 1};
    return ulp_backend_im2col(backend, to, x, &geometry);
}

/* to (N K K, B h w) = for each element of the kernels and each input, the gradient of the output in which they meet. */
static ulp_status gradient_patches(const ulp_layer *layer, const ulp_backend *backend, float *to, const float *dy,
                                   size_t B) {
    const ulp_dims in = layer->in, out = layer->out;
    const size_t K = layer->arg[KERNEL];
    const ulp_im2col geometry = {.B = B,
                                 .c = out.c,
                                 .h = out.h,
                                 .w = out.w,
                                 .kernel = K,
                                 .oh = in.h,
                                 .ow = in.w,
                                 .stride = 1,
                                 .pad = K - 1 - layer->arg[PAD],
                                 .dilate = layer->arg[STRIDE],
                                 .flip = 1};
    return ulp_backend_im2col(backend, to, dy, &geometry);
}

/* The site of a product of a group over the samples of a slice; each sample has `rows` rows. */
static ulp_site product_site(const ulp_layer *layer, uint32_t use, slice s, size_t rows, size_t group) {
    return (ulp_site){.use = use, .lane = (uint32_t)group, .layer = layer->index, .per_sample = rows, .skip = s.skip};
}

/* y of a slice, not rounded yet. */
static ulp_status forward_sums(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t, slice s) {
    const size_t N = layer->out.c, p = area(layer->out), k = depth(layer), rows = s.B * p, n = N / groups(layer);
    const ulp_backend *backend = pass->run.backend;
    const float *x = t->x + s.skip * ulp_dims_size(layer->in), *bias = t->w + N * k; /* (N) */
    float *y = t->y + s.skip * ulp_dims_size(layer->out);
    float *patches = t->own.work, *sums = patches + groups(layer) * k * rows; /* (G k, B p), (N, B p) */
    const ulp_gemm_shape start = {.m = rows, .n = N, .k = 1, .lda = 1, .ldb = N, .ldc = rows, .c_trans = 1};
    const ulp_gemm_shape sum = {.m = rows,
                                .n = n,
                                .k = k,
                                .lda = rows,
                                .ldb = k,
                                .ldc = rows,
                                .a_trans = 1,
                                .b_trans = 1,
                                .c_trans = 1,
                                .accumulate = layer->arg[BIAS] != 0};
    ulp_status status = image_patches(layer, backend, patches, x, s.B);
    if (status == ULP_OK && layer->arg[BIAS])
        status = ulp_pass_gemm(pass, product_site(layer, ULP_USE_BIAS, s, p, 0), sums, t->ones, bias, &start);
    for (size_t g = 0; g < groups(layer) && status == ULP_OK; g++)
        status = ulp_pass_gemm(pass, product_site(layer, ULP_USE_FORWARD, s, p, g), sums + g * n * rows,
                               patches + g * k * rows, t->w + g * n * k, &sum);
    return status == ULP_OK ? ulp_backend_permute(backend, y, sums, (ulp_permute_shape){1, N, s.B, p}) : status;
}

/* dx of a slice, not rounded yet. */
static ulp_status backward_sums(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t, slice s) {
    const size_t G = groups(layer), c = layer->in.c, p = area(layer->in), k = back_depth(layer), rows = s.B * p;
    const ulp_backend *backend = pass->run.backend;
    const float *dy = t->dy + s.skip * ulp_dims_size(layer->out);
    float *dx = t->dx + s.skip * ulp_dims_size(layer->in);
    float *patches = t->own.work, *sums = patches + G * k * rows,
          *turned = sums + c * rows; /* (G k, B h w), (c, B h w), (c, k) */
    const ulp_gemm_shape sum = {
        .m = rows, .n = c / G, .k = k, .lda = rows, .ldb = k, .ldc = rows, .a_trans = 1, .b_trans = 1, .c_trans = 1};
    ulp_status status = gradient_patches(layer, backend, patches, dy, s.B);
    if (status == ULP_OK)
        status =
            ulp_backend_permute(backend, turned, t->w, (ulp_permute_shape){G, layer->out.c / G, c / G, square(layer)});
    for (size_t g = 0; g < G && status == ULP_OK; g++)
        status = ulp_pass_gemm(pass, product_site(layer, ULP_USE_BACKWARD, s, p, g), sums + g * (c / G) * rows,
                               patches + g * k * rows, turned + g * (c / G) * k, &sum);
    return status == ULP_OK ? ulp_backend_permute(backend, dx, sums, (ulp_permute_shape){1, c, s.B, p}) : status;
}

typedef ulp_status (*sums_function)(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t, slice s);

/* Compute the sums of all samples, slice by slice. A slice has as many samples as fit the cache, `floats` per sample.
 * The sums of different samples are independent. */
static ulp_status in_slices(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t, sums_function sums,
                            size_t floats) {
    const size_t B = pass->now.B, most = (size_t)ulp_threads_get() * (SLICE / floats) + 1;
    ulp_status status = ULP_OK;
    for (size_t b = 0; b < B && status == ULP_OK; b += most)
        status = sums(layer, pass, t, (slice){b, B - b < most ? B - b : most});
    return status;
}

static ulp_status conv_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    ulp_status status = in_slices(layer, pass, t, forward_sums, layer->in.c * square(layer) * area(layer->out));
    if (status != ULP_OK) return status;
    return ulp_pass_round(pass, ulp_site_output(layer), t->y, pass->now.B * ulp_dims_size(layer->out));
}

static ulp_status weight_gradients(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t B = pass->now.B, N = layer->out.c, p = area(layer->out), k = depth(layer), rows = B * p;
    const size_t n = N / groups(layer);
    const slice all = {0, B};
    float *patches = t->own.work, *dy = patches + groups(layer) * k * rows; /* (G k, B p), (N, B p) */
    const ulp_gemm_shape dw = {
        .m = k, .n = n, .k = rows, .lda = rows, .ldb = rows, .ldc = k, .b_trans = 1, .c_trans = 1};
    const ulp_gemm_shape db = {.m = 1, .n = N, .k = rows, .lda = rows, .ldb = rows, .ldc = N, .b_trans = 1};
    ulp_status status = image_patches(layer, pass->run.backend, patches, t->x, B);
    if (status == ULP_OK) status = ulp_backend_permute(pass->run.backend, dy, t->dy, (ulp_permute_shape){1, B, N, p});
    for (size_t g = 0; g < groups(layer) && status == ULP_OK; g++)
        status = ulp_pass_gemm(pass, product_site(layer, ULP_USE_WPRODUCT, all, 0, g), t->dw + g * n * k,
                               patches + g * k * rows, dy + g * n * rows, &dw);
    if (status == ULP_OK && layer->arg[BIAS])
        status = ulp_pass_gemm(pass, product_site(layer, ULP_USE_BPRODUCT, all, 0, 0), t->dw + N * k, t->ones, dy, &db);
    if (status == ULP_OK) status = ulp_pass_round(pass, ulp_site_weight_gradients(layer), t->dw, layer->params);
    return status;
}

static ulp_status conv_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    ulp_status status = weight_gradients(layer, pass, t);
    if (status != ULP_OK || !t->dx) return status;
    status = in_slices(layer, pass, t, backward_sums, layer->out.c * square(layer) * area(layer->in));
    if (status != ULP_OK) return status;
    return ulp_pass_round(pass, ulp_site_input_gradient(layer), t->dx, pass->now.B * ulp_dims_size(layer->in));
}

/* One output without its bias, by the definition; x begins at the first channel of the kernel's group. */
static double output64(const ulp_layer *layer, const double *x, const double *w, size_t row, size_t column) {
    const size_t K = layer->arg[KERNEL], S = layer->arg[STRIDE], P = layer->arg[PAD];
    const ulp_dims in = layer->in;
    double sum = 0.0;
    for (size_t c = 0; c < in.c / groups(layer); c++)
        for (size_t i = 0; i < K; i++)
            for (size_t j = 0; j < K; j++) {
                const size_t u = row * S + i, v = column * S + j; /* position in the image with the zeros around it */
                if (u >= P && u - P < in.h && v >= P && v - P < in.w)
                    sum += x[(c * in.h + u - P) * in.w + v - P] * w[(c * K + i) * K + j];
            }
    return sum;
}

static void conv_forward64(const ulp_layer *layer, double *y, const double *x, const double *skip, const double *w,
                           size_t B) {
    (void)skip;
    const size_t N = layer->out.c, k = depth(layer), m = ulp_dims_size(layer->in), of_group = m / groups(layer);
    for (size_t b = 0; b < B; b++)
        for (size_t n = 0; n < N; n++)
            for (size_t i = 0; i < layer->out.h; i++)
                for (size_t j = 0; j < layer->out.w; j++)
                    *y++ = (layer->arg[BIAS] ? w[N * k + n] : 0.0) +
                           output64(layer, x + b * m + n / (N / groups(layer)) * of_group, w + n * k, i, j);
}

extern const ulp_layer_kind ulp_layer_conv;
const ulp_layer_kind ulp_layer_conv = {
    .name = "conv",
    .usage = "convN@K[sS][pP][gG][nobias]: convolution, N kernels (1 to 2^20) of K x K, stride S, P < K zeros around "
             "the image, G groups (1 to 4096) that divide N; nobias: without bias",
    .takes = "a height and a width, zeros included, of K or more, a number of channels that G divides, and not above "
             "2^40 products per sample",
    .example = "conv4@3p1s2 tanh conv6@2p1g2 tanh conv3@2g3s2nobias",
    .gain = 1.0,
    .shape = conv_shape,
    .init = conv_init,
    .forward = conv_forward,
    .backward = conv_backward,
    .forward64 = conv_forward64,
};
