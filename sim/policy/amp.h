/* amp.h - automatic mixed precision: the policy and the scaler of a net, derived from lists of operations.
 *
 * Every operation of a training step is on one of three lists: in low precision, in binary32, or in the format of its
 * inputs. The lists follow three published ones, which ulp_amp_help() sets side by side: TensorFlow's graph rewrite
 * (tensorflow/core/grappler/optimizers/auto_mixed_precision_lists.h), PyTorch's autocast
 * (aten/src/ATen/autocast_mode.h) and Apex O1 (apex/amp/lists). A kind of layer names its operation; a kind that names
 * none is a product if it forms products, and follows its input if not.
 *
 * The formats of tensors follow from the lists, from the input of the net to its output. The data are binary32. If an
 * operation in low precision reads a binary32 tensor, the tensor is rounded where it is computed. The number is then
 * rounded once, where a framework would first round it to binary32. A sum of two branches has the wider format.
 */
#ifndef ULP_AMP_H
#define ULP_AMP_H

#include "policy.h"
#include "sim/net.h"
#include "sim/losses/loss.h"
#include "sim/train/scaler.h"

ULP_C_BEGIN

typedef enum ulp_amp_list { ULP_AMP_LOW, ULP_AMP_BINARY32, ULP_AMP_FOLLOWS } ulp_amp_list;

/* An operation, the list that it is on here, and its place in the published lists. */
typedef struct ulp_amp_operation {
    const char *name; /* "convolution" */
    ulp_amp_list list;
    const char *tensorflow, *pytorch, *apex; /* the list and the name there */
    const char *why;                         /* of our choice */
} ulp_amp_operation;

/* The i-th row of the table; NULL past the end. */
const ulp_amp_operation *ulp_amp_operation_get(size_t i);

/* The operation that a kind of layer performs. */
const ulp_amp_operation *ulp_amp_operation_of(const ulp_layer_kind *kind);

/* "low", "binary32", "follows". */
const char *ulp_amp_list_name(ulp_amp_list list);

enum { ULP_AMP_TEXT_MAX = 1024 };

/* The choices of automatic mixed precision. */
typedef struct ulp_amp {
    ulp_format format;           /* the low precision */
    char text[ULP_AMP_TEXT_MAX]; /* the policy as a text that can be edited */
    ulp_policy policy;
    ulp_scaler_rule scaler;
    const char *scaler_why;
} ulp_amp;

/* Whether a format can be the low precision: gradients have signs and overflow to infinity or NaN. */
int ulp_amp_takes(const ulp_format *format);

/* The policy and the scaler of a net in a low format. On failure `error` (may be NULL) gets a sentence.
 *
 *  - ULP_UNSUPPORTED: the format is unsigned, is fixed point, is tapered, or does not fit binary32 (ulp_amp_takes()).
 *  - ULP_BAD_ARGUMENT: the net has so many layers with policies of their own that no policy holds them. */
ulp_status ulp_amp_derive(ulp_amp *amp, const ulp_net *net, const ulp_format *format, ulp_error *error);

/* One operation of a training step. */
typedef struct ulp_amp_line {
    size_t layer;     /* the number of layers stands for the loss, and the next number for the update */
    const char *word; /* of the layer, of the loss, or "update" */
    const char *what; /* "convolution"; the part of a layer that has several: "statistics" */
    ulp_amp_list list;
    const char *in, *out; /* names of formats */
    size_t casts;         /* numbers that the step converts for this operation, forward and backward */
    double bytes;         /* that a machine keeps: weights, activations, gradients in their formats */
    const char *why;
} ulp_amp_line;

/* Call see() for each operation of a training step with B samples, in the order of the step. ULP_NO_MEMORY. */
ulp_status ulp_amp_explain(const ulp_amp *amp, const ulp_net *net, const ulp_loss_kind *loss, size_t B,
                           void (*see)(void *context, const ulp_amp_line *line), void *context);

/* The reference text of `ulp help amp`: the table of operations. */
void ulp_amp_help(const ulp_help *to);

ULP_C_END
#endif
