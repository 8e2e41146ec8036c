/* known.c - blocks of random words by kernels/cpu/philox.h; compiled once for each instruction set. */
#include "known.h"

#include "kernels/cpu/philox.h"

#define KNOWN ULP_PASTE(streams_known, ULP_ISA)

enum { LANES = ULP_VECTOR_BYTES / 8, VECTORS = 2 };

void KNOWN(uint32_t words[64], uint64_t seed, uint64_t stream, uint64_t block) {
    philox p;
    philox_words w;
    philox_begin(&p, seed, stream);
    ULP_CPU(ulp_philox_set)(&p, block >> 32);
    for (uint32_t at = 0; at < 16; at += VECTORS * LANES) {
        uint64_t number[VECTORS * LANES];
        vwide numbers[PHILOX_MOST];
        for (uint32_t i = 0; i < VECTORS * LANES; i++) number[i] = (uint32_t)block ^ (at + i);
        memcpy(numbers, number, sizeof number);
        philox_blocks(&w, numbers, &p, VECTORS);
        for (uint32_t v = 0; v < VECTORS; v++)
            for (uint32_t i = 0; i < LANES; i++)
                for (uint32_t k = 0; k < 4; k++) /* a word is the lower half of its lane */
                    words[4 * (at + v * LANES + i) + k] = (uint32_t)w.word[k][v][i];
    }
}
