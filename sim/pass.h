/* pass.h - the operations of one pass of a batch through a net: rounding, multiplying, counting and observing.
 *
 * Layers, losses and the trainer round and multiply only through these functions, so every rounding has a rounding
 * point, a random stream and an observer, on every backend.
 */
#ifndef ULP_PASS_H
#define ULP_PASS_H

#include "sim/policy/policy.h"
#include "sim/train/profile.h"
#include "tensor.h"

ULP_C_BEGIN

/* A tensor at a rounding point, as an observer sees it. */
typedef struct ulp_observation {
    ulp_point_kind point;
    size_t layer; /* as in ulp_stream_id */
    uint64_t step;
    int scale_log2; /* gradients carry the factor 2^scale_log2 */
    size_t n;
    const float *raw;     /* (n) before the rounding, as the accumulators hold the numbers */
    const float *rounded; /* (n) after the rounding */
} ulp_observation;

typedef struct ulp_observer {
    void (*see)(void *context, const ulp_observation *observed); /* host arrays, valid during the call only */
    void *context;
    uint32_t points; /* bit 1 << point is set for each point that the observer wants to see */
} ulp_observer;

/* ---- the state of a pass, ordered by lifetime ---- */

/* Settings that never change during a run. */
typedef struct ulp_pass_run {
    const ulp_backend *backend;
    const ulp_policy *policy;
    const ulp_layer_policy *rows; /* [1 + layers] (policy.h), NULL if the policy has no selections */
    uint64_t seed;
    ulp_profile *profile; /* may be NULL; of training passes alone */
    unsigned later;       /* scratch arrays that a policy needs which replaces this one (policy/operand_parts.h) */
} ulp_pass_run;

/* The factors that gradients carry. */
typedef struct ulp_pass_scales {
    int log2;         /* log2 of the loss scale; all gradients carry it if `layer` is NULL */
    const int *layer; /* (layers) log2 of each layer's loss scale; NULL: one loss scale for all layers */
    size_t layers;
} ulp_pass_scales;

/* The settings of the current pass. The code that starts a pass sets all fields; they stay until the next pass. */
typedef struct ulp_pass_now {
    uint64_t step;
    uint32_t evaluation;
    int counting; /* 1: fill the counts; counted rounding takes longer */
    size_t B;     /* samples in this batch */
    size_t first; /* number of the first sample, so that an evaluation in pieces rounds like one batch */
    size_t rank;  /* of data-parallel training, else 0; every rank has random words of its own (policy.h) */
    size_t parts; /* micro-batches of a step: the loss's gradient is divided by their number; 0: the batch is whole */
    ulp_pass_scales scales;
    const ulp_observer *observer; /* may be NULL */
    uint8_t deferred; /* 1: products do not wait for the check of their operands; the model asks ulp_backend_settle() */
} ulp_pass_now;

/* The number of elements at a rounding point, rounded or exact, and the number of zeros among them. */
typedef struct ulp_tally {
    uint64_t count, zero;
} ulp_tally;

/* The counts of a pass. ulp_pass_begin() clears them; all other functions add to them. */
typedef struct ulp_pass_counts {
    ulp_stats rounded[ULP_AT_COUNT]; /* of act, wgrad, agrad and loss; conversions to binary32 are not counted */
    ulp_tally all[ULP_AT_COUNT];     /* of the same points; conversions to binary32 and exact operations are counted */
} ulp_pass_counts;

/* The largest magnitudes of the last steps, for delayed tensor scales. The history is kept for the whole run. */
typedef struct ulp_amax_history {
    float *amax;    /* (points, tensors, steps + 1) host memory; the column of a step is step mod (steps + 1) */
    size_t tensors; /* number of tensors of the net: its input and the output of every layer */
    size_t steps;
} ulp_amax_history;

/* Scratch memory of pass.c; layers and losses have results in `wide` until they round them. Nothing in it is kept
 * between two calls. */
typedef struct ulp_pass_scratch {
    double *wide; /* (elements) backend memory */
    /* Backend memory for products (policy/operand_parts.h): operands (operands), their scales (operands) and the work
     * of finding them (2 operands + 1), sums (operands), operands and sums of integers (operands). Arrays that no
     * policy needs are NULL. */
    float *operand[2], *scale[2], *sums;
    double *work, *integer[3];
    float *raw, *rounded; /* (elements) host memory */
    double *host;         /* (elements) host memory */
} ulp_pass_scratch;

