/* operand_cast.h - casts of the operands of a layer's products with weights, apart from the formats of tensors.
 *
 * A layer with weights forms three products: y = x w forward, the gradient of its input dx = g w', and the gradient of
 * its weights dw = x' g, where g is the gradient of y. Each of the six operands may have a cast of its own, which
 * changes the numbers that enter the product and leaves the tensor as it is: a format, or a block format whose blocks
 * run along the sum of the product, as those of matrix units do. The text of a policy names them
 *
 *   fwd.x  fwd.w  dgrad.g  dgrad.w  wgrad.x  wgrad.g
 *
 * with the values none, FORMAT[@amax][/MODE[/BITS]], BLOCK[:2d][:eden][:rhtG|:hadG|:rht][/MODE[/BITS]], sign[/sr], xnor
 * or ternary[:T]. BLOCK is a name of block.h:
 *
 *   - nvfp4 and other formats whose scales are no powers of two have a tensor scale from the tensor's own largest
 *     magnitude
 *   - :2d: square tiles share a scale, so that forward and dgrad have the same quantised weights
 *   - :rhtG: both operands of the product are first multiplied by a Hadamard matrix of G x G with random signs, along
 *     the sum, so that the product does not change; G is 16, 32 or 128. The signs are new in each step and equal for
 *     the two operands. :hadG: with the fixed signs of Transformer Engine (G = 16), or without signs (32 and 128). The
 *     result of the transform is rounded to nearest in bfloat16. Both operands of a product need the same transform.
 *     :rht: G is the largest power of two up to 128 that divides the length of the sum; an odd length has no transform
 *   - :eden: elements to nearest, and stochastic scales with a correction for each group of the transform, or for each
 *     block without one (block_cast.h)
 *   - sign, xnor, ternary: numbers of one or two bits (kernels/functions/low_bit.h). The threshold T is 0.7. sign/sr
 *     draws the signs in training; scores take the weights themselves, the means of the signs (Courbariaux, Bengio and
 *     David 2015, section 2.6). xnor has a
 *     scale for each output's weights, in forward products and in dgrad, so that both have the same weights; of another
 *     operand the numbers of a sum have one scale. ternary has one scale
 *
 * Where the datapath of a product takes formats, see operand_parts.h.
 *
 * Products of activations (attention), biases, sums for their gradients and recurrent layers have no casts. A
 * convolution forms its products from parts of the batch, and each part of x and g has a tensor scale of its own, or a
 * threshold; the parts depend on the sizes of the layer alone.
 */
#ifndef ULP_OPERAND_CAST_H
#define ULP_OPERAND_CAST_H

#include "policy.h"

ULP_C_BEGIN

/* "fwd.x", ...; NULL past the end. */
const char *ulp_operand_name(int operand);

/* The operand with a name; -1: there is none. */
int ulp_operand_find(const char *name);

/* The cast that a text describes. On failure `error` (may be NULL) gets a sentence that names the text and what is
 * allowed. `operand` is for the sentence. */
ulp_status ulp_operand_cast_read(ulp_operand_cast *cast, int operand, const char *text, ulp_error *error);

/* Write the text of a cast; returns the length. */
int ulp_operand_cast_write(char *text, size_t size, const ulp_operand_cast *cast);

int ulp_operand_casts_equal(const ulp_operand_cast *a, const ulp_operand_cast *b);

/* The size of the transform of a sum of `length` numbers; 0: none. */
size_t ulp_operand_transform(const ulp_operand_cast *cast, size_t length);

/* Check the casts of a layer's operands: the two operands of a product have the same transform. */
ulp_status ulp_operand_casts_check(const ulp_operand_cast cast[ULP_OPERANDS], ulp_error *error);

ULP_C_END
#endif
