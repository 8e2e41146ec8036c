/* columns.c - an image (c,h,w) as a sequence (c h K, 1, w / K): each step reads the next K columns from the left.
 *
 * Feature (channel, row, k) at step t is the pixel of column t K + k. K has to divide the width. No value is changed.
 */
#include "sim/layers/sequence.h"

static ulp_status columns_shape(ulp_layer *layer, const char *args) {
    layer->arg[0] = 1;
    if (*args && ulp_args_number(&layer->arg[0], args, 1, ULP_UNITS_MAX) != ULP_OK) return ULP_BAD_ARGUMENT;
    if (layer->in.w % layer->arg[0] != 0) return ULP_UNSUPPORTED;
    layer->out = (ulp_dims){layer->in.c * layer->in.h * layer->arg[0], 1, layer->in.w / layer->arg[0]};
    return ULP_OK;
}

static ulp_status columns_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    size_t K = layer->arg[0], rows = pass->now.B * layer->in.c * layer->in.h;
    ulp_status status = ulp_transpose(pass->run.backend, t->y, t->x, rows, layer->out.w, K);
    return status == ULP_OK ? ulp_pass_show(pass, ulp_site_output(layer), t->y, rows * layer->in.w) : status;
}

static ulp_status columns_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    size_t K = layer->arg[0], rows = pass->now.B * layer->in.c * layer->in.h;
    if (!t->dx) return ULP_OK;
    ulp_status status = ulp_transpose(pass->run.backend, t->dx, t->dy, rows, K, layer->out.w);
    return status == ULP_OK ? ulp_pass_show(pass, ulp_site_input_gradient(layer), t->dx, rows * layer->in.w) : status;
}

static void columns_forward64(const ulp_layer *layer, double *y, const double *x, const double *skip, const double *w,
                              size_t B) {
    (void)skip;
    (void)w;
    ulp_transpose64(y, x, B * layer->in.c * layer->in.h, layer->out.w, layer->arg[0]);
}

extern const ulp_layer_kind ulp_layer_columns;
const ulp_layer_kind ulp_layer_columns = {
    .name = "columns",
    .usage = "columnsK: makes an image a sequence, one column at a step, or K",
    .takes = "a width that K divides",
    .example = "columns2 tanh",
    .gain = 1.0,
    .reads = ULP_READS_NEITHER,
    .operation = "copy",
    .shape = columns_shape,
    .forward = columns_forward,
    .backward = columns_backward,
    .forward64 = columns_forward64,
};
