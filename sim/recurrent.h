/* recurrent.h - what the recurrent layers share: the trip through time and back; a kind adds its cell.
 *
 * A layer (F,1,T) -> (N,1,T) with initial state 0 and parameters W (F,w) row-major, U (N,u), b (G), where G = N gates
 * sums belong to a step. W reaches the last w of them, U the first u:
 *
 *   s_t <- b + x_t W + h_(t-1) U     the policy's forward datapath: the chain starts at the bias, then the features,
 * then the units in ascending order; s stays in the accumulators, it is not rounded kept_t[k] <- forward[k](...) the
 * cell's stages in order, each evaluated in binary64 and rounded once at ULP_AT_ACT as tensor number index + 1; the
 * last stage is h_t and back, from the last step to the first:
 *
 *   p_t <- ds_(t+1) U'               the policy's backward datapath; p_(T-1) = 0; not rounded
 *   grad_t[k] <- backward[k](...)    each evaluated in binary64 and rounded once at ULP_AT_AGRAD as tensor number
 *                                    index; the first is dh_t, the last ds_t (B,G)
 *   dW, dU, db <- x' ds, h' ds, 1' ds   one product each, k = T B: t ascending, within t samples ascending; rounded at
 *                                    ULP_AT_WGRAD
 *   dx_t <- ds_t W'                  rounded at ULP_AT_AGRAD
 *
 * Random streams tell the steps apart by their lane, 8 t + k: stage k forward; 8 t + 1 + k backward; x W and dx, dW, db
 * have k = 0, h U, p and dU k = 1. Lane 0 at ULP_AT_AGRAD is dx.
 */
#ifndef ULP_RECURRENT_H
#define ULP_RECURRENT_H

#include "sequence.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ULP_STAGES_MAX = 3 };

/* One step of a batch on the host; `was`, `now`, `next`: steps t-1, t, t+1; zeros outside of the sequence. Forward
 * knows sums, was and now; backward knows the rest. */
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

/* The functions of ulp_layer_kind for a cell. */
ulp_status ulp_recurrent_shape(const ulp_cell *cell, ulp_layer *layer, const char *args);
void ulp_recurrent_init(const ulp_cell *cell, const ulp_layer *layer, float *w, ulp_stream stream, double std);
ulp_status ulp_recurrent_forward(const ulp_cell *cell, const ulp_layer *layer, ulp_pass *pass,
                                 const ulp_layer_tensors *t);
ulp_status ulp_recurrent_backward(const ulp_cell *cell, const ulp_layer *layer, ulp_pass *pass,
                                  const ulp_layer_tensors *t);
void ulp_recurrent_forward64(const ulp_cell *cell, const ulp_layer *layer, double *y, const double *x, const double *w,
                             size_t B);

/* The functions and the entry of a kind: its static const ulp_cell is `cell`, its name and file name is NAME. */
#define ULP_RECURRENT_KIND(NAME, USAGE, EXAMPLE)                                                                       \
    static ulp_status NAME##_shape(ulp_layer *layer, const char *args) {                                               \
        return ulp_recurrent_shape(&cell, layer, args);                                                                \
    }                                                                                                                  \
    static void NAME##_init(const ulp_layer *layer, float *w, ulp_stream stream, double std) {                         \
        ulp_recurrent_init(&cell, layer, w, stream, std);                                                              \
    }                                                                                                                  \
    static ulp_status NAME##_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {             \
        return ulp_recurrent_forward(&cell, layer, pass, t);                                                           \
    }                                                                                                                  \
    static ulp_status NAME##_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {            \
        return ulp_recurrent_backward(&cell, layer, pass, t);                                                          \
    }                                                                                                                  \
    static void NAME##_forward64(const ulp_layer *layer, double *y, const double *x, const double *skip,               \
                                 const double *w, size_t B) {                                                          \
        (void)skip;                                                                                                    \
        ulp_recurrent_forward64(&cell, layer, y, x, w, B);                                                             \
    }                                                                                                                  \
    extern const ulp_layer_kind ulp_layer_##NAME;                                                                      \
    const ulp_layer_kind ulp_layer_##NAME = {                                                                          \
        .name = #NAME,                                                                                                 \
        .usage = USAGE,                                                                                                \
        .example = EXAMPLE,                                                                                            \
        .gain = 1.0,                                                                                                   \
        .takes = "a sequence, of height 1 and at most 512 steps; rows or columns before it makes one of an image",     \
        .shape = NAME##_shape,                                                                                         \
        .init = NAME##_init,                                                                                           \
        .forward = NAME##_forward,                                                                                     \
        .backward = NAME##_backward,                                                                                   \
        .forward64 = NAME##_forward64}

#ifdef __cplusplus
}
#endif
#endif
