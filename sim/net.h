/* net.h - a net from a line of text: "conv8@3 relu pool2 fc128 relu fc10".
 *
 * The words stand between blanks or commas. Each word is the name of a kind of layer with its numbers. A net may have
 * any width and depth. The layers between `fork` and `join` are a residual block: the input of the block is added to
 * its output. In "fork A shortcut B join", with layers A and B, both branches begin at the input of the block, and
 * their outputs are added. Blocks may contain blocks. A ulp_net owns only its list of layers; the parameters of all
 * layers are one array, layer after layer.
 */
#ifndef ULP_NET_H
#define ULP_NET_H

#include "base/error.h"
#include "sim/layers/layer.h"

ULP_C_BEGIN

enum { ULP_LAYERS_MAX = 4096 };

typedef struct ulp_net {
    ulp_layer *layers; /* (count) */
    size_t count;
    ulp_dims in, out;
    size_t params; /* of all layers */
    size_t widest; /* elements per sample of the largest tensor, the net's input and inner tensors included */
    size_t states; /* numbers of all layers that are kept and not trained */
    size_t work;   /* the largest `work` of a layer */
    size_t ones;   /* the largest `ones` of a layer, at least 1 */
    size_t depth;  /* how deep residual blocks are nested */
    size_t scored; /* most samples that a score takes at a time; 0: no limit */
} ulp_net;

/* The index of the first weight that layer i uses: its own, or those of the layer that it ties. */
static inline size_t ulp_net_weights(const ulp_net *net, size_t i) {
    const ulp_layer *layer = &net->layers[i];
    return layer->kind->ties ? net->layers[layer->partner].first_param : layer->first_param;
}

/* The net that `text` describes for inputs of shape `in`. On failure *net is empty, and `error` (may be NULL) gets a
 * sentence that names the bad word:
 *
 *  - ULP_BAD_NAME: no kind has this name; the sentence lists the known kinds.
 *  - ULP_BAD_ARGUMENT: the numbers are wrong, and the sentence says how the kind is written; or the kind does not take
 *    its input, and the sentence says the shape of the input and which inputs the kind takes. */
ulp_status ulp_net_parse(ulp_net *net, const char *text, ulp_dims in, ulp_error *error);

/* The initial parameters w (params) and state (states; may be NULL if there are none), host memory: a function of seed
 * alone. A positive std replaces the standard deviations of He and Glorot. */
void ulp_net_init(const ulp_net *net, float *w, float *state, uint64_t seed, double std);

/* Compute a net on a training batch in binary64 without rounding points, host memory: y (B,out) from x (B,in) and w
 * (params); scratch (2 + depth, B, widest). */
void ulp_net_forward64(const ulp_net *net, double *y, const double *x, const double *w, size_t B, double *scratch);

/* Copy a net with its list of layers. On ULP_NO_MEMORY *to is empty. */
ulp_status ulp_net_copy(ulp_net *to, const ulp_net *from);

void ulp_net_release(ulp_net *net);

ULP_C_END
#endif
