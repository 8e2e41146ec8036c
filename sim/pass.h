/* pass.h - one trip of a batch through a net: who computes, by which policy, and who is watching.
 *
 * Layers, loss and trainer round and multiply through these functions alone, so that every rounding has
 * its point, its random stream and its observer, on any backend. What a backend's table does not have (cells
 * of recurrent layers, pooling, batch norm) runs on the host between a download and an upload.
 */
#ifndef ULP_PASS_H
#define ULP_PASS_H

#include "kernels/backend.h"
#include "policy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an observer is shown: a tensor at a rounding point. */
typedef struct ulp_sight {
    ulp_point_kind point;
    size_t layer; /* as in ulp_stream_id */
    uint64_t step;
    int scale_log2; /* gradients carry the factor 2^scale_log2 */
    size_t n;
    const float *raw;     /* (n) before rounding, as the accumulators hold it */
    const float *rounded; /* (n) after */
} ulp_sight;

typedef struct ulp_observer {
    void (*see)(void *context, const ulp_sight *sight); /* arrays live during the call only, on the host */
    void *context;
    uint32_t points; /* bit 1 << point: what it wants to see */
} ulp_observer;

/* Elements at a rounding point, rounded there or handed on exactly, and how many of them are zero. */
typedef struct ulp_tally {
    uint64_t count, zero;
} ulp_tally;

typedef struct ulp_pass {
    const ulp_backend *backend;
    const ulp_policy *policy;
    const ulp_observer *observer; /* may be NULL */
    uint64_t seed, step;
    uint32_t evaluation;
    int scale_log2;         /* of the loss and, unless layers have scales of their own, of every gradient */
    const int *layer_scale; /* (layers) log2 of each layer's scale; NULL: they have none of their own */
    size_t layers;
    size_t B;               /* samples in this batch */
    size_t first;           /* number of the first one: evaluation in pieces rounds like one batch */
    uint32_t lane;          /* which of several inner tensors a layer is at; 0 outside of such layers (policy.h) */
    float *ones;            /* (B * net.ones) backend memory */
    float *work;            /* (B * net.work) backend memory, free between layers */
    double *wide;           /* (elements) backend memory, free between calls of this file */
    float *host_a, *host_b; /* (elements) host memory, free between calls of this file */
    double *host_wide;      /* (elements) host memory: what ulp_pass_round_wide rounds */
    float *amax;            /* (points, tensors, history + 1) host memory: the largest magnitudes of the last steps, for
                             * delayed scales; the column of a step is step mod (history + 1) */
    size_t tensors, history;       /* of amax */
    int counting;                  /* fill stats: counted rounding takes longer */
    ulp_stats stats[ULP_AT_COUNT]; /* of act, wgrad, agrad and loss; identities are not counted */
    ulp_tally all[ULP_AT_COUNT];   /* the same points, identities and exact operations included */
} ulp_pass;

/* Clear the column of pass->step in amax: before the first rounding of a training step. */
void ulp_pass_begin(ulp_pass *pass);

/* log2 of the scale that a gradient carries at a point: of weights that of their layer, of activations (number `layer`,
 * as in ulp_stream_id) that of the layer whose output they belong to, of a layer's inner tensors (a lane other than 0)
 * its own. */
int ulp_pass_scale(const ulp_pass *pass, ulp_point_kind point, size_t layer);

/* Where layers have scales of their own, both kinds of rounding multiply an activation gradient, exactly but for the
 * ends of binary32, by the quotient of the scales of the layer it is handed to and of the layer that made it. So what a
 * layer rounds at ULP_AT_AGRAD is the gradient of its input, once; a layer without parameters has the scale of the one
 * before it and may hand on a gradient without rounding. Gradients of inner tensors are rounded in a lane other than 0
 * and not multiplied. */

/* Where gradients meet: *brought = the gradient x (n), which carries the scale of layer `from`, with that of layer
 * `to`; x itself if they are equal, else in `room` (n). */
ulp_status ulp_pass_bring(ulp_pass *pass, const float **brought, float *room, const float *x, size_t n, size_t from,
                          size_t to);

/* Round x (n) in place at a point. Row i of `row` elements belongs to sample first + i; row 0: x has no
 * samples (weights). An identity is not executed, but shown. */
ulp_status ulp_pass_round(ulp_pass *pass, ulp_point_kind point, size_t layer, float *x, size_t n, size_t row);

/* x (n) = pass->host_wide (n) rounded once from binary64; what is shown as raw is binary32 already. */
ulp_status ulp_pass_round_wide(ulp_pass *pass, ulp_point_kind point, size_t layer, float *x, size_t n, size_t row);

/* x (n) = wide (n), backend memory, rounded once from binary64: the same for what the backend has computed. wide may be
 * pass->wide, and is free afterwards. */
ulp_status ulp_pass_round_from(ulp_pass *pass, ulp_point_kind point, size_t layer, float *x, const double *wide,
                               size_t n, size_t row);

/* y (B,row) = a + b, each exact sum rounded once at a point, as tensor number `layer`. */
ulp_status ulp_pass_add(ulp_pass *pass, ulp_point_kind point, size_t layer, float *y, const float *a, const float *b,
                        size_t B, size_t row);

/* y (B,row) = f(x), tensor number `layer`, and dx (B,row) = f'(x) dy from what curve.h names as `at`: each rounded
 * once, at ULP_AT_ACT and ULP_AT_AGRAD. */
ulp_status ulp_pass_curve(ulp_pass *pass, size_t layer, ulp_activation f, float *y, const float *x, size_t row);
ulp_status ulp_pass_slope(ulp_pass *pass, size_t layer, ulp_activation f, float *dx, const float *dy, const float *at,
                          size_t row);

/* Show x (n), which an exact operation made from values of the point's format. */
ulp_status ulp_pass_show(ulp_pass *pass, ulp_point_kind point, size_t layer, const float *x, size_t n);

/* C = A B for one use of one layer; rows: of C per sample, 0 if C has no samples. */
ulp_status ulp_pass_gemm(ulp_pass *pass, uint32_t use, size_t layer, const ulp_datapath *datapath, float *c,
                         const float *a, const float *b, const ulp_gemm_shape *shape, size_t rows);

#ifdef __cplusplus
}
#endif
#endif
