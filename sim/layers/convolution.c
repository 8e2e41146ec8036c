/* convolution.c - the words of convolutions, and their sums as matrix products, slice by slice; see convolution.h. */
#include "convolution.h"

#include <math.h>
#include <string.h>

#include "sim/normal.h"

enum { KERNEL, STRIDE, PAD, GROUPS, BIAS }; /* indices in layer->arg */

enum { SLICE = 1 << 18 };   /* floats of patches per thread; they fit the second-level cache */
enum { CAST_SLICES = 8 };   /* the factor of a slice whose operands have casts */
enum { GROUPS_MAX = 4096 }; /* the lanes of a stream */
#define PRODUCTS_MAX 0x1p40 /* elements per sample of the largest array, so that sizes do not overflow */

/* ---- words and sizes ---- */

int ulp_convolution_read(ulp_layer *layer, const char *text) {
    static const char letters[] = "spg";
    static const size_t most[] = {ULP_UNITS_MAX, ULP_UNITS_MAX, GROUPS_MAX};
    size_t *arg = layer->arg;
    int seen[3] = {0};
    const char *letter;
    arg[STRIDE] = arg[GROUPS] = 1;
    arg[PAD] = 0;
    if (ulp_args_read(&layer->out.c, &text, 1, ULP_UNITS_MAX) != ULP_OK || *text++ != '@') return 0;
    if (ulp_args_read(&arg[KERNEL], &text, 1, ULP_UNITS_MAX) != ULP_OK) return 0;
    while (*text && (letter = strchr(letters, *text)) != NULL) {
        const int which = (int)(letter - letters);
        text++;
        if (seen[which]++ || ulp_args_read(&arg[STRIDE + which], &text, which != 1, most[which]) != ULP_OK) return 0;
    }
    arg[BIAS] = strcmp(text, "nobias") != 0;
    return (*text == 0 || !arg[BIAS]) && arg[PAD] < arg[KERNEL] && layer->out.c % arg[GROUPS] == 0;
}

ulp_convolution ulp_convolution_of(const ulp_layer *layer, int transposed) {
    const size_t *arg = layer->arg;
    return (ulp_convolution){.image = transposed ? layer->out : layer->in,
                             .positions = transposed ? layer->in : layer->out,
                             .kernel = arg[KERNEL],
                             .stride = arg[STRIDE],
                             .pad = arg[PAD],
                             .groups = arg[GROUPS],
                             .has_bias = arg[BIAS] != 0};
}

static size_t area(ulp_dims d) { return d.h * d.w; }

size_t ulp_convolution_depth(const ulp_convolution *c, ulp_convolution_map map) {
    return (map == ULP_TO_IMAGE ? c->positions.c : c->image.c) / c->groups * c->kernel * c->kernel;
}

static size_t weights(const ulp_convolution *c) { return c->positions.c * ulp_convolution_depth(c, ULP_TO_POSITIONS); }

ulp_status ulp_convolution_admit(ulp_layer *layer, int transposed) {
    const ulp_convolution c = ulp_convolution_of(layer, transposed);
    const size_t k = ulp_convolution_depth(&c, ULP_TO_POSITIONS), back = ulp_convolution_depth(&c, ULP_TO_IMAGE);
    const size_t p = area(c.positions), q = area(c.image), larger_side = ulp_larger(c.positions.c * p, c.image.c * q);
    const double most = ((double)c.image.c + (double)c.positions.c) * (double)c.kernel * (double)c.kernel *
                        ((double)area(c.image) + (double)area(c.positions));
    if (layer->in.c % c.groups || most > PRODUCTS_MAX || most * (double)c.image.c > PRODUCTS_MAX)
        return ULP_UNSUPPORTED;
    layer->params = weights(&c) + (c.has_bias ? layer->out.c : 0);
    layer->decays[0] = weights(&c);
    layer->multiply_adds = weights(&c) * p;
    layer->ones = area(layer->out);
    layer->sums[0] = transposed ? back : k;
    layer->sums[1] = transposed ? k : back;
    layer->sums[2] = p;
    /* patches and sums of either map, and the weights turned; patches and one side permuted, for weight gradients */
    layer->work = ulp_larger(c.groups * k * p + larger_side, (c.groups * back + c.image.c) * q + c.image.c * back);
    return ULP_OK;
}

