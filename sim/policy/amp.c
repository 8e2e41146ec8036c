/* amp.c - the lists of operations of automatic mixed precision, and deriving and explaining its policy; see amp.h. */
#include "amp.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the lists ---- */

/* In the order of the help text. Words of the published lists: TensorFlow allow, infer, deny, clear; PyTorch lower
 * precision, fp32, promote; Apex FP16, FP32, casts. "none": the operation is on no list and runs in the format of its
 * inputs. */
static const ulp_amp_operation table[ULP_OPERATION_KINDS] = {
    [ULP_OPERATION_PRODUCT] = {"product", ULP_AMP_LOW, "allow: MatMul", "lower: linear, addmm", "FP16: linear, addmm",
                               "products are fast in low precision, and their sums stay in binary32"},
    [ULP_OPERATION_CONVOLUTION] = {"convolution", ULP_AMP_LOW, "allow: Conv2D, Conv2DBackpropInput",
                                   "lower: conv2d, conv_transpose2d", "FP16: conv2d, conv_transpose2d",
                                   "its sums of products are fast in low precision"},
    [ULP_OPERATION_CELL] = {"cell", ULP_AMP_LOW, "allow: GRUBlockCell, BlockLSTM, CudnnRNN",
                            "lower: gru_cell, lstm_cell, rnn_tanh_cell", "FP16: the cells of torch.nn",
                            "its sums of products are fast in low precision"},
    [ULP_OPERATION_NORM] = {"norm", ULP_AMP_FOLLOWS, "infer: FusedBatchNormV3", "none; its weights are binary32",
                            "none; its weights are binary32",
                            "its output follows its input; statistics and weights stay in binary32"},
    [ULP_OPERATION_LAYER_NORM] = {"layer norm", ULP_AMP_BINARY32, "none", "fp32: layer_norm", "FP32: layer_norm",
                                  "PyTorch's row: sums of squares of a token"},
    [ULP_OPERATION_ATTENTION] = {"attention", ULP_AMP_LOW, "allow: Einsum, BatchMatMulV2",
                                 "lower: scaled_dot_product_attention, bmm", "FP16: bmm, baddbmm",
                                 "its products are fast in low precision; the softmax between them is binary64 here"},
    [ULP_OPERATION_EMBEDDING] = {"embedding", ULP_AMP_FOLLOWS, "clear: GatherV2", "none", "none",
                                 "a copy of rows; its table stays in binary32"},
    [ULP_OPERATION_RELU] = {"relu", ULP_AMP_FOLLOWS, "clear: Relu", "none", "none", "exact in every format"},
    [ULP_OPERATION_ACTIVATION] = {"activation", ULP_AMP_FOLLOWS, "infer: Sigmoid, Tanh, LeakyRelu", "none", "none",
                                  "one rounding of a small number"},
    [ULP_OPERATION_MAX_POOLING] = {"max pooling", ULP_AMP_FOLLOWS, "clear: MaxPool", "none", "none",
                                   "exact in every format"},
    [ULP_OPERATION_AVERAGE_POOLING] = {"average pooling", ULP_AMP_FOLLOWS, "infer: AvgPool (deny: Mean)", "none",
                                       "none", "a window is small, and its sum is exact here"},
    [ULP_OPERATION_UP_SAMPLING] = {"up-sampling", ULP_AMP_FOLLOWS, "clear: ResizeNearestNeighbor",
                                   "fp32: upsample_nearest2d", "FP32: interpolate",
                                   "TensorFlow's row: a copy is exact in every format"},
    [ULP_OPERATION_DROPOUT] = {"dropout", ULP_AMP_FOLLOWS, "infer: Mul", "none", "none", "one rounding of a product"},
    [ULP_OPERATION_SUM] = {"sum", ULP_AMP_FOLLOWS, "infer: AddV2", "none: the wider input decides",
                           "casts: the wider input decides", "one rounding; the wider branch decides"},
    [ULP_OPERATION_COPY] = {"copy", ULP_AMP_FOLLOWS, "clear: Identity, Reshape, Transpose", "none", "none",
                            "exact in every format"},
    [ULP_OPERATION_SOFTMAX] = {"softmax", ULP_AMP_BINARY32, "infer: Softmax, LogSoftmax", "fp32: softmax, log_softmax",
                               "FP32: softmax", "PyTorch's row: exp spans more than the range of binary16"},
    [ULP_OPERATION_LOSS] = {"loss", ULP_AMP_BINARY32, "deny: SoftmaxCrossEntropyWithLogits",
                            "fp32: nll_loss, mse_loss, ... (no ctc_loss)", "FP32: cross_entropy, ...",
                            "a mean over a batch of numbers of all magnitudes"},
    [ULP_OPERATION_LARGE_SUM] = {"large sum", ULP_AMP_BINARY32, "deny: Sum, Mean", "fp32: sum, norm", "FP32: sum, norm",
                                 "long sums lose small terms; here: accumulators of products, gradients of biases"},
    [ULP_OPERATION_UPDATE] = {"update", ULP_AMP_BINARY32, "the graph's variables stay float32",
                              "parameters stay float32", "O1: parameters stay float32",
                              "small updates of large weights vanish in low precision"},
};

