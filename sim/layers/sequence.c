/* sequence.c - images as sequences and back: rows, columns, last, reshape; and transposes. No value is changed.
 *
 *  - rows: an image (c,h,w) becomes a sequence (c w, 1, h); each step reads the next row.
 *  - columns: it becomes a sequence (c h K, 1, w / K); each step reads the next K columns from the left. Feature
 *    (channel, row, k) at step t is the pixel of column t K + k. K has to divide the width.
 *  - last: the last step (c,1,1) of a sequence (c,1,T). The gradient of the other steps is zero.
 *  - reshape: the numbers of a sample as an image (C,H,W); C H W is the size of the input.
 */
#include "sequence.h"

ulp_status ulp_transpose(const ulp_backend *backend, float *y, const float *x, size_t count, size_t m, size_t n) {
    return ulp_backend_permute(backend, y, x, (ulp_permute_shape){count, m, n, 1});
}

void ulp_transpose64(double *y, const double *x, size_t count, size_t m, size_t n) {
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < n; j++) y[(k * n + j) * m + i] = x[(k * m + i) * n + j];
}

/* ---- rows and columns ---- */

static ulp_status rows_shape(ulp_layer *layer, const char *args) {
    layer->out = (ulp_dims){layer->in.c * layer->in.w, 1, layer->in.h};
    return *args ? ULP_BAD_ARGUMENT : ULP_OK;
}

static ulp_status rows_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    ULP_TRY(ulp_transpose(pass->run.backend, t->y, t->x, pass->now.B * layer->in.c, layer->in.h, layer->in.w));
    return ulp_layer_show_output(layer, pass, t);
}

static ulp_status rows_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    if (!t->dx) return ULP_OK;
    ULP_TRY(ulp_transpose(pass->run.backend, t->dx, t->dy, pass->now.B * layer->in.c, layer->in.w, layer->in.h));
    return ulp_layer_show_gradient(layer, pass, t);
}

static void rows_forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B) {
    ulp_transpose64(t->y, t->x, B * layer->in.c, layer->in.h, layer->in.w);
}

extern const ulp_layer_kind ulp_layer_rows;
const ulp_layer_kind ulp_layer_rows = {
    .name = "rows",
    .usage = "rows: makes an image a sequence, one row at a step",
    .example = "rows tanh",
    .gain = 1.0,
    .reads = ULP_READS_NEITHER,
    .operation = ULP_OPERATION_COPY,
    .shape = rows_shape,
    .forward = rows_forward,
    .backward = rows_backward,
    .forward64 = rows_forward64,
};

static ulp_status columns_shape(ulp_layer *layer, const char *args) {
    layer->arg[0] = 1;
    if (*args && ulp_args_number(&layer->arg[0], args, 1, ULP_UNITS_MAX) != ULP_OK) return ULP_BAD_ARGUMENT;
    if (layer->in.w % layer->arg[0] != 0) return ULP_UNSUPPORTED;
    layer->out = (ulp_dims){layer->in.c * layer->in.h * layer->arg[0], 1, layer->in.w / layer->arg[0]};
    return ULP_OK;
}

static ulp_status columns_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    size_t K = layer->arg[0], rows = pass->now.B * layer->in.c * layer->in.h;
    ULP_TRY(ulp_transpose(pass->run.backend, t->y, t->x, rows, layer->out.w, K));
    return ulp_layer_show_output(layer, pass, t);
}

static ulp_status columns_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    size_t K = layer->arg[0], rows = pass->now.B * layer->in.c * layer->in.h;
    if (!t->dx) return ULP_OK;
    ULP_TRY(ulp_transpose(pass->run.backend, t->dx, t->dy, rows, K, layer->out.w));
    return ulp_layer_show_gradient(layer, pass, t);
}

static void columns_forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B) {
    ulp_transpose64(t->y, t->x, B * layer->in.c * layer->in.h, layer->out.w, layer->arg[0]);
}