/* As in a dense layer, with the number of inputs of an output, of a transposed convolution the mean number, and the
 * number of outputs of an input. */
void ulp_convolution_init(const ulp_layer *layer, ulp_convolution_map map, float *w, ulp_stream stream, double std) {
    const ulp_convolution c = ulp_convolution_of(layer, map == ULP_TO_IMAGE);
    const double cells = map == ULP_TO_IMAGE ? (double)c.stride * (double)c.stride : 1.0,
                 inputs = (double)ulp_convolution_depth(&c, map) / cells,
                 outputs = (double)ulp_convolution_depth(&c, map == ULP_TO_IMAGE ? ULP_TO_POSITIONS : ULP_TO_IMAGE);
    if (std <= 0.0) std = sqrt(2.0 / (inputs + (layer->gain > 1.0 ? 0.0 : outputs)));
    const size_t n = layer->params - (layer->arg[BIAS] ? layer->out.c : 0);
    for (size_t i = 0; i < n; i++) w[i] = (float)(std * ulp_random_normal(stream, i));
    for (size_t i = n; i < layer->params; i++) w[i] = 0.0f;
}

/* ---- the operands of the products ---- */

ulp_status ulp_convolution_patches(const ulp_convolution *c, const ulp_backend *backend, float *to, const float *image,
                                   size_t B) {
    const ulp_im2col geometry = {.B = B,
                                 .c = c->image.c,
                                 .h = c->image.h,
                                 .w = c->image.w,
                                 .kernel = c->kernel,
                                 .oh = c->positions.h,
                                 .ow = c->positions.w,
                                 .stride = c->stride,
                                 .pad = c->pad,
                                 .dilate = 1};
    return ulp_backend_im2col(backend, to, image, &geometry);
}

/* to (N K K, B h w) = for each element of the kernels and each element of the image, the position in which they meet.
 */
static ulp_status position_patches(const ulp_convolution *c, const ulp_backend *backend, float *to,
                                   const float *positions, size_t B) {
    const ulp_im2col geometry = {.B = B,
                                 .c = c->positions.c,
                                 .h = c->positions.h,
                                 .w = c->positions.w,
                                 .kernel = c->kernel,
                                 .oh = c->image.h,
                                 .ow = c->image.w,
                                 .stride = 1,
                                 .pad = c->kernel - 1 - c->pad,
                                 .dilate = c->stride,
                                 .flip = 1};
    return ulp_backend_im2col(backend, to, positions, &geometry);
}

/* ---- sums ---- */

/* A map in use. */
typedef struct work {
    ulp_convolution c;
    ulp_convolution_map map;
    size_t layer;
    uint32_t use;       /* ULP_USE_FORWARD or ULP_USE_BACKWARD */
    ulp_dims from, to;  /* the two sides */
    const float *x, *w; /* (B,from), (weights) */
    const float *bias;  /* (to.c), or NULL */
    const float *ones;  /* (B, positions of `to`) */
    float *y, *own;     /* (B,to), the layer's workspace */
} work;

/* Some samples of the batch: a product takes as many samples at a time as fit the cache. */
typedef struct slice {
    size_t skip, B; /* number of samples before the slice, number of samples in the slice */
} slice;

/* The site of a product of a group over the samples of a slice. */
static ulp_site product_site(const work *w, uint32_t use, slice s, size_t group) {
    return (ulp_site){.use = use,
                      .lane = (uint32_t)group,
                      .layer = w->layer,
                      .per_sample = area(w->to),
                      .skip = s.skip,
                      .operands = use == ULP_USE_BIAS ? ULP_SITE_AS_IT_IS : ULP_SITE_KERNELS};
}

/* turned (to.c, k) = the weights of a group (positions.c / G, n K K), as a product with the positions takes them. */
static ulp_status turn_weights(const work *w, ulp_pass *pass, float *turned, ulp_site *site, size_t group) {
    const ulp_convolution *c = &w->c;
    const size_t rows = c->positions.c / c->groups, n = w->to.c / c->groups, cells = c->kernel * c->kernel,
                 first = group * rows * n * cells;
    const float *own = w->w + first;
    ULP_TRY(ulp_pass_cast_kernels(pass, site, &own, rows, n * cells));
    return ulp_backend_permute(pass->run.backend, turned + first, own, (ulp_permute_shape){1, rows, n, cells});
}

