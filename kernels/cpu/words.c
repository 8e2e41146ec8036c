/* words.c - random words of consecutive array elements. */
#include "philox.h"

/* to (4 PHILOX_BLOCKS) = the words of PHILOX_BLOCKS blocks in their order. */
ULP_INLINE void group_words(uint32_t *to, const vwide block[PHILOX_GROUP], uint64_t seed, uint64_t stream) {
    philox p;
    vwide half[2][PHILOX_GROUP];
    uint64_t pair[2][PHILOX_BLOCKS], both[2 * PHILOX_BLOCKS];
    philox_blocks(&p, block, seed, stream);
    for (int h = 0; h < 2; h++)
        for (int g = 0; g < PHILOX_GROUP; g++) {
            const vwide first = p.word[2 * h][g], second = p.word[2 * h + 1][g];
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
            half[h][g] = first << 32 | (second & 0xffffffffu);
#else
            half[h][g] = second << 32 | (first & 0xffffffffu);
#endif
        }
    memcpy(pair, half, sizeof pair);
    for (int i = 0; i < PHILOX_BLOCKS; i++) {
        both[2 * i] = pair[0][i];
        both[2 * i + 1] = pair[1][i];
    }
    memcpy(to, both, sizeof both);
}

void ULP_CPU(ulp_words)(uint32_t *words, size_t n, uint64_t seed, uint64_t stream, uint64_t index) {
    enum { GROUP = 4 * PHILOX_BLOCKS };
    uint32_t buffer[GROUP];
    vwide block[PHILOX_GROUP];
    const size_t skip = (size_t)(index % 4);
    philox_blocks_of(block, index - skip, 4);
    size_t done = 0;
    if (skip == 0)
        for (; n - done >= GROUP; done += GROUP) {
            group_words(words + done, block, seed, stream);
            philox_advance(block, PHILOX_BLOCKS);
        }
    /* the words before `from` in the buffer belong to earlier elements */
    for (size_t from = skip; done < n; from = 0) {
        const size_t count = n - done < GROUP - from ? n - done : GROUP - from;
        group_words(buffer, block, seed, stream);
        memcpy(words + done, buffer + from, count * sizeof *words);
        philox_advance(block, PHILOX_BLOCKS);
        done += count;
    }
}
