/* t_known.c - the generator of every instruction set: the known answers of Random123, and the words of the scalar form.
 *
 * Random123 (D. E. Shaw Research, version 1.14.0, tests/kat_vectors) lists counter, key and output of philox4x32 with
 * 10 rounds. Two of the three counters are no block of an element's index, so that the vectors of blocks are tested
 * below the arrays of words.
 */
#include "tests/proofs/streams/known.h"
#include "support.h"
#include "known_answers.h"

#include "kernels/backend.h"

typedef void generator(uint32_t words[64], uint64_t seed, uint64_t stream, uint64_t block);

static generator *generator_of(const char *isa) {
#if defined(ULP_WITH_neon)
    if (strcmp(isa, "neon") == 0) return streams_known_neon;
#endif
#if defined(ULP_WITH_sve256)
    if (strcmp(isa, "sve256") == 0) return streams_known_sve256;
#endif
#if defined(ULP_WITH_avx2)
    if (strcmp(isa, "avx2") == 0) return streams_known_avx2;
#endif
#if defined(ULP_WITH_avx512)
    if (strcmp(isa, "avx512") == 0) return streams_known_avx512;
#endif
    return strcmp(isa, "baseline") == 0 ? streams_known_baseline : NULL;
}

/* Each instruction set gives the known answers in every lane of its vectors. */
TEST(known_answers) {
    size_t tested = 0;
    for (size_t k = 0; ulp_cpu_isa_name(k) != NULL; k++) {
        generator *words_of = generator_of(ulp_cpu_isa_name(k));
        if (!ulp_cpu_isa_offered(k)) continue;
        assert_non_null(words_of);
        for (size_t i = 0; i < COUNT_OF(known); i++)
            for (uint32_t lane = 0; lane < 16; lane++) {
                const struct known *t = &known[i];
                uint32_t words[64];
                words_of(words, join(t->key[0], t->key[1]), join(t->counter[2], t->counter[3]),
                         join(t->counter[0], t->counter[1]) ^ lane);
                for (uint32_t w = 0; w < 4; w++)
                    if (words[4 * lane + w] != t->output[w])
                        fail_msg("%s, vector %zu, lane %u, word %u: %08x, not %08x", ulp_cpu_isa_name(k), i, lane, w,
                                 (unsigned)words[4 * lane + w], (unsigned)t->output[w]);
            }
        tested++;
    }
    print_message("%zu instruction sets\n", tested);
    assert_true(tested > 0);
}

/* The blocks of every lane are those of ulp_random_block(), for keys, streams and blocks of all sizes. */
TEST(blocks) {
    for (size_t k = 0; ulp_cpu_isa_name(k) != NULL; k++) {
        if (!ulp_cpu_isa_offered(k)) continue;
        uint64_t random = 7;
        for (int i = 0; i < 3000; i++) {
            const uint64_t seed = next_random(&random) >> i % 3 * 31, stream = next_random(&random) >> i / 3 % 3 * 31,
                           block = next_random(&random) >> i / 9 % 3 * 31;
            uint32_t words[64];
            generator_of(ulp_cpu_isa_name(k))(words, seed, stream, block);
            for (uint32_t j = 0; j < 16; j++)
                assert_memory_equal(words + 4 * j, ulp_random_block(seed, stream, block ^ j).v, 16);
        }
    }
}

TESTS(NULL, NULL)
