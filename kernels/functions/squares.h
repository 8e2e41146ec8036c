/* squares.h - sums of squares in a fixed order, in binary64: one definition for every backend.
 *
 * An array is divided into chunks of ULP_SQUARES_CHUNK elements; the last one may be shorter. Lane j of a chunk starts
 * at +0 and adds the squares of the elements j, j + 32, j + 64, ... in this order. A square is exact in binary64, so
 * each addition rounds once, to nearest even. Then lane j adds lane j + 16 for j below 16, then lane j + 8 for j below
 * 8, and so on; lane 0 is the sum of the chunk.
 */
#ifndef ULP_SQUARES_H
#define ULP_SQUARES_H

#include <stddef.h>

#include "formats/format.h"

ULP_C_BEGIN

enum { ULP_SQUARES_CHUNK = 4096, ULP_SQUARES_LANES = 32 };

/* The number of chunks of n elements. */
static inline size_t ulp_squares_chunks(size_t n) { return n / ULP_SQUARES_CHUNK + (n % ULP_SQUARES_CHUNK != 0); }

ULP_C_END
#endif