static ulp_status slice_sums(const work *w, ulp_pass *pass, slice s) {
    const ulp_convolution *c = &w->c;
    const size_t G = c->groups, n = w->to.c / G, k = ulp_convolution_depth(c, w->map), p = area(w->to), rows = s.B * p;
    const ulp_backend *backend = pass->run.backend;
    const float *x = w->x + s.skip * ulp_dims_size(w->from), *matrix = w->w; /* (to.c, k) */
    float *patches = w->own, *sums = patches + G * k * rows,
          *turned = sums + G * n * rows; /* (G k, B p), (to.c, B p), (to.c, k) */
    const ulp_gemm_shape start = {.m = rows, .n = G * n, .k = 1, .lda = 1, .ldb = G * n, .ldc = rows, .c_trans = 1};
    const ulp_gemm_shape sum = {.m = rows,
                                .n = n,
                                .k = k,
                                .lda = rows,
                                .ldb = k,
                                .ldc = rows,
                                .a_trans = 1,
                                .b_trans = 1,
                                .c_trans = 1,
                                .accumulate = w->bias != NULL};
    ULP_TRY(w->map == ULP_TO_IMAGE ? position_patches(c, backend, patches, x, s.B)
                                   : ulp_convolution_patches(c, backend, patches, x, s.B));
    if (w->map == ULP_TO_IMAGE) matrix = turned;
    if (w->bias) ULP_TRY(ulp_pass_gemm(pass, product_site(w, ULP_USE_BIAS, s, 0), sums, w->ones, w->bias, &start));
    for (size_t g = 0; g < G; g++) {
        ulp_site site = product_site(w, w->use, s, g);
        if (w->map == ULP_TO_IMAGE) ULP_TRY(turn_weights(w, pass, turned, &site, g));
        ULP_TRY(ulp_pass_gemm(pass, site, sums + g * n * rows, patches + g * k * rows, matrix + g * n * k, &sum));
    }
    return ulp_backend_permute(backend, w->y + s.skip * ulp_dims_size(w->to), sums,
                               (ulp_permute_shape){1, w->to.c, s.B, p});
}

/* Compute the sums of all samples, slice by slice. The sums of different samples are independent, but a cast of
 * operands may depend on all numbers of a slice: then slices do not depend on the number of threads. */
static ulp_status all_sums(const work *w, ulp_pass *pass) {
    const size_t floats = w->c.groups * ulp_convolution_depth(&w->c, w->map) * area(w->to), B = pass->now.B,
                 threads = ulp_pass_casts(pass, w->layer) ? CAST_SLICES : (size_t)ulp_threads_get(),
                 most = threads * (SLICE / floats) + 1;
    for (size_t b = 0; b < B; b += most) ULP_TRY(slice_sums(w, pass, (slice){b, B - b < most ? B - b : most}));
    return ULP_OK;
}

ulp_status ulp_convolution_forward(const ulp_layer *layer, ulp_convolution_map map, ulp_pass *pass,
                                   const ulp_layer_tensors *t) {
    work w = {.c = ulp_convolution_of(layer, map == ULP_TO_IMAGE),
              .map = map,
              .layer = layer->index,
              .use = ULP_USE_FORWARD,
              .from = layer->in,
              .to = layer->out,
              .x = t->x,
              .w = t->w,
              .ones = t->ones,
              .y = t->y,
              .own = t->own.work};
    if (w.c.has_bias) w.bias = t->w + weights(&w.c);
    ULP_TRY(all_sums(&w, pass));
    return ulp_pass_round(pass, ulp_site_output(layer), t->y, pass->now.B * ulp_dims_size(layer->out));
}

ulp_status ulp_convolution_backward(const ulp_layer *layer, ulp_convolution_map map, ulp_pass *pass,
                                    const ulp_layer_tensors *t) {
    const work w = {.c = ulp_convolution_of(layer, map == ULP_TO_POSITIONS),
                    .map = map,
                    .layer = layer->index,
                    .use = ULP_USE_BACKWARD,
                    .from = layer->out,
                    .to = layer->in,
                    .x = t->dy,
                    .w = t->w,
                    .y = t->dx,
                    .own = t->own.work};
    ULP_TRY(all_sums(&w, pass));
    return ulp_pass_round(pass, ulp_site_input_gradient(layer), t->dx, pass->now.B * ulp_dims_size(layer->in));
}
