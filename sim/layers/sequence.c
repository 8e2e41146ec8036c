/* sequence.c - images as sequences and back: rows, columns, last, reshape; and transposes. No value is changed.
 *
 *  - rows: an image (c,h,w) becomes a sequence (c w, 1, h); each step reads the next row.
 *  - columns: it becomes a sequence (c h K, 1, w / K); each step reads the next K columns from the left. Feature
 *    (channel, row, k) at step t is the pixel of column t K + k. K has to divide the width.
 *  - last: the last step (c,1,1) of a sequence (c,1,T). The gradient of the other steps is zero.
 *  - reshape: the numbers of a sample as an image (C,H,W); C H W is the size of the input.
 */
#include "sequence.h"

#include <string.h>

ulp_status ulp_transpose(const ulp_backend *backend, float *y, const float *x, size_t count, size_t m, size_t n) {
    return ulp_backend_permute(backend, y, x, (ulp_permute_shape){count, m, n, 1});
}

/* ---- rows, columns and reshape: the matrices of a sample are transposed ---- */

enum { COUNT, M, N, BLOCK }; /* indices in layer->arg: matrices of a sample, their sizes, and their elements' sizes */

static ulp_permute_shape turn(size_t B, const size_t *arg) {
    return (ulp_permute_shape){B * arg[COUNT], arg[M], arg[N], arg[BLOCK]};
}

static ulp_status turn_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    ULP_TRY(ulp_backend_permute(pass->run.backend, t->y, t->x, turn(pass->now.B, layer->arg)));
    return ulp_layer_show_output(layer, pass, t);
}

static ulp_status turn_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t *arg = layer->arg, back[] = {arg[COUNT], arg[N], arg[M], arg[BLOCK]};
    ULP_TRY(ulp_backend_permute(pass->run.backend, t->dx, t->dy, turn(pass->now.B, back)));
    return ulp_layer_show_gradient(layer, pass, t);
}

static void turn_forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B) {
    const size_t m = layer->arg[M], n = layer->arg[N], block = layer->arg[BLOCK];
    for (size_t i = 0; i < B * layer->arg[COUNT] * m * n * block; i++) {
        const size_t e = i / block, k = e / (m * n), row = e / n % m, column = e % n;
        t->y[((k * n + column) * m + row) * block + i % block] = t->x[i];
    }
}

static ulp_status rows_shape(ulp_layer *layer, const char *args) {
    const size_t shape[] = {layer->in.c, layer->in.h, layer->in.w, 1};
    memcpy(layer->arg, shape, sizeof shape);
    layer->out = (ulp_dims){layer->in.c * layer->in.w, 1, layer->in.h};
    return *args ? ULP_BAD_ARGUMENT : ULP_OK;
}

const ulp_layer_kind ulp_layer_rows = {
    .name = "rows",
    .usage = "rows: makes an image a sequence, one row at a step",
    .example = "rows tanh",
    .operation = ULP_OPERATION_COPY,
    .shape = rows_shape,
    .forward = turn_forward,
    .backward = turn_backward,
    .forward64 = turn_forward64,
};

static ulp_status columns_shape(ulp_layer *layer, const char *args) {
    size_t K = 1;
    if (*args && ulp_args_number(&K, args, 1, ULP_UNITS_MAX) != ULP_OK) return ULP_BAD_ARGUMENT;
    if (layer->in.w % K != 0) return ULP_UNSUPPORTED;
    const size_t shape[] = {layer->in.c * layer->in.h, layer->in.w / K, K, 1};
    memcpy(layer->arg, shape, sizeof shape);
    layer->out = (ulp_dims){layer->in.c * layer->in.h * K, 1, layer->in.w / K};
    return ULP_OK;
}

const ulp_layer_kind ulp_layer_columns = {
    .name = "columns",
    .usage = "columnsK: makes an image a sequence, one column at a step, or K",
    .takes = "a width that K divides",
    .example = "columns2 tanh",
    .operation = ULP_OPERATION_COPY,
    .shape = columns_shape,
    .forward = turn_forward,
    .backward = turn_backward,
    .forward64 = turn_forward64,
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
    ULP_TRY(ulp_tensor_fill(backend, steps, (T - 1) * n, 0.0f));
    ULP_TRY(ulp_tensor_copy(backend, steps + (T - 1) * n, t->dy, n));
    ULP_TRY(ulp_transpose(backend, t->dx, steps, 1, T, n));
    return ulp_layer_show_gradient(layer, pass, t);
}

static void last_forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B) {
    size_t T = layer->in.w;
    for (size_t i = 0; i < B * layer->in.c; i++) t->y[i] = t->x[i * T + T - 1];
}

const ulp_layer_kind ulp_layer_last = {
    .name = "last",
    .usage = "last: the last step of a sequence",
    .takes = "a sequence (an image becomes a sequence by rows or columns)",
    .example = "rows tanh last",
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
    layer->arg[COUNT] = layer->arg[M] = layer->arg[N] = 1;
    layer->arg[BLOCK] = ulp_dims_size(layer->in);
    return ulp_dims_size(layer->out) == ulp_dims_size(layer->in) ? ULP_OK : ULP_UNSUPPORTED;
}

const ulp_layer_kind ulp_layer_reshape = {
    .name = "reshape",
    .usage = "reshapeCxHxW: the numbers of a sample as C channels of H x W pixels",
    .takes = "an input of C H W numbers",
    .example = "reshape4x2x2 tconv1@2s2",
    .operation = ULP_OPERATION_COPY,
    .shape = reshape_shape,
    .forward = turn_forward,
    .backward = turn_backward,
    .forward64 = turn_forward64,
};