typedef struct ulp_pass {
    ulp_pass_run run;
    ulp_pass_now now;
    ulp_pass_counts counts;
    ulp_amax_history history;
    ulp_pass_scratch scratch;
    ulp_datapath plain; /* fp32, of the sums beside products with parts (policy/operand_parts.h) */
} ulp_pass;

/* Carve the backend's part of the scratch for tensors of at most `elements` elements (it runs twice, see tensor.h), and
 * for operands of products of at most `operands` elements, if this or a later policy casts operands. */
void ulp_pass_carve(ulp_pass *pass, ulp_arena *arena, size_t elements, size_t operands);

/* The bytes of the arrays for products that the flags of ulp_policy_scratch() ask for. */
size_t ulp_pass_scratch_bytes(unsigned flags, size_t operands);

/* The largest number of steps of the delayed tensor scales of a policy; rows [tensors] as in ulp_pass_run. */
size_t ulp_longest_history(const ulp_policy *policy, const ulp_layer_policy *rows, size_t tensors);

/* Allocate the host's part of the scratch, and the history for `tensors` tensors and the longest history of the policy,
 * or for history.steps, if that is more.
 * ulp_pass_release() frees both, also after a failure. */
ulp_status ulp_pass_alloc(ulp_pass *pass, size_t elements, size_t tensors);
void ulp_pass_release(ulp_pass *pass);

/* The index of the first random word of this rank, to add to the index of a stream: rank 2^48. */
static inline uint64_t ulp_pass_first_word(const ulp_pass *pass) { return (uint64_t)pass->now.rank << 48; }

/* Clear the counts and the history's column of pass->now.step. Call it before the first rounding of a training step. */
void ulp_pass_begin(ulp_pass *pass);

/* ---- rounding ---- */

/* A tensor of a pass: its use, its layer, and the samples of its rows. */
enum { ULP_SITE_AS_IT_IS, ULP_SITE_STRAIGHT, ULP_SITE_SWAPPED, ULP_SITE_KERNELS, ULP_SITE_CAST };

typedef struct ulp_site {
    uint32_t use;      /* a ulp_point_kind; for a product ULP_USE_FORWARD to ULP_USE_BPRODUCT */
    uint32_t lane;     /* the number of an inner tensor of a layer, else 0 (policy.h) */
    size_t layer;      /* as in ulp_stream_id */
    size_t per_sample; /* elements per sample, of a product rows per sample; 0: the tensor has no samples (weights) */
    size_t skip;       /* number of samples of the batch before the first row */
    uint8_t operands; /* of a product with weights, whose operands the policy may cast (policy/operand_cast.h): STRAIGHT
                         for products x w, g w' and x' g, SWAPPED where the two change places; KERNELS: straight, a row
                         of the weights is a kernel; CAST: straight, the weights have their cast; else AS_IT_IS */
} ulp_site;

/* The site of a tensor that is the only one of its use in its layer, with all samples of the batch. */
static inline ulp_site ulp_site_of(uint32_t use, size_t layer, size_t per_sample) {
    return (ulp_site){
        .use = use, .lane = 0, .layer = layer, .per_sample = per_sample, .skip = 0, .operands = ULP_SITE_AS_IT_IS};
}

/* The same for a product with weights, of operands in their places. */
static inline ulp_site ulp_site_product(uint32_t use, size_t layer, size_t per_sample) {
    ulp_site site = ulp_site_of(use, layer, per_sample);
    site.operands = ULP_SITE_STRAIGHT;
    return site;
}

/* log2 of the loss scale that a tensor carries:
 *
 *  - gradients of weights: the scale of their layer
 *  - gradients of activations (number `layer` as in ulp_stream_id): the scale of the layer that outputs the activation
 *  - gradients of inner tensors of a layer (a lane other than 0): the scale of the layer */
int ulp_pass_scale(const ulp_pass *pass, const ulp_site *site);

/* If layers have scales of their own, every function that rounds an activation gradient first multiplies the gradient
 * by the quotient of two scales: the scale of the layer that receives the gradient, divided by the scale of the layer
 * that computed the gradient. The product is exact except at the ends of the range of binary32. So a layer rounds the
 * gradient of its input once, at ULP_AT_AGRAD. A layer without parameters has the scale of the layer before it and may
 * pass on a gradient without rounding. Gradients of inner tensors are not multiplied. */

/* log2 of the factor that brings a gradient from the scale of layer `from` to the scale of layer `to`. */
int ulp_pass_scale_between(const ulp_pass *pass, size_t from, size_t to);

