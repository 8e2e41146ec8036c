/* loss_scale.h - the scales that a step's gradients carry: one for all of them, or one per layer.
 *
 * With the scaler `layer` every layer with parameters has a scaler of its own; a layer without takes the scale of the
 * next one before it (at the net's beginning: of the first one with parameters). The gradient that enters a layer
 * backward and the gradients of its weights carry that layer's scale; between two layers the gradient is multiplied by
 * the quotient (pass.h), and an update unscales each layer by its own. Gradients inside of a recurrent layer carry its
 * scale; where a residual block begins, the gradient that came past it is brought to the scale of the one that came
 * through it.
 *
 * An overflow belongs to the layer where it begins: its weight gradients are not finite, or the gradient that enters it
 * (or a layer without parameters that shares its scale), though what entered the layers behind it was finite. That
 * layer backs off; layers behind it, nearer the loss, count a good step; of the layers before it nothing is known, and
 * they count nothing. Any overflow skips the step for all. Gradients before the first layer with parameters are not
 * looked at.
 *
 * The same in Zhao et al. 2019, "Adaptive loss scaling for mixed precision training", arXiv:1910.12385: a scale per
 * layer, gradients rescaled between layers, each layer unscaled by its own. Different: they work out each scale in
 * every step, or every few, from the mean and variance of the factors of a product, so that few results underflow; here
 * each grows until it overflows, as in the dynamic scalers of the whole loss.
 */
#ifndef ULP_SCALING_H
#define ULP_SCALING_H

#include "model.h"
#include "optim.h"
#include "scaler.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ulp_loss_scaling {
    ulp_scaler *layer; /* (count) of layers with parameters, or NULL: one scale for all */
    size_t *owner;     /* (count) the layer whose scale layer i has */
    int *log2;         /* (count) the scales in force in this step */
    ulp_span *span;    /* (spans) of the optimizer */
    size_t count, spans;
} ulp_loss_scaling;

/* Before the first step, for a net; ULP_NO_MEMORY. Zeros may be released. */
ulp_status ulp_loss_scaling_start(ulp_loss_scaling *scaling, const ulp_scaler *scaler, const ulp_net *net);
void ulp_loss_scaling_release(ulp_loss_scaling *scaling);

/* The scales of the next step. */
ulp_pass_scales ulp_loss_scaling_begin(ulp_loss_scaling *scaling, const ulp_scaler *scaler);

/* What the gradients of a step say. */
typedef struct ulp_gradient_check {
    int overflow; /* Inf or NaN in them */
    int skip;     /* no update */
} ulp_gradient_check;

/* After a backward pass: look for overflow in the model's gradients, and let the scalers move. *scaler counts the steps
 * and, with scales per layer, has the scale of the last layer. */
ulp_status ulp_loss_scaling_end(ulp_loss_scaling *scaling, ulp_scaler *scaler, const ulp_pass *pass,
                                const ulp_model *model, ulp_gradient_check *check);

#ifdef __cplusplus
}
#endif
#endif
