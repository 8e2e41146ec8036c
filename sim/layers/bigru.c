/* bigru.c - two gated recurrent layers (gru.c), one forward and one backward in time, and their outputs joined.
 *
 * Schuster and Paliwal 1997, doi:10.1109/78.650093. The output (2N,1,T) at step t has the N units of the first layer,
 * which has read the steps 0 to t, and then those of the second layer, which has read the steps T - 1 to t. The
 * parameters are those of the first layer, then those of the second one. The gradient dx is the sum of the two layers'
 * gradients, each in the accumulators, computed in binary64 and rounded once. The lanes of the second layer follow
 * those of 256 steps.
 */
#include <stdlib.h>

#include "formats/exact.h"
#include "sim/layers/recurrent.h"

extern const ulp_layer_kind ulp_layer_gru;

enum { STEPS_MAX = ULP_STEPS_MAX / 2 };

/* One of the two layers. */
static ulp_layer part_of(const ulp_layer *layer, size_t which) {
    ulp_layer part = *layer;
    part.kind = &ulp_layer_gru;
    part.out.c = layer->out.c / 2;
    part.params = layer->params / 2;
    part.saved = layer->saved / 2;
    part.arg[0] = which * STEPS_MAX;
    return part;
}

static ulp_status bigru_shape(ulp_layer *layer, const char *args) {
    ulp_layer part = *layer;
    part.kind = &ulp_layer_gru;
    ULP_TRY(ulp_recurrent_shape(&part, args));
    if (layer->in.w > STEPS_MAX) return ULP_UNSUPPORTED;
    const size_t m = ulp_dims_size(layer->in), n = ulp_dims_size(part.out);
    layer->out = (ulp_dims){2 * part.out.c, 1, part.out.w};
    layer->params = 2 * part.params;
    layer->decays[0] = layer->decays[2] = part.decays[0];
    layer->decays[1] = part.params - part.decays[0];
    layer->saved = 2 * part.saved;
    layer->feedback = 2 * part.feedback;
    layer->multiply_adds = 2 * part.multiply_adds;
    layer->reread = 2 * part.reread;
    layer->inner = 2 * part.inner;
    layer->widest = part.widest;
    layer->work = part.work + 2 * ulp_larger(m, n) + 2 * m + 2 * n; /* see `both` */
    return ULP_OK;
}

static void bigru_init(const ulp_layer *layer, float *w, ulp_stream stream, double std) {
    for (size_t which = 0; which < 2; which++) {
        const ulp_layer part = part_of(layer, which);
        stream.first = which * 2 * part.params; /* two words for each number */
        ulp_recurrent_init(&part, w + which * part.params, stream, std);
    }
}

/* The arrays in the workspace after that of one layer. */
typedef struct both {
    float *y;        /* (2,B,N,T) y or dy of both layers, each in the order of its own steps */
    float *x;        /* (B,F,T) x against time */
    float *dx;       /* (B,F,T) dx of the second layer */
    float *steps[2]; /* (T,B,F) or (T,B,N) for turn() */
} both;

static both arrays_of(const ulp_layer *layer, const ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t B = pass->now.B, n = ulp_dims_size(layer->out), m = ulp_dims_size(layer->in),
                 wide = ulp_larger(m, n / 2);
    both own;
    own.y =
        t->own.work + B * layer->work - B * n; /* the arrays are at the end, because the layers begin at the start */
    own.x = own.y - B * m;
    own.dx = own.x - B * m;
    own.steps[0] = own.dx - B * wide;
    own.steps[1] = own.steps[0] - B * wide;
    return own;
}

/* y (rows,T) = x (rows,T) with its steps in the opposite order, backend memory. y may be x. */
static ulp_status turn(const ulp_backend *backend, const both *own, float *y, const float *x, size_t rows, size_t T) {
    ULP_TRY(ulp_transpose(backend, own->steps[0], x, 1, rows, T));
    for (size_t t = 0; t < T; t++)
        ULP_TRY(ulp_tensor_copy(backend, own->steps[1] + t * rows, own->steps[0] + (T - 1 - t) * rows, rows));
    return ulp_transpose(backend, y, own->steps[1], 1, T, rows);
}

