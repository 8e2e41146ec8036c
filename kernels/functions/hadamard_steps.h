/* hadamard_steps.h - the steps of the Hadamard transform, for host and device: signs, stages, the factor; see
 * hadamard.h.
 */
#ifndef ULP_HADAMARD_STEPS_H
#define ULP_HADAMARD_STEPS_H

#include "formats/rng.h"
#include "hadamard.h"

ULP_C_BEGIN

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
