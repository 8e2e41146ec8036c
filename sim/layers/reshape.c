/* reshape.c - the numbers of a sample as an image (C,H,W); C H W is the size of the input. No value is changed. */
#include "sim/layers/layer.h"

static ulp_status reshape_shape(ulp_layer *layer, const char *args) {
    size_t *to[3] = {&layer->out.c, &layer->out.h, &layer->out.w};
    for (int i = 0; i < 3; i++)
        if ((i && *args++ != 'x') || ulp_args_read(to[i], &args, 1, ULP_UNITS_MAX) != ULP_OK) return ULP_BAD_ARGUMENT;
    if (*args) return ULP_BAD_ARGUMENT;
    return ulp_dims_size(layer->out) == ulp_dims_size(layer->in) ? ULP_OK : ULP_UNSUPPORTED;
}

static ulp_status reshape_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t n = pass->now.B * ulp_dims_size(layer->out);
    ulp_status status = ulp_tensor_copy(pass->run.backend, t->y, t->x, n);
    return status == ULP_OK ? ulp_pass_show(pass, ulp_site_output(layer), t->y, n) : status;
}

static ulp_status reshape_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t n = pass->now.B * ulp_dims_size(layer->in);
    if (!t->dx) return ULP_OK;
    ulp_status status = ulp_tensor_copy(pass->run.backend, t->dx, t->dy, n);
    return status == ULP_OK ? ulp_pass_show(pass, ulp_site_input_gradient(layer), t->dx, n) : status;
}

static void reshape_forward64(const ulp_layer *layer, double *y, const double *x, const double *skip, const double *w,
                              size_t B) {
    (void)skip;
    (void)w;
    for (size_t i = 0; i < B * ulp_dims_size(layer->out); i++) y[i] = x[i];
}

extern const ulp_layer_kind ulp_layer_reshape;
const ulp_layer_kind ulp_layer_reshape = {
    .name = "reshape",
    .usage = "reshapeCxHxW: the numbers of a sample as C channels of H x W pixels",
    .takes = "an input of C H W numbers",
    .example = "reshape4x2x2 tconv1@2s2",
    .gain = 1.0,
    .reads = ULP_READS_NEITHER,
    .operation = "copy",
    .shape = reshape_shape,
    .forward = reshape_forward,
    .backward = reshape_backward,
    .forward64 = reshape_forward64,
};
