/* net.h - a feed-forward net from a line of text: "fc128 relu fc10".
 *
 * Words between blanks (or commas), each the name of a layer kind and its numbers; any width and depth.
 * The descriptor owns only its list of layers; parameters are one array, layer after layer.
 */
#ifndef ULP_NET_H
#define ULP_NET_H

#include "sim/layer.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ULP_LAYERS_MAX = 4096 };

typedef struct ulp_net {
    ulp_layer *layers; /* (count) */
    size_t count;
    ulp_dims in, out;
    size_t params;  /* of all layers */
    size_t widest;  /* elements of the largest tensor per sample, input included */
} ulp_net;

/* The net that `text` describes for inputs of shape `in`. On failure `error` (may be NULL) gets a sentence
 * that names the bad word and lists the known ones; *net is then empty. */
ulp_status ulp_net_parse(ulp_net *net, const char *text, ulp_dims in, char *error, size_t error_size);

/* Initial parameters w (params), host memory: a function of seed alone. std > 0 replaces He and Glorot. */
void ulp_net_init(const ulp_net *net, float *w, uint64_t seed, double std);

/* The net in binary64 without rounding points, host memory: y (B,out) from x (B,in), w (params);
 * scratch (2,B,widest). */
void ulp_net_forward64(const ulp_net *net, double *y, const double *x, const double *w, size_t B, double *scratch);

void ulp_net_release(ulp_net *net);

#ifdef __cplusplus
}
#endif
#endif
