/* convolution.h - the words, the geometry and the sums that convolution and transposed convolution share.
 *
 * N kernels of K x K over C channels move over an image (C,h,w) with the stride S; P rows and columns of zeros surround
 * the image, P < K. Each place of the kernels is a position; N numbers belong to each of the (p,q) positions. The
 * weights are W (N, C K K) row-major. Two maps are matrix products, each the gradient of the other:
 *
 *   positions (B p q, N)   the sum runs over channel, row and column of the kernel, ascending
 *   image (B h w, C)       the sum runs over kernel, row and column of the kernel, ascending
 *
 * The first operand is the image or the positions, and the second is the weights. Products with the zeros around the
 * image take part in the sums of positions. The sum of an element of an image has a term for every element of every
 * kernel; if no position uses the two together, the term is a product with +0. The random words of an element of a
 * product are given by its index in the matrix, row by row.
 *
 * With G groups (Krizhevsky et al. 2012, section 3.5) the channels and the kernels form G groups each, and the kernels
 * of a group see the channels of the same group alone. Each group has products of its own: C / G and N / G replace C
 * and N above, and the lane of the products' random streams is the number of the group.
 */
#ifndef ULP_CONVOLUTION_H
#define ULP_CONVOLUTION_H

#include "layer.h"

typedef struct ulp_convolution {
    ulp_dims image, positions;
    size_t kernel, stride, pad, groups; /* K, S, P, G */
    int has_bias;                       /* 1: the output of the layer has a bias per channel, after the weights */
} ulp_convolution;

typedef enum ulp_convolution_map { ULP_TO_POSITIONS, ULP_TO_IMAGE } ulp_convolution_map;

/* Read the word N@K, then s, p and g with their numbers, in any order and each at most once, then nobias, into
 * layer->arg and layer->out.c = N. The result is 0 if the text is anything else, if P is not below K, or if G does not
 * divide N. */
int ulp_convolution_read(ulp_layer *layer, const char *text);

/* The convolution from layer->in to layer->out; with `transposed` layer->out is the image, else layer->in is. */
ulp_convolution ulp_convolution_of(const ulp_layer *layer, int transposed);

/* Set params, multiply_adds, ones and work of the layer, whose `out` is set. ULP_UNSUPPORTED: G does not divide the
 * channels, or an array has more than 2^40 elements per sample. */
ulp_status ulp_convolution_admit(ulp_layer *layer, int transposed);

/* The number of terms of a sum. */
size_t ulp_convolution_depth(const ulp_convolution *c, ulp_convolution_map map);

/* Initial weights of a layer whose forward pass is the map; the biases are 0. */
void ulp_convolution_init(const ulp_layer *layer, ulp_convolution_map map, float *w, ulp_stream stream, double std);

/* to (C K K, B p q) = for each element of a kernel and each position, the element of the image that meets it (im2col).
 */
ulp_status ulp_convolution_patches(const ulp_convolution *c, const ulp_backend *backend, float *to, const float *image,
                                   size_t B);

/* The site of a product of a group that runs over all samples. */
static inline ulp_site ulp_convolution_site(const ulp_layer *layer, uint32_t use, size_t group) {
    const uint8_t operands = use == ULP_USE_WPRODUCT ? ULP_SITE_STRAIGHT : ULP_SITE_AS_IT_IS;
    return (ulp_site){.use = use, .lane = (uint32_t)group, .layer = layer->index, .operands = operands};
}

/* The forward pass: t->y is the map of t->x, and its sums start at the biases if there are any. The backward pass:
 * t->dx is the map of t->dy. Both end with the rounding. */
ulp_status ulp_convolution_forward(const ulp_layer *layer, ulp_convolution_map map, ulp_pass *pass,
                                   const ulp_layer_tensors *t);
ulp_status ulp_convolution_backward(const ulp_layer *layer, ulp_convolution_map map, ulp_pass *pass,
                                    const ulp_layer_tensors *t);

#endif
