/* t_rng.c - the generator: known answers of Random123, the word of each index, and the range of uniform numbers. */
#include "support.h"
#include "known_answers.h"

/* Philox4x32-10 (Salmon et al. 2011, section 4.3), for the test of the layout of seed, stream and index. */
static void philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]) {
    uint32_t x[4], k[2] = {key[0], key[1]};
    memcpy(x, counter, sizeof x);
    for (int round = 0; round < 10; round++) {
        uint64_t p = (uint64_t)0xd2511f53u * x[0], q = (uint64_t)0xcd9e8d57u * x[2];
        uint32_t y[4] = {(uint32_t)(q >> 32) ^ x[1] ^ k[0], (uint32_t)q, (uint32_t)(p >> 32) ^ x[3] ^ k[1],
                         (uint32_t)p};
        memcpy(x, y, sizeof x);
        k[0] += 0x9e3779b9u;
        k[1] += 0xbb67ae85u;
    }
    memcpy(out, x, sizeof x);
}

TEST(known_answers) {
    for (int i = 0; i < KNOWN; i++) {
        const struct known *t = &known[i];
        uint32_t out[4];
        philox(out, t->counter, t->key);
        assert_memory_equal(out, t->output, sizeof out);
        uint64_t seed = join(t->key[0], t->key[1]), block = join(t->counter[0], t->counter[1]),
                 stream = join(t->counter[2], t->counter[3]);
        philox4x32_ctr_t got = ulp_random_block(seed, stream, block);
        for (int w = 0; w < 4; w++)
            if (got.v[w] != t->output[w])
                fail_msg("vector %d word %d: %08x, not %08x", i, w, (unsigned)got.v[w], (unsigned)t->output[w]);
        if (block >> 62 != 0) continue; /* no index has such a block */
        for (uint64_t w = 0; w < 4; w++)
            assert_int_equal(ulp_random_word((ulp_stream){seed, stream, 4 * block}, w), t->output[w]);
    }
    assert_string_equal(ULP_RNG_NAME, "philox4x32-10");
    assert_int_equal(ULP_RNG_LAYOUT, 1);
}

/* key = (seed low, seed high), counter = (block low, block high, stream low, stream high), word = index mod 4 */
static uint32_t layout_word(uint64_t seed, uint64_t stream, uint64_t index) {
    uint64_t block = index / 4;
    const uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)stream, (uint32_t)(stream >> 32)};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t out[4];
    philox(out, counter, key);
    return out[index % 4];
}

TEST(layout) {
    uint64_t random = 1;
    for (int i = 0; i < 20000; i++) {
        /* each part with few bits, with half of the bits, and with all bits */
        uint64_t seed = next_random(&random) >> i % 3 * 31, stream = next_random(&random) >> i / 3 % 3 * 31,
                 index = next_random(&random) >> i / 9 % 3 * 31;
        uint64_t first = next_random(&random) >> i / 27 % 3 * 31;
        uint32_t want = layout_word(seed, stream, index), got = ulp_random_word((ulp_stream){seed, stream, 0}, index);
        uint32_t moved = ulp_random_word((ulp_stream){seed, stream, first}, index - first);
        if (got != want || moved != want)
            fail_msg("seed %#llx stream %#llx index %#llx first %#llx: %08x and %08x, not %08x",
                     (unsigned long long)seed, (unsigned long long)stream, (unsigned long long)index,
                     (unsigned long long)first, (unsigned)got, (unsigned)moved, (unsigned)want);
    }
}

/* Word i of a stream with `first` is word first + i of the whole stream. */
TEST(parts) {
    const ulp_stream whole = {1, 2, 0};
    for (uint64_t first = 0; first < 64; first++)
        for (uint64_t i = 0; i < 64; i++)
            assert_int_equal(ulp_random_word((ulp_stream){1, 2, first}, i), ulp_random_word(whole, first + i));
    /* every bit of seed, stream and index changes the word */
    uint32_t word = ulp_random_word(whole, 0);
    for (int bit = 0; bit < 64; bit++) {
        uint64_t one = (uint64_t)1 << bit;
        assert_int_not_equal(ulp_random_word((ulp_stream){1 ^ one, 2, 0}, 0), word);
        assert_int_not_equal(ulp_random_word((ulp_stream){1, 2 ^ one, 0}, 0), word);
        assert_int_not_equal(ulp_random_word(whole, one), word);
    }
}

TEST(uniform) {
    enum { N = 1 << 20, CELLS = 256 };
    const ulp_stream s = {1, 3, 0};
    uint32_t cells[CELLS] = {0};
    for (uint64_t i = 0; i < N; i++) {
        double x = ulp_random_uniform(s, i);
        if (!(x >= 0.0 && x < 1.0)) fail_msg("element %llu is %a", (unsigned long long)i, x);
        assert_true(x * 0x1p32 == (double)ulp_random_word(s, i));
        cells[(int)(x * (double)CELLS)]++;
    }
    /* chi-square with 255 degrees of freedom is above 370 for one seed in 10^5; the seed is fixed */
    double chi = 0, want = (double)N / (double)CELLS;
    for (int i = 0; i < CELLS; i++) chi += ((double)cells[i] - want) * ((double)cells[i] - want) / want;
    if (chi > 370 || chi < 160) fail_msg("chi-square %g", chi);
}

TESTS(NULL, NULL)
