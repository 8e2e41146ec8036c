/* pass.h - one pass of a batch through a net: rounding, multiplying, counting and observing, at declared places.
 *
 * Layers, losses and the trainer round and multiply through these functions alone: every rounding has its rounding
 * point, its random stream and its observer, on any backend. The host computes what a backend does not offer (cells of
 * recurrent layers, batch normalisation), between a download and an upload.
 */
#ifndef ULP_PASS_H
#define ULP_PASS_H

#include "policy.h"
#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an observer is shown: a tensor at a rounding point. */
typedef struct ulp_observation {
    ulp_point_kind point;
    size_t layer; /* as in ulp_stream_id */
    uint64_t step;
    int scale_log2; /* gradients carry the factor 2^scale_log2 */
    size_t n;
    const float *raw;     /* (n) before rounding, as the accumulators hold it */
    const float *rounded; /* (n) after */
} ulp_observation;

typedef struct ulp_observer {
    void (*see)(void *context, const ulp_observation *observed); /* arrays live during the call only, on the host */
    void *context;
    uint32_t points; /* bit 1 << point: the points that the observer is shown */
} ulp_observer;

/* ---- the state of a pass, by how long it lives ---- */

/* What never changes during a run. */
typedef struct ulp_pass_run {
    const ulp_backend *backend;
    const ulp_policy *policy;
    uint64_t seed;
} ulp_pass_run;

/* The factors that gradients carry. */
typedef struct ulp_pass_scales {
    int log2;         /* of the loss and, unless layers have scales of their own, of every gradient */
    const int *layer; /* (layers) log2 of each layer's scale; NULL: one scale for all layers */
    size_t layers;
} ulp_pass_scales;

/* Where a pass is. Whoever starts a pass sets all of it; nothing changes it before the next pass. */
typedef struct ulp_pass_now {
    uint64_t step;
    uint32_t evaluation;
    int counting; /* fill the counts: counted rounding takes longer */
    size_t B;     /* samples in this batch */
    size_t first; /* number of the first sample: an evaluation in pieces rounds like one batch */
    ulp_pass_scales scales;
    const ulp_observer *observer; /* may be NULL */
} ulp_pass_now;

/* Elements at a rounding point, whether rounded there or handed on exactly, and how many of them are zero. */
typedef struct ulp_tally {
    uint64_t count, zero;
} ulp_tally;

/* What a pass counts; added to, never reset here. */
typedef struct ulp_pass_counts {
    ulp_stats rounded[ULP_AT_COUNT]; /* of act, wgrad, agrad and loss; a conversion to binary32 is not counted */
    ulp_tally all[ULP_AT_COUNT];     /* the same points, with conversions to binary32 and exact operations */
} ulp_pass_counts;

/* The largest magnitudes of the last steps, for delayed scales; it lives as long as the run. */
typedef struct ulp_amax_history {
    float *amax;    /* (points, tensors, steps + 1) host memory; the column of a step is step mod (steps + 1) */
    size_t tensors; /* of the net: its input and the output of every layer */
    size_t steps;
} ulp_amax_history;

/* Memory of pass.c alone: it holds nothing between two calls. */
typedef struct ulp_pass_scratch {
    double *wide;         /* (elements) backend memory */
    float *raw, *rounded; /* (elements) host memory */
    double *host;         /* (elements) host memory */
} ulp_pass_scratch;

typedef struct ulp_pass {
    ulp_pass_run run;
    ulp_pass_now now;
    ulp_pass_counts counts;
    ulp_amax_history history;
    ulp_pass_scratch scratch;
} ulp_pass;

/* Carve the backend's part of the scratch for tensors of at most so many elements (tensor.h says how: runs twice). */
void ulp_pass_carve(ulp_pass *pass, ulp_family *family, size_t elements);

/* Allocate the host's part of the scratch, and the history for so many tensors and the longest history of the policy.
 * ulp_pass_release() frees both, also after a failure. */
ulp_status ulp_pass_alloc(ulp_pass *pass, size_t elements, size_t tensors);
void ulp_pass_release(ulp_pass *pass);

