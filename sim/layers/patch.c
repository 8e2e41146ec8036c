/* patch.c - images and sequences of tokens: patch (an image becomes tokens), mean (over the tokens).
 *
 *  - patch: an image (c,h,w) becomes tokens (1, (h/K) (w/L), c K L), one for each patch of K x L pixels, row by row of
 *    patches; a token has the pixels of its patch, channel by channel, row by row. No value is changed. Dosovitskiy et
 *    al. 2021, arXiv:2010.11929, section 3.1.
 *  - mean: (1,T,d) becomes (d,1,1). The sum over the tokens, in ascending order, and its quotient by T are computed in
 *    binary64 and rounded once at ULP_AT_ACT; the gradient dy / T is rounded at ULP_AT_AGRAD.
 */
#include "sim/layers/layer.h"

#include "sim/tensor.h"

/* ---- patch ---- */

enum { K, L }; /* indices in layer->arg: rows and columns of a patch */

static ulp_status patch_shape(ulp_layer *layer, const char *args) {
    const ulp_dims in = layer->in;
    size_t *arg = layer->arg;
    if (ulp_args_read(&arg[K], &args, 1, ULP_UNITS_MAX) != ULP_OK) return ULP_BAD_ARGUMENT;
    arg[L] = arg[K];
    if (*args == 'x') {
        args++;
        if (ulp_args_read(&arg[L], &args, 1, ULP_UNITS_MAX) != ULP_OK) return ULP_BAD_ARGUMENT;
    }
    if (*args) return ULP_BAD_ARGUMENT;
    if (in.h % arg[K] != 0 || in.w % arg[L] != 0) return ULP_UNSUPPORTED;
    layer->out = (ulp_dims){1, in.h / arg[K] * (in.w / arg[L]), in.c * arg[K] * arg[L]};
    layer->work = in.c > 1 ? ulp_dims_size(in) : 0;
    return ULP_OK;
}

/* The two permutations: rows and columns of patches first, then channels and patches. */
static ulp_permute_shape within(const ulp_layer *layer, size_t B) {
    const ulp_dims in = layer->in;
    return (ulp_permute_shape){B * in.c * (in.h / layer->arg[K]), layer->arg[K], in.w / layer->arg[L], layer->arg[L]};
}

static ulp_permute_shape across(const ulp_layer *layer, size_t B) {
    return (ulp_permute_shape){B, layer->in.c, layer->out.h, layer->arg[K] * layer->arg[L]};
}

static ulp_permute_shape backward_of(ulp_permute_shape s) { return (ulp_permute_shape){s.count, s.b, s.a, s.n}; }

static ulp_status patch_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_backend *backend = pass->run.backend;
    float *first = layer->in.c > 1 ? t->own.work : t->y;
    ULP_TRY(ulp_backend_permute(backend, first, t->x, within(layer, pass->now.B)));
    if (layer->in.c > 1) ULP_TRY(ulp_backend_permute(backend, t->y, first, across(layer, pass->now.B)));
    return ulp_layer_show_output(layer, pass, t);
}

static ulp_status patch_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_backend *backend = pass->run.backend;
    const float *first = layer->in.c > 1 ? t->own.work : t->dy;
    if (layer->in.c > 1)
        ULP_TRY(ulp_backend_permute(backend, t->own.work, t->dy, backward_of(across(layer, pass->now.B))));
    ULP_TRY(ulp_backend_permute(backend, t->dx, first, backward_of(within(layer, pass->now.B))));
    return ulp_layer_show_gradient(layer, pass, t);
}

static void patch_forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B) {
    const ulp_dims in = layer->in;
    const size_t rows = layer->arg[K], columns = layer->arg[L], across_row = in.w / columns;
    for (size_t i = 0; i < B * ulp_dims_size(in); i++) {
        const size_t b = i / ulp_dims_size(in), c = i / (in.h * in.w) % in.c, y = i / in.w % in.h, x = i % in.w;
        const size_t token = y / rows * across_row + x / columns;
        const size_t feature = (c * rows + y % rows) * columns + x % columns;
        t->y[(b * layer->out.h + token) * layer->out.w + feature] = t->x[i];
    }
}

const ulp_layer_kind ulp_layer_patch = {
    .name = "patch",
    .usage = "patchK or patchKxL: makes an image tokens, one for each patch of K x L pixels",
    .takes = "a height that K divides and a width that L divides",
    .example = "conv2@1 patch2 tanh patch2x4",
    .operation = ULP_OPERATION_COPY,
    .shape = patch_shape,
    .forward = patch_forward,
    .backward = patch_backward,
    .forward64 = patch_forward64,
};

/* ---- mean ---- */

static ulp_status mean_shape(ulp_layer *layer, const char *args) {
    layer->out = (ulp_dims){layer->in.w, 1, 1};
    if (*args) return ULP_BAD_ARGUMENT;
    return ulp_dims_is_tokens(layer->in) ? ULP_OK : ULP_UNSUPPORTED;
}

static ulp_token_shape tokens_of(const ulp_layer *layer, const ulp_pass *pass) {
    return (ulp_token_shape){pass->now.B, layer->in.h, layer->in.w};
}

static ulp_status mean_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    ULP_TRY(ulp_backend_token_mean(pass->run.backend, pass->scratch.wide, t->x, tokens_of(layer, pass)));
    return ulp_layer_round_output(layer, pass, t);
}

static ulp_status mean_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    ULP_TRY(ulp_backend_token_mean_slope(pass->run.backend, pass->scratch.wide, t->dy, tokens_of(layer, pass)));
    return ulp_layer_round_gradient(layer, pass, t);
}

static void mean_forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B) {
    const size_t T = layer->in.h, d = layer->in.w;
    for (size_t i = 0; i < B * d; i++) {
        t->y[i] = 0.0;
        for (size_t j = 0; j < T; j++) t->y[i] += t->x[(i / d * T + j) * d + i % d] / (double)T;
    }
}

const ulp_layer_kind ulp_layer_mean = {
    .name = "mean",
    .usage = "mean: the mean over the tokens, for each feature",
    .takes = "tokens: an image of one channel, whose rows are the tokens",
    .example = "mean",
    .operation = ULP_OPERATION_AVERAGE_POOLING,
    .shape = mean_shape,
    .forward = mean_forward,
    .backward = mean_backward,
    .forward64 = mean_forward64,
};