const ulp_amp_operation *ulp_amp_operation_get(size_t i) { return i + 1 < ULP_OPERATION_KINDS ? &table[i + 1] : NULL; }

const ulp_amp_operation *ulp_amp_operation_of(const ulp_layer_kind *kind) {
    if (kind->operation != ULP_OPERATION_BY_KIND) return &table[kind->operation];
    return &table[kind->products ? ULP_OPERATION_PRODUCT : ULP_OPERATION_ACTIVATION];
}

const char *ulp_amp_list_name(ulp_amp_list list) {
    static const char *const names[] = {"low", "binary32", "follows"};
    return names[list];
}

/* ---- the formats of tensors ---- */

/* Knowledge of a tensor of the net: the input, or the output of a layer. */
typedef struct tensor_type {
    uint8_t low;   /* 1: in the low format */
    uint8_t moved; /* 1: a reader in low precision casts it, where its operation would leave it in binary32 */
} tensor_type;

/* The format that an operation gives its output, from those of its inputs. */
static uint8_t output_is_low(const tensor_type *type, const ulp_layer *layer) {
    const ulp_amp_list list = ulp_amp_operation_of(layer->kind)->list;
    if (list != ULP_AMP_FOLLOWS) return list == ULP_AMP_LOW;
    if (layer->kind->turns) return type[layer->fork].low;
    if (layer->kind->nesting < 0) return type[layer->index].low & type[layer->partner].low;
    return type[layer->index].low;
}

/* Set type [1 + layers], which is zero. */
static void find_types(tensor_type *type, const ulp_net *net) {
    for (size_t i = 0; i < net->count; i++) {
        const ulp_layer *layer = &net->layers[i];
        if (ulp_amp_operation_of(layer->kind)->list == ULP_AMP_LOW && !type[i].low) type[i] = (tensor_type){1, 1};
        type[i + 1].low = output_is_low(type, layer);
    }
}

/* ---- the policy ---- */

/* A text that grows. */
typedef struct text {
    char *at;
    size_t size, used;
} text;

static ULP_PRINTF(2, 3) void add(text *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (t->used < t->size) t->used += (size_t)vsnprintf(t->at + t->used, t->size - t->used, format, arguments);
    va_end(arguments);
}

/* Whether a layer has to leave the preset: its output is in binary32, or its weights are. */
static int leaves_output(const tensor_type *type, const ulp_layer *layer) { return !type[layer->index + 1].low; }

static int leaves_weights(const ulp_layer *layer) {
    return layer->params && ulp_amp_operation_of(layer->kind)->list != ULP_AMP_LOW;
}

/* Whether all layers of the kind of layer i leave the preset in the same way as layer i. */
static int is_whole_kind(const tensor_type *type, const ulp_net *net, size_t i) {
    const ulp_layer *layer = &net->layers[i];
    if (layer->kind == &ulp_layer_last) return 0; /* the selector last is another one */
    for (size_t k = 0; k < net->count; k++)
        if (net->layers[k].kind == layer->kind && leaves_output(type, &net->layers[k]) != leaves_output(type, layer))
            return 0;
    return 1;
}

static void add_layer(text *t, const tensor_type *type, const ulp_net *net, size_t i) {
    const ulp_layer *layer = &net->layers[i];
    const int whole = is_whole_kind(type, net, i);
    char selector[24];
    for (size_t k = 0; k < i && whole; k++)
        if (net->layers[k].kind == layer->kind) return; /* said already */
    snprintf(selector, sizeof selector, "%zu", i);
    if (whole) snprintf(selector, sizeof selector, "%s", layer->kind->name);
    if (leaves_output(type, layer)) add(t, ",%s.act=fp32,%s.agrad=fp32", selector, selector);
    if (leaves_weights(layer)) add(t, ",%s.weight=fp32,%s.wgrad=fp32,%s.master=none", selector, selector, selector);
}

