/* last.c - the last step (c,1,1) of a sequence (c,1,T).
 *
 * No value is changed. The gradient of the other steps is zero.
 */
#include <string.h>

#include "sim/sequence.h"

static ulp_status last_shape(ulp_layer *layer, const char *args) {
    layer->out = (ulp_dims){layer->in.c, 1, 1};
    if (*args) return ULP_BAD_ARGUMENT;
    return ulp_dims_is_sequence(layer->in) ? ULP_OK : ULP_UNSUPPORTED;
}

static ulp_status last_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    size_t T = layer->in.w, n = pass->now.B * layer->in.c;
    ulp_status status = pass->run.backend->download(t->own.host_x, t->x, n * T * sizeof(float));
    if (status != ULP_OK) return status;
    for (size_t i = 0; i < n; i++) t->own.host_y[i] = t->own.host_x[i * T + T - 1];
    status = pass->run.backend->upload(t->y, t->own.host_y, n * sizeof(float));
    return status == ULP_OK ? ulp_pass_show(pass, ulp_site_output(layer), t->y, n) : status;
}

static ulp_status last_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    size_t T = layer->in.w, n = pass->now.B * layer->in.c;
    if (!t->dx) return ULP_OK;
    ulp_status status = pass->run.backend->download(t->own.host_x, t->dy, n * sizeof(float));
    if (status != ULP_OK) return status;
    memset(t->own.host_y, 0, n * T * sizeof(float));
    for (size_t i = 0; i < n; i++) t->own.host_y[i * T + T - 1] = t->own.host_x[i];
    status = pass->run.backend->upload(t->dx, t->own.host_y, n * T * sizeof(float));
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
