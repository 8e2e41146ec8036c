/* amp_lists.c - the lists of operations of automatic mixed precision, beside the published ones; see amp.h. */
#include "amp.h"

#include <string.h>

/* In the order of the help text. Words of the published lists: TensorFlow allow, infer, deny, clear; PyTorch lower
 * precision, fp32, promote; Apex FP16, FP32, casts. "none": the operation is on no list and runs in the format of its
 * inputs. */
static const ulp_amp_operation table[] = {
    {"product", ULP_AMP_LOW, "allow: MatMul", "lower: linear, addmm", "FP16: linear, addmm",
     "products are fast in low precision, and their sums stay in binary32"},
    {"convolution", ULP_AMP_LOW, "allow: Conv2D, Conv2DBackpropInput", "lower: conv2d, conv_transpose2d",
     "FP16: conv2d, conv_transpose2d", "its sums of products are fast in low precision"},
    {"cell", ULP_AMP_LOW, "allow: GRUBlockCell, BlockLSTM, CudnnRNN", "lower: gru_cell, lstm_cell, rnn_tanh_cell",
     "FP16: the cells of torch.nn", "its sums of products are fast in low precision"},
    {"norm", ULP_AMP_FOLLOWS, "infer: FusedBatchNormV3", "none; its weights are binary32",
     "none; its weights are binary32", "its output follows its input; statistics and weights stay in binary32"},
    {"relu", ULP_AMP_FOLLOWS, "clear: Relu", "none", "none", "exact in every format"},
    {"activation", ULP_AMP_FOLLOWS, "infer: Sigmoid, Tanh, LeakyRelu", "none", "none",
     "one rounding of a small number"},
    {"max pooling", ULP_AMP_FOLLOWS, "clear: MaxPool", "none", "none", "exact in every format"},
    {"average pooling", ULP_AMP_FOLLOWS, "infer: AvgPool (deny: Mean)", "none", "none",
     "a window is small, and its sum is exact here"},
    {"up-sampling", ULP_AMP_FOLLOWS, "clear: ResizeNearestNeighbor", "fp32: upsample_nearest2d", "FP32: interpolate",
     "TensorFlow's row: a copy is exact in every format"},
    {"dropout", ULP_AMP_FOLLOWS, "infer: Mul", "none", "none", "one rounding of a product"},
    {"sum", ULP_AMP_FOLLOWS, "infer: AddV2", "none: the wider input decides", "casts: the wider input decides",
     "one rounding; the wider branch decides"},
    {"copy", ULP_AMP_FOLLOWS, "clear: Identity, Reshape, Transpose", "none", "none", "exact in every format"},
    {"softmax", ULP_AMP_BINARY32, "infer: Softmax, LogSoftmax", "fp32: softmax, log_softmax", "FP32: softmax",
     "PyTorch's row: exp spans more than the range of binary16"},
    {"loss", ULP_AMP_BINARY32, "deny: SoftmaxCrossEntropyWithLogits", "fp32: nll_loss, mse_loss, ... (no ctc_loss)",
     "FP32: cross_entropy, ...", "a mean over a batch of numbers of all magnitudes"},
    {"large sum", ULP_AMP_BINARY32, "deny: Sum, Mean", "fp32: sum, norm", "FP32: sum, norm",
     "long sums lose small terms; here: accumulators of products, gradients of biases"},
    {"update", ULP_AMP_BINARY32, "the graph's variables stay float32", "parameters stay float32",
     "O1: parameters stay float32", "small updates of large weights vanish in low precision"},
};

const ulp_amp_operation *ulp_amp_operation_get(size_t i) { return i < sizeof table / sizeof *table ? &table[i] : NULL; }

const ulp_amp_operation *ulp_amp_operation_find(const char *name) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].name, name) == 0) return &table[i];
    return NULL;
}

const ulp_amp_operation *ulp_amp_operation_of(const ulp_layer_kind *kind) {
    return ulp_amp_operation_find(kind->operation ? kind->operation : kind->products ? "product" : "activation");
}

const char *ulp_amp_list_name(ulp_amp_list list) {
    static const char *const names[] = {"low", "binary32", "follows"};
    return names[list];
}

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
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
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
