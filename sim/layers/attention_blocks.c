/* attention_blocks.c - attention whose softmax goes through the keys in blocks, with running maxima and sums.
 *
 * kernels/functions/attention.h has the formulas. Each arrow is a rounding. For each block of keys, with the maximum m
 * of a row before the block and m' after it:
 *
 *   factor <- f(shift(m) - shift(m'))   at norm      p <- f(s - shift(m'))              at prob
 *   sum <- sum factor, then sum + p     at norm      o <- o factor, then o + p v        o factor to nearest in the
 * format of the datapath's results After the last block: mix <- o / sum, at act. The backward pass computes the weights
 * again from the scores, p <- f(s - shift(m)) / sum at prob, and takes sum_j p_j dp_j as dots <- dmix mix, at norm, as
 * FlashAttention does (Dao et al. 2022, arXiv:2205.14135, section B.2).
 */
#include "attention.h"

#include "sim/tensor.h"

/* The lanes of norm, of the blocks at prob and of products begin here. */
enum { LANE_FACTOR = 1, LANE_SUM = 2, LANE_DOTS = 3, LANE_AGAIN = 4095, LANE_PRODUCT = 8 };

static ulp_status start(const attention *s, float *o) {
    const ulp_backend *backend = s->pass->run.backend;
    const size_t rows = s->B * s->H * s->T;
    ULP_TRY(ulp_tensor_fill(backend, s->maximum, rows, -INFINITY));
    ULP_TRY(ulp_tensor_fill(backend, s->sum, rows, 0.0f));
    return ulp_tensor_fill(backend, o, rows * s->e, 0.0f);
}

/* o (B,H,T,e) <- o factor, in the format of the results of products. */
static ulp_status rescale(const attention *s, float *o, const float *factor) {
    const ulp_backend *backend = s->pass->run.backend;
    const size_t rows = s->B * s->H * s->T;
    double *exact = s->pass->scratch.wide;
    const ulp_rounding nearest = {.format = &ulp_pass_datapath(s->pass, s->layer->index, 1)->result};
    ULP_TRY(ulp_backend_row_scale(backend, exact, o, factor, rows, s->e, 0));
    ULP_TRY(ulp_backend_round64(backend, exact, exact, rows * s->e, nearest));
    return ulp_backend_narrow(backend, o, exact, rows * s->e);
}

/* One block: by->from, ..., by->to - 1. */
static ulp_status take_block(const attention *s, const ulp_scores *by, float *o, float *p, float *factor) {
    const ulp_backend *backend = s->pass->run.backend;
    const size_t rows = s->H * s->T, width = by->to - by->from, values = (s->H + s->K) * s->e;
    const uint32_t number = (uint32_t)(by->from / s->layer->arg[BLOCK]);
    double *exact = s->pass->scratch.wide;
    const ulp_site of_factor = ulp_attention_site(s, ULP_AT_NORM, LANE_FACTOR + 4 * number, rows),
                   of_sum = ulp_attention_site(s, ULP_AT_NORM, LANE_SUM + 4 * number, rows * ulp_scores_words(by)),
                   of_p = ulp_attention_site(s, ULP_AT_PROB, number, rows * width),
                   product = ulp_attention_site(s, ULP_USE_FORWARD, LANE_PRODUCT + number, 0);
    ulp_gemm_batch batch = {.shape = {.m = s->T, .n = s->e, .k = width, .lda = width, .ldb = s->w, .ldc = s->e},
                            .outer = s->B,
                            .inner = s->H,
                            .b_share = s->H / s->K,
                            .a_stride = {rows * width, s->T * width},
                            .b_stride = {s->T * s->w, s->e},
                            .c_stride = {rows * s->e, s->T * s->e}};
    batch.shape.accumulate = 1;
    ULP_TRY(ulp_backend_softmax_maxima(backend, s->maximum, exact, s->p, by));
    ULP_TRY(ulp_pass_round64(s->pass, of_factor, factor, exact, s->B * rows));
    ULP_TRY(ulp_backend_softmax_block(backend, exact, s->p, s->maximum, NULL, by));
    ULP_TRY(ulp_pass_round64(s->pass, of_p, p, exact, s->B * rows * width));
    ULP_TRY(ulp_backend_softmax_sums(backend, s->sum, p, factor, by, ulp_pass_rounding(s->pass, of_sum)));
    ULP_TRY(rescale(s, o, factor));
    return ulp_attention_products(s, product, o, p, s->qkv + values + by->from * s->w, &batch);
}

ulp_status ulp_attention_mix_blocks(const attention *s) {
    const ulp_backend *backend = s->pass->run.backend;
    const size_t rows = s->B * s->H * s->T, block = s->layer->arg[BLOCK];
    float *p = s->t->own.work, *factor = p + rows * s->T, *o = factor + rows;
    ulp_scores by = ulp_attention_scores(s);
    ULP_TRY(start(s, o));
    for (by.from = 0; by.from < s->T; by.from = by.to) {
        by.to = by.from + block < s->T ? by.from + block : s->T;
        ULP_TRY(take_block(s, &by, o, p, factor));
    }
    ULP_TRY(ulp_backend_row_scale(backend, s->pass->scratch.wide, o, s->sum, rows, s->e, 1));
    ULP_TRY(ulp_pass_round64(s->pass, ulp_attention_site(s, ULP_AT_ACT, 3, s->T * s->d), o, s->pass->scratch.wide,
                             rows * s->e));
    return ulp_backend_permute(backend, s->mix, o, (ulp_permute_shape){s->B, s->H, s->T, s->e});
}

ulp_status ulp_attention_again(const attention *s, float *weights, float *dots, const float *dmix, float *work) {
    const ulp_backend *backend = s->pass->run.backend;
    const size_t rows = s->H * s->T, n = s->B * s->T * s->d;
    const ulp_scores by = ulp_attention_scores(s);
    const ulp_permute_shape heads = {s->B, s->T, s->H, s->e};
    double *exact = s->pass->scratch.wide;
    ULP_TRY(ulp_backend_softmax_block(backend, exact, s->p, s->maximum, s->sum, &by));
    ULP_TRY(ulp_pass_round64(s->pass, ulp_attention_site(s, ULP_AT_PROB, LANE_AGAIN, rows * s->T), weights, exact,
                             s->B * rows * s->T));
    ULP_TRY(ulp_backend_permute(backend, work, dmix, heads));
    ULP_TRY(ulp_backend_permute(backend, work + n, s->mix, heads));
    ULP_TRY(ulp_backend_row_dots(backend, exact, work, work + n, s->B * rows, s->e));
    return ulp_pass_round64(s->pass, ulp_attention_site(s, ULP_AT_NORM, LANE_DOTS, rows), dots, exact, s->B * rows);
}
