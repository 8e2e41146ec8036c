/* layer.h - the interface of a kind of layer, and the table of kinds.
 *
 * A kind is one file sim/layer_NAME.c that exports one const ulp_layer_kind ulp_layer_NAME, and its NAME in
 * the list at the top of layer.c: declaration and table come from that one word. Everything else (parser, trainer,
 * help, the gradient test by finite differences) goes through the table.
 */
#ifndef ULP_LAYER_H
#define ULP_LAYER_H

#include "sim/pass.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One sample's shape; a vector is (n,1,1). */
typedef struct ulp_dims {
    size_t c, h, w;
} ulp_dims;

typedef struct ulp_layer ulp_layer;

/* What a layer computes on; B samples, m = in, n = out elements per sample. Backend memory. */
typedef struct ulp_layer_tensors {
    const float *x;  /* (B,m) */
    float *y;        /* (B,n) */
    const float *w;  /* (params) */
    const float *dy; /* (B,n) */
    float *dx;       /* (B,m), or NULL: not wanted */
    float *dw;       /* (params) */
} ulp_layer_tensors;

typedef struct ulp_layer_kind {
    const char *name;    /* the letters before the numbers: "fc" */
    const char *usage;   /* "fcN: fully connected, N outputs" */
    const char *example; /* a word for tests: "fc5" */
    double gain;         /* variance a following layer wants of weights before it: 2 before relu (He), else 1 */

    /* From layer->in and what follows the name in the word: set out and params. Non-OK: the word is wrong. */
    ulp_status (*shape)(ulp_layer *layer, const char *args);
    /* w (params) host memory: initial weights; std > 0 replaces the layer's own scale. NULL: no parameters. */
    void (*init)(const ulp_layer *layer, float *w, ulp_stream stream, double std);
    /* y from x and w, rounded at ULP_AT_ACT as tensor number index + 1. */
    ulp_status (*forward)(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t);
    /* dw and dx from dy, x, y and w, rounded at ULP_AT_WGRAD and, as tensor number index, at ULP_AT_AGRAD. */
    ulp_status (*backward)(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t);
    /* The same function in binary64 without any rounding point, for checks: y (B,n), x (B,m), w (params), host. */
    void (*forward64)(const ulp_layer *layer, double *y, const double *x, const double *w, size_t B);
} ulp_layer_kind;

struct ulp_layer {
    const ulp_layer_kind *kind;
    char word[24];      /* as in the net's text */
    size_t index;       /* its number in the net, from 0 */
    ulp_dims in, out;
    size_t params;      /* weights and biases */
    size_t first_param; /* where they start in the net's parameters */
    double gain;        /* of the layer that follows */
    size_t arg[4];      /* the kind's own numbers */
};

static inline size_t ulp_dims_size(ulp_dims d) { return d.c * d.h * d.w; }

/* The i-th kind; NULL past the end. */
const ulp_layer_kind *ulp_layer_kind_get(size_t i);

#ifdef __cplusplus
}
#endif
#endif
