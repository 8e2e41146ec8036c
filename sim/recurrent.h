/* recurrent.h - forward and backward through time for all recurrent layers; a kind of layer adds its cell.
 *
 * A layer (F,1,T) -> (N,1,T) with initial state 0 and parameters W (F,w) row-major, U (N,u), b (G), where G = N gates
 * sums belong to a step. W reaches the last w of them, U the first u:
 *
 *   s_t <- b + x_t W + h_(t-1) U     the policy's forward datapath: the sum starts at the bias, then come the features,
 *                                    then the units, in ascending order; s stays in the accumulators and is not rounded
 *   kept_t[k] <- forward[k](...)     the stages of the cell in order, each computed in binary64 and rounded once at
 *                                    ULP_AT_ACT as tensor number index + 1; the last stage is h_t
 *
 * and back, from the last step to the first:
 *
 *   p_t <- ds_(t+1) U'               the policy's backward datapath; p_(T-1) = 0; not rounded
 *   grad_t[k] <- backward[k](...)    each computed in binary64 and rounded once at ULP_AT_AGRAD as tensor number
 *                                    index; the first is dh_t, the last ds_t (B,G)
 *   dW, dU, db <- x' ds, h' ds, 1' ds   one product each, k = T B: t ascending, within t samples ascending; rounded at
 *                                    ULP_AT_WGRAD
 *   dx_t <- ds_t W'                  rounded at ULP_AT_AGRAD
 *
 * The lane of a random stream names the step t and the tensor: 8 t + k for stage k forward, 8 t + 1 + k for gradient k
 * backward, 8 t for b and x W, 8 t + 1 for h U and p. dW, db and dx have lane 0, dU has lane 1.
 */
#ifndef ULP_RECURRENT_H
#define ULP_RECURRENT_H

#include "sequence.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ULP_STAGES_MAX = 3 };

/* One step of a batch on the host; `was`, `now`, `next`: steps t-1, t, t+1; zeros outside of the sequence. Forward
 * has sums, was and now; backward has everything but sums. */
typedef struct ulp_cell_view {
    size_t B, N;
    const float *sums;                                                             /* (B,G) */
    const float *was[ULP_STAGES_MAX], *now[ULP_STAGES_MAX], *next[ULP_STAGES_MAX]; /* kept[k] (B, width[k] N) */
    const float *dy, *p;                                                           /* (B,N) */
    const float *grad[ULP_STAGES_MAX], *grad_next[ULP_STAGES_MAX];                 /* (B, grad_width[k] N) */
} ulp_cell_view;

/* to (B, width N), not rounded yet. */
typedef void (*ulp_cell_stage)(double *to, const ulp_cell_view *view);

/* A kind of cell; widths in units of N. */
typedef struct ulp_cell {
    size_t gates;                             /* G / N */
    size_t w_from;                            /* W reaches gates w_from .. gates - 1 */
    size_t u_to;                              /* U reaches gates 0 .. u_to - 1 */
    size_t stages, width[ULP_STAGES_MAX];     /* the last one is h: width 1 */
    size_t grads, grad_width[ULP_STAGES_MAX]; /* the first one is dh: width 1; the last one ds: width gates */
    ulp_cell_stage forward[ULP_STAGES_MAX], backward[ULP_STAGES_MAX];
    size_t open_gate; /* gate that starts with bias 1, plus one; 0: none */
    /* Unit j in binary64 without rounding points: h and c (N) from their values a step before and the sums s (G). */
    void (*unit64)(double *h, double *c, const double *s, size_t j, size_t N);
} ulp_cell;

/* What a kind says of its input. */
#define ULP_RECURRENT_TAKES                                                                                            \
    "a sequence, of height 1 and at most 512 steps; rows or columns before it makes one of an image"

/* The functions of a ulp_layer_kind whose `cell` says the rest. */
ulp_status ulp_recurrent_shape(ulp_layer *layer, const char *args);
void ulp_recurrent_init(const ulp_layer *layer, float *w, ulp_stream stream, double std);
ulp_status ulp_recurrent_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t);
ulp_status ulp_recurrent_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t);
void ulp_recurrent_forward64(const ulp_layer *layer, double *y, const double *x, const double *skip, const double *w,
                             size_t B);

#ifdef __cplusplus
}
#endif
#endif
