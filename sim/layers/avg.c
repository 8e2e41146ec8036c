/* avg.c - the mean of each of adjacent windows of K x K.
 *
 * Rows and columns at the end that fill no window are left out. The sum of a window, row by row, and its quotient by
 * K^2 are computed in binary64, and the quotient is rounded once at ULP_AT_ACT. Before that rounding the error is below
 * K^2 2^-53 times the mean magnitude. The sum is exact if the exponents of the numbers span few enough bits; for fp16
 * it is exact up to K = 90. The gradient is dy / K^2, one division in binary64, rounded once at ULP_AT_AGRAD; the
 * gradient of pixels outside of all windows is +0.
 */
#include "sim/layers/layer.h"

static ulp_status avg_shape(ulp_layer *layer, const char *args) {
    size_t K;
    if (ulp_args_number(&K, args, 1, ULP_UNITS_MAX) != ULP_OK) return ULP_BAD_ARGUMENT;
    if (K > layer->in.h || K > layer->in.w) return ULP_UNSUPPORTED;
    layer->arg[0] = K;
    layer->out = (ulp_dims){layer->in.c, layer->in.h / K, layer->in.w / K};
    return ULP_OK;
}

static ulp_windows windows(const ulp_layer *layer, size_t B) {
    return (ulp_windows){.images = B * layer->in.c, .h = layer->in.h, .w = layer->in.w, .K = layer->arg[0]};
}

static ulp_status avg_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_windows s = windows(layer, pass->now.B);
    double *exact = pass->scratch.wide;
    ulp_status status = ulp_backend_average(pass->run.backend, exact, t->x, &s);
    return status == ULP_OK
               ? ulp_pass_round64(pass, ulp_site_output(layer), t->y, exact, pass->now.B * ulp_dims_size(layer->out))
               : status;
}

static ulp_status avg_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_windows s = windows(layer, pass->now.B);
    double *exact = pass->scratch.wide;
    if (!t->dx) return ULP_OK;
    ulp_status status = ulp_backend_average_slope(pass->run.backend, exact, t->dy, &s);
    return status == ULP_OK ? ulp_pass_round64(pass, ulp_site_input_gradient(layer), t->dx, exact,
                                               pass->now.B * ulp_dims_size(layer->in))
                            : status;
}

/* The index of the first pixel of window i; windows are counted over all images. */
static size_t window_at(const ulp_layer *layer, size_t i) {
    const ulp_dims in = layer->in, out = layer->out;
    const size_t q = i % out.w, p = i / out.w % out.h, image = i / out.w / out.h;
    return (image * in.h + p * layer->arg[0]) * in.w + q * layer->arg[0];
}

static void avg_forward64(const ulp_layer *layer, double *y, const double *x, const double *skip, const double *w,
                          size_t B) {
    (void)skip;
    (void)w;
    const size_t K = layer->arg[0];
    for (size_t i = 0; i < B * ulp_dims_size(layer->out); i++) {
        const double *window = x + window_at(layer, i);
        y[i] = 0.0;
        for (size_t j = 0; j < K * K; j++) y[i] += window[j / K * layer->in.w + j % K] / (double)(K * K);
    }
}

extern const ulp_layer_kind ulp_layer_avg;
const ulp_layer_kind ulp_layer_avg = {
    .name = "avg",
    .usage = "avgK: average pooling, the mean of every K x K pixels",
    .takes = "a height and a width of K or more",
    .example = "conv2@2p1 avg2 tanh",
    .gain = 1.0,
    .reads = ULP_READS_NEITHER,
    .operation = "average pooling",
    .shape = avg_shape,
    .forward = avg_forward,
    .backward = avg_backward,
    .forward64 = avg_forward64,
};
