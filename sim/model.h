/* model.h - a net with its tensors, and the forward and backward pass of a batch through the net.
 *
 * The tensors belong to an arena of backend memory (tensor.h). The model allocates the scratch memory of the pass, so
 * one pass serves one model. The layers run one after the other and share one workspace. The weights do not belong to
 * the model, but to the optimizer or to a file.
 */
#ifndef ULP_MODEL_H
#define ULP_MODEL_H

#include "net.h"
#include "tensor.h"

ULP_C_BEGIN

typedef struct ulp_model {
    ulp_net net;
    size_t batch, room; /* most samples of a batch with backward pass, and with forward pass alone; batch <= room */
    float **tensor;     /* [count + 1]: tensor[i] (B,n) is the input of layer i, tensor[count] the net's output */
    float **grad;       /* [count + 1]: grad[i] is the gradient of tensor[i]; grad[0] is NULL */
    float **saved;      /* [count] */
    float *wgrad;       /* (params) */
    float *state;       /* (states) */
    float *ones;        /* (room * net.ones) */
    ulp_workspace own;  /* for the layer function that runs */
} ulp_model;

/* A model with a copy of the net, and with gradients if batch > 0. On ULP_NO_MEMORY *model is empty. */
ulp_status ulp_model_init(ulp_model *model, const ulp_net *net, size_t batch, size_t room);

/* Allocate the model's tensors and the pass's scratch, for pass->run.backend and pass->run.policy. The arena is empty
 * before the call. carve(own, arena) carves the caller's own arrays from the same arena; it runs twice (see tensor.h).
 * ulp_arena_release() and ulp_model_release() free everything, also after a failure. */
ulp_status ulp_model_alloc(ulp_model *model, ulp_pass *pass, ulp_arena *arena,
                           void (*carve)(void *own, ulp_arena *arena), void *own);

/* Compute tensor[1] to tensor[count] from tensor[0], pass->now.B samples, and w (params), backend memory. */
ulp_status ulp_model_forward(ulp_model *model, ulp_pass *pass, const float *w);

/* Compute tensor[i + 1] from tensor[i]: layer i alone. */
ulp_status ulp_model_forward_layer(ulp_model *model, ulp_pass *pass, const float *w, size_t i);

/* Compute wgrad and grad[1] from grad[count], after the forward pass of the same batch. */
ulp_status ulp_model_backward(ulp_model *model, ulp_pass *pass, const float *w);

/* Free the memory of the model, and the host's scratch of the pass. */
void ulp_model_release(ulp_model *model, ulp_pass *pass);

ULP_C_END
#endif
