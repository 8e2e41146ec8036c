/* random_words.c - random words of consecutive array elements. */
#include "kernels/cpu/philox.h"

void ULP_CPU(ulp_philox_set)(philox *p, uint64_t upper) {
    uint32_t low = (uint32_t)p->seed, high = (uint32_t)(p->seed >> 32);
    for (int i = 0; i < PHILOX_ROUNDS; i++, low += PHILOX_W32_0, high += PHILOX_W32_1) {
        p->key[i][0] = wide_all(low);
        p->key[i][1] = wide_all(high);
    }
    const vwide product = wide_product(wide_all(p->stream), PHILOX_M4x32_1);
    p->first = (p->stream >> 32) ^ p->key[0][1];
    p->second[0] = product ^ p->key[1][0];
    p->kept = wide_product((product >> 32) ^ upper ^ p->key[0][0], PHILOX_M4x32_0);
    p->second[1] = (p->kept >> 32) ^ p->key[1][1];
    p->upper = upper;
}

/* Lane 2 i of a vector holds block i of the vector, lane 2 i + 1 block LANES / 2 + i: then the pairs of words of the
 * even lanes, and those of the odd lanes, lie in the order of memory. */
enum { LANES = ULP_VECTOR_BYTES / 8 };
#if ULP_VECTOR_BYTES == 64
#define BLOCKS 0, 4, 1, 5, 2, 6, 3, 7
#define EVEN_LANES 0, 8, 2, 10, 4, 12, 6, 14
#define ODD_LANES 1, 9, 3, 11, 5, 13, 7, 15
#elif ULP_VECTOR_BYTES == 32
#define BLOCKS 0, 2, 1, 3
#define EVEN_LANES 0, 4, 2, 6
#define ODD_LANES 1, 5, 3, 7
#else
#define BLOCKS 0, 1
#define EVEN_LANES 0, 2
#define ODD_LANES 1, 3
#endif

/* to (4 LANES vectors) = the words of the blocks from `first`, in their order. `vectors` is a constant. */
ULP_INLINE void words_from(uint32_t *to, uint64_t first, const philox *p, int vectors) {
    static const vwide order = {BLOCKS};
    vwide block[PHILOX_MOST];
    philox_words w;
    ALL_UNROLLED for (int g = 0; g < vectors; g++) block[g] = order + (first + (uint64_t)g * LANES);
    philox_blocks(&w, block, p, vectors);
    ALL_UNROLLED for (int g = 0; g < vectors; g++) {
        const vwide low = pair_of(w.word[0][g], w.word[1][g]), high = pair_of(w.word[2][g], w.word[3][g]);
        const vwide even = LANES_AT(vwide, low, high, EVEN_LANES);
        const vwide odd = LANES_AT(vwide, low, high, ODD_LANES);
        memcpy(to + 4 * LANES * g, &even, sizeof even);
        memcpy(to + 4 * LANES * g + 2 * LANES, &odd, sizeof odd);
    }
}

void ULP_CPU(ulp_philox_words)(uint32_t *words, size_t n, philox *p, uint64_t index) {
    enum { FOUR = 16 * LANES, SIX = 24 * LANES }; /* the words of so many vectors */
    uint32_t buffer[FOUR];
    if (!philox_are_near(index, index + n)) { /* both upper halves are rare */
        for (size_t i = 0; i < n; i++) words[i] = ulp_random_word((ulp_stream){p->seed, p->stream, index}, i);
        return;
    }
    size_t done = 0;
    if (p->upper != index >> 34) ULP_CPU(ulp_philox_set)(p, index >> 34);
    if (index % 4 == 0) {
        for (; n - done >= 2 * SIX; done += SIX) words_from(words + done, (index + done) / 4, p, 6);
        for (; n - done >= FOUR; done += FOUR) words_from(words + done, (index + done) / 4, p, 4);
    }
    while (done < n) { /* the words before `from` in the buffer belong to earlier elements */
        const size_t from = (size_t)((index + done) % 4), count = n - done < FOUR - from ? n - done : FOUR - from;
        words_from(buffer, (index + done) / 4, p, 4);
        memcpy(words + done, buffer + from, count * sizeof *words);
        done += count;
    }
}

void ULP_CPU(ulp_words)(uint32_t *words, size_t n, uint64_t seed, uint64_t stream, uint64_t index) {
    philox p;
    philox_begin(&p, seed, stream);
    ULP_CPU(ulp_philox_words)(words, n, &p, index);
}