/* Formats of fewer bits do not span the magnitudes of a tensor without a scale. */
static int needs_tensor_scales(const ulp_format *f) { return f->bits < 16; }

static void add_policy(text *t, const ulp_format *format, const tensor_type *type, const ulp_net *net) {
    if (ulp_format_equal(format, &ulp_binary32)) {
        add(t, "fp32");
        return;
    }
    add(t, "mixed:%s%s", format->name, needs_tensor_scales(format) ? "@amax,wgrad=fp32" : "");
    if (!type[0].low) add(t, ",input.act=fp32");
    for (size_t i = 0; i < net->count; i++) add_layer(t, type, net, i);
}

static void choose_scaler(ulp_amp *amp) {
    const ulp_format *f = &amp->format;
    const int wide = f->emin <= -126 && f->emax >= 127, scaled = needs_tensor_scales(f);
    amp->scaler = ulp_scaler_rules[wide || scaled ? ULP_SCALER_NONE : ULP_SCALER_PYTORCH];
    amp->scaler_why = wide     ? "the format has the exponents of binary32: gradients do not leave its range"
                      : scaled ? "each tensor has a scale of its own"
                               : "small gradients become zero in the format; the loss scale moves them into its range";
}

int ulp_amp_takes(const ulp_format *f) {
    return f->is_signed && !f->is_fixed && f->fits_binary32 &&
           f->taper == ULP_TAPER_NONE; /* tensor scales move a bias */
}

ulp_status ulp_amp_derive(ulp_amp *amp, const ulp_net *net, const ulp_format *format, ulp_error *error) {
    if (!ulp_amp_takes(format))
        return ulp_fail(error, ULP_UNSUPPORTED,
                        "automatic mixed precision in %s: gradients have signs and overflow to infinity or NaN, and "
                        "arrays carry binary32; fp16, bf16, e4m3, e5m2 and any eXmY that fits binary32 are taken, "
                        "tapered formats are not",
                        format->name);
    tensor_type *type = calloc(net->count + 1, sizeof *type);
    if (!type) return ulp_fail(error, ULP_NO_MEMORY, "no memory for automatic mixed precision");
    memset(amp, 0, sizeof *amp);
    amp->format = *format;
    text t = {amp->text, sizeof amp->text, 0};
    find_types(type, net);
    add_policy(&t, format, type, net);
    choose_scaler(amp);
    free(type);
    if (t.used >= t.size)
        return ulp_fail(error, ULP_BAD_ARGUMENT,
                        "automatic mixed precision: the net has too many layers with policies of their own; the text "
                        "has more than %d characters",
                        ULP_AMP_TEXT_MAX - 1);
    return ulp_policy_parse(&amp->policy, amp->text, error);
}

/* ---- explanations ---- */

typedef struct explanation {
    const ulp_amp *amp;
    const ulp_net *net;
    const tensor_type *type;
    size_t B;
    void (*see)(void *context, const ulp_amp_line *line);
    void *context;
} explanation;

static const char *format_name(const explanation *e, int low) { return low ? e->amp->format.name : "binary32"; }

static double bytes_of(const explanation *e, int low) { return low ? e->amp->format.bits / 8.0 : 4.0; }

static void tell(const explanation *e, ulp_amp_line line, const ulp_amp_operation *o, const char *why) {
    line.what = line.what ? line.what : o->name;
    line.list = o->list;
    line.why = why ? why : o->why;
    e->see(e->context, &line);
}

/* The number of inputs of a layer that have another format than its output. A product reads its operands as they are.
 */
static size_t inputs_to_cast(const tensor_type *type, const ulp_layer *layer) {
    const size_t first = layer->kind->turns ? layer->fork : layer->index;
    const uint8_t low = type[layer->index + 1].low;
    if (layer->kind->products) return 0;
    return (size_t)(type[first].low != low) + (layer->kind->nesting < 0 && type[layer->partner].low != low);
}

static void tell_layer(const explanation *e, size_t i) {
    const ulp_layer *layer = &e->net->layers[i];
    const ulp_amp_operation *o = ulp_amp_operation_of(layer->kind);
    const int low = e->type[i + 1].low, low_weights = o->list == ULP_AMP_LOW;
    const size_t n = e->B * ulp_dims_size(layer->out);
    ulp_amp_line line = {
        .layer = i, .word = layer->word, .in = format_name(e, e->type[i].low), .out = format_name(e, low)};
    line.casts = (low_weights ? layer->params : 0) + 2 * n * inputs_to_cast(e->type, layer);
    line.bytes = 2.0 * (double)layer->params * bytes_of(e, low_weights) + 2.0 * (double)n * bytes_of(e, low);
    tell(e, line, o, e->type[i + 1].moved ? "the next layer reads it in low precision" : NULL);
    if (!layer->params) return;
    line = (ulp_amp_line){.layer = i, .word = layer->word, .in = line.in, .out = "binary32"};
    line.what = low_weights ? "sums" : "statistics";
    tell(e, line, &table[ULP_OPERATION_LARGE_SUM],
         low_weights ? "long sums lose small terms: products and biases" : "sums over a batch");
}