/* Clear the counts, and the history's column of pass->now.step: before the first rounding of a training step. */
void ulp_pass_begin(ulp_pass *pass);

/* ---- rounding ---- */

/* A tensor of a pass: what is done with it, whose tensor it is, and which samples its rows belong to. */
typedef struct ulp_site {
    uint32_t use;      /* a ulp_point_kind; of a product, ULP_USE_FORWARD to ULP_USE_BPRODUCT */
    uint32_t lane;     /* which of a layer's inner tensors; 0 outside of such layers (policy.h) */
    size_t layer;      /* as in ulp_stream_id */
    size_t per_sample; /* elements per sample, of a product rows per sample; 0: the tensor has no samples (weights) */
    size_t skip;       /* samples of the batch before the first row */
} ulp_site;

/* A layer's only tensor of its kind, with all samples of the batch. */
static inline ulp_site ulp_site_of(uint32_t use, size_t layer, size_t per_sample) {
    return (ulp_site){.use = use, .lane = 0, .layer = layer, .per_sample = per_sample, .skip = 0};
}

/* log2 of the scale that a tensor carries. The gradients of weights carry the scale of their layer; the gradient of an
 * activation, number `layer` as in ulp_stream_id, that of the layer whose output the activation is; the inner tensors
 * of a layer (a lane other than 0) that of the layer itself. */
int ulp_pass_scale(const ulp_pass *pass, const ulp_site *site);

/* Where layers have scales of their own, every function that rounds first multiplies an activation gradient by the
 * quotient of two scales: of the layer that receives the gradient, and of the layer that computed it. The product is
 * exact but for the ends of binary32. So a layer rounds the gradient of its input once, at ULP_AT_AGRAD; a layer
 * without parameters has the scale of the layer before it and may hand on a gradient without rounding. Gradients of
 * inner tensors are not multiplied. */

/* log2 of the factor that takes a gradient from the scale of layer `from` to the scale of layer `to`. */
int ulp_pass_scale_between(const ulp_pass *pass, size_t from, size_t to);

/* y (n) = x (n) times 2^log2; y may be x. */
ulp_status ulp_pass_rescale(const ulp_pass *pass, float *y, const float *x, size_t n, int log2);

/* Round x (n) in place. An identity is shown to the observer, and not executed. */
ulp_status ulp_pass_round(ulp_pass *pass, ulp_site site, float *x, size_t n);

/* x (n) = exact (n), backend memory, rounded once from binary64; the raw values that the observer is shown are rounded
 * to binary32. */
ulp_status ulp_pass_round64(ulp_pass *pass, ulp_site site, float *x, const double *exact, size_t n);

/* The same for exact (n) in host memory. */
ulp_status ulp_pass_round_host(ulp_pass *pass, ulp_site site, float *x, const double *exact, size_t n);

/* Count x (n), which an exact operation made from values of the point's format, and show it to the observer. */
ulp_status ulp_pass_show(ulp_pass *pass, ulp_site site, const float *x, size_t n);

/* ---- operations that end in one rounding; B rows of site.per_sample elements ---- */

/* y = a + b. */
ulp_status ulp_pass_add(ulp_pass *pass, ulp_site site, float *y, const float *a, const float *b);

/* y = f(x); dx = f'(x) dy from `at`, which is x or y (activation.h says of which function). */
ulp_status ulp_pass_curve(ulp_pass *pass, ulp_site site, ulp_activation f, float *y, const float *x);
ulp_status ulp_pass_slope(ulp_pass *pass, ulp_site site, ulp_activation f, float *dx, const float *dy, const float *at);

/* C = A B by the policy's datapath of forward products (ULP_USE_FORWARD, ULP_USE_BIAS) or of backward ones. */
ulp_status ulp_pass_gemm(ulp_pass *pass, ulp_site site, float *c, const float *a, const float *b,
                         const ulp_gemm_shape *shape);

#ifdef __cplusplus
}
#endif
#endif
