/* windows.c - layers on windows of an image: pool, avg, up.
 *
 *  - pool: the maximum of each window of K x K, without rounding. Windows begin S pixels apart, and P < K rows and
 *    columns without numbers surround the image. Without S and P the windows are adjacent. kernels/functions/windows.h
 *    says which of equal numbers is the maximum. Forward writes the index of the maximum in its window to `saved`. The
 *    gradient of adjacent windows is dy at this index, else +0. For all other windows it is the sum in binary64 of the
 *    dy of windows with the same maximum, window after window, rounded once at ULP_AT_AGRAD.
 *  - avg: the mean of each of adjacent windows of K x K. The sum of a window, row by row, and its quotient by K^2 are
 *    computed in binary64, and the quotient is rounded once at ULP_AT_ACT. Before that rounding the error is below
 *    K^2 2^-53 times the mean magnitude. The sum is exact if the exponents of the numbers span few enough bits; for
 *    fp16 it is exact up to K = 90. The gradient is dy / K^2, one division in binary64, rounded once at ULP_AT_AGRAD;
 *    the gradient of pixels outside of all windows is +0.
 *  - up: each pixel becomes K x K equal pixels (nearest neighbour). The gradient of a pixel is the exact sum of the
 *    gradients of its window, rounded once at ULP_AT_AGRAD.
 *
 * Rows and columns at the end that fill no window are left out.
 */
#include "sim/layers/layer.h"

#include <math.h>

enum { SIDE, STRIDE, PAD }; /* indices in layer->arg */

/* The adjacent windows of K x K on the images of a batch. */
static ulp_windows windows_on(ulp_dims image, const ulp_layer *layer, const ulp_pass *pass) {
    return (ulp_windows){.images = pass->now.B * image.c, .h = image.h, .w = image.w, .K = layer->arg[SIDE]};
}

/* ---- maxima ---- */

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
    const ulp_windows s = windows_on(layer->in, layer, pass);
    const ulp_strided_windows strided = strided_windows(layer, pass);
    ULP_TRY(is_adjacent(layer) ? ulp_backend_pool(backend, t->y, t->saved, t->x, &s)
                               : ulp_backend_pool_strided(backend, t->y, t->saved, t->x, &strided));
    return ulp_layer_show_output(layer, pass, t);
}

static ulp_status strided_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_strided_windows s = strided_windows(layer, pass);
    ULP_TRY(ulp_backend_pool_strided_slope(pass->run.backend, pass->scratch.wide, t->dy, t->saved, &s));
    return ulp_layer_round_gradient(layer, pass, t);
}

static ulp_status pool_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_windows s = windows_on(layer->in, layer, pass);
    if (!is_adjacent(layer)) return strided_backward(layer, pass, t);
    ULP_TRY(ulp_backend_pool_slope(pass->run.backend, t->dx, t->dy, t->saved, &s));
    return ulp_layer_show_gradient(layer, pass, t);
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

static void pool_forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B) {
    const size_t K = layer->arg[SIDE];
    for (size_t i = 0; i < B * ulp_dims_size(layer->out); i++) {
        t->y[i] = -HUGE_VAL;
        for (size_t j = 0, at; j < K * K; j++)
            if (pixel_at(layer, &at, i, j) && t->x[at] > t->y[i]) t->y[i] = t->x[at];
    }
}

const ulp_layer_kind ulp_layer_pool = {
    .name = "pool",
    .usage =
        "poolK[sS][pP]: max pooling, the maximum of K x K pixels, stride S (else K), P < K pixels around the image",
    .takes = "a height and a width, the pixels around the image included, of K or more",
    .example = "conv2@2p1 pool3s2p1 pool2 fc3",
    .operation = ULP_OPERATION_MAX_POOLING,
    .shape = pool_shape,
    .forward = pool_forward,
    .backward = pool_backward,
    .forward64 = pool_forward64,
};

/* ---- means ---- */

