/* hadamard.h - the Hadamard transform of groups of a matrix: one definition for every backend.
 *
 * A group is g = 2^k neighbours along rows or columns, x[0] .. x[g - 1]. H_g is the symmetric matrix of Sylvester:
 * element (i,j) is -1 to the number of bits that i and j share. With signs s[0] .. s[g - 1] of +-1 forward: y = H (s x)
 * / sqrt g         inverse: y = s (H x) / sqrt g computed in binary64, each operation rounded to nearest:
 *   - x, times s; in the inverse the signs come last
 *   - k stages, h = 1, 2, 4, .., g / 2: each pair a = v[i], b = v[i + h], for the i without the bit h, becomes a + b
 * and a - b
 *   - one product with 1 / sqrt g, rounded to binary64; a power of two where k is even, so that the product is exact
 * and rounded once to a format. NaN gives the quiet NaN. The sums of g = 16 are exact while the numbers of a group have
 * their bits within 2^49 of each other.
 */
#ifndef ULP_HADAMARD_H
#define ULP_HADAMARD_H

#include "formats/block_cast.h"
#include "formats/rng.h"

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

/* Transformer Engine's minus signs: bit j is sign j. */
#define ULP_HADAMARD_FIXED 0xd7e8u

/* Whether sign j is minus. */
ULP_FN int ulp_hadamard_sign(const ulp_hadamard *how, size_t j) {
    if (how->signs == ULP_SIGNS_FIXED) return (int)(ULP_HADAMARD_FIXED >> j & 1u);
    return how->signs == ULP_SIGNS_STREAM ? (int)(ulp_random_word(how->sign_stream, j) >> 31) : 0;
}

/* 1 / sqrt g for g = 2^k. */
ULP_FN double ulp_hadamard_factor(uint32_t g) {
    double factor = 1.0;
    for (; g >= 4; g /= 4) factor *= 0.5;
    return g == 2 ? factor * 0x1.6a09e667f3bcdp-1 : factor; /* sqrt(1/2) to nearest */
}

/* Makes the stages of v (g). */
ULP_FN void ulp_hadamard_stages(double *v, uint32_t g) {
    for (uint32_t h = 1; h < g; h *= 2)
        for (uint32_t i = 0; i < g; i++) {
            if (i & h) continue;
            const double a = v[i], b = v[i + h];
            v[i] = a + b;
            v[i + h] = a - b;
        }
}

ULP_C_END
#endif
