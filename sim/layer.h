/* layer.h - the interface of a kind of layer, and the table of kinds.
 *
 * A kind is one file sim/layers/NAME.c that exports one const ulp_layer_kind ulp_layer_NAME. The Makefile makes the
 * table from the files of the folder; the parser, the trainer, the help and the gradient test by finite differences
 * find the kind through the table.
 */
#ifndef ULP_LAYER_H
#define ULP_LAYER_H

#include "pass.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ulp_cell; /* recurrent.h */

/* One sample's shape; a vector is (n,1,1). */
typedef struct ulp_dims {
    size_t c, h, w;
} ulp_dims;

typedef struct ulp_layer ulp_layer;

/* Memory of the layer whose function runs: it holds nothing between two calls. */
typedef struct ulp_workspace {
    float *work;            /* (B * work) backend memory */
    float *host_x, *host_y; /* (elements) host memory; elements: as many as the largest tensor of pass.h has */
    double *host_wide;      /* (elements) host memory */
} ulp_workspace;

/* What a layer computes on; B samples, m = in, n = out elements per sample. Backend memory. */
typedef struct ulp_layer_tensors {
    const float *x;    /* (B,m) */
    float *y;          /* (B,n) */
    const float *w;    /* (params) */
    const float *dy;   /* (B,n) */
    float *dx;         /* (B,m), or NULL: not wanted */
    float *dw;         /* (params) */
    const float *skip; /* (B,m): of a join, the input of its fork; of a fork, backward: the gradient that came past the
                          block */
    float *saved;      /* (B * saved): written by forward for backward, in the layer's own layout */
    float *state;      /* (states): kept from step to step, not trained; changed in training passes only */
    const float *ones; /* (B * ones) ones */
    ulp_workspace own;
} ulp_layer_tensors;

typedef struct ulp_layer_kind {
    const char *name;    /* the letters before the numbers: "fc" */
    const char *usage;   /* "fcN: fully connected, N outputs" */
    const char *takes;   /* the inputs that it takes, if it does not take all: "a height and a width of K or more" */
    const char *example; /* a net for tests, of at most 64 elements per sample, from an input of (1,4,4): "fc5" */
    double gain;         /* variance of the weights of the layer before: 2 before relu (He), else 1 */
    int nesting;         /* 1 opens a block whose input goes past it (fork), -1 closes it (join), else 0 */
    const struct ulp_cell *cell; /* of a recurrent kind, else NULL */

    /* From layer->in and the rest of the word after the name: set out and params; saved, work, ones, widest and states
     * where they are not 0. ULP_BAD_ARGUMENT: the word is wrong, whatever the input; ULP_UNSUPPORTED: the word is
     * right, but layer->in is not what `takes` says. */
    ulp_status (*shape)(ulp_layer *layer, const char *args);
    /* w (params) host memory: initial weights; std > 0 replaces the layer's own scale. NULL: no parameters. */
    void (*init)(const ulp_layer *layer, float *w, ulp_stream stream, double std);
    /* state (states) host memory: how it begins. NULL: zeros. */
    void (*init_state)(const ulp_layer *layer, float *state);
    /* y from x and w, rounded at ULP_AT_ACT as tensor number index + 1. */
    ulp_status (*forward)(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t);
    /* dw and dx from dy, x, y and w, rounded at ULP_AT_WGRAD and, as tensor number index, at ULP_AT_AGRAD. */
    ulp_status (*backward)(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t);
    /* The same function of a training batch in binary64 without any rounding point, for checks: y (B,n), x (B,m), skip
     * (B,m) of a join, w (params), host memory. NULL: the kind has none. */
    void (*forward64)(const ulp_layer *layer, double *y, const double *x, const double *skip, const double *w,
                      size_t B);
} ulp_layer_kind;

struct ulp_layer {
    const ulp_layer_kind *kind;
    char word[24]; /* as in the net's text */
    size_t index;  /* its number in the net, from 0 */
    ulp_dims in, out;
    size_t params;              /* weights and biases */
    size_t first_param;         /* where they start in the net's parameters */
    size_t states, first_state; /* likewise */
    size_t saved;               /* floats per sample that forward writes for backward */
    size_t work;                /* floats per sample of the workspace's `work` */
    size_t ones;                /* elements per sample of `ones` that the layer reads, if more than one */
    size_t
        widest; /* elements per sample of the largest inner tensor that goes through pass.h; in and out count anyway */
    size_t partner; /* of a fork its join, of a join its fork */
    double gain;    /* of the layer that follows */
    size_t arg[6];  /* the kind's own numbers */
    double number;  /* the kind's own real number */
};

/* The digits at *text, which moves behind them: a number least .. most. ULP_BAD_ARGUMENT if there are none or it is
 * another. */
ulp_status ulp_args_read(size_t *n, const char **text, size_t least, size_t most);

/* A number least .. most that is all of args. */
ulp_status ulp_args_number(size_t *n, const char *args, size_t least, size_t most);

enum { ULP_UNITS_MAX = 1 << 20 }; /* outputs or kernels of one layer */

static inline size_t ulp_dims_size(ulp_dims d) { return d.c * d.h * d.w; }

/* The tensors that a layer rounds: its output, the gradient of its input, the gradients of its weights. */
static inline ulp_site ulp_site_output(const ulp_layer *layer) {
    return ulp_site_of(ULP_AT_ACT, layer->index + 1, ulp_dims_size(layer->out));
}
static inline ulp_site ulp_site_input_gradient(const ulp_layer *layer) {
    return ulp_site_of(ULP_AT_AGRAD, layer->index, ulp_dims_size(layer->in));
}
static inline ulp_site ulp_site_weight_gradients(const ulp_layer *layer) {
    return ulp_site_of(ULP_AT_WGRAD, layer->index, 0);
}

/* The i-th kind; NULL past the end. */
const ulp_layer_kind *ulp_layer_kind_get(size_t i);

#ifdef __cplusplus
}
#endif
#endif
