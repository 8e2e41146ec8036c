/* words.c - random words of consecutive array elements. */
#include "philox.h"

/* Lane 2 i of a vector holds block i of the vector, lane 2 i + 1 block LANES / 2 + i: then the pairs of words of the
 * even lanes, and those of the odd lanes, lie in the order of memory. */
enum { LANES = ULP_VECTOR_BYTES / 8 };
#if defined(__AVX512F__)
#define EVEN_LANES 0, 8, 2, 10, 4, 12, 6, 14
#define ODD_LANES 1, 9, 3, 11, 5, 13, 7, 15
#elif defined(__AVX2__)
#define EVEN_LANES 0, 4, 2, 6
#define ODD_LANES 1, 5, 3, 7
#else
#define EVEN_LANES 0, 2
#define ODD_LANES 1, 3
#endif

/* Two words as they follow each other in memory. */
ULP_INLINE vwide pair_of(vwide first, vwide second) {
#if defined(__AVX2__) && !defined(__AVX512F__)
    return (vwide)_mm256_blend_epi32((__m256i)first, (__m256i)(second << 32), 0xaa);
#elif defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return first << 32 | (second & 0xffffffffu);
#else
    return second << 32 | (first & 0xffffffffu);
#endif
}

/* The numbers of PHILOX_BLOCKS blocks from `first`. */
ULP_INLINE void blocks_from(vwide block[PHILOX_GROUP], uint64_t first) {
    uint64_t number[PHILOX_BLOCKS];
    for (uint64_t i = 0; i < PHILOX_BLOCKS; i++)
        number[i] = first + i / LANES * LANES + i % 2 * (LANES / 2) + i % LANES / 2;
    memcpy(block, number, sizeof number);
}

/* to (4 PHILOX_BLOCKS) = the words of PHILOX_BLOCKS blocks in their order. */
ULP_INLINE void group_words(uint32_t *to, const vwide block[PHILOX_GROUP], const philox_keys *keys, uint64_t stream) {
    philox p;
    philox_blocks(&p, block, keys, stream);
    UNROLLED for (int g = 0; g < PHILOX_GROUP; g++) {
        const vwide low = pair_of(p.word[0][g], p.word[1][g]), high = pair_of(p.word[2][g], p.word[3][g]);
        const vwide even = __builtin_shufflevector(low, high, EVEN_LANES);
        const vwide odd = __builtin_shufflevector(low, high, ODD_LANES);
        memcpy(to + 4 * LANES * g, &even, sizeof even);
        memcpy(to + 4 * LANES * g + 2 * LANES, &odd, sizeof odd);
    }
}

void ULP_CPU(ulp_words)(uint32_t *words, size_t n, uint64_t seed, uint64_t stream, uint64_t index) {
    enum { GROUP = 4 * PHILOX_BLOCKS };
    uint32_t buffer[GROUP];
    vwide block[PHILOX_GROUP];
    const size_t skip = (size_t)(index % 4);
    philox_keys keys;
    philox_keys_of(&keys, seed);
    blocks_from(block, index / 4);
    size_t done = 0;
    if (skip == 0)
        for (; n - done >= GROUP; done += GROUP) {
            group_words(words + done, block, &keys, stream);
            philox_advance(block, PHILOX_BLOCKS);
        }
    /* the words before `from` in the buffer belong to earlier elements */
    for (size_t from = skip; done < n; from = 0) {
        const size_t count = n - done < GROUP - from ? n - done : GROUP - from;
        group_words(buffer, block, &keys, stream);
        memcpy(words + done, buffer + from, count * sizeof *words);
        philox_advance(block, PHILOX_BLOCKS);
        done += count;
    }
}
