/* layer_pool.c - maximum over windows of K x K, side by side: exact; rows and columns that fill no window are left out.
 *
 * The first of equal numbers is the maximum (+0 equals -0), the first NaN if there is one; its place in the window is what
 * backward finds in `saved`. Gradient: dy at that place, else +0.
 */
#include "layer.h"

enum { WINDOW_MAX = 4096 }; /* places in a window are exact in binary32 */

static ulp_status pool_shape(ulp_layer *layer, const char *args) {
    size_t K;
    if (ulp_args_number(&K, args, 1, WINDOW_MAX) != ULP_OK) return ULP_BAD_ARGUMENT;
    if (K > layer->in.h || K > layer->in.w) return ULP_UNSUPPORTED;
    layer->arg[0] = K;
    layer->out = (ulp_dims){layer->in.c, layer->in.h / K, layer->in.w / K};
    layer->saved = ulp_dims_size(layer->out);
    return ULP_OK;
}

/* What a part of the images, samples times channels, is worked on with. */
typedef struct work {
    const ulp_layer *layer;
    float *to;         /* y or dx */
    const float *from; /* x or dy */
    float *place;
} work;

static size_t grain(const ulp_layer *layer) { return 16384 / (layer->in.h * layer->in.w) + 1; }

static void forward_part(void *context, size_t begin, size_t end) {
    const work *t = context;
    const ulp_dims in = t->layer->in, out = t->layer->out;
    const size_t K = t->layer->arg[0], first = begin * out.h * out.w;
    float *y = t->to + first, *place = t->place + first;
    for (size_t i = begin * out.h; i < end * out.h; i++) {
        const float *row = t->from + (i / out.h * in.h + i % out.h * K) * in.w;
        for (size_t q = 0; q < out.w; q++, row += K) {
            float most = row[0], at = 0.0f;
            for (size_t j = 1; j < K * K; j++) {
                const float x = row[j / K * in.w + j % K];
                const int wins = (x > most) | ((x != x) & (most == most));
                most = wins ? x : most;
                at = wins ? (float)j : at;
            }
            *y++ = most;
            *place++ = at;
        }
    }
}

static void backward_part(void *context, size_t begin, size_t end) {
    const work *t = context;
    const ulp_dims in = t->layer->in, out = t->layer->out;
    const size_t K = t->layer->arg[0], first = begin * out.h * out.w, area = in.h * in.w;
    const float *dy = t->from + first, *place = t->place + first;
    for (size_t i = begin * area; i < end * area; i++) t->to[i] = 0.0f;
    for (size_t i = begin * out.h; i < end * out.h; i++) {
        float *row = t->to + (i / out.h * in.h + i % out.h * K) * in.w;
        for (size_t q = 0; q < out.w; q++, row += K) {
            const size_t at = (size_t)*place++;
            row[at / K * in.w + at % K] = *dy++;
        }
    }
}

static ulp_status pool_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_backend *backend = pass->backend;
    const size_t m = pass->B * ulp_dims_size(layer->in), n = pass->B * ulp_dims_size(layer->out);
    float *places = (float *)(void *)pass->host_wide; /* (n) */
    work part = {layer, pass->host_b, pass->host_a, places};
    ulp_status status = backend->download(pass->host_a, t->x, m * sizeof(float));
    if (status != ULP_OK) return status;
    ulp_parallel_for(pass->B * layer->in.c, grain(layer), forward_part, &part);
    status = backend->upload(t->y, pass->host_b, n * sizeof(float));
    if (status == ULP_OK) status = backend->upload(t->saved, places, n * sizeof(float));
    if (status == ULP_OK) status = ulp_pass_show(pass, ULP_AT_ACT, layer->index + 1, t->y, n);
    return status;
}

static ulp_status pool_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_backend *backend = pass->backend;
    const size_t m = pass->B * ulp_dims_size(layer->in), n = pass->B * ulp_dims_size(layer->out);
    float *places = (float *)(void *)pass->host_wide; /* (n) */
    work part = {layer, pass->host_b, pass->host_a, places};
    if (!t->dx) return ULP_OK;
    ulp_status status = backend->download(pass->host_a, t->dy, n * sizeof(float));
    if (status == ULP_OK) status = backend->download(places, t->saved, n * sizeof(float));
    if (status != ULP_OK) return status;
    ulp_parallel_for(pass->B * layer->in.c, grain(layer), backward_part, &part);
    status = backend->upload(t->dx, pass->host_b, m * sizeof(float));
    if (status == ULP_OK) status = ulp_pass_show(pass, ULP_AT_AGRAD, layer->index, t->dx, m);
    return status;
}

static void pool_forward64(const ulp_layer *layer, double *y, const double *x, const double *skip, const double *w, size_t B) {
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
    .usage = "poolK: maximum of K x K",
    .takes = "a height and a width of K or more",
    .example = "conv2@2p1 pool2 fc3",
    .gain = 1.0,
    .shape = pool_shape,
    .forward = pool_forward,
    .backward = pool_backward,
    .forward64 = pool_forward64,
};