extern const ulp_layer_kind ulp_layer_columns;
const ulp_layer_kind ulp_layer_columns = {
    .name = "columns",
    .usage = "columnsK: makes an image a sequence, one column at a step, or K",
    .takes = "a width that K divides",
    .example = "columns2 tanh",
    .gain = 1.0,
    .reads = ULP_READS_NEITHER,
    .operation = ULP_OPERATION_COPY,
    .shape = columns_shape,
    .forward = columns_forward,
    .backward = columns_backward,
    .forward64 = columns_forward64,
};

/* ---- last ---- */

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
    ULP_TRY(ulp_transpose(backend, steps, t->x, 1, n, T));
    ULP_TRY(ulp_tensor_copy(backend, t->y, steps + (T - 1) * n, n));
    return ulp_layer_show_output(layer, pass, t);
}

static ulp_status last_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_backend *backend = pass->run.backend;
    const size_t T = layer->in.w, n = pass->now.B * layer->in.c;
    float *steps = t->own.work;
    if (!t->dx) return ULP_OK;
    ULP_TRY(ulp_tensor_fill(backend, steps, (T - 1) * n, 0.0f));
    ULP_TRY(ulp_tensor_copy(backend, steps + (T - 1) * n, t->dy, n));
    ULP_TRY(ulp_transpose(backend, t->dx, steps, 1, T, n));
    return ulp_layer_show_gradient(layer, pass, t);
}

static void last_forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B) {
    size_t T = layer->in.w;
    for (size_t i = 0; i < B * layer->in.c; i++) t->y[i] = t->x[i * T + T - 1];
}

extern const ulp_layer_kind ulp_layer_last;
const ulp_layer_kind ulp_layer_last = {
    .name = "last",
    .usage = "last: the last step of a sequence",
    .takes = "a sequence (an image becomes a sequence by rows or columns)",
    .example = "rows tanh last",
    .gain = 1.0,
    .reads = ULP_READS_NEITHER,
    .operation = ULP_OPERATION_COPY,
    .shape = last_shape,
    .forward = last_forward,
    .backward = last_backward,
    .forward64 = last_forward64,
};

/* ---- reshape ---- */

static ulp_status reshape_shape(ulp_layer *layer, const char *args) {
    size_t *to[3] = {&layer->out.c, &layer->out.h, &layer->out.w};
    for (int i = 0; i < 3; i++)
        if ((i && *args++ != 'x') || ulp_args_read(to[i], &args, 1, ULP_UNITS_MAX) != ULP_OK) return ULP_BAD_ARGUMENT;
    if (*args) return ULP_BAD_ARGUMENT;
    return ulp_dims_size(layer->out) == ulp_dims_size(layer->in) ? ULP_OK : ULP_UNSUPPORTED;
}

static ulp_status reshape_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t n = pass->now.B * ulp_dims_size(layer->out);
    ULP_TRY(ulp_tensor_copy(pass->run.backend, t->y, t->x, n));
    return ulp_layer_show_output(layer, pass, t);
}

static ulp_status reshape_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t n = pass->now.B * ulp_dims_size(layer->in);
    if (!t->dx) return ULP_OK;
    ULP_TRY(ulp_tensor_copy(pass->run.backend, t->dx, t->dy, n));
    return ulp_layer_show_gradient(layer, pass, t);
}

static void reshape_forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B) {
    for (size_t i = 0; i < B * ulp_dims_size(layer->out); i++) t->y[i] = t->x[i];
}

extern const ulp_layer_kind ulp_layer_reshape;
const ulp_layer_kind ulp_layer_reshape = {
    .name = "reshape",
    .usage = "reshapeCxHxW: the numbers of a sample as C channels of H x W pixels",
    .takes = "an input of C H W numbers",
    .example = "reshape4x2x2 tconv1@2s2",
    .gain = 1.0,
    .reads = ULP_READS_NEITHER,
    .operation = ULP_OPERATION_COPY,
    .shape = reshape_shape,
    .forward = reshape_forward,
    .backward = reshape_backward,
    .forward64 = reshape_forward64,
};
