/* words.h - random words from the definition of Philox4x32-10, for the backend "mpfr".
 *
 * Salmon, Moraes, Dror, Shaw 2011, section 3.3, doi:10.1145/2063384.2063405. The layout of key and counter is that of
 * formats/rng.h, which uses another text of the generator, Random123.
 */
#ifndef ULP_MPFR_WORDS_H
#define ULP_MPFR_WORDS_H

#include <stdint.h>

#include "formats/round.h"

/* The word of element i of an array whose stream is s. */
static inline uint32_t ulp_mpfr_word(ulp_stream s, uint64_t i) {
    const uint64_t index = s.first + i, block = index / 4;
    uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)s.stream, (uint32_t)(s.stream >> 32)};
    uint32_t key[2] = {(uint32_t)s.seed, (uint32_t)(s.seed >> 32)};
    for (int round = 0; round < 10; round++) {
        const uint64_t x = (uint64_t)0xd2511f53u * counter[0], y = (uint64_t)0xcd9e8d57u * counter[2];
        counter[0] = (uint32_t)(y >> 32) ^ counter[1] ^ key[0];
        counter[1] = (uint32_t)y;
        counter[2] = (uint32_t)(x >> 32) ^ counter[3] ^ key[1];
        counter[3] = (uint32_t)x;
        key[0] += 0x9e3779b9u;
        key[1] += 0xbb67ae85u;
    }
    return counter[index % 4];
}

#endif
