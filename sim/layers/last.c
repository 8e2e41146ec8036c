/* last.c - the last step (c,1,1) of a sequence (c,1,T).
 *
 * No value is changed. The gradient of the other steps is zero.
 */
#include "sim/layers/sequence.h"

static ulp_status last_shape(ulp_layer *layer, const char *args) {
    layer->out = (ulp_dims){layer->in.c, 1, 1};
    layer->work = ulp_dims_size(layer->in);
    if (*args) return ULP_BAD_ARGUMENT;
    return ulp_dims_is_sequence(layer->in) ? ULP_OK : ULP_UNSUPPORTED;
}

static ulp_status last_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_backend *backend = pass->run.backend;
    const size_t T = layer->in.w, n = pass->now.B * layer->in.c;
    float *steps = t->own.work; /* (T,B,c) */
    ulp_status status = ulp_transpose(backend, steps, t->x, 1, n, T);
    if (status == ULP_OK) status = ulp_tensor_copy(backend, t->y, steps + (T - 1) * n, n);
    return status == ULP_OK ? ulp_pass_show(pass, ulp_site_output(layer), t->y, n) : status;
}

static ulp_status last_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_backend *backend = pass->run.backend;
    const size_t T = layer->in.w, n = pass->now.B * layer->in.c;
    float *steps = t->own.work;
    if (!t->dx) return ULP_OK;
    ulp_status status = ulp_tensor_fill(backend, steps, (T - 1) * n, 0.0f);
    if (status == ULP_OK) status = ulp_tensor_copy(backend, steps + (T - 1) * n, t->dy, n);
    if (status == ULP_OK) status = ulp_transpose(backend, t->dx, steps, 1, T, n);
    return status == ULP_OK ? ulp_pass_show(pass, ulp_site_input_gradient(layer), t->dx, n * T) : status;
}

static void last_forward64(const ulp_layer *layer, double *y, const double *x, const double *skip, const double *w,
                           size_t B) {
    size_t T = layer->in.w;
    (void)skip;
    (void)w;
    for (size_t i = 0; i < B * layer->in.c; i++) y[i] = x[i * T + T - 1];
}

extern const ulp_layer_kind ulp_layer_last;
const ulp_layer_kind ulp_layer_last = {
    .name = "last",
    .usage = "last: the last step of a sequence",
    .takes = "a sequence (an image becomes a sequence by rows or columns)",
    .example = "rows tanh last",
    .gain = 1.0,
    .reads = ULP_READS_NEITHER,
    .operation = "copy",
    .shape = last_shape,
    .forward = last_forward,
    .backward = last_backward,
    .forward64 = last_forward64,
};