/* The tensors of one of the layers. dx stays NULL if it is not wanted. */
static ulp_layer_tensors tensors_of(const ulp_layer *part, const ulp_pass *pass, const ulp_layer_tensors *t, both own,
                                    size_t which) {
    const size_t B = pass->now.B, n = B * ulp_dims_size(part->out);
    ulp_layer_tensors to = *t;
    to.w += which * part->params;
    to.dw += which * part->params;
    to.saved += which * B * part->saved;
    to.y = own.y + which * n;
    to.dy = to.y;
    if (which) to.x = own.x;
    if (which && t->dx) to.dx = own.dx;
    return to;
}

static ulp_status bigru_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_backend *backend = pass->run.backend;
    const size_t B = pass->now.B, T = layer->in.w, half = ulp_dims_size(layer->out) / 2;
    const both own = arrays_of(layer, pass, t);
    ULP_TRY(turn(backend, &own, own.x, t->x, B * layer->in.c, T));
    for (size_t which = 0; which < 2; which++) {
        const ulp_layer part = part_of(layer, which);
        const ulp_layer_tensors of_part = tensors_of(&part, pass, t, own, which);
        ULP_TRY(ulp_recurrent_forward(&part, pass, &of_part));
    }
    ULP_TRY(turn(backend, &own, own.y + B * half, own.y + B * half, B * half / T, T));
    return ulp_backend_permute(backend, t->y, own.y, (ulp_permute_shape){1, 2, B, half});
}

/* t->dx = the sum of t->dx and the gradient of the second layer. */
static ulp_status add_gradients(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t, const float *dx) {
    const ulp_cell_arrays arrays = {.B = pass->now.B, .N = ulp_dims_size(layer->in), .in = {t->dx, dx}};
    double *exact = pass->scratch.wide;
    ULP_TRY(ulp_backend_cell(pass->run.backend, exact, &arrays, ULP_CELL_SUM));
    return ulp_pass_round64(pass, ulp_site_input_gradient(layer), t->dx, exact, arrays.B * arrays.N);
}

static ulp_status bigru_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_backend *backend = pass->run.backend;
    const size_t B = pass->now.B, T = layer->in.w, half = ulp_dims_size(layer->out) / 2;
    const both own = arrays_of(layer, pass, t);
    ULP_TRY(ulp_backend_permute(backend, own.y, t->dy, (ulp_permute_shape){1, B, 2, half}));
    ULP_TRY(turn(backend, &own, own.y + B * half, own.y + B * half, B * half / T, T));
    for (size_t which = 0; which < 2; which++) {
        const ulp_layer part = part_of(layer, which);
        const ulp_layer_tensors of_part = tensors_of(&part, pass, t, own, which);
        ULP_TRY(ulp_recurrent_backward_sums(&part, pass, &of_part));
    }
    if (!t->dx) return ULP_OK;
    ULP_TRY(turn(backend, &own, own.dx, own.dx, B * layer->in.c, T));
    return add_gradients(layer, pass, t, own.dx);
}

static void bigru_forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B) {
    const size_t T = layer->in.w, m = ulp_dims_size(layer->in), half = ulp_dims_size(layer->out) / 2;
    double *turned = calloc(m + half, sizeof *turned), *back = turned + m;
    for (size_t b = 0; b < B && turned; b++) {
        const ulp_layer first = part_of(layer, 0), second = part_of(layer, 1);
        for (size_t i = 0; i < m; i++) turned[i] = t->x[b * m + i / T * T + T - 1 - i % T];
        const ulp_layer64 of_first = {.y = t->y + b * 2 * half, .x = t->x + b * m, .w = t->w},
                          of_second = {.y = back, .x = turned, .w = t->w + second.params};
        ulp_recurrent_forward64(&first, &of_first, 1);
        ulp_recurrent_forward64(&second, &of_second, 1);
        for (size_t i = 0; i < half; i++) t->y[(b * 2 + 1) * half + i] = back[i / T * T + T - 1 - i % T];
    }
    for (size_t i = 0; i < B * 2 * half && !turned; i++) t->y[i] = ulp_quiet_nan(); /* no memory */
    free(turned);
}

const ulp_layer_kind ulp_layer_bigru = {
    .name = "bigru",
    .usage = "bigruN: gated recurrent layers of N units (1 to 2^20) in both directions of time, 2 N outputs",
    .takes = "a sequence of at most 256 steps (an image becomes a sequence by rows or columns)",
    .example = "rows bigru2 bigru1",
    .operation = ULP_OPERATION_CELL,
    .products = 2,
    .reads = ULP_READS_BOTH,
    .shape = bigru_shape,
    .init = bigru_init,
    .forward = bigru_forward,
    .backward = bigru_backward,
    .forward64 = bigru_forward64,
};
