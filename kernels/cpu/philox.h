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

typedef uint64_t vwide __attribute__((vector_size(ULP_VECTOR_BYTES)));

ULP_INLINE vwide wide_all(uint64_t x) { return (vwide){0} + x; }

/* The products of the lower halves of the lanes with a number. */
ULP_INLINE vwide wide_product(vwide a, uint32_t by) {
#if defined(MM_HAS_SSE2)
    return (vwide)MM(mul_epu32)((MM_INTS)a, (MM_INTS)wide_all(by));
#else
    return (a & 0xffffffffu) * wide_all(by);
#endif
}

/* Two words as they follow each other in memory, each from the lower half of a lane. */
ULP_INLINE vwide pair_of(vwide first, vwide second) {
#if defined(__AVX512F__)
    return (vwide)_mm512_mask_shuffle_epi32((__m512i)first, 0xaaaa, (__m512i)second, _MM_PERM_CCAA);
#elif defined(__AVX2__)
    return (vwide)_mm256_blend_epi32((__m256i)first, (__m256i)(second << 32), 0xaa);
#elif defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return first << 32 | (second & 0xffffffffu);
#else
    return second << 32 | (first & 0xffffffffu);
#endif
}

enum { PHILOX_ROUNDS = 10 };

/* The blocks of a stream whose numbers have one upper half. For these blocks a part of the first two rounds is
 * constant. */
typedef struct philox {
    uint64_t seed, stream, upper; /* upper: of the block numbers; no upper half before ulp_philox_set */
    vwide key[PHILOX_ROUNDS][2];
    vwide first;           /* round 1: joins the product of the lower half of the number */
    vwide second[2], kept; /* round 2: join the products; the product of the other number */
} philox;

ULP_INLINE void philox_begin(philox *p, uint64_t seed, uint64_t stream) {
    p->seed = seed;
    p->stream = stream;
    p->upper = ~(uint64_t)0;
}

/* Prepares the blocks whose numbers have the upper half `upper`. The function stays outside of the loops over blocks:
 * gcc would hold the keys in the registers that the blocks need. */
void ULP_CPU(ulp_philox_set)(philox *p, uint64_t upper);

/* words (n) = the random words of elements index .. index + n - 1. */
void ULP_CPU(ulp_philox_words)(uint32_t *words, size_t n, philox *p, uint64_t index);

/* Whether the numbers of the blocks of two elements of a stream have one upper half. */
ULP_INLINE int philox_are_near(uint64_t index, uint64_t other) { return index >> 34 == other >> 34; }

/* Word w of the block in lane i of vector g is the lower half of word[w][g][i]. */
enum { PHILOX_MOST = 6 }; /* vectors whose rounds are interleaved: more do not fit the registers */
typedef struct philox_words {
    vwide word[4][PHILOX_MOST];
} philox_words;

/* The words of the blocks whose numbers have the lower halves of `block` (vectors). A round leaves its products in the
 * place of two numbers: the next round reads the numbers from there. `vectors` is a constant. */
ULP_INLINE void philox_blocks(philox_words *to, const vwide *block, const philox *p, int vectors) {
    vwide c0[PHILOX_MOST], c1[PHILOX_MOST], c2[PHILOX_MOST], c3[PHILOX_MOST];
    ALL_UNROLLED for (int g = 0; g < vectors; g++) {
        const vwide a = wide_product(block[g], PHILOX_M4x32_0);
        const vwide b = wide_product((a >> 32) ^ p->first, PHILOX_M4x32_1);
        c0[g] = (b >> 32) ^ p->second[0];
        c2[g] = a ^ p->second[1];
        c1[g] = b;
        c3[g] = p->kept;
    }
    UNROLLED for (int i = 2; i < PHILOX_ROUNDS; i++) {
        ALL_UNROLLED for (int g = 0; g < vectors; g++) {
            const vwide a = wide_product(c0[g], PHILOX_M4x32_0), b = wide_product(c2[g], PHILOX_M4x32_1);
            c0[g] = (b >> 32) ^ (c1[g] ^ p->key[i][0]);
            c2[g] = (a >> 32) ^ (c3[g] ^ p->key[i][1]);
            c1[g] = b;
            c3[g] = a;
            IN_ORDER(c0[g]);
            IN_ORDER(c2[g]);
        }
    }
    ALL_UNROLLED for (int g = 0; g < vectors; g++) {
        to->word[0][g] = c0[g];
        to->word[1][g] = c1[g];
        to->word[2][g] = c2[g];
        to->word[3][g] = c3[g];
    }
}

#endif
