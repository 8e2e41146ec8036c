/* operand_parts.h - which products are formed from elements and scales, and whether casts fit the datapath of their
 * product.
 *
 * A matrix unit takes values of its formats. Where a cast gives an operand a scale, its elements go to the unit and its
 * scales stay outside, or go to the unit apart. A product has parts if its datapath takes formats and one of these
 * holds:
 *
 *   - the datapath has block scales (b200-e4m3-mx, b200-e2m1-mxf4, rtx5090-e2m1-nvf4, ..): both operands are blocks of
 *     its size, element and scale format. The unit gets the block scales
 *   - the datapath is of integers (int8, vnni-int8, ..): both operands are integers (int8, int4@amax, ..), signs or
 *     ternary numbers
 *   - a cast has scales: FORMAT@amax, xnor, ternary, or a block format with one block for each sum
 *
 * The scales outside, those of tensors, of rows and of columns, are multiplied afterwards: c = start + sum times scale,
 * one rounding in binary32 (kernels/functions/low_bit.h); an integer sum is rounded to binary32 before, and a
 * NaN in an operand of integers makes all sums NaN. If the second
 * operand has the first format of the datapath and the first one the second, the product is formed as its transpose.
 * The other sums of a layer in the same direction, those of biases, of their gradients, of tables and of products of
 * activations, are those of fp32. A recurrent layer, whose products have no casts, is refused.
 *
 * A product whose datapath takes any numbers (fp32, chunk128:fp32:rne, ..) has the values of the casts.
 */
#ifndef ULP_OPERAND_PARTS_H
#define ULP_OPERAND_PARTS_H

#include "operand_cast.h"

ULP_C_BEGIN

/* Whether sums of a datapath are integers. */
static inline int ulp_datapath_is_integer(const ulp_datapath *d) { return d->has_inputs && !d->result.fits_binary32; }

/* Whether a product of operands with these casts has parts. */
int ulp_product_has_parts(const ulp_datapath *path, const ulp_operand_cast by[2]);

/* Whether it is formed as its transpose. */
int ulp_product_is_turned(const ulp_datapath *path, const ulp_operand_cast by[2]);

/* Check the casts `first` and first + 1 of a product with parts. Returns ULP_OK; or ULP_UNSUPPORTED, and `error` (may
 * be NULL) gets a sentence. `key` is fwd or bwd. */
ulp_status ulp_parts_check(const ulp_datapath *path, const char *key, const ulp_operand_cast by[2], int first,
                           ulp_error *error);

/* Check the lengths of a layer's sums over `batch` samples: a transform of G numbers takes lengths that G divides, and
 * a datapath without block scales takes one block for each sum. If not, the status is ULP_BAD_ARGUMENT or
 * ULP_UNSUPPORTED, and `error` (may be NULL) gets a sentence. */
struct ulp_layer;
ulp_status ulp_operand_lengths_check(const ulp_operand_cast cast[ULP_OPERANDS], const ulp_datapath *forward,
                                     const ulp_datapath *backward, const struct ulp_layer *layer, size_t batch,
                                     ulp_error *error);

/* The scratch arrays that the casts and datapaths of a policy need: flags. */
enum {
    ULP_SCRATCH_OPERANDS = 1, /* operands after their casts */
    ULP_SCRATCH_SCALES = 2,   /* scales of operands */
    ULP_SCRATCH_SUMS = 4,     /* sums before their scales */
    ULP_SCRATCH_WIDE = 8      /* operands and sums of integers in binary64 */
};
unsigned ulp_policy_scratch(const ulp_policy *policy);

ULP_C_END
#endif
