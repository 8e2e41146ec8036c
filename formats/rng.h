/* rng.h - random words as a pure function: Philox4x32-10 keyed by (seed, stream, index).
 *
 * Salmon, Moraes, Dror, Shaw 2011, doi:10.1145/2063384.2063405. Only this file includes the Random123 library. Layout
 * version 1: key = (seed low, seed high); counter = (block low, block high, stream low, stream high) with
 * block = floor(index / 4). The word of element `index` is output word index mod 4. The word of any element can be
 * computed alone, on the host and on a device.
 */
#ifndef ULP_RNG_H
#define ULP_RNG_H

#include "round.h"

#if defined(__clang__) || defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#endif
/* __umulhi gives the high half of a product. A 64-bit product needs one addition more. */
#if defined(__CUDA_ARCH__)
#define R123_USE_64BIT 0
#define R123_USE_MULHILO32_MULHI_INTRIN 1
#define R123_MULHILO32_MULHI_INTRIN __umulhi
#endif
/* wasm32 is not in Random123's list of processors. Philox needs 32-bit integers alone, so any name of the list serves.
 */
#if defined(__wasm__)
#define __riscv 1
#endif
#include <Random123/philox.h>
#if defined(__wasm__)
#undef __riscv
#endif
#if defined(__clang__) || defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#define ULP_RNG_NAME "philox4x32-10"
#define ULP_RNG_LAYOUT 1

/* The four words of a block: the words of elements 4 block .. 4 block + 3. */
ULP_FN philox4x32_ctr_t ulp_random_block(uint64_t seed, uint64_t stream, uint64_t block) {
    philox4x32_ctr_t ctr = {{(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)stream, (uint32_t)(stream >> 32)}};
    philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    return philox4x32_R(10, ctr, key);
}

/* The word of element i of an array whose stream is `s`. */
ULP_FN uint32_t ulp_random_word(ulp_stream s, uint64_t i) {
    uint64_t index = s.first + i;
    return ulp_random_block(s.seed, s.stream, index / 4).v[index % 4];
}

/* The stream whose number is the hash of a text (FNV-1a, 64 bits: offset basis and prime). */
ULP_FN ulp_stream ulp_stream_of_text(uint64_t seed, const char *text, size_t length) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
    const ulp_stream s = {seed, hash, 0};
    return s;
}

/* A number uniform in [0, 1): the word of element i times 2^-32, exact in binary64. */
ULP_FN double ulp_random_uniform(ulp_stream s, uint64_t i) { return (double)ulp_random_word(s, i) * 0x1p-32; }

#endif
