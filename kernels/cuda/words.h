/* words.h - random words on the device: four neighbours at a time, or one after the other. */
#ifndef ULP_CUDA_WORDS_H
#define ULP_CUDA_WORDS_H

#include "formats/rng.h"

/* w[e] = the word of element i + e of an array whose stream is `s`. The four words come from one Philox block or from
 * two. */
static __device__ inline void ulp_words_of_four(uint32_t w[4], ulp_stream s, uint64_t i) {
    const uint64_t index = s.first + i;
    const uint32_t skip = (uint32_t)(index & 3u);
    const philox4x32_ctr_t a = ulp_random_block(s.seed, s.stream, index / 4);
    if (skip == 0) {
        for (uint32_t e = 0; e < 4; e++) w[e] = a.v[e];
        return;
    }
    const philox4x32_ctr_t b = ulp_random_block(s.seed, s.stream, index / 4 + 1);
    w[0] = skip == 1 ? a.v[1] : skip == 2 ? a.v[2] : a.v[3];
    w[1] = skip == 1 ? a.v[2] : skip == 2 ? a.v[3] : b.v[0];
    w[2] = skip == 1 ? a.v[3] : skip == 2 ? b.v[0] : b.v[1];
    w[3] = skip == 1 ? b.v[0] : skip == 2 ? b.v[1] : b.v[2];
}

/* The words of consecutive indices. A block is computed when its first word is needed. */
typedef struct ulp_word_run {
    philox4x32_ctr_t block;
    uint64_t next; /* index of the next word */
} ulp_word_run;

static __device__ inline ulp_word_run ulp_word_run_at(ulp_stream s, uint64_t i) {
    ulp_word_run r;
    r.next = s.first + i;
    r.block = ulp_random_block(s.seed, s.stream, r.next / 4);
    return r;
}

static __device__ inline uint32_t ulp_word_run_next(ulp_word_run *r, ulp_stream s) {
    const uint32_t at = (uint32_t)(r->next & 3u);
    const uint32_t low = at == 0 ? r->block.v[0] : r->block.v[1], high = at == 2 ? r->block.v[2] : r->block.v[3];
    r->next++;
    if (at == 3) r->block = ulp_random_block(s.seed, s.stream, r->next / 4);
    return at < 2 ? low : high;
}

#endif
