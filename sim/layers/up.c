/* up.c - up-sampling: each pixel becomes F x F equal pixels (nearest neighbour).
 *
 * Forward changes no value. The gradient of a pixel is the sum of the gradients of its F x F pixels; the sum is exact
 * and is rounded once at ULP_AT_AGRAD.
 */
#include "sim/layers/layer.h"

enum { FACTOR_MAX = 1024 };

static ulp_status up_shape(ulp_layer *layer, const char *args) {
    size_t F;
    if (ulp_args_number(&F, args, 1, FACTOR_MAX) != ULP_OK) return ULP_BAD_ARGUMENT;
    layer->arg[0] = F;
    layer->out = (ulp_dims){layer->in.c, layer->in.h * F, layer->in.w * F};
    return (double)layer->in.c * (double)layer->out.h * (double)layer->out.w <= 0x1p40 ? ULP_OK : ULP_UNSUPPORTED;
}

static ulp_windows windows(const ulp_layer *layer, const ulp_pass *pass) {
    return (ulp_windows){
        .images = pass->now.B * layer->out.c, .h = layer->out.h, .w = layer->out.w, .K = layer->arg[0]};
}

static ulp_status up_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_windows s = windows(layer, pass);
    ulp_status status = ulp_backend_upsample(pass->run.backend, t->y, t->x, &s);
    return status == ULP_OK ? ulp_pass_show(pass, ulp_site_output(layer), t->y, pass->now.B * ulp_dims_size(layer->out))
                            : status;
}

static ulp_status up_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_windows s = windows(layer, pass);
    double *exact = pass->scratch.wide;
    if (!t->dx) return ULP_OK;
    ulp_status status = ulp_backend_upsample_slope(pass->run.backend, exact, t->dy, &s);
    return status == ULP_OK ? ulp_pass_round64(pass, ulp_site_input_gradient(layer), t->dx, exact,
                                               pass->now.B * ulp_dims_size(layer->in))
                            : status;
}

/* The index of the input pixel of output pixel i; pixels are counted over all images. */
static size_t source_of(const ulp_layer *layer, size_t i) {
    const size_t F = layer->arg[0], W = layer->out.w;
    return i / W / F * layer->in.w + i % W / F;
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
