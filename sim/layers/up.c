/* up.c - up-sampling: each pixel becomes F x F equal pixels (nearest neighbour).
 *
 * Forward changes no value. The gradient of a pixel is the sum of the gradients of its F x F pixels; the sum is exact
 * and is rounded once at ULP_AT_AGRAD.
 */
#include "sim/layer.h"

#include "kernels/products/wide_sum.h"

enum { FACTOR_MAX = 1024 };

static ulp_status up_shape(ulp_layer *layer, const char *args) {
    size_t F;
    if (ulp_args_number(&F, args, 1, FACTOR_MAX) != ULP_OK) return ULP_BAD_ARGUMENT;
    layer->arg[0] = F;
    layer->out = (ulp_dims){layer->in.c, layer->in.h * F, layer->in.w * F};
    return (double)layer->in.c * (double)layer->out.h * (double)layer->out.w <= 0x1p40 ? ULP_OK : ULP_UNSUPPORTED;
}

/* The index of the input pixel of output pixel i; pixels are counted over all images. */
static size_t source_of(const ulp_layer *layer, size_t i) {
    const size_t F = layer->arg[0], W = layer->out.w;
    return i / W / F * layer->in.w + i % W / F;
}

static ulp_status up_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t m = pass->now.B * ulp_dims_size(layer->in), n = pass->now.B * ulp_dims_size(layer->out);
    ulp_status status = pass->run.backend->download(t->own.host_x, t->x, m * sizeof(float));
    if (status != ULP_OK) return status;
    for (size_t i = 0; i < n; i++) t->own.host_y[i] = t->own.host_x[source_of(layer, i)];
    status = pass->run.backend->upload(t->y, t->own.host_y, n * sizeof(float));
    return status == ULP_OK ? ulp_pass_show(pass, ulp_site_output(layer), t->y, n) : status;
}

/* The exact sum of a window of F x F numbers at x, whose rows are w numbers apart, as one binary64 number that rounds
 * like the sum. A binary64 sum without errors is exact. */
static double window_sum(const float *x, size_t w, size_t F) {
    double sum = (double)x[0];
    int exact = 1;
    for (size_t j = 1; j < F * F; j++) exact &= ulp_two_sum(sum, (double)x[j / F * w + j % F], &sum) == 0.0;
    if (exact) return sum;
    ulp_wide wide;
    ulp_format binary64;
    ulp_wide_clear(&wide);
    for (size_t j = 0; j < F * F; j++) ulp_wide_add(&wide, (double)x[j / F * w + j % F], 1.0);
    ulp_format_parse(&binary64, "binary64");
    return ulp_round_exact(ulp_wide_exact(&wide), &binary64, (ulp_rule){.mode = ULP_RO}, 0);
}

static ulp_status up_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t F = layer->arg[0], w = layer->in.w, W = layer->out.w;
    const size_t m = pass->now.B * ulp_dims_size(layer->in), n = pass->now.B * ulp_dims_size(layer->out);
    if (!t->dx) return ULP_OK;
    ulp_status status = pass->run.backend->download(t->own.host_x, t->dy, n * sizeof(float));
    if (status != ULP_OK) return status;
    for (size_t i = 0; i < m; i++) t->own.host_wide[i] = window_sum(t->own.host_x + i / w * F * W + i % w * F, W, F);
    return ulp_pass_round_host(pass, ulp_site_input_gradient(layer), t->dx, t->own.host_wide, m);
}

static void up_forward64(const ulp_layer *layer, double *y, const double *x, const double *skip, const double *w,
                         size_t B) {
    (void)skip;
    (void)w;
    for (size_t i = 0; i < B * ulp_dims_size(layer->out); i++) y[i] = x[source_of(layer, i)];
}

extern const ulp_layer_kind ulp_layer_up;
const ulp_layer_kind ulp_layer_up = {
    .name = "up",
    .usage = "upF: up-sampling, every pixel becomes F x F pixels (F from 1 to 1024)",
    .takes = "an image that gives at most 2^40 pixels",
    .example = "pool2 up2 tanh",
    .gain = 1.0,
    .reads = ULP_READS_NEITHER,
    .operation = "up-sampling",
    .shape = up_shape,
    .forward = up_forward,
    .backward = up_backward,
    .forward64 = up_forward64,
};
