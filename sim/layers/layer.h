/* layer.h - the interface of a kind of layer, and the table of kinds.
 *
 * A kind is a const ulp_layer_kind ulp_layer_NAME that a file of sim/layers exports. The Makefile makes the
 * table from the files of the folder; the parser, the trainer, the help and the gradient test by finite differences
 * find the kind through the table.
 */
#ifndef ULP_LAYER_H
#define ULP_LAYER_H

#include "sim/pass.h"

ULP_C_BEGIN

struct ulp_cell; /* recurrent.h */

enum { ULP_DECAY_RUNS = 8 };

/* The shape of one sample: channels, height, width. A vector is (n,1,1). */
typedef struct ulp_dims {
    size_t c, h, w;
} ulp_dims;

typedef struct ulp_layer ulp_layer;

/* Scratch memory for the layer function that runs. Nothing in it is kept between two calls. */
typedef struct ulp_workspace {
    float *work; /* (B * work) backend memory */
} ulp_workspace;

/* The tensors of a layer, in backend memory. B samples, m = in and n = out elements per sample. */
typedef struct ulp_layer_tensors {
    const float *x;    /* (B,m) */
    float *y;          /* (B,n) */
    const float *w;    /* (params) */
    const float *dy;   /* (B,n) */
    float *dx;         /* (B,m), or NULL: not wanted */
    float *dw;         /* (params) */
    const float *skip; /* of a join (B,m): the output of the first branch; of a shortcut (B,n): its fork's input */
    const float *past; /* of a fork (B,m) and a shortcut (B,m), backward: the gradient of the partner's output */
    float *saved;      /* (B * saved): written by forward for backward, in the layer's own layout */
    float *state;      /* (states) not trained, but kept from step to step; only training passes change it */
    const float *ones; /* (B * ones) ones */
    ulp_workspace own;
} ulp_layer_tensors;

/* The tensors of a layer in binary64 and host memory, for checks. */
typedef struct ulp_layer64 {
    double *y;          /* (B,n) */
    const double *x;    /* (B,m) */
    const double *skip; /* as in ulp_layer_tensors; of a join and a shortcut alone */
    const double *w;    /* (params) */
} ulp_layer64;

/* The tensors of a layer that its backward function reads, besides gradients, weights and `saved`. */
typedef enum ulp_layer_reads { ULP_READS_NEITHER, ULP_READS_INPUT, ULP_READS_OUTPUT, ULP_READS_BOTH } ulp_layer_reads;

/* The operations of a training step that the lists of amp.h know. */
typedef enum ulp_operation {
    ULP_OPERATION_BY_KIND, /* of a kind of layer: a product if the kind forms products, else an activation */
    ULP_OPERATION_PRODUCT,
    ULP_OPERATION_CONVOLUTION,
    ULP_OPERATION_CELL,
    ULP_OPERATION_NORM,
    ULP_OPERATION_LAYER_NORM,
    ULP_OPERATION_ATTENTION,
    ULP_OPERATION_EMBEDDING,
    ULP_OPERATION_RELU,
    ULP_OPERATION_ACTIVATION,
    ULP_OPERATION_MAX_POOLING,
    ULP_OPERATION_AVERAGE_POOLING,
    ULP_OPERATION_UP_SAMPLING,
    ULP_OPERATION_DROPOUT,
    ULP_OPERATION_SUM,
    ULP_OPERATION_COPY,
    ULP_OPERATION_SOFTMAX,
    ULP_OPERATION_LOSS,
    ULP_OPERATION_LARGE_SUM,
    ULP_OPERATION_UPDATE,
    ULP_OPERATION_KINDS
} ulp_operation;

typedef struct ulp_layer_kind {
    const char *name;    /* the letters before the numbers: "fc" */
    const char *usage;   /* "fcN: fully connected, N outputs" */
    const char *takes;   /* the inputs that the kind takes, NULL: all; "a height and a width of K or more" */
    const char *example; /* a net for tests, of at most 64 elements per sample, from an input of (1,4,4): "fc5" */
    double gain;         /* factor of the variance of the weights of the layer before: 2 of relu (He); 0 stands for 1 */
    ulp_operation operation;
    const char *modifiers; /* words, separated by blanks, that may follow in a net: "attn4 causal" is "attn4:causal" */
    int products; /* 1: the policy's datapaths form sums of products; 2: of the layer's own outputs, too; 3: of inner
                     activations, scores and probabilities, too */
    int turned; /* of a kind whose product of this operand rearranges its weights: ULP_FORWARD_W or ULP_DGRAD_W; else 0
                 */
    int casts;  /* 1: the operands of its products with weights may have casts (policy/operand_cast.h) */
    int ties;   /* 1: the layer has no weights of its own, but those of the layer `partner` */
    int reads_tokens; /* 1: the input is numbers of tokens, which are never rounded */
    int nesting;      /* 1: the layer opens a residual block (fork), -1: it closes the block (join), else 0 */
    int turns;        /* 1: the layer ends the first branch of a block and begins the second one (shortcut) */
    const struct ulp_cell *cell; /* of a recurrent kind, else NULL */
    ulp_layer_reads reads;       /* for footprint.h; a test checks that backward reads no more */
    int passes;                  /* how often forward reads its input; 0 stands for once */

    /* Set out and params from layer->in and args, the rest of the word after the name. Set decays, saved, work, ones,
     * widest, states and the fields for footprint.h where they are not 0. ULP_BAD_ARGUMENT: the word is wrong for every
     * input. ULP_UNSUPPORTED: the word is right, but `takes` excludes layer->in. The parser sets `out` of a kind that
     * turns.
     */
    ulp_status (*shape)(ulp_layer *layer, const char *args);
    /* w (params) = the initial weights, host memory; std > 0 replaces the kind's own standard deviation. NULL: the kind
     * has no parameters. */
    void (*init)(const ulp_layer *layer, float *w, ulp_stream stream, double std);
    /* state (states) = the initial state, host memory. NULL: the state starts at zero. */
    void (*init_state)(const ulp_layer *layer, float *state);
    /* y from x and w, rounded at ULP_AT_ACT as tensor number index + 1. */
    ulp_status (*forward)(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t);
    /* dw and dx from dy, x, y and w, rounded at ULP_AT_WGRAD and, as tensor number index, at ULP_AT_AGRAD. Of a layer
     * without parameters dx is never NULL. */
    ulp_status (*backward)(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t);
    /* The forward function of a training batch in binary64 without rounding points, for checks: y (B,n) from x (B,m), w
     * (params) and, for a join and a shortcut, skip, host memory. NULL: the kind has no such function. */
    void (*forward64)(const ulp_layer *layer, const ulp_layer64 *t, size_t B);
} ulp_layer_kind;

