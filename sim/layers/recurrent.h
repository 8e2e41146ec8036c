/* recurrent.h - the forward and backward pass through time that all recurrent layers share; each kind has its own cell.
 *
 * A layer maps (F,1,T) to (N,1,T). Its initial state is 0, and its parameters are W (F,w) row-major, U (N,u) and b (G).
 * Each step has G = N gates sums; W takes part in the last w sums, U in the first u sums:
 *
 *   s_t <- b + x_t W + h_(t-1) U     the policy's forward datapath: the sum starts at the bias, then come the features,
 *                                    then the units, in ascending order; s stays in the accumulators and is not rounded
 *   kept_t[k] <- forward[k]          the stages of the cell in order, each computed in binary64 and rounded once at
 *                                    ULP_AT_ACT as tensor number index + 1; the last stage is h_t
 *
 * The backward pass runs from the last step to the first:
 *
 *   p_t <- ds_(t+1) U'               the policy's backward datapath; p_(T-1) = 0; not rounded
 *   grad_t[k] <- backward[k]         each computed in binary64 and rounded once at ULP_AT_AGRAD as tensor number
 *                                    index; the first is dh_t, the last ds_t (B,G)
 *   dW, dU, db <- x' ds, h' ds, 1' ds   one product each, k = T B: t ascending, within t samples ascending; rounded at
 *                                    ULP_AT_WGRAD
 *   dx_t <- ds_t W'                  rounded at ULP_AT_AGRAD
 *
 * The lane of a random stream names the step t and the tensor: 8 t + k for stage k forward, 8 t + 1 + k for gradient k
 * backward, 8 t for b and x W, 8 t + 1 for h U and p. dW, db and dx have lane 0, dU has lane 1. layer->arg[0] is added
 * to t, also in the lanes of dW, db and dU: it is 0 but for the second direction of a bidirectional layer.
 */
#ifndef ULP_RECURRENT_H
#define ULP_RECURRENT_H

#include "sequence.h"

enum { ULP_STAGES_MAX = 3 };

/* The arrays that a stage reads at step t: SUMS, DY, P, or one of the others plus the number k of a stage or gradient.
 * Steps outside of the sequence are zeros. Forward stages read s, kept_(t-1) and kept_t; backward stages read all but
 * s. */
typedef enum ulp_cell_array {
    ULP_SUMS,          /* s_t (B,G) */
    ULP_DY,            /* dy_t (B,N) */
    ULP_P,             /* p_t (B,N) */
    ULP_WAS = 4,       /* kept_(t-1)[k] */
    ULP_NOW = 8,       /* kept_t[k] */
    ULP_NEXT = 12,     /* kept_(t+1)[k] */
    ULP_GRAD = 16,     /* grad_t[k] */
    ULP_GRAD_NEXT = 20 /* grad_(t+1)[k] */
} ulp_cell_array;

/* A stage, and its operands in the order of its row in kernels/functions/cell.h. */
typedef struct ulp_cell_rule {
    ulp_cell_stage stage;
    uint8_t in[ULP_CELL_OPERANDS]; /* ulp_cell_array, plus k */
} ulp_cell_rule;

/* A kind of cell. The stages have the widths of their rows in cell.h. */
typedef struct ulp_cell {
    size_t gates;  /* G / N */
    size_t w_from; /* W takes part in the gates w_from .. gates - 1 */
    size_t u_to;   /* U takes part in the gates 0 .. u_to - 1 */
    size_t stages; /* the last stage is h, width 1 */
    size_t grads;  /* the first gradient is dh, width 1; the last is ds, width gates */
    ulp_cell_rule forward[ULP_STAGES_MAX], backward[ULP_STAGES_MAX];
    size_t open_gate; /* 1 + the index of the gate whose bias starts at 1; 0: no such gate */
    /* Unit j in binary64 without rounding points: replaces h and c (N) of step t-1 by those of step t; sums s (G). */
    void (*unit64)(double *h, double *c, const double *s, size_t j, size_t N);
} ulp_cell;

/* `takes` of the recurrent kinds. */
#define ULP_RECURRENT_TAKES "a sequence of at most 512 steps (an image becomes a sequence by rows or columns)"

/* The functions of a ulp_layer_kind that has a cell. */
ulp_status ulp_recurrent_shape(ulp_layer *layer, const char *args);
void ulp_recurrent_init(const ulp_layer *layer, float *w, ulp_stream stream, double std);
ulp_status ulp_recurrent_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t);
ulp_status ulp_recurrent_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t);

/* As ulp_recurrent_backward(), but dx stays in the accumulators and is not rounded. */
ulp_status ulp_recurrent_backward_sums(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t);
void ulp_recurrent_forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B);

/* The common part of the rows of the kinds with a cell. */
#define ULP_RECURRENT_KIND(cell_)                                                                                      \
    .takes = ULP_RECURRENT_TAKES, .operation = ULP_OPERATION_CELL, .products = 2, .reads = ULP_READS_BOTH,             \
    .cell = &(cell_), .shape = ulp_recurrent_shape, .init = ulp_recurrent_init, .forward = ulp_recurrent_forward,      \
    .backward = ulp_recurrent_backward, .forward64 = ulp_recurrent_forward64

#endif
