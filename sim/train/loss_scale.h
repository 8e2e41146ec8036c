/* loss_scale.h - the loss scales of a step's gradients: one scale for all gradients, or one per layer.
 *
 * With the scaler `layer` every layer with parameters has a scaler of its own. A layer without parameters takes the
 * scale of the nearest layer with parameters before it, or, if there is none, of the first layer with parameters. The
 * gradient of a layer's output and the gradients of the layer's weights carry the scale of the layer. Between two
 * layers the gradient is multiplied by the quotient of their scales (pass.h), and an update unscales each layer by the
 * layer's scale. Gradients inside a recurrent layer carry the scale of the layer. At a fork, the gradient of the
 * shortcut is brought to the scale of the gradient that passed through the block.
 *
 * An overflow belongs to the layer where it begins, coming from the loss. At this layer the gradients of the weights,
 * or the gradient of the output of the layer or of a layer that shares its scale, are the first gradients that are not
 * finite. The scale of this layer is reduced. The layers nearer the loss count a good step. The layers before this
 * layer count nothing, because nothing is known of their gradients. Any overflow skips the step for all layers.
 * Gradients before the first layer with parameters are not checked.
 *
 * Zhao et al. 2019, "Adaptive loss scaling for mixed precision training", arXiv:1910.12385, also have a scale per
 * layer, rescale gradients between layers and unscale each layer by its scale. They compute each scale in every step,
 * or every few steps, from the mean and the variance of the factors of a product, so that few results underflow. Here
 * each scale grows until a gradient overflows, as in the dynamic scalers of the whole loss.
 */
#ifndef ULP_LOSS_SCALE_H
#define ULP_LOSS_SCALE_H

#include "sim/model.h"
#include "sim/optim/optim.h"
#include "scaler.h"

ULP_C_BEGIN

typedef struct ulp_loss_scales {
    ulp_scaler *layer; /* (count) in use for layers with parameters; NULL: one scale for all layers */
    size_t *owner;     /* (count) owner[i] is the layer whose scale layer i uses */
    int *log2;         /* (count) log2 of each layer's scale in this step */
    ulp_span *span;    /* (spans) the scales as the optimizer takes them */
    size_t count, spans;
} ulp_loss_scales;

/* Prepare the scales of a net before its first step; ULP_NO_MEMORY. A zeroed struct may be released, too. */
ulp_status ulp_loss_scales_start(ulp_loss_scales *scales, const ulp_scaler *scaler, const ulp_net *net);
void ulp_loss_scales_release(ulp_loss_scales *scales);

/* The scales of the next step. */
ulp_pass_scales ulp_loss_scales_begin(ulp_loss_scales *scales, const ulp_scaler *scaler);

/* The result of a check of the gradients of a step. */
typedef struct ulp_gradient_check {
    int overflow; /* a gradient is Inf or NaN */
    int skip;     /* the step makes no update */
} ulp_gradient_check;

/* After a backward pass: check the model's gradients for overflow, and update the scalers. *scaler counts the steps;
 * with a scale per layer, *scaler gets the scale of the last layer. */
ulp_status ulp_loss_scales_end(ulp_loss_scales *scales, ulp_scaler *scaler, const ulp_pass *pass,
                               const ulp_model *model, ulp_gradient_check *check);

ULP_C_END
#endif