struct ulp_layer {
    const ulp_layer_kind *kind;
    char word[80]; /* as in the net's text */
    size_t index;  /* number of the layer in the net, from 0 */
    ulp_dims in, out;
    size_t params;              /* weights and biases */
    size_t first_param;         /* index of the first one in the net's parameters */
    size_t states, first_state; /* numbers kept and not trained; index of the first one in the net's states */
    size_t saved;               /* floats per sample that forward writes for backward */
    size_t work;                /* floats per sample of the workspace's `work` */
    size_t ones;                /* elements per sample of `ones` that the layer reads, if more than one */
    size_t widest;              /* elements per sample of the largest inner tensor that is rounded */
    size_t scored;              /* most samples that a score takes at a time, if its arrays are large; 0: no limit */
    size_t fork;                /* of a shortcut: the index of its fork */
    size_t partner; /* of a fork: the index of its shortcut, or of its join if the block has no shortcut; of a shortcut:
                       of its join; of a join: of its shortcut, or of its fork; of a layer that ties weights: the layer
                       that has them, and of this layer the other one, else 0 */
    /* For footprint.h, per sample. A machine without emulation keeps fewer numbers than `saved`. */
    size_t multiply_adds; /* of the sums that forward forms; each gradient forms as many */
    size_t feedback;      /* products among them with the layer's own state: backward forms them without dx, too */
    size_t inner;         /* numbers besides input and output that backward needs, in the format of activations */
    size_t places;        /* bytes of indices that backward needs */
    size_t reread;        /* weights that a pass over the batch reads once more, because steps follow each other */
    size_t sums[3];       /* of a kind with casts: a divisor of the lengths of its sums: forward, of the gradient of the
                             input, and for each sample of the gradient of the weights; 0: not known */
    double gain;          /* gain of the kind of the next layer */
    size_t arg[8];        /* for use by the kind, as the next two */
    double number;
    ulp_format format;
    /* Lengths of runs of parameters, in order: the first decays under decays=weights (optim.h), the second does not,
     * the third does, ...; parameters after the runs do not. */
    size_t decays[ULP_DECAY_RUNS];
};

/* Read the digits at *text as a number and move *text after them. ULP_BAD_ARGUMENT if there are no digits or if the
 * number is not in least .. most. */
ulp_status ulp_args_read(size_t *n, const char **text, size_t least, size_t most);

/* Read a number in least .. most that is the whole of args; else ULP_BAD_ARGUMENT. */
ulp_status ulp_args_number(size_t *n, const char *args, size_t least, size_t most);

enum { ULP_UNITS_MAX = 1 << 20 }; /* outputs or kernels of one layer */

static inline size_t ulp_dims_size(ulp_dims d) { return d.c * d.h * d.w; }
static inline int ulp_dims_equal(ulp_dims a, ulp_dims b) { return a.c == b.c && a.h == b.h && a.w == b.w; }

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

/* How most kinds end. The output y, or the gradient dx, is exact and is shown (ulp_pass_show); or it is rounded from
 * pass->scratch.wide. */
static inline ulp_status ulp_layer_show_output(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    return ulp_pass_show(pass, ulp_site_output(layer), t->y, pass->now.B * ulp_dims_size(layer->out));
}
static inline ulp_status ulp_layer_show_gradient(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    return ulp_pass_show(pass, ulp_site_input_gradient(layer), t->dx, pass->now.B * ulp_dims_size(layer->in));
}
ulp_status ulp_layer_round_output(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t);
ulp_status ulp_layer_round_gradient(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t);

/* A sequence of tokens is an image (1,T,d) of one channel: a row is a token of d features. In memory a batch is
 * (B,T,d). */
static inline int ulp_dims_is_tokens(ulp_dims d) { return d.c == 1; }

/* If *args begins with ":WORD", up to the next colon or the end, moves *args after it and returns 1. With a NULL as
 * value the words have to be equal; else WORD is "NAME=VALUE", and VALUE is copied to value (size). */
int ulp_args_option(const char **args, const char *name, char *value, size_t size);

/* The shape of a kind that takes no numbers and changes no shape. */
ulp_status ulp_layer_shape_plain(ulp_layer *layer, const char *args);

/* The i-th kind; NULL past the end. */
const ulp_layer_kind *ulp_layer_kind_get(size_t i);

/* The kind that code names. */
extern const ulp_layer_kind ulp_layer_last;

ULP_C_END
#endif
