/* philox.h - random words of many blocks at a time: Philox4x32-10 with one block in each 64-bit lane of vectors.
 *
 * The words are those of ulp_random_block (formats/rng.h). A round multiplies two of the four 32-bit numbers of a
 * block. A lane of 64 bits holds one number in its lower half, and the instruction that multiplies lower halves gives
 * the whole product: no lane is crossed, and what an upper half holds has no effect.
 */
#ifndef ULP_CPU_PHILOX_H
#define ULP_CPU_PHILOX_H

#include <string.h>

#include "cpu.h"
#include "formats/rng.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* The vectors of a group, whose rounds are interleaved, as far as the registers hold them; and the blocks of a group.
 */
enum { PHILOX_GROUP = ULP_VECTOR_BYTES >= 32 ? 4 : 2, PHILOX_BLOCKS = PHILOX_GROUP * ULP_VECTOR_BYTES / 8 };

typedef uint64_t vwide __attribute__((vector_size(ULP_VECTOR_BYTES)));

ULP_INLINE vwide wide_all(uint64_t x) { return (vwide){0} + x; }

/* The products of the lower halves of the lanes with a number. */
ULP_INLINE vwide wide_product(vwide a, uint32_t by) {
#if defined(__AVX512F__)
    return (vwide)_mm512_mul_epu32((__m512i)a, (__m512i)wide_all(by));
#elif defined(__AVX2__)
    return (vwide)_mm256_mul_epu32((__m256i)a, (__m256i)wide_all(by));
#elif defined(__SSE2__)
    return (vwide)_mm_mul_epu32((__m128i)a, (__m128i)wide_all(by));
#else
    return (a & 0xffffffffu) * wide_all(by);
#endif
}

/* Word w of the block of lane i of vector g is the lower half of word[w][g][i]. */
typedef struct philox {
    vwide word[4][PHILOX_GROUP];
} philox;

enum { PHILOX_ROUNDS = 10 };

/* The keys of the rounds of a seed. */
typedef struct philox_keys {
    vwide round[PHILOX_ROUNDS][2];
} philox_keys;

static inline void philox_keys_of(philox_keys *keys, uint64_t seed) {
    uint32_t low = (uint32_t)seed, high = (uint32_t)(seed >> 32);
    for (int i = 0; i < PHILOX_ROUNDS; i++, low += PHILOX_W32_0, high += PHILOX_W32_1) {
        keys->round[i][0] = wide_all(low);
        keys->round[i][1] = wide_all(high);
    }
}

/* The words of the blocks with the numbers `block`. A round leaves its products in the place of two numbers: the next
 * round reads the numbers from there. */
ULP_INLINE void philox_blocks(philox *p, const vwide block[PHILOX_GROUP], const philox_keys *keys, uint64_t stream) {
    vwide c0[PHILOX_GROUP], c1[PHILOX_GROUP], c2[PHILOX_GROUP], c3[PHILOX_GROUP];
    UNROLLED for (int g = 0; g < PHILOX_GROUP; g++) {
        c0[g] = block[g];
        c1[g] = block[g] >> 32;
        c2[g] = wide_all(stream);
        c3[g] = wide_all(stream >> 32);
    }
    UNROLLED for (int i = 0; i < PHILOX_ROUNDS / 2; i++) {
        UNROLLED for (int half = 0; half < 2; half++) {
            const vwide *key = keys->round[2 * i + half];
            UNROLLED for (int g = 0; g < PHILOX_GROUP; g++) {
                const vwide a = wide_product(c0[g], PHILOX_M4x32_0), b = wide_product(c2[g], PHILOX_M4x32_1);
                c0[g] = (b >> 32) ^ (c1[g] ^ key[0]);
                c2[g] = (a >> 32) ^ (c3[g] ^ key[1]);
                c1[g] = b;
                c3[g] = a;
            }
        }
    }
    UNROLLED for (int g = 0; g < PHILOX_GROUP; g++) {
        p->word[0][g] = c0[g];
        p->word[1][g] = c1[g];
        p->word[2][g] = c2[g];
        p->word[3][g] = c3[g];
    }
}

/* Adds to the numbers of a group of blocks. They are a quarter of a 64-bit index and return to 0 with it. */
ULP_INLINE void philox_advance(vwide block[PHILOX_GROUP], uint64_t by) {
    for (int g = 0; g < PHILOX_GROUP; g++) block[g] = (block[g] + by) & (~(uint64_t)0 >> 2);
}

/* The blocks of the elements index, index + step, index + 2 step, ...; their places in the blocks are index + i step
 * modulo 4. */
ULP_INLINE void philox_blocks_of(vwide block[PHILOX_GROUP], uint64_t index, uint64_t step) {
    uint64_t number[PHILOX_BLOCKS];
    for (uint64_t i = 0; i < PHILOX_BLOCKS; i++) number[i] = (index + i * step) / 4;
    memcpy(block, number, sizeof number);
}

#endif
