/* attention_backward.c - the backward pass of attention; attention.c has its formulas. */
#include "attention.h"

#include <math.h>

/* The arrays of a backward pass, in the workspace. */
typedef struct backward_arrays {
    float *dmix;  /* (B,T,d) */
    float *again; /* (2 B T d), for blocks */
    float *ds;    /* (B,H,T,T): first dp */
    float *dqkv;  /* (B,T,w) */
    float *p;     /* (B,H,T,T), for blocks */
    float *dots;  /* (B,H,T), for blocks */
} backward_arrays;

static backward_arrays arrays_of(const attention *s) {
    backward_arrays a = {.dmix = s->t->own.work};
    a.again = a.dmix + s->B * s->T * s->d;
    a.ds = a.again + 2 * s->B * s->T * s->d;
    a.dqkv = a.ds + s->B * s->H * s->T * s->T;
    a.p = a.dqkv + s->B * s->T * s->w;
    a.dots = a.p + s->B * s->H * s->T * s->T;
    return a;
}

/* ds (B,H,T,T) = scale p (dp - sums), rounded; p are the weights. */
static ulp_status find_score_gradients(const attention *s, const backward_arrays *a, const float *p,
                                       const float *dots) {
    const size_t weights = s->H * s->T * s->T, values = (s->H + s->K) * s->e, n = s->B * weights;
    const ulp_scores by = ulp_attention_scores(s);
    const double scale = (double)(float)(1.0 / sqrt((double)s->e));
    double *exact = s->pass->scratch.wide;
    const ulp_gemm_batch batch = {
        .shape = {.m = s->T, .n = s->T, .k = s->e, .lda = s->d, .ldb = s->w, .ldc = s->T, .b_trans = 1},
        .outer = s->B,
        .inner = s->H,
        .b_share = s->H / s->K,
        .a_stride = {s->T * s->d, s->e},
        .b_stride = {s->T * s->w, s->e},
        .c_stride = {weights, s->T * s->T}};
    ULP_TRY(ulp_attention_products(s, ulp_attention_site(s, ULP_USE_BACKWARD, 1, 0), a->ds, a->dmix, s->qkv + values,
                                   &batch));
    ULP_TRY(ulp_pass_round(s->pass, ulp_attention_site(s, ULP_AT_AGRAD, 2, weights), a->ds, n));
    ULP_TRY(ulp_backend_attention_slope(s->pass->run.backend, exact, p, a->ds, dots, &by, scale));
    return ulp_pass_round64(s->pass, ulp_attention_site(s, ULP_AT_AGRAD, 3, weights), a->ds, exact, n);
}

/* c, the columns of all k or of all v in dqkv, = a' b, summed over the heads that share them. a (B,H,T,T); b (B,T,H,e),
 * whose tokens are `row` numbers apart. */
static ulp_status shared_gradient(const attention *s, uint32_t lane, float *c, const float *a, const float *b,
                                  size_t row) {
    const size_t group = s->H / s->K;
    ulp_gemm_batch batch = {
        .shape = {.m = s->T, .n = s->e, .k = s->T, .lda = s->T, .ldb = row, .ldc = s->w, .a_trans = 1},
        .outer = s->B,
        .inner = s->K,
        .b_share = 1,
        .a_stride = {s->H * s->T * s->T, group * s->T * s->T},
        .b_stride = {s->T * row, group * s->e},
        .c_stride = {s->T * s->w, s->e}};
    for (size_t g = 0; g < group; g++) {
        const ulp_site site = ulp_attention_site(s, ULP_USE_BACKWARD, lane + 2 * (uint32_t)g, 0);
        batch.shape.accumulate = g > 0;
        ULP_TRY(ulp_attention_products(s, site, c, a + g * s->T * s->T, b + g * s->e, &batch));
    }
    return ULP_OK;
}