static ulp_status avg_shape(ulp_layer *layer, const char *args) {
    size_t K;
    if (ulp_args_number(&K, args, 1, ULP_UNITS_MAX) != ULP_OK) return ULP_BAD_ARGUMENT;
    if (K > layer->in.h || K > layer->in.w) return ULP_UNSUPPORTED;
    layer->arg[0] = K;
    layer->out = (ulp_dims){layer->in.c, layer->in.h / K, layer->in.w / K};
    return ULP_OK;
}

static ulp_status avg_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_windows s = windows_on(layer->in, layer, pass);
    ULP_TRY(ulp_backend_average(pass->run.backend, pass->scratch.wide, t->x, &s));
    return ulp_layer_round_output(layer, pass, t);
}

static ulp_status avg_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_windows s = windows_on(layer->in, layer, pass);
    ULP_TRY(ulp_backend_average_slope(pass->run.backend, pass->scratch.wide, t->dy, &s));
    return ulp_layer_round_gradient(layer, pass, t);
}

/* The index of the first pixel of window i; windows are counted over all images. */
static size_t window_at(const ulp_layer *layer, size_t i) {
    const ulp_dims in = layer->in, out = layer->out;
    const size_t q = i % out.w, p = i / out.w % out.h, image = i / out.w / out.h;
    return (image * in.h + p * layer->arg[0]) * in.w + q * layer->arg[0];
}

static void avg_forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B) {
    const size_t K = layer->arg[0];
    for (size_t i = 0; i < B * ulp_dims_size(layer->out); i++) {
        const double *window = t->x + window_at(layer, i);
        t->y[i] = 0.0;
        for (size_t j = 0; j < K * K; j++) t->y[i] += window[j / K * layer->in.w + j % K] / (double)(K * K);
    }
}

const ulp_layer_kind ulp_layer_avg = {
    .name = "avg",
    .usage = "avgK: average pooling, the mean of every K x K pixels",
    .takes = "a height and a width of K or more",
    .example = "conv2@2p1 avg2 tanh",
    .operation = ULP_OPERATION_AVERAGE_POOLING,
    .shape = avg_shape,
    .forward = avg_forward,
    .backward = avg_backward,
    .forward64 = avg_forward64,
};

/* ---- up-sampling ---- */

enum { FACTOR_MAX = 1024 };

static ulp_status up_shape(ulp_layer *layer, const char *args) {
    size_t F;
    if (ulp_args_number(&F, args, 1, FACTOR_MAX) != ULP_OK) return ULP_BAD_ARGUMENT;
    layer->arg[0] = F;
    layer->out = (ulp_dims){layer->in.c, layer->in.h * F, layer->in.w * F};
    return (double)layer->in.c * (double)layer->out.h * (double)layer->out.w <= 0x1p40 ? ULP_OK : ULP_UNSUPPORTED;
}

static ulp_status up_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_windows s = windows_on(layer->out, layer, pass);
    ULP_TRY(ulp_backend_upsample(pass->run.backend, t->y, t->x, &s));
    return ulp_layer_show_output(layer, pass, t);
}

static ulp_status up_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_windows s = windows_on(layer->out, layer, pass);
    ULP_TRY(ulp_backend_upsample_slope(pass->run.backend, pass->scratch.wide, t->dy, &s));
    return ulp_layer_round_gradient(layer, pass, t);
}

/* The index of the input pixel of output pixel i; pixels are counted over all images. */
static size_t source_of(const ulp_layer *layer, size_t i) {
    const size_t F = layer->arg[0], W = layer->out.w;
    return i / W / F * layer->in.w + i % W / F;
}

static void up_forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B) {
    for (size_t i = 0; i < B * ulp_dims_size(layer->out); i++) t->y[i] = t->x[source_of(layer, i)];
}

const ulp_layer_kind ulp_layer_up = {
    .name = "up",
    .usage = "upF: up-sampling, every pixel becomes F x F pixels (F from 1 to 1024)",
    .takes = "an image that gives at most 2^40 pixels",
    .example = "pool2 up2 tanh",
    .operation = ULP_OPERATION_UP_SAMPLING,
    .shape = up_shape,
    .forward = up_forward,
    .backward = up_backward,
    .forward64 = up_forward64,
};