static void tell_ends(const explanation *e, const ulp_loss_kind *loss) {
    const size_t count = e->net->count, n = e->B * ulp_dims_size(e->net->out);
    const int low = e->type[count].low;
    size_t low_params = 0;
    for (size_t i = 0; i < count; i++)
        if (ulp_amp_operation_of(e->net->layers[i].kind)->list == ULP_AMP_LOW) low_params += e->net->layers[i].params;
    ulp_amp_line line = {.layer = count, .word = loss->name, .in = format_name(e, low), .out = "binary32"};
    line.casts = low ? 2 * n : 0;
    line.bytes = 4.0 * (double)n;
    if (loss == &ulp_loss_softmax) {
        tell(e, line, &table[ULP_OPERATION_SOFTMAX], NULL);
        line = (ulp_amp_line){.layer = count, .word = loss->name, .in = "binary32", .out = "binary32"};
    }
    tell(e, line, &table[ULP_OPERATION_LOSS], NULL);
    line =
        (ulp_amp_line){.layer = count + 1, .word = "update", .in = format_name(e, low_params > 0), .out = "binary32"};
    line.casts = low_params;
    line.bytes = 4.0 * (double)low_params;
    tell(e, line, &table[ULP_OPERATION_UPDATE], NULL);
}

ulp_status ulp_amp_explain(const ulp_amp *amp, const ulp_net *net, const ulp_loss_kind *loss, size_t B,
                           void (*see)(void *context, const ulp_amp_line *line), void *context) {
    tensor_type *type = calloc(net->count + 1, sizeof *type);
    if (!type) return ULP_NO_MEMORY;
    const explanation e = {amp, net, type, B, see, context};
    const size_t n = B * ulp_dims_size(net->in);
    find_types(type, net);
    ulp_amp_line input = {.layer = 0, .word = "input", .in = "binary32", .out = format_name(&e, type[0].low)};
    input.casts = type[0].moved ? n : 0;
    input.bytes = (double)n * bytes_of(&e, type[0].low);
    tell(&e, input, &table[ULP_OPERATION_COPY],
         type[0].moved ? "the first layer reads it in low precision" : "the data are binary32");
    for (size_t i = 0; i < net->count; i++) tell_layer(&e, i);
    tell_ends(&e, loss);
    free(type);
    return ULP_OK;
}

/* ---- help ---- */

void ulp_amp_help(const ulp_help *to) {
    ulp_help_line(to,
                  "Automatic mixed precision derives the policy of every layer and the scaler from three lists of "
                  "operations: low (in the format of --amp), binary32, and follows (the format of the input). --amp "
                  "FORMAT trains with this policy; `ulp amp --net TEXT --format FORMAT --explain` prints the policy, "
                  "the scaler and the reasons.");
    ulp_help_line(to, "%s", "");
    ulp_help_line(to,
                  "The lists follow TensorFlow's graph rewrite (allow, infer, deny, clear), PyTorch's autocast (lower, "
                  "fp32, promote) and Apex O1 (FP16, FP32, casts). The words in parentheses say "
                  "why an operation is on its list here.");
    for (int i = ULP_OPERATION_PRODUCT; i < ULP_OPERATION_KINDS; i++) {
        const ulp_amp_operation *o = &table[i];
        ulp_help_line(to, "%s", "");
        ulp_help_line(to, "%s: %s (%s)", o->name, ulp_amp_list_name(o->list), o->why);
        ulp_help_line(to, "  TensorFlow  %s", o->tensorflow);
        ulp_help_line(to, "  PyTorch     %s", o->pytorch);
        ulp_help_line(to, "  Apex        %s", o->apex);
    }
    ulp_help_line(to, "%s", "");
    ulp_help_line(to,
                  "A kind of layer that is on no published list follows its input. Formats of fewer than 16 bits get a "
                  "scale per tensor (@amax), and gradients of weights in binary32. Formats with the exponents of "
                  "binary32 need no loss scale; other formats get the scaler pytorch.");
}