/* dqkv (B,T,w), rounded and turned back. */
static ulp_status find_inner_gradients(const attention *s, const backward_arrays *a, const float *p) {
    const size_t keys = s->H * s->e, values = keys + s->K * s->e, n = s->B * s->T * s->w;
    const ulp_gemm_batch batch = {.shape = {.m = s->T, .n = s->e, .k = s->T, .lda = s->T, .ldb = s->w, .ldc = s->w},
                                  .outer = s->B,
                                  .inner = s->H,
                                  .b_share = s->H / s->K,
                                  .a_stride = {s->H * s->T * s->T, s->T * s->T},
                                  .b_stride = {s->T * s->w, s->e},
                                  .c_stride = {s->T * s->w, s->e}};
    ULP_TRY(ulp_attention_products(s, ulp_attention_site(s, ULP_USE_BACKWARD, 2, 0), a->dqkv, a->ds, s->qkv + keys,
                                   &batch));
    ULP_TRY(shared_gradient(s, 3, a->dqkv + keys, a->ds, s->qkv, s->w));
    ULP_TRY(shared_gradient(s, 4, a->dqkv + values, p, a->dmix, s->d));
    ULP_TRY(ulp_pass_round(s->pass, ulp_attention_site(s, ULP_AT_AGRAD, 4, s->T * s->w), a->dqkv, n));
    return ulp_attention_turn(s, a->dqkv, 1, ulp_attention_site(s, ULP_AT_AGRAD, 5, s->T * s->w));
}

/* dw (k,n) = a' b over all tokens, a part of the layer's weight gradients. */
static ulp_status weight_gradient(const attention *s, uint32_t lane, float *dw, const float *a, size_t k,
                                  const float *b, size_t n) {
    const size_t rows = s->B * s->T;
    const ulp_gemm_shape shape = {.m = k, .n = n, .k = rows, .lda = k, .ldb = n, .ldc = n, .a_trans = 1};
    const ulp_pass_whole whole = {ulp_site_weight_gradients(s->layer), s->t->dw};
    return ulp_pass_gemm_part(s->pass, ulp_attention_with_weights(s, ULP_USE_WPRODUCT, lane, 0), dw, a, b, &shape,
                              &whole);
}

ulp_status ulp_attention_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const attention s = ulp_attention_of(layer, pass, t);
    const backward_arrays a = arrays_of(&s);
    const int of_blocks = layer->arg[BLOCK] > 0;
    const size_t rows = s.B * s.T;
    const float *p = of_blocks ? a.p : s.p;
    const ulp_pass_whole of_w = {ulp_site_weight_gradients(layer), t->dw},
                         of_mix = {ulp_attention_site(&s, ULP_AT_AGRAD, 1, s.T * s.d), a.dmix},
                         of_x = {ulp_site_input_gradient(layer), t->dx};
    const ulp_gemm_shape mix = {.m = rows, .n = s.d, .k = s.d, .lda = s.d, .ldb = s.d, .ldc = s.d, .b_trans = 1},
                         dx = {.m = rows, .n = s.d, .k = s.w, .lda = s.w, .ldb = s.w, .ldc = s.d, .b_trans = 1};
    ULP_TRY(weight_gradient(&s, 1, t->dw + s.d * s.w, s.mix, s.d, t->dy, s.d));
    ULP_TRY(ulp_pass_gemm_part(pass, ulp_attention_with_weights(&s, ULP_USE_BACKWARD, 0, s.T), a.dmix, t->dy, s.out,
                               &mix, &of_mix));
    ULP_TRY(ulp_pass_round_whole(pass, &of_mix, rows * s.d));
    if (of_blocks) ULP_TRY(ulp_attention_again(&s, a.p, a.dots, a.dmix, a.again));
    ULP_TRY(find_score_gradients(&s, &a, p, of_blocks ? a.dots : NULL));
    ULP_TRY(find_inner_gradients(&s, &a, p));
    ULP_TRY(weight_gradient(&s, 0, t->dw, t->x, s.d, a.dqkv, s.w));
    ULP_TRY(ulp_pass_round_whole(pass, &of_w, layer->params));
    if (!t->dx) return ULP_OK;
    ULP_TRY(ulp_pass_gemm_part(pass, ulp_attention_with_weights(&s, ULP_USE_BACKWARD, 4095, s.T), t->dx, a.dqkv, s.into,
                               &dx, &of_x));
    return ulp_pass_round_whole(pass, &of_x, rows * s.d);
}