/* y (n) = x (n) times 2^log2; y may be x. */
ulp_status ulp_pass_rescale(const ulp_pass *pass, float *y, const float *x, size_t n, int log2);

/* Round x (n) in place. A rounding that changes no value is not executed, but the observer sees the tensor. */
ulp_status ulp_pass_round(ulp_pass *pass, ulp_site site, float *x, size_t n);

/* x (n) = exact (n), backend memory, rounded once from binary64. The observer sees the exact values converted to
 * binary32. */
ulp_status ulp_pass_round64(ulp_pass *pass, ulp_site site, float *x, const double *exact, size_t n);

/* As ulp_pass_round64(), for exact (n) in host memory. */
ulp_status ulp_pass_round_host(ulp_pass *pass, ulp_site site, float *x, const double *exact, size_t n);

/* Count x (n) and show x to the observer, without a rounding: an exact operation computed x from values of the point's
 * format. If the layer that computed these values has another cast at this point, x is rounded. */
ulp_status ulp_pass_show(ulp_pass *pass, ulp_site site, float *x, size_t n);

/* Round x (n) if tensor number `from`, an activation or a gradient of the net whose values x has, has another cast than
 * x. A copy that is not rounded is neither counted nor shown. */
ulp_status ulp_pass_copied(ulp_pass *pass, ulp_site site, size_t from, float *x, size_t n);

/* ---- operations that end in one rounding, on B rows of site.per_sample elements ---- */

/* y = a + b. */
ulp_status ulp_pass_add(ulp_pass *pass, ulp_site site, float *y, const float *a, const float *b);

/* y (n) = a (n) + b (n). */
ulp_status ulp_pass_add_n(ulp_pass *pass, ulp_site site, float *y, const float *a, const float *b, size_t n);

/* y = f(x). dx = f'(x) dy, computed from `at`, which is x or y (elementwise.h says which for each function). */
ulp_status ulp_pass_curve(ulp_pass *pass, ulp_site site, ulp_activation f, float *y, const float *x);
ulp_status ulp_pass_slope(ulp_pass *pass, ulp_site site, ulp_activation f, float *dx, const float *dy, const float *at);

/* C = A B by the policy's datapath of forward products (ULP_USE_FORWARD, ULP_USE_BIAS) or of backward products. */
ulp_status ulp_pass_gemm(ulp_pass *pass, ulp_site site, float *c, const float *a, const float *b,
                         const ulp_gemm_shape *shape);

/* Signs or ternary numbers of a group of kernels (rows,columns), a row for each kernel, before the weights are
 * rearranged for a product: *w = their values in scratch memory, which the next product overwrites, and the site says
 * so. Other casts are left to the product. */
ulp_status ulp_pass_cast_kernels(ulp_pass *pass, ulp_site *site, const float **w, size_t rows, size_t columns);

/* As ulp_pass_gemm(), for a batch of products of the layer's activations. site.per_sample is the number of rows of all
 * products of a sample. */
ulp_status ulp_pass_gemm_batch(ulp_pass *pass, ulp_site site, float *c, const float *a, const float *b,
                               const ulp_gemm_batch *batch);

/* Whether the policy casts an operand of the products of a layer. */
int ulp_pass_casts(const ulp_pass *pass, size_t layer);

/* The datapath of the products of a layer: forward, or backward. */
const ulp_datapath *ulp_pass_datapath(const ulp_pass *pass, size_t layer, int forward);

/* The rounding that the policy gives a tensor, without counts and tensor scales, for operations that round inside. */
ulp_rounding ulp_pass_rounding(const ulp_pass *pass, ulp_site site);

/* A tensor that products form in parts, and its rounding point. */
typedef struct ulp_pass_whole {
    ulp_site site;
    float *x;
} ulp_pass_whole;

/* As ulp_pass_gemm(), for a C with rows that follow each other: a part of the tensor `whole`. C is also rounded, if the
 * rounding of a part needs no other part and nothing looks at the numbers in between. ulp_pass_round_whole() ends the
 * tensor of n elements: it rounds the tensor if the products did not. A profile times products and roundings apart, so
 * that they are not joined then. */
ulp_status ulp_pass_gemm_part(ulp_pass *pass, ulp_site site, float *c, const float *a, const float *b,
                              const ulp_gemm_shape *shape, const ulp_pass_whole *whole);
ulp_status ulp_pass_round_whole(ulp_pass *pass, const ulp_pass_whole *whole, size_t n);

ULP_C_END
#endif
