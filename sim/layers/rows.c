/* rows.c - an image (c,h,w) as a sequence (c w, 1, h): each step reads the next row. No value is changed. */
#include "sim/layers/sequence.h"

static ulp_status rows_shape(ulp_layer *layer, const char *args) {
    layer->out = (ulp_dims){layer->in.c * layer->in.w, 1, layer->in.h};
    return *args ? ULP_BAD_ARGUMENT : ULP_OK;
}

static ulp_status rows_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    ulp_status status =
        ulp_transpose(pass->run.backend, t->y, t->x, pass->now.B * layer->in.c, layer->in.h, layer->in.w);
    return status == ULP_OK ? ulp_pass_show(pass, ulp_site_output(layer), t->y, pass->now.B * ulp_dims_size(layer->out))
                            : status;
}

static ulp_status rows_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    if (!t->dx) return ULP_OK;
    ulp_status status =
        ulp_transpose(pass->run.backend, t->dx, t->dy, pass->now.B * layer->in.c, layer->in.w, layer->in.h);
    return status == ULP_OK
               ? ulp_pass_show(pass, ulp_site_input_gradient(layer), t->dx, pass->now.B * ulp_dims_size(layer->in))
               : status;
}

static void rows_forward64(const ulp_layer *layer, double *y, const double *x, const double *skip, const double *w,
                           size_t B) {
    (void)skip;
    (void)w;
    ulp_transpose64(y, x, B * layer->in.c, layer->in.h, layer->in.w);
}

extern const ulp_layer_kind ulp_layer_rows;
const ulp_layer_kind ulp_layer_rows = {
    .name = "rows",
    .usage = "rows: makes an image a sequence, one row at a step",
    .example = "rows tanh",
    .gain = 1.0,
    .reads = ULP_READS_NEITHER,
    .operation = "copy",
    .shape = rows_shape,
    .forward = rows_forward,
    .backward = rows_backward,
    .forward64 = rows_forward64,
};
