/* hadamard.h - the Hadamard transform of groups of a matrix: one definition for every backend.
 *
 * A group is g = 2^k neighbours along rows or columns, x[0] .. x[g - 1]. H is the symmetric matrix of Sylvester:
 * element (i,j) is -1 to the number of bits that i and j share. Signs s[0] .. s[g - 1] are +-1.
 *   - forward: y = H (s x) / sqrt g
 *   - inverse: y = s (H x) / sqrt g
 * The steps, in binary64, each operation rounded to nearest (hadamard_steps.h):
 *   - forward: x times s
 *   - k stages, h = 1, 2, 4, .., g / 2: each pair a = v[i], b = v[i + h], for the i without the bit h, becomes a + b
 * and a - b
 *   - one product with 1 / sqrt g, rounded to binary64; a power of two where k is even, so that the product is exact
 *   - inverse: times s
 *   - each number is rounded once to a format; NaN becomes the quiet NaN
 * The sums of g = 16 are exact while the bits of the numbers of a group lie within 2^49 of each other.
 */
#ifndef ULP_HADAMARD_H
#define ULP_HADAMARD_H

#include "formats/block_cast.h"

ULP_C_BEGIN

enum { ULP_HADAMARD_MOST = 256 }; /* the largest g */

/* The signs. Fixed: Transformer Engine's for g = 16, + + + - + - - - - - - + - + - - (NVIDIA, Transformer Engine,
 * hadamard_transform). Of a stream: sign j is the top bit of word sign_stream.first + j, 1 is minus; all groups, and
 * both operands of a product, have the same signs. */
typedef enum ulp_hadamard_signs {
    ULP_SIGNS_NONE,
    ULP_SIGNS_FIXED,
    ULP_SIGNS_STREAM,
    ULP_SIGNS_COUNT
} ulp_hadamard_signs;

typedef struct ulp_hadamard {
    uint32_t g;    /* 2, 4, .., 256 */
    uint8_t along; /* ulp_along: the direction of the groups */
    uint8_t signs; /* ulp_hadamard_signs */
    uint8_t inverse;
    ulp_stream sign_stream;
} ulp_hadamard;

ULP_C_END
#endif
