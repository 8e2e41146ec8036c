/* attention.h - the sizes and the arrays of a layer of attention, for its files. */
#ifndef ULP_LAYER_ATTENTION_H
#define ULP_LAYER_ATTENTION_H

#include "layer.h"

/* Indices in layer->arg. SHARED: heads of keys and values. BLOCK: keys in a block, 0: all at once. ROTATED: 1: q and k
 * are turned by their places; layer->format is the format of the angles. layer->number is beta. */
enum { HEADS, SHARED, BLOCK, CAUSAL, BASE2, WHOLE_MAXIMA, ROTATED };

/* One pass through a layer. H heads of e = d / H features; K heads of keys and values; w = (H + 2 K) e. */
typedef struct attention {
    const ulp_layer *layer;
    ulp_pass *pass;
    const ulp_layer_tensors *t;
    size_t B, T, d, H, K, e, w;
    const float *into, *out; /* W (d,w), O (d,d) */
    float *qkv;              /* saved: (B,T,w), after the rotation */
    float *p;                /* saved: (B,H,T,T) the weights; the scores if there are blocks */
    float *mix;              /* saved: (B,T,d) the sums of values, heads side by side */
    float *maximum, *sum;    /* saved, with blocks: (B,H,T) */
} attention;

attention ulp_attention_of(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t);

/* The scores of all rows, as kernels/functions/attention.h has them; the block is all keys. */
ulp_scores ulp_attention_scores(const attention *s);

/* The site of an inner tensor of the layer: a number in 1 .. 4095 that tells it from others of its use. */
ulp_site ulp_attention_site(const attention *s, uint32_t use, uint32_t lane, size_t per_sample);

/* The site of a product with W or O. */
ulp_site ulp_attention_with_weights(const attention *s, uint32_t use, uint32_t lane, size_t per_sample);

/* x (B,T,w) = its q and k turned by their places, or back; rounded at a site. */
ulp_status ulp_attention_turn(const attention *s, float *x, int back, ulp_site site);

/* Products of activations, head by head; the batch says how many rows a sample has. */
ulp_status ulp_attention_products(const attention *s, ulp_site site, float *c, const float *a, const float *b,
                                  const ulp_gemm_batch *batch);

/* mix = the sums of values, from the scores p and from qkv, block by block. attention_blocks.c */
ulp_status ulp_attention_mix_blocks(const attention *s);

/* weights (B,H,T,T) from the scores, and dots (B,H,T) = the sums of dmix mix over the features of each head, for the
 * backward pass; work (2 B T d). attention_blocks.c */
ulp_status ulp_attention_again(const attention *s, float *weights, float *dots, const float *dmix, float *work);

ulp_status ulp_attention_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t);

#endif
