/* block_cast.h - a matrix in a block-scaled format, as values or as elements and scales: blocks along rows or columns,
 * or square tiles.
 *
 * Each block of a matrix (rows,columns) of floats is replaced by its decoded values, as ulp_block_encode and
 * ulp_block_decode give them for the block (block.h). Blocks at the ends of rows and columns may be short.
 *   - along rows: `size` neighbours of a row share a scale
 *   - along columns: `size` neighbours of a column share a scale, as in a product that runs over the rows
 *   - tiles: size x size elements share a scale. The tiles of the transpose are the transposed tiles, so that in a
 *     deterministic mode the cast of the transpose is the transpose of the cast, element for element
 *
 * With eden = G, groups of G neighbours along the sum have one correction, which makes their expected values those of
 * the numbers if a random transform has turned them before: MS-EDEN of Quartet II, 2026, arXiv:2601.22813. The steps:
 *   - the scale of a block is 17/16 93/100 amax / max, to nearest; the elements are those under it, to nearest
 *   - S = <x,x> / <x,q> over the group, q the values of the numbers x: two sums in binary64, in the order of the group,
 *     each product and each sum rounded, and their quotient; 1 where it is not positive and finite
 *   - the scale that is written is S times the scale, rounded to binary64, then stochastically to the scale format;
 *     its word is that of the first number of the block. The elements stay
 */
#ifndef ULP_BLOCK_CAST_H
#define ULP_BLOCK_CAST_H

#include "block.h"

ULP_C_BEGIN

typedef enum ulp_along { ULP_ALONG_ROWS, ULP_ALONG_COLUMNS, ULP_ALONG_COUNT } ulp_along;

typedef struct ulp_block_cast {
    ulp_block block;
    ulp_rule rule;            /* rounds the elements */
    ulp_stream stream;        /* the random word of element (i,j) has index stream.first + i columns + j */
    uint8_t has_tensor_scale; /* 1: the tensor scale of the array's largest finite magnitude (ulp_block_tensor_scale),
                                 for formats whose scales are no powers of two; 0: the tensor scale is 1 */
    uint8_t along;            /* ulp_along: the direction of the blocks */
    uint8_t tiles;            /* 1: tiles of size x size; `along` has no influence */
    uint32_t eden;            /* numbers of a group with one correction, a multiple of the size; 0: no correction. The
                                 rule of the scale then has no influence, and that of the elements is to nearest */
} ulp_block_cast;

/* ULP_OK, or ULP_BAD_ARGUMENT for a null pointer and a number out of range, ULP_UNSUPPORTED for a tensor scale of a
 * format with power-of-two scales, for a correction of tiles or of stochastic elements, or the status of
 * ulp_block_check and of ulp_element_check. */
ulp_status ulp_block_cast_check(const ulp_block_cast *cast);

/* The tensor scale of a cast of numbers whose largest finite magnitude is `amax`. With eden it leaves the scales the
 * room of mse46, so that a correction does not pass the largest scale. */
float ulp_block_cast_tensor_scale(const ulp_block_cast *cast, float amax);

/* The definition: y (rows,columns) = the values of x (rows,columns). y may be x. Errors: those of ulp_block_cast_check.
 */
ulp_status ulp_block_cast_values(float *y, const float *x, size_t rows, size_t columns, const ulp_block_cast *cast);

/* The same as elements (sums,length) and scales (sums,ceil(length / size)) of the sums, which are the rows or, for
 * blocks along columns, the columns of x; the rows of a tile have one scale. value = element times scale times
 * *tensor_scale. None of the arrays overlap. */
ulp_status ulp_block_cast_elements(float *elements, float *scales, float *tensor_scale, const float *x, size_t rows,
                                   size_t columns, const ulp_block_cast *cast);

ULP_C_END
#endif
