/* attention_parts.c - what the passes of attention share: sizes, sites, rotations, batches of products. */
#include "attention.h"

attention ulp_attention_of(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    attention s = {.layer = layer, .pass = pass, .t = t, .B = pass->now.B, .T = layer->in.h, .d = layer->in.w};
    s.H = layer->arg[HEADS];
    s.K = layer->arg[SHARED];
    s.e = s.d / s.H;
    s.w = (s.H + 2 * s.K) * s.e;
    s.into = t->w;
    s.out = t->w + s.d * s.w;
    s.qkv = t->saved;
    s.p = s.qkv + s.B * s.T * s.w;
    s.mix = s.p + s.B * s.H * s.T * s.T;
    s.maximum = s.mix + s.B * s.T * s.d;
    s.sum = s.maximum + s.B * s.H * s.T;
    return s;
}

ulp_scores ulp_attention_scores(const attention *s) {
    const size_t *arg = s->layer->arg;
    return (ulp_scores){.rows = s->B * s->H * s->T,
                        .queries = s->T,
                        .keys = s->T,
                        .from = 0,
                        .to = s->T,
                        .causal = (uint8_t)arg[CAUSAL],
                        .base2 = (uint8_t)arg[BASE2],
                        .whole_maxima = (uint8_t)arg[WHOLE_MAXIMA],
                        .beta = (float)s->layer->number};
}

ulp_site ulp_attention_site(const attention *s, uint32_t use, uint32_t lane, size_t per_sample) {
    const size_t layer = s->layer->index + (use == ULP_AT_ACT);
    return (ulp_site){.use = use, .lane = lane, .layer = layer, .per_sample = per_sample};
}

ulp_status ulp_attention_products(const attention *s, ulp_site site, float *c, const float *a, const float *b,
                                  const ulp_gemm_batch *batch) {
    site.per_sample = batch->inner * batch->shape.m;
    return ulp_pass_gemm_batch(s->pass, site, c, a, b, batch);
}

ulp_site ulp_attention_with_weights(const attention *s, uint32_t use, uint32_t lane, size_t per_sample) {
    ulp_site site = ulp_attention_site(s, use, lane, per_sample);
    site.operands = ULP_SITE_STRAIGHT;
    return site;
}

static ulp_rotation rotation_of(const attention *s, int back) {
    return (ulp_rotation){.rows = s->B * s->T,
                          .T = s->T,
                          .width = s->w,
                          .from = 0,
                          .heads = s->H + s->K,
                          .size = s->e,
                          .back = (uint8_t)back};
}

ulp_status ulp_attention_turn(const attention *s, float *x, int back, ulp_site site) {
    const ulp_rotation by = rotation_of(s, back);
    double *exact = s->pass->scratch.wide;
    if (!s->layer->arg[ROTATED]) return ULP_OK;
    ULP_TRY(ulp_backend_rotate(s->pass->run.backend, exact, x, s->t->state, &by));
    return ulp_pass_round64(s->pass, site, x, exact, s->B * s->T * s->w);
}
