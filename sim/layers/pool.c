/* pool.c - the maximum of each of adjacent windows of K x K, without rounding.
 *
 * Rows and columns at the end that fill no window are left out. kernels/functions/pool.h says which of equal numbers is
 * the maximum. Forward writes the index of the maximum in its window to `saved`. The gradient is dy at this index, else
 * +0.
 */
#include "sim/layer.h"

static ulp_status pool_shape(ulp_layer *layer, const char *args) {
    size_t K;
    if (ulp_args_number(&K, args, 1, ULP_WINDOW_MAX) != ULP_OK) return ULP_BAD_ARGUMENT;
    if (K > layer->in.h || K > layer->in.w) return ULP_UNSUPPORTED;
    layer->arg[0] = K;
    layer->out = (ulp_dims){layer->in.c, layer->in.h / K, layer->in.w / K};
    layer->saved = ulp_dims_size(layer->out);
    return ULP_OK;
}

static ulp_windows windows(const ulp_layer *layer, const ulp_pass *pass) {
    return (ulp_windows){.images = pass->now.B * layer->in.c, .h = layer->in.h, .w = layer->in.w, .K = layer->arg[0]};
}

static ulp_status pool_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_windows s = windows(layer, pass);
    ulp_status status = ulp_backend_pool(pass->run.backend, t->y, t->saved, t->x, &s);
    return status == ULP_OK ? ulp_pass_show(pass, ulp_site_output(layer), t->y, pass->now.B * ulp_dims_size(layer->out))
                            : status;
}

static ulp_status pool_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_windows s = windows(layer, pass);
    if (!t->dx) return ULP_OK;
    ulp_status status = ulp_backend_pool_slope(pass->run.backend, t->dx, t->dy, t->saved, &s);
    return status == ULP_OK
               ? ulp_pass_show(pass, ulp_site_input_gradient(layer), t->dx, pass->now.B * ulp_dims_size(layer->in))
               : status;
}

static void pool_forward64(const ulp_layer *layer, double *y, const double *x, const double *skip, const double *w,
                           size_t B) {
    (void)skip;
    (void)w;
    const ulp_dims in = layer->in, out = layer->out;
    const size_t K = layer->arg[0];
    for (size_t i = 0; i < B * in.c; i++)
        for (size_t p = 0; p < out.h; p++)
            for (size_t q = 0; q < out.w; q++) {
                const double *window = x + (i * in.h + p * K) * in.w + q * K;
                *y = window[0];
                for (size_t j = 1; j < K * K; j++)
                    if (window[j / K * in.w + j % K] > *y) *y = window[j / K * in.w + j % K];
                y++;
            }
}

extern const ulp_layer_kind ulp_layer_pool;
const ulp_layer_kind ulp_layer_pool = {
    .name = "pool",
    .usage = "poolK: max pooling, the maximum of every K x K pixels",
    .takes = "a height and a width of K or more",
    .example = "conv2@2p1 pool2 fc3",
    .gain = 1.0,
    .shape = pool_shape,
    .forward = pool_forward,
    .backward = pool_backward,
    .forward64 = pool_forward64,
};
