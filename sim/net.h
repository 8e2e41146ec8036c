/* net.h - a net from a line of text: "conv8@3 relu pool2 fc128 relu fc10".
 *
 * Words between blanks (or commas), each the name of a layer kind and its numbers; any width and depth. What stands
 * between `fork` and `join` is a residual block: its input goes past it and is added to its output. Blocks may hold
 * blocks. The descriptor owns only its list of layers; parameters are one array, layer after layer.
 */
#ifndef ULP_NET_H
#define ULP_NET_H

#include "layer.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ULP_LAYERS_MAX = 4096 };

typedef struct ulp_net {
    ulp_layer *layers; /* (count) */
    size_t count;
    ulp_dims in, out;
    size_t params; /* of all layers */
    size_t widest; /* elements of the largest tensor per sample, input and inner ones included */
    size_t states; /* numbers of all layers that are kept and not trained */
    size_t work;   /* floats per sample of the layer that wants most */
    size_t ones;   /* elements per sample of ones that a layer wants, at least 1 */
    size_t depth;  /* of blocks in blocks */
} ulp_net;

/* The net that `text` describes for inputs of shape `in`. On failure *net is empty and `error` (may be NULL) gets a
 * sentence that names the bad word: with the known kinds if it is of none (ULP_BAD_NAME), with how its kind is written
 * if its numbers are wrong, with the shape that reaches it and what its kind takes if that is the fault
 * (ULP_BAD_ARGUMENT). */
ulp_status ulp_net_parse(ulp_net *net, const char *text, ulp_dims in, char *error, size_t error_size);

/* Initial parameters w (params) and states (states; NULL if there are none), host memory: a function of seed alone. std
 * > 0 replaces He and Glorot. */
void ulp_net_init(const ulp_net *net, float *w, float *state, uint64_t seed, double std);

/* The net on a training batch in binary64 without rounding points, host memory: y (B,out) from x (B,in), w (params);
 * scratch (2 + depth, B, widest). */
void ulp_net_forward64(const ulp_net *net, double *y, const double *x, const double *w, size_t B, double *scratch);

/* A net of its own with the same layers; ULP_NO_MEMORY, and *to is empty. */
ulp_status ulp_net_copy(ulp_net *to, const ulp_net *from);

void ulp_net_release(ulp_net *net);

#ifdef __cplusplus
}
#endif
#endif
