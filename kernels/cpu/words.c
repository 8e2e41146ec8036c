/* words.c - random words of consecutive array elements, many Philox blocks at a time. */
#include "cpu.h"
#include "formats/rng.h"

enum { BLOCKS = ULP_PIECE / 4 + 1 };

void ULP_CPU(ulp_words)(uint32_t *words, size_t n, uint64_t seed, uint64_t stream, uint64_t index) {
    uint32_t buffer[4 * BLOCKS];
    const uint64_t block = index / 4;
    const size_t skip = (size_t)(index % 4), blocks = (skip + n + 3) / 4;
    for (size_t i = 0; i < blocks; i++) {
        philox4x32_ctr_t r = ulp_random_block(seed, stream, block + i);
        buffer[4 * i] = r.v[0];
        buffer[4 * i + 1] = r.v[1];
        buffer[4 * i + 2] = r.v[2];
        buffer[4 * i + 3] = r.v[3];
    }
    for (size_t i = 0; i < n; i++) words[i] = buffer[skip + i];
}
