/* activation.c - functions of single elements: relu, leaky, tanh, sigmoid, gelu in both forms, silu.
 *
 * relu is exact in every format with a zero. The other functions and their gradients are computed in binary64
 * (kernels/functions/elementwise.h) and rounded once. The gradient of sigmoid is dy y (1 - y), with a relative error
 * below 2^-51 before its one rounding. leaky is x if x > 0, else A x; A is a binary32 number in [0, 1], 0.01 if the
 * word has no number (Maas, Hannun and Ng 2013, section 2).
 */
#include "sim/layers/layer.h"

#include <stdlib.h>

/* ---- relu ---- */

static ulp_status relu_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t n = pass->now.B * ulp_dims_size(layer->out);
    ULP_TRY(ulp_backend_relu(pass->run.backend, t->y, t->x, n));
    return ulp_layer_show_output(layer, pass, t);
}

static ulp_status relu_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const size_t n = pass->now.B * ulp_dims_size(layer->out);
    ULP_TRY(ulp_backend_relu_slope(pass->run.backend, t->dx, t->dy, t->y, n));
    return ulp_layer_show_gradient(layer, pass, t);
}

static void relu_forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B) {
    for (size_t i = 0; i < B * ulp_dims_size(layer->out); i++) t->y[i] = t->x[i] < 0.0 ? 0.0 : t->x[i];
}

const ulp_layer_kind ulp_layer_relu = {
    .name = "relu",
    .usage = "relu: max(x, 0)",
    .example = "relu",
    .gain = 2.0,
    .reads = ULP_READS_OUTPUT,
    .operation = ULP_OPERATION_RELU,
    .shape = ulp_layer_shape_plain,
    .forward = relu_forward,
    .backward = relu_backward,
    .forward64 = relu_forward64,
};

/* ---- functions that are rounded ---- */

extern const ulp_layer_kind ulp_layer_leaky, ulp_layer_tanh, ulp_layer_sigmoid, ulp_layer_gelu, ulp_layer_gelu_tanh,
    ulp_layer_silu;

static ulp_activation function_of(const ulp_layer *layer) {
    static const struct {
        const ulp_layer_kind *kind;
        ulp_activation_kind function;
    } rows[] = {{&ulp_layer_leaky, ULP_LEAKY}, {&ulp_layer_tanh, ULP_TANH},           {&ulp_layer_sigmoid, ULP_SIGMOID},
                {&ulp_layer_gelu, ULP_GELU},   {&ulp_layer_gelu_tanh, ULP_GELU_TANH}, {&ulp_layer_silu, ULP_SILU}};
    size_t i = 0;
    while (rows[i].kind != layer->kind) i++;
    return (ulp_activation){.kind = (uint8_t)rows[i].function, .a = layer->number};
}

static ulp_status forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    return ulp_pass_curve(pass, ulp_site_output(layer), function_of(layer), t->y, t->x);
}

static ulp_status backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const float *at = layer->kind->reads == ULP_READS_INPUT ? t->x : t->y;
    return ulp_pass_slope(pass, ulp_site_input_gradient(layer), function_of(layer), t->dx, t->dy, at);
}

static void forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B) {
    const ulp_activation f = function_of(layer);
    for (size_t i = 0; i < B * ulp_dims_size(layer->out); i++)
        t->y[i] = ulp_activation_value((ulp_activation_kind)f.kind, f.a, t->x[i]);
}

static ulp_status leaky_shape(ulp_layer *layer, const char *args) {
    char *end = NULL;
    layer->out = layer->in;
    layer->number = *args ? (double)strtof(args, &end) : (double)0.01f;
    if (*args && (args[0] < '0' || args[0] > '9' || args[1] == 'x' || args[1] == 'X' || *end)) return ULP_BAD_ARGUMENT;
    return layer->number >= 0.0 && layer->number <= 1.0 ? ULP_OK : ULP_BAD_ARGUMENT;
}

const ulp_layer_kind ulp_layer_leaky = {
    .name = "leaky",
    .usage = "leaky[A]: x or A x, whichever is larger; A (0 to 1) or 0.01",
    .example = "leaky leaky0.25",
    .gain = 2.0,
    .reads = ULP_READS_INPUT,
    .shape = leaky_shape,
    .forward = forward,
    .backward = backward,
    .forward64 = forward64,
};

const ulp_layer_kind ulp_layer_tanh = {
    .name = "tanh",
    .usage = "tanh: hyperbolic tangent",
    .example = "tanh",
    .reads = ULP_READS_OUTPUT,
    .shape = ulp_layer_shape_plain,
    .forward = forward,
    .backward = backward,
    .forward64 = forward64,
};

const ulp_layer_kind ulp_layer_sigmoid = {
    .name = "sigmoid",
    .usage = "sigmoid: 1 / (1 + e^-x)",
    .example = "sigmoid",
    .reads = ULP_READS_OUTPUT,
    .shape = ulp_layer_shape_plain,
    .forward = forward,
    .backward = backward,
    .forward64 = forward64,
};

const ulp_layer_kind ulp_layer_gelu = {
    .name = "gelu",
    .usage = "gelu: x (1 + erf(x / sqrt 2)) / 2",
    .example = "gelu",
    .reads = ULP_READS_INPUT,
    .shape = ulp_layer_shape_plain,
    .forward = forward,
    .backward = backward,
    .forward64 = forward64,
};

const ulp_layer_kind ulp_layer_gelu_tanh = {
    .name = "gelu_tanh",
    .usage = "gelu_tanh: x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2",
    .example = "gelu_tanh",
    .reads = ULP_READS_INPUT,
    .shape = ulp_layer_shape_plain,
    .forward = forward,
    .backward = backward,
    .forward64 = forward64,
};

const ulp_layer_kind ulp_layer_silu = {
    .name = "silu",
    .usage = "silu: x / (1 + e^-x)",
    .example = "silu",
    .reads = ULP_READS_INPUT,
    .shape = ulp_layer_shape_plain,
    .forward = forward,
    .backward = backward,
    .forward64 = forward64,
};
