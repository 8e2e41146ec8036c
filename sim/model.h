/* model.h - a net with its tensors, and the ways of a batch through it, forward and backward.
 *
 * The tensors belong to a family of backend memory (tensor.h); the pass gets its scratch from the model, so that one
 * pass serves one model, and the layers, one after the other, one workspace. Weights stay with whoever owns them: the
 * optimizer, or a file.
 */
#ifndef ULP_MODEL_H
#define ULP_MODEL_H

#include "net.h"
#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ulp_model {
    ulp_net net;
    size_t batch, room; /* the most samples of a batch in backward and in forward; batch <= room */
    float **tensor;     /* [count + 1]: tensor[i] (B,n) enters layer i, the last one is the output */
    float **grad;       /* [count + 1]: with respect to tensor[i]; [0] is NULL */
    float **saved;      /* [count] */
    float *wgrad;       /* (params) */
    float *state;       /* (states) */
    float *ones;        /* (room * net.ones) */
    ulp_workspace own;  /* of the layer whose function runs */
} ulp_model;

/* The model of a net, of which it keeps a copy; gradients if batch > 0. ULP_NO_MEMORY, and *model is empty. */
ulp_status ulp_model_init(ulp_model *model, const ulp_net *net, size_t batch, size_t room);

/* Allocate the model's tensors and the pass's scratch, for pass->run.backend and pass->run.policy. carve(own, family)
 * carves the caller's own arrays from the same family, which is empty before; it runs twice (tensor.h says why).
 * ulp_family_release() and ulp_model_release() free everything, also after a failure. */
ulp_status ulp_model_alloc(ulp_model *model, ulp_pass *pass, ulp_family *family,
                           void (*carve)(void *own, ulp_family *family), void *own);

/* From tensor[0] to tensor[count], pass->now.B samples, with the weights w (params), backend memory. */
ulp_status ulp_model_forward(ulp_model *model, ulp_pass *pass, const float *w);

/* Layer i alone, from tensor[i] to tensor[i + 1]. */
ulp_status ulp_model_forward_layer(ulp_model *model, ulp_pass *pass, const float *w, size_t i);

/* From grad[count] to grad[1] and wgrad, after forward on the same batch. */
ulp_status ulp_model_backward(ulp_model *model, ulp_pass *pass, const float *w);

/* Free the memory of the model, and the host's scratch of the pass. */
void ulp_model_release(ulp_model *model, ulp_pass *pass);

#ifdef __cplusplus
}
#endif
#endif
