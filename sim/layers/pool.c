/* pool.c - the maximum of each window of K x K, without rounding.
 *
 * Windows begin S pixels apart, and P < K rows and columns without numbers surround the image. Without S and P the
 * windows are adjacent. Rows and columns at the end that fill no window are left out. kernels/functions/pool.h says
 * which of equal numbers is the maximum. Forward writes the index of the maximum in its window to `saved`. The gradient
 * of adjacent windows is dy at this index, else +0. For all other windows it is the sum in binary64 of the dy of
 * windows with the same maximum, window after window, rounded once at ULP_AT_AGRAD.
 */
#include "sim/layers/layer.h"

#include <math.h>

enum { SIDE, STRIDE, PAD }; /* indices in layer->arg */

/* Read K, then s and p with their numbers, in any order and each at most once. */
static int read_args(size_t *arg, const char *text) {
    int seen_s = 0, seen_p = 0;
    if (ulp_args_read(&arg[SIDE], &text, 1, ULP_WINDOW_MAX) != ULP_OK) return 0;
    arg[STRIDE] = arg[SIDE];
    arg[PAD] = 0;
    while (*text == 's' || *text == 'p') {
        int *seen = *text == 's' ? &seen_s : &seen_p;
        const int which = *text++ == 's' ? STRIDE : PAD;
        if ((*seen)++ || ulp_args_read(&arg[which], &text, which == STRIDE, ULP_WINDOW_MAX) != ULP_OK) return 0;
    }
    return *text == 0 && arg[PAD] < arg[SIDE];
}

static int is_adjacent(const ulp_layer *layer) { return layer->arg[STRIDE] == layer->arg[SIDE] && !layer->arg[PAD]; }

static ulp_status pool_shape(ulp_layer *layer, const char *args) {
    size_t *arg = layer->arg;
    if (!read_args(arg, args)) return ULP_BAD_ARGUMENT;
    const size_t h = layer->in.h + 2 * arg[PAD], w = layer->in.w + 2 * arg[PAD];
    if (arg[SIDE] > h || arg[SIDE] > w) return ULP_UNSUPPORTED;
    layer->out = (ulp_dims){layer->in.c, (h - arg[SIDE]) / arg[STRIDE] + 1, (w - arg[SIDE]) / arg[STRIDE] + 1};
    layer->saved = ulp_dims_size(layer->out);
    layer->places = layer->saved * (arg[SIDE] <= 16 ? 1 : 4); /* a byte counts 256 pixels */
    return ULP_OK;
}

static ulp_windows windows(const ulp_layer *layer, const ulp_pass *pass) {
    return (ulp_windows){
        .images = pass->now.B * layer->in.c, .h = layer->in.h, .w = layer->in.w, .K = layer->arg[SIDE]};
}

static ulp_strided_windows strided_windows(const ulp_layer *layer, const ulp_pass *pass) {
    return (ulp_strided_windows){.images = pass->now.B * layer->in.c,
                                 .h = layer->in.h,
                                 .w = layer->in.w,
                                 .K = layer->arg[SIDE],
                                 .stride = layer->arg[STRIDE],
                                 .pad = layer->arg[PAD]};
}

static ulp_status pool_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_backend *backend = pass->run.backend;
    const ulp_windows s = windows(layer, pass);
    const ulp_strided_windows strided = strided_windows(layer, pass);
    ulp_status status = is_adjacent(layer) ? ulp_backend_pool(backend, t->y, t->saved, t->x, &s)
                                           : ulp_backend_pool_strided(backend, t->y, t->saved, t->x, &strided);
    return status == ULP_OK ? ulp_pass_show(pass, ulp_site_output(layer), t->y, pass->now.B * ulp_dims_size(layer->out))
                            : status;
}

static ulp_status strided_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_strided_windows s = strided_windows(layer, pass);
    double *exact = pass->scratch.wide;
    ulp_status status = ulp_backend_pool_strided_slope(pass->run.backend, exact, t->dy, t->saved, &s);
    return status == ULP_OK ? ulp_pass_round64(pass, ulp_site_input_gradient(layer), t->dx, exact,
                                               pass->now.B * ulp_dims_size(layer->in))
                            : status;
}

static ulp_status pool_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_windows s = windows(layer, pass);
    if (!t->dx) return ULP_OK;
    if (!is_adjacent(layer)) return strided_backward(layer, pass, t);
    ulp_status status = ulp_backend_pool_slope(pass->run.backend, t->dx, t->dy, t->saved, &s);
    return status == ULP_OK
               ? ulp_pass_show(pass, ulp_site_input_gradient(layer), t->dx, pass->now.B * ulp_dims_size(layer->in))
               : status;
}

/* Set *at to the index in the input of pixel j of window i, row by row; windows are counted over all images. 0: the
 * pixel lies around the image. */
static int pixel_at(const ulp_layer *layer, size_t *at, size_t i, size_t j) {
    const ulp_dims in = layer->in, out = layer->out;
    const size_t K = layer->arg[SIDE], S = layer->arg[STRIDE], P = layer->arg[PAD];
    const size_t row = i / out.w % out.h * S + j / K, column = i % out.w * S + j % K; /* in the image with its frame */
    *at = (i / (out.w * out.h) * in.h + row - P) * in.w + column - P;
    return row >= P && row - P < in.h && column >= P && column - P < in.w;
}

static void pool_forward64(const ulp_layer *layer, double *y, const double *x, const double *skip, const double *w,
                           size_t B) {
    const size_t K = layer->arg[SIDE];
    (void)skip;
    (void)w;
    for (size_t i = 0; i < B * ulp_dims_size(layer->out); i++) {
        y[i] = -HUGE_VAL;
        for (size_t j = 0, at; j < K * K; j++)
            if (pixel_at(layer, &at, i, j) && x[at] > y[i]) y[i] = x[at];
    }
}

extern const ulp_layer_kind ulp_layer_pool;
const ulp_layer_kind ulp_layer_pool = {
    .name = "pool",
    .usage =
        "poolK[sS][pP]: max pooling, the maximum of K x K pixels, stride S (else K), P < K pixels around the image",
    .takes = "a height and a width, the pixels around the image included, of K or more",
    .example = "conv2@2p1 pool3s2p1 pool2 fc3",
    .gain = 1.0,
    .reads = ULP_READS_NEITHER,
    .operation = "max pooling",
    .shape = pool_shape,
    .forward = pool_forward,
    .backward = pool_backward,
    .forward64 = pool_forward64,
};
