/* known.h - the vectorised generator of one instruction set, for the known answers of Random123. */
#ifndef ULP_TESTS_KNOWN_H
#define ULP_TESTS_KNOWN_H

#include <stdint.h>

/* words[4 i ..] (64) = the four words of block number `block` ^ i, for i of 0 .. 15, from vectors of blocks. */
void streams_known_baseline(uint32_t words[64], uint64_t seed, uint64_t stream, uint64_t block);
void streams_known_neon(uint32_t words[64], uint64_t seed, uint64_t stream, uint64_t block);
void streams_known_sve256(uint32_t words[64], uint64_t seed, uint64_t stream, uint64_t block);
void streams_known_avx2(uint32_t words[64], uint64_t seed, uint64_t stream, uint64_t block);
void streams_known_avx512(uint32_t words[64], uint64_t seed, uint64_t stream, uint64_t block);

#endif
